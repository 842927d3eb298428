"""Pages that were added, that are gone or back, and those that were edited, since a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from heapq import nlargest
from pathlib import Path
from typing import NamedTuple

from evercrawl.adapters.sql.log_reader import events_between, text_after, visit_before
from evercrawl.adapters.sql.state_reader import ShardReader, StateReader
from evercrawl.core.change.grouping import CausePage
from evercrawl.core.url import site_of
from evercrawl.errors import StoreUnavailable
from evercrawl.model.alerts import CHANGES, Event, EventKind
from evercrawl.model.history import PageEvent
from evercrawl.model.time import from_us, to_us

MAX_VISITS = 10_000_000  # Visits of all shards that are read, the newest of each.
VISITS_AT_A_TIME = 5000
MAX_TEXTS = 400  # Pages whose texts are compared with the entries of lists, the newest of each shard.
SLOW_VISIT_US = 3_600_000_000  # A visit that began this long ago may be committed now.


class Window(NamedTuple):
    """What happened to pages since a time."""

    causes: list[CausePage]  # Pages from which changes of lists may follow, with the texts of the newest.
    events: tuple[PageEvent, ...]  # Pages that are new, gone or back, the newest first; of each page the last event.


def read_window(
    collection: Path, since: datetime, *, site: str | None = None, with_texts: bool = True, most: int = MAX_VISITS
) -> Window:
    """Return what happened to the pages of one site or all since a time, as far as the newest `most` visits tell."""
    causes: list[CausePage] = []
    last: list[PageEvent] = []
    reader = StateReader(collection)
    shards = reader.shards()
    for shard in shards:
        with reader.shard(shard) as state:
            events = {
                event.url: event for event in _shard_events(state, shard, to_us(since), site, most // len(shards))
            }
            texts = MAX_TEXTS // len(shards) if with_texts else 0
            newest = {event.url for event in nlargest(texts, events.values(), key=lambda event: event.at_us)}
            for url, event in events.items():
                causes.append(_cause(event, _text(state, event) if url in newest else ""))
                if event.kind not in CHANGES:
                    last.append(PageEvent(event.kind.value, url, from_us(event.at_us), event.title))
    return Window(causes, tuple(sorted(last, key=lambda event: event.at, reverse=True)))


def _cause(event: Event, text: str) -> CausePage:
    is_gone, is_new = event.kind is EventKind.GONE, event.kind is EventKind.NEW
    return CausePage(event.url, event.title or "", text, not (is_gone or is_new), is_gone)


def _shard_events(state: ShardReader, shard: int, since_us: int, site: str | None, most: int) -> Iterator[Event]:
    end, new = state.last_visit_id(), set[str]()
    after = max(visit_before(state, since_us - SLOW_VISIT_US, end), end - most)
    while after < end:
        upto = min(end, after + VISITS_AT_A_TIME)
        for event in events_between(state, shard, after, upto):
            # A page that was added and edited since is new; one that is gone or back is no longer.
            is_known_new = event.kind in CHANGES and event.url in new
            if event.at_us > since_us and not is_known_new and (site is None or is_on_site(event.url, site)):
                (new.add if event.kind is EventKind.NEW else new.discard)(event.url)
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
