"""How many pages each site and each decision has: kept as sums, so that no command has to count rows."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass, field

from evercrawl.adapters.sqlite.statements import SQL
from evercrawl.errors import BugFound
from evercrawl.model.reason import Outcome, Reason

WAITING = (Outcome.QUEUED.value, Reason.WAITING.value)
"""The decision about a page that was not visited yet."""


@dataclass(slots=True)
class Counts:
    """What a commit adds to the counts of its shard, summed up so that each row is written once."""

    pages: Counter[int] = field(default_factory=Counter)
    pending: Counter[int] = field(default_factory=Counter)
    tally: Counter[tuple[str, str]] = field(default_factory=Counter)
    touched: set[int] = field(default_factory=set)
    refusals_kept: int = 0
    refusals_dropped: int = 0


def write_counts(db: sqlite3.Connection, counts: Counts) -> None:
    sites = sorted(counts.touched)
    rows = [(site_id, counts.pages[site_id], counts.pending[site_id]) for site_id in sites]
    if rows and db.executemany(SQL["count_site"], rows).rowcount != len(rows):
        raise BugFound(f"a batch moves pages of a site that is not in the store; the sites are {sites[:20]}")
    db.executemany(SQL["count_tally"], ((*decision, urls) for decision, urls in counts.tally.items() if urls))
    if counts.refusals_kept or counts.refusals_dropped:
        db.execute(SQL["count_refusals"], (counts.refusals_kept, counts.refusals_dropped))
