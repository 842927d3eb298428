"""Why were known pages not asked for in a run?"""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from evercrawl.adapters.sqlite.reader import StateReader
from evercrawl.collection.forecast.gather import sampled
from evercrawl.core.revisit.held import Held, held_by
from evercrawl.model.listing import SampledPage
from evercrawl.model.time import to_us


def left_alone(reader: StateReader, *, pages: int, since: datetime) -> dict[str, int]:
    """Cause -> pages, of `pages` in all that a run which began at `since` did not ask for.

    Of a large collection a sample is looked at; the counts add up to `pages` in any case.
    """
    if pages <= 0:
        return {}
    since_us = to_us(since)
    counted = Counter(
        held_by(row.belief, outlook, is_gone=row.due_us is None, tries=row.tries)
        for row, outlook in sampled(reader)
        if _is_left(row, since_us)
    )
    return _shared_out(pages, counted)


def _is_left(row: SampledPage, since_us: int) -> bool:
    is_queued = row.is_waiting and row.due_us is None
    return not is_queued and (row.last_us or row.found_us) < since_us


def _shared_out(pages: int, counted: Counter[Held]) -> dict[str, int]:
    """The pages in the proportions of the sample, by largest remainder."""
    seen = counted.total()
    if not seen:
        return {Held.MODEL.value: pages}
    exact = {cause: pages * count / seen for cause, count in counted.items()}
    whole = {cause: int(share) for cause, share in exact.items()}
    missing = pages - sum(whole.values())
    for cause in sorted(exact, key=lambda cause: whole[cause] - exact[cause])[:missing]:
        whole[cause] += 1
    return {cause.value: whole[cause] for cause in Held if whole.get(cause)}
