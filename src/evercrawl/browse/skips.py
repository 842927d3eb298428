"""URLs that were not asked for, in portions."""

from __future__ import annotations

from pathlib import Path

from evercrawl.adapters.sqlite.browse import BrowseReader, browsing
from evercrawl.adapters.sqlite.store import shards_in
from evercrawl.browse.place import key_in, place_of
from evercrawl.model.listing import Portion
from evercrawl.model.report import SkippedUrl

MOST_READ = 20_000
"""Rows that one look goes through in search of a reason; the next portion goes on behind them."""
PAGES_FROM = 5000
"""Shard numbers from here on stand for pages that were refused when their turn came; shards are fewer."""


def skipped_portion(
    collection: Path, *, reason: str | None = None, after: str | None = None, most: int = 50
) -> Portion[SkippedUrl]:
    """The next refused URLs, of one reason or any: first those that never became pages, then the others."""
    first, inside = place_of(after)
    rows: list[SkippedUrl] = []
    read = 0
    shards = shards_in(collection)
    for place in (*shards, *(PAGES_FROM + shard for shard in shards)):
        if place < first:
            continue
        with browsing(collection, place % PAGES_FROM) as reader:
            behind = inside if place == first else ""
            while read < MOST_READ and len(rows) < most:
                step = most - len(rows) if reason is None else MOST_READ // 20
                found, behind = _step(reader, behind, step, is_page=place >= PAGES_FROM)
                read += len(found)
                for at, (row, mark) in enumerate(found):
                    if reason is None or row.reason == reason:
                        rows.append(row)
                    if len(rows) == most:
                        is_last = at == len(found) - 1 and len(found) < step
                        return Portion(
                            tuple(rows), None if is_last and place == _last(shards) else f"{place}.{mark}"
                        )
                if len(found) < step:
                    break
            else:
                return Portion(tuple(rows), f"{place}.{behind}")
    return Portion(tuple(rows), None)


def _last(shards: list[int]) -> int:
    return PAGES_FROM + max(shards, default=0)


def _step(
    reader: BrowseReader, behind: str, most: int, *, is_page: bool
) -> tuple[list[tuple[SkippedUrl, str]], str]:
    """Rows, each with the mark behind it, and the last mark."""
    if is_page:
        pages = reader.rejected_pages(int(behind or "0", 16), most)
        found = [(SkippedUrl(row.url, row.reason, row.detail, row.parent), f"{row.id:x}") for row in pages]
    else:
        refusals = reader.refusals(key_in(behind), most)
        found = [(SkippedUrl(row.url, row.reason, row.detail, row.parent), row.key.hex()) for row in refusals]
    return found, found[-1][1] if found else behind
