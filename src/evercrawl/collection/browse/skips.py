"""URLs that were not asked for, in portions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from evercrawl.adapters.sqlite.browse import BrowseReader, browsing, shards_of
from evercrawl.collection.browse.place import key_in, number_in, place_of
from evercrawl.model.listing import Portion
from evercrawl.model.report import SkippedUrl

LONGEST_S = 0.25
"""A look for a rare reason ends after this time; the next portion goes on where it ended."""
PAGES_FROM = 5000
"""Shard numbers from here on stand for pages that were refused when their turn came; shards are fewer."""


class _Found(NamedTuple):
    row: SkippedUrl
    place: str


def skipped_portion(
    collection: Path, *, reason: str | None = None, after: str | None = None, most: int = 50
) -> Portion[SkippedUrl]:
    """The next refused URLs, of one reason or any: first those that never became pages, then the others."""
    begin, inside = place_of(after)
    end = time.monotonic() + LONGEST_S
    found: list[_Found] = []
    shards = shards_of(collection)
    for place in (*shards, *(PAGES_FROM + shard for shard in shards)):
        if place < begin:
            continue
        with browsing(collection, place % PAGES_FROM) as reader:
            behind = inside if place == begin else ""
            found += _some(reader, place, behind, reason, most - len(found) + 1)
        if len(found) > most:
            return Portion(tuple(one.row for one in found[:most]), found[most - 1].place)
        if time.monotonic() > end and place != PAGES_FROM + shards[-1]:
            return Portion(tuple(one.row for one in found), f"{place + 1}.")
    return Portion(tuple(one.row for one in found), None)


def _some(reader: BrowseReader, place: int, behind: str, reason: str | None, most: int) -> Iterator[_Found]:
    if place >= PAGES_FROM:
        number = number_in(behind)
        pages = (
            reader.rejected_pages(number, most)
            if reason is None
            else reader.rejected_of(reason, after=number, most=most)
        )
        for page in pages:
            yield _Found(SkippedUrl(page.url, page.reason, page.detail, page.parent), f"{place}.{page.id:x}")
        return
    key = key_in(behind)
    refusals = reader.refusals(key, most) if reason is None else reader.refusals_of(reason, after=key, most=most)
    for one in refusals:
        yield _Found(SkippedUrl(one.url, one.reason, one.detail, one.parent), f"{place}.{one.key.hex()}")
