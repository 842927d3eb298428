"""Run the production engine in virtual time on a synthetic web, with everything in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import NamedTuple

from evercrawl.adapters.warc.reader import parse_http_block
from evercrawl.cluster.crawl_builder import assemble_crawl
from evercrawl.core.duplicates.minhash import (
    SignatureEntry,
    SignatureMatch,
    best_match,
    is_indexable,
    signature_bands,
    top_candidates,
)
from evercrawl.core.focus.classifier import TopicSketch
from evercrawl.core.focus.focus import Focus
from evercrawl.engine.crawl import Crawl
from evercrawl.engine.machines import Resolve
from evercrawl.engine.ports import RenderedRecord, Stored
from evercrawl.engine.runtime import Ended, StopSignal
from evercrawl.model.fetch import Exchange, Headers
from evercrawl.model.page import ArchiveEnd, OriginalRecord
from evercrawl.model.settings import Settings
from evercrawl.testing.sim_web import SimWeb
from evercrawl.testing.store import MemoryStore
from evercrawl.testing.virtual_time import SimClock, run

RENDERED_HEADERS = (("Content-Type", "text/html; charset=utf-8"),)
FILE = "memory.warc.gz"


class ArchivedExchange(NamedTuple):
    """One archived exchange."""

    url: str
    offset: int
    length: int
    is_revisit: bool


class MemoryArchive:
    """Implements `Archive` for one shard. It survives a simulated crash and can be truncated like a file."""

    def __init__(self, shard: int, *, keeps_bodies: bool = False) -> None:
        """With `keeps_bodies`, records can be read again, at the cost of memory."""
        self.entries: list[ArchivedExchange] = []
        self._shard = shard
        self._size = 0
        self._records = 0
        self._bodies: dict[int, tuple[Headers, bytes]] | None = {} if keeps_bodies else None

    def append(
        self,
        url: str,
        exchange: Exchange,
        *,
        truncated: str | None = None,
        payload_sha1: bytes | None = None,
        revisit: OriginalRecord | None = None,
        not_modified: bool = False,
        rendered: RenderedRecord | None = None,
    ) -> Stored:
        """Record one exchange; a rendered document takes the place of the body."""
        body = exchange.wire_body if rendered is None else rendered.dom
        is_revisit = revisit is not None
        length = len(exchange.response_head) + (0 if is_revisit else len(body))
        self.entries.append(ArchivedExchange(url, self._size, length, is_revisit))
        if self._bodies is not None and not is_revisit:
            headers = parse_http_block(exchange.response_head).headers if rendered is None else RENDERED_HEADERS
            self._bodies[self._size] = headers, body
        stored = Stored(FILE, self._size, length, self._record_id())
        self._size += length
        return stored

    def _record_id(self) -> bytes:
        self._records += 1
        return self._shard.to_bytes(8, "big") + self._records.to_bytes(8, "big")

    def flush(self) -> ArchiveEnd | None:
        """Return the end of the archive."""
        return ArchiveEnd(FILE, self._size)

    async def sync(self) -> None:
        """There is no disk."""

    def truncate_to(self, end: ArchiveEnd | None) -> int:
        """Remove what lies after the acknowledged end; return the number of missing bytes."""
        size = end.size if end is not None else 0
        self.entries = [entry for entry in self.entries if entry.offset < size]
        missing = max(0, size - self._size)
        self._size = min(self._size, size)
        return missing

    def acknowledge(self, end: ArchiveEnd) -> None:
        """Nothing survives this process."""

    def read(self, place: OriginalRecord) -> tuple[Headers, bytes] | None:
        """Return headers and body of a record; None if bodies are not kept."""
        return self._bodies.get(place.offset) if self._bodies is not None else None

    def close(self) -> None:
        """Nothing is held open."""


class MemoryNear:
    """Implements `NearTexts`."""

    def __init__(self) -> None:
        self._entries: list[SignatureEntry] = []
        self._priorities: dict[tuple[int, int], list[int]] = {}

    def find(self, signature: bytes, *, chars: int) -> SignatureMatch | None:
        """Return the page with the most similar text, if one is similar enough."""
        if not is_indexable(signature):
            return None
        found = [n for place in enumerate(signature_bands(signature)) for n in self._priorities.get(place, ())]
        return best_match(signature, chars, (self._entries[number] for number in top_candidates(found)))

    def add(self, page: int, signature: bytes, *, chars: int) -> None:
        """Index the text of a page."""
        if is_indexable(signature):
            for place in enumerate(signature_bands(signature)):
                self._priorities.setdefault(place, []).append(len(self._entries))
            self._entries.append(SignatureEntry(page, signature, chars))

    def flush(self) -> None:
        """Nothing is buffered."""

    def close(self) -> None:
        """Nothing is held open."""


@dataclass
class SimWorld:
    """A web, a collection in memory, and the clock between runs. Equal worlds produce equal events."""

    web: SimWeb
    settings: Settings
    store: MemoryStore
    seed: int = 0
    archives: dict[int, MemoryArchive] = field(default_factory=dict)
    clock: SimClock = field(default_factory=SimClock)
    keeps_bodies: bool = False  # Whether archived bodies can be read again.
    focus: Focus | TopicSketch | None = None  # The topic of a focused crawl.
    resolve: Resolve | None = None  # Finds the address of a site; None: addresses have no limit.
    is_paused: Callable[[], bool] | None = None  # Whether the operator has paused the run; None: never.

    def crawl(self, *, refresh: bool = False, crash_after: timedelta | None = None) -> Ended | None:
        """Run the crawler once; return None if it was made to crash."""
        return run(self._run(refresh, crash_after))

    def watch(self, span: timedelta) -> Ended | None:
        """Keep the collection fresh for a span of virtual time."""
        return run(self._watch(span))

    async def _watch(self, span: timedelta) -> Ended | None:
        self.web.use_clock(self.clock)
        stop = StopSignal()
        crawl = self._assemble(stop, forever=True)
        end = asyncio.get_running_loop().call_later(span.total_seconds(), stop.finish)
        try:
            async with crawl:
                await crawl.begin()
                return await crawl.run()
        finally:
            end.cancel()
            self.clock = SimClock(start=self.clock.now())

    async def _run(self, refresh: bool, crash_after: timedelta | None) -> Ended | None:
        self.web.use_clock(self.clock)
        stop = StopSignal()
        crawl = self._assemble(stop)
        try:
            if crash_after is None:
                async with crawl:
                    await crawl.begin(refresh=refresh)
                    return await crawl.run()
            await crawl.begin(refresh=refresh)
            await self._crash(crawl, stop, crash_after)
            return None
        finally:
            self.clock = SimClock(start=self.clock.now())

    async def _crash(self, crawl: Crawl, stop: StopSignal, after: timedelta) -> None:
        """Run for a while, then reject everything that is still to be written."""
        running = asyncio.create_task(crawl.run())
        await asyncio.sleep(after.total_seconds())
        self.store.crash()
        stop.cancel()
        await asyncio.gather(running, return_exceptions=True)

    def _assemble(self, stop: StopSignal, *, forever: bool = False) -> Crawl:
        return assemble_crawl(
            self.settings,
            clock=self.clock,
            fetcher=self.web,
            store=self.store,
            open_archive=self._archive,
            open_near=lambda _: MemoryNear(),
            seed=self.seed,
            stop=stop,
            forever=forever,
            focus=self.focus,
            resolve=self.resolve,
            new_rules=None if self.is_paused is None else lambda: None,  # Without, no time is spent on reading rules.
            is_paused=self.is_paused or (lambda: False),
        )

    def _archive(self, shard: int) -> MemoryArchive:
        return self.archives.setdefault(shard, MemoryArchive(shard, keeps_bodies=self.keeps_bodies))


def make_world(web: SimWeb, *, settings: Settings | None = None, shards: int = 4, seed: int = 0) -> SimWorld:
    """Create a world whose seeds are the home pages of all sites."""
    base = settings or Settings()
    scope = replace(base.scope, seeds=tuple(web.home_pages()), kind=base.scope.kind)
    crawl = replace(base.crawl, max_pages=None)
    identity = replace(base.identity, contact="mailto:simulation@example.org")
    return SimWorld(web, replace(base, scope=scope, crawl=crawl, identity=identity), MemoryStore(shards), seed)
