"""Paged lists of due, queued and skipped pages. A cursor is the shard and the position in it, as text for a URL."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from evercrawl.adapters.sql.listing_reader import IDLE_READERS, ListingReader, each_listing, open_listing
from evercrawl.adapters.sql.state_reader import MAX_ID, shards_of
from evercrawl.errors import ConfigError
from evercrawl.model.listing import DuePage, PagedRows
from evercrawl.model.report import SkippedUrl
from evercrawl.model.time import to_us

_CURSOR = re.compile(r"(\d{1,4})\.([0-9a-f]{0,64})", re.ASCII)


def encode_cursor(shard: int, inside: bytes | int) -> str:
    """Return the cursor of a position."""
    return f"{shard}.{inside.hex() if isinstance(inside, bytes) else format(inside, 'x')}"


def decode_cursor(cursor: str | None) -> tuple[int, str]:
    """Return shard and position; None: the beginning. Raise ConfigError for an invalid cursor."""
    if not cursor:
        return 0, ""
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise ConfigError(f"{cursor!r} is not a valid cursor; start without one")
    return int(found[1]), found[2]


def cursor_number(inside: str) -> int:
    """Return the position as a number; 0: the beginning."""
    return min(int(inside or "0", 16), 2**63 - 1)


def cursor_key(inside: str) -> bytes:
    """Return the position as a key; empty: the beginning."""
    return bytes.fromhex(inside if len(inside) % 2 == 0 else inside[:-1])


HOURS_AHEAD = 24
_DIGITS = 16


def list_due_pages(collection: Path, *, after: str | None = None, limit: int = 50) -> PagedRows[DuePage]:
    """Return the pages that are due next, over all shards."""
    last, inside = decode_cursor(after)
    behind_us, behind_id = cursor_number(inside[:_DIGITS]), cursor_number(inside[_DIGITS:])
    lists = []
    for shard, reader in each_listing(collection):
        # Pages that are due at the same time are ordered by shard and id.
        number = behind_id if shard == last else MAX_ID if shard < last else 0
        rows = reader.due_pages(behind_us, number, limit + 1)
        lists.append([(page.due_us, shard, page.id, page) for page in rows])
    found = list(islice(merge(*lists), limit + 1))
    pages = tuple(row[3] for row in found[:limit])
    if len(found) <= limit:
        return PagedRows(pages, None)
    due_us, shard, number, _ = found[limit - 1]
    return PagedRows(pages, f"{shard}.{due_us:0{_DIGITS}x}{number:0{_DIGITS}x}")


def due_by_hour(collection: Path, *, now: datetime) -> list[int]:
    """Return how many pages become due in each of the next hours."""
    begin, end = to_us(now), to_us(now + timedelta(hours=HOURS_AHEAD))
    counted: Counter[int] = Counter()
    for _, reader in each_listing(collection):
        counted.update(reader.due_by_hour(begin, end))
    return [counted[hour] for hour in range(HOURS_AHEAD)]


def queued_by_priority(collection: Path) -> list[tuple[int, int, int]]:
    """Return each priority with the number of its sites and of their queued pages, most urgent first."""
    sites: Counter[int] = Counter()
    pages: Counter[int] = Counter()
    for _, reader in each_listing(collection):
        for priority, some, pending in reader.queued_by_priority():
            sites[priority] += some
            pages[priority] += pending
    return [(priority, sites[priority], pages[priority]) for priority in sorted(sites)]


MAX_SCAN_S = 0.25  # A scan for a rare reason ends after this time; the next page of the list continues it.
PAGES_FROM = 5000
"""Shard numbers from here on mean pages that were rejected when they were due; there are fewer shards."""


class _Found(NamedTuple):
    row: SkippedUrl
    place: str


def list_skipped(
    collection: Path, *, reason: str | None = None, after: str | None = None, limit: int = 50
) -> PagedRows[SkippedUrl]:
    """Return skipped URLs of one reason or any: first rejected URLs, then rejected pages."""
    begin, inside = decode_cursor(after)
    end = time.monotonic() + MAX_SCAN_S
    found: list[_Found] = []
    shards = shards_of(collection)
    for place in (*shards, *(PAGES_FROM + shard for shard in shards)):
        if place < begin:
            continue
        with open_listing(collection, place % PAGES_FROM) as reader:
            behind = inside if place == begin else ""
            found += _skipped_in(reader, place, behind, reason, limit - len(found) + 1)
        if len(found) > limit:
            return PagedRows(tuple(one.row for one in found[:limit]), found[limit - 1].place)
        if time.monotonic() > end and place != PAGES_FROM + shards[-1]:
            return PagedRows(tuple(one.row for one in found), f"{place + 1}.")
    return PagedRows(tuple(one.row for one in found), None)


def _skipped_in(reader: ListingReader, place: int, behind: str, reason: str | None, limit: int) -> Iterator[_Found]:
    if place >= PAGES_FROM:
        number = cursor_number(behind)
        pages = (
            reader.rejected_pages(number, limit)
            if reason is None
            else reader.rejected_of(reason, after=number, most=limit)
        )
        for page in pages:
            yield _Found(SkippedUrl(page.url, page.reason, page.detail, page.parent), f"{place}.{page.id:x}")
        return
    key = cursor_key(behind)
    refusals = reader.refusals(key, limit) if reason is None else reader.refusals_of(reason, after=key, most=limit)
    for one in refusals:
        yield _Found(SkippedUrl(one.url, one.reason, one.detail, one.parent), f"{place}.{one.key.hex()}")


def close_readers(collection: Path) -> None:
    """Close the idle readers of a collection."""
    IDLE_READERS.close(collection)
