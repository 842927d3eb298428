"""The log of visits, of one site or of all, in the order of time and never whole in memory."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from heapq import merge
from pathlib import Path

from evercrawl.adapters.sqlite.browse import browsing, shards_of
from evercrawl.collection.browse.sites import site_record
from evercrawl.errors import ConfigError
from evercrawl.model.listing import VisitLogRow
from evercrawl.model.settings import Settings
from evercrawl.model.time import to_us

LINES_AT_A_TIME = 500
"""Lines of one shard's log that are looked at with one question; so many are held for each shard."""
_LAST_US = 2**62


def logged_visits(
    collection: Path,
    settings: Settings,
    *,
    site: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Iterator[VisitLogRow]:
    """Visits from a moment on, up to another, oldest first; ConfigError where the site is not known."""
    span = (0 if since is None else to_us(since), _LAST_US if until is None else to_us(until))
    if site is None:
        logs = [_of_shard(collection, shard, None, span) for shard in shards_of(collection)]
        return merge(*logs, key=lambda visit: visit.at_us)
    found = site_record(collection, settings, site)
    if found is None:
        raise ConfigError(f"the collection does not know the site {site}")
    return _of_shard(collection, found[0], found[1].id, span)


def _of_shard(collection: Path, shard: int, site_id: int | None, span: tuple[int, int]) -> Iterator[VisitLogRow]:
    """A reader is held for one portion only: who takes the lines may be slow."""
    line = 0
    with browsing(collection, shard) as reader:
        last = reader.last_line()
    while line < last:
        upto = min(last, line + LINES_AT_A_TIME)
        with browsing(collection, shard) as reader:
            visits = reader.logged_visits(line, upto, site_id=site_id, span=span)
        yield from visits
        line = upto
