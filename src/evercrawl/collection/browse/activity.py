"""What happened on which day, and what happened last."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta
from heapq import nlargest
from pathlib import Path

from evercrawl.adapters.sqlite.browse import browsing, browsing_all
from evercrawl.model.listing import VisitRow
from evercrawl.model.time import to_us

LINES_READ = 200_000
"""The newest lines of each shard's log that are counted."""
CALENDAR_DAYS = 371
"""53 weeks."""
_EPOCH = date(1970, 1, 1)


def day_of(number: int) -> date:
    """The date of a number of days since 1970."""
    return _EPOCH + timedelta(days=number)


def changes_by_day(collection: Path, *, now: datetime) -> dict[date, int]:
    """Changes that a reader would notice, over all sites."""
    counted: Counter[int] = Counter()
    for _, reader in browsing_all(collection):
        counted.update(reader.changes_by_day(to_us(now - timedelta(days=CALENDAR_DAYS))))
    return {day_of(number): count for number, count in sorted(counted.items())}


def site_changes_by_day(collection: Path, shard: int, site_id: int, *, now: datetime) -> dict[date, int]:
    """The same of one site."""
    with browsing(collection, shard) as reader:
        found = reader.changes_by_day(to_us(now - timedelta(days=CALENDAR_DAYS)), site_id)
    return {day_of(number): count for number, count in sorted(found.items())}


def visits_by_day(collection: Path) -> dict[date, dict[str, int]]:
    """Visits by day and reason."""
    days: dict[date, Counter[str]] = {}
    for _, reader in browsing_all(collection):
        for number, reason, count, _ in reader.visits_by_day(LINES_READ):
            days.setdefault(day_of(number), Counter())[reason] += count
    return {day: dict(counts) for day, counts in sorted(days.items())}


def last_visits(collection: Path, most: int) -> list[VisitRow]:
    """The newest visits of all sites, newest first."""
    found = (visit for _, reader in browsing_all(collection) for visit in reader.last_visits(0, most))
    return nlargest(most, found, key=lambda visit: visit.at_us)
