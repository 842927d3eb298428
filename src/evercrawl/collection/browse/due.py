"""What comes next: pages by due time, and the queue by urgency."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from heapq import merge
from itertools import islice
from pathlib import Path

from evercrawl.adapters.sqlite.browse import browsing_all
from evercrawl.adapters.sqlite.reader import MOST_ID
from evercrawl.collection.browse.place import number_in, place_of
from evercrawl.model.listing import DuePage, Portion
from evercrawl.model.time import to_us

HOURS_AHEAD = 24
_DIGITS = 16


def pages_due(collection: Path, *, after: str | None = None, most: int = 50) -> Portion[DuePage]:
    """The pages that are due next, over all shards."""
    last, inside = place_of(after)
    behind_us, behind_id = number_in(inside[:_DIGITS]), number_in(inside[_DIGITS:])
    lists = []
    for shard, reader in browsing_all(collection):
        # Pages that are due at the same moment are told apart by shard and number.
        number = behind_id if shard == last else MOST_ID if shard < last else 0
        rows = reader.due_pages(behind_us, number, most + 1)
        lists.append([(page.due_us, shard, page.id, page) for page in rows])
    found = list(islice(merge(*lists), most + 1))
    pages = tuple(row[3] for row in found[:most])
    if len(found) <= most:
        return Portion(pages, None)
    due_us, shard, number, _ = found[most - 1]
    return Portion(pages, f"{shard}.{due_us:0{_DIGITS}x}{number:0{_DIGITS}x}")


def due_by_hour(collection: Path, *, now: datetime) -> list[int]:
    """How many pages come due in each of the next hours."""
    begin, end = to_us(now), to_us(now + timedelta(hours=HOURS_AHEAD))
    counted: Counter[int] = Counter()
    for _, reader in browsing_all(collection):
        counted.update(reader.due_by_hour(begin, end))
    return [counted[hour] for hour in range(HOURS_AHEAD)]


def queued_by_band(collection: Path) -> list[tuple[int, int, int]]:
    """Band, sites whose most urgent page is in it, and their queued pages; the most urgent band first."""
    sites: Counter[int] = Counter()
    pages: Counter[int] = Counter()
    for _, reader in browsing_all(collection):
        for band, some, pending in reader.queued_by_band():
            sites[band] += some
            pages[band] += pending
    return [(band, sites[band], pages[band]) for band in sorted(sites)]
