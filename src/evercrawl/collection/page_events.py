"""Pages that were added, that are gone or back, and those that were edited, since a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from heapq import nlargest
from pathlib import Path

from evercrawl.adapters.sql.log_reader import events_between, text_after, visit_before
from evercrawl.adapters.sql.state_reader import ShardReader, StateReader
from evercrawl.core.change.grouping import CausePage
from evercrawl.core.url import site_of
from evercrawl.errors import StoreUnavailable
from evercrawl.model.alerts import CHANGES, Event, EventKind
from evercrawl.model.history import PageEvent
from evercrawl.model.time import from_us, to_us

MAX_VISITS = 200_000  # Visits of a shard that are read, the newest.
VISITS_AT_A_TIME = 5000
MAX_TEXTS = 400  # Pages whose texts are compared with the entries of lists, the newest of each shard.
SLOW_VISIT_US = 3_600_000_000  # A visit that began this long ago may be committed now.


def page_events(collection: Path, since: datetime, *, site: str | None = None) -> tuple[PageEvent, ...]:
    """Return pages that are new, gone or back since a time, the newest first; of each page the last event."""
    last: dict[str, PageEvent] = {}
    for _, event in _events(collection, since, site):
        if event.kind not in CHANGES:
            last.pop(event.url, None)
            last[event.url] = PageEvent(event.kind.value, event.url, from_us(event.at_us), event.title)
    return tuple(sorted(last.values(), key=lambda event: event.at, reverse=True))


def cause_pages(collection: Path, since: datetime, *, site: str | None = None) -> list[CausePage]:
    """Return pages from which changes of lists may follow, with the texts of the newest."""
    found: list[CausePage] = []
    reader = StateReader(collection)
    shards = reader.shards()
    for shard in shards:
        with reader.shard(shard) as state:
            events = {event.url: event for event in _shard_events(state, shard, to_us(since), site)}
            newest = {
                event.url
                for event in nlargest(MAX_TEXTS // len(shards), events.values(), key=lambda event: event.at_us)
            }
            for url, event in events.items():
                text = _text(state, event) if url in newest else ""
                is_gone, is_new = event.kind is EventKind.GONE, event.kind is EventKind.NEW
                found.append(CausePage(url, event.title or "", text, not (is_gone or is_new), is_gone))
    return found


def _events(collection: Path, since: datetime, site: str | None) -> Iterator[tuple[int, Event]]:
    reader = StateReader(collection)
    for shard in reader.shards():
        with reader.shard(shard) as state:
            for event in _shard_events(state, shard, to_us(since), site):
                yield shard, event


def _shard_events(state: ShardReader, shard: int, since_us: int, site: str | None) -> Iterator[Event]:
    end = state.last_visit_id()
    after = max(visit_before(state, since_us - SLOW_VISIT_US, end), end - MAX_VISITS)
    while after < end:
        upto = min(end, after + VISITS_AT_A_TIME)
        for event in events_between(state, shard, after, upto):
            if event.at_us > since_us and (site is None or is_on_site(event.url, site)):
                yield event
        after = upto


def is_on_site(url: str, site: str) -> bool:
    """Return whether the URL is on this host or origin."""
    origin = site_of(url)
    return site.rstrip("/") in (origin, origin.partition("://")[2])


def _text(state: ShardReader, event: Event) -> str:
    with suppress(StoreUnavailable):
        return text_after(state, event).text
    return ""
