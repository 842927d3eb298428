"""What did not have to be asked for or sent? Counted from the log of visits, never guessed."""

from __future__ import annotations

from evercrawl.adapters.sqlite.reader import StateReader
from evercrawl.model.report import Savings


def saved_in(reader: StateReader, *, now_us: int) -> Savings:
    """Answers 304 with the bodies that they spared, and pages that nobody has to ask for yet."""
    answers = body_bytes = not_due = 0
    for shard in reader.shards():
        with reader.shard(shard) as state:
            some, size = state.spared()
            answers, body_bytes = answers + some, body_bytes + size
            not_due += state.not_due(now_us)
    return Savings(answers, body_bytes, not_due)
