"""What an alert would have told of the newest visits; read as the follower reads, and nothing is written."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from heapq import nlargest
from typing import NamedTuple

from evercrawl.collection.alerts.follow import BY_WORDS, Judging, Logs, texts_of
from evercrawl.core.alerts.matching import wanted
from evercrawl.model.alerts import AlertFilter, Event
from evercrawl.model.time import from_us

LINES = 4000
"""Lines of the logs that are looked at, all shards together."""
FEWEST_OF_SHARD = 50
EXAMPLES = 10
PATIENCE_S = 2.0
"""Texts are read and judged no longer than this."""


class Preview(NamedTuple):
    """Events that would have been told, of those that were looked at."""

    told: int
    looked_at: int
    since: datetime | None
    """The oldest event that was looked at; None: there was none."""
    examples: tuple[Event, ...]
    """The newest, newest first."""


def preview(
    subject: AlertFilter, logs: Logs, *, judging: Judging = BY_WORDS, clock: Callable[[], float] = time.monotonic
) -> Preview:
    """What the newest visits of a collection would have brought to an alert about this."""
    shards, end = logs.shards(), clock() + PATIENCE_S
    lines = max(FEWEST_OF_SHARD, LINES // max(1, len(shards)))
    looked_at, oldest_us = 0, 2**62
    told: list[Event] = []
    for shard in shards:
        with logs.open(shard) as shard_log:
            newest = shard_log.end()
            for event in reversed(shard_log.events(max(0, newest - lines), newest)):
                if clock() > end:
                    break
                looked_at, oldest_us = looked_at + 1, min(oldest_us, event.at_us)
                found = wanted(subject, event, texts_of(shard_log, event), says=judging.says, tone=judging.tone)
                if found is not None:
                    told.append(found)
    examples = nlargest(EXAMPLES, told, key=lambda event: event.at_us)
    return Preview(len(told), looked_at, from_us(oldest_us) if looked_at else None, tuple(examples))
