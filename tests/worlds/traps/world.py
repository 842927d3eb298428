"""The whole engine on a simulated site with traps: requests, reached pages and blocks."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import timedelta

from evercrawl.cluster.crawl_builder import assemble_crawl
from evercrawl.core.http.content_coding import DecodeLimits
from evercrawl.core.http.http1 import ResponseHead
from evercrawl.core.http.message import RawResponse, fetch_result
from evercrawl.core.traps.trap_verdict import TrapReport, trap_reports
from evercrawl.core.url import path_of
from evercrawl.engine.runtime import Ended
from evercrawl.model.fetch import Exchange, FetchResult, Request
from evercrawl.model.settings import HttpSettings, Settings
from evercrawl.testing.sim_world import MemoryArchive, MemoryNear
from evercrawl.testing.store import MemoryStore
from evercrawl.testing.virtual_time import SimClock, run
from tests.worlds.traps.sites import TrapResponse, TrapSite

ANSWER_TIME = timedelta(milliseconds=50)
BESIDE_PAGES = ("/robots.txt", "/sitemap")
HEADERS = (("Content-Type", "text/html; charset=utf-8"),)


@dataclass(slots=True)
class TrapWeb:
    """Implements `Fetcher` for one simulated site."""

    site: TrapSite
    clock: SimClock
    asked: list[str] = field(default_factory=list)
    """Pages and probes in the order of the requests."""
    reached: set[str] = field(default_factory=set)

    async def fetch(self, request: Request) -> FetchResult:
        """Return the response of the site after a moment."""
        began = self.clock.now()
        await asyncio.sleep(ANSWER_TIME.total_seconds())
        is_page = not path_of(request.url).startswith(BESIDE_PAGES)
        reply = self.site.answer(request.url) if is_page else TrapResponse(404)
        if is_page:
            self._note(request.url, reply)
        raw = f"HTTP/1.1 {reply.status} -\r\n\r\n".encode()
        body = reply.html.encode()
        headers = (*HEADERS, ("Location", reply.location)) if reply.location else HEADERS
        exchange = Exchange(b"", raw, body, "198.18.0.1", began, ANSWER_TIME)
        limits = DecodeLimits(HttpSettings().max_decoded_bytes, HttpSettings().max_compression_ratio)
        return fetch_result(
            request, RawResponse(ResponseHead(reply.status, 1, headers, {}, raw), exchange), limits=limits
        )

    def _note(self, url: str, reply: TrapResponse) -> None:
        self.asked.append(url)
        real = self.site.page_of(url)
        if real is not None and reply.status == 200:
            self.reached.add(real)

    async def close(self) -> None:
        """Nothing is held open."""


@dataclass(slots=True)
class TrapWorld:
    """A simulated site, a collection in memory, and the clock between runs."""

    site: TrapSite
    settings: Settings = field(default_factory=Settings)
    store: MemoryStore = field(default_factory=lambda: MemoryStore(4))
    clock: SimClock = field(default_factory=SimClock)
    ended: Ended | None = None
    blocked_patterns: list[TrapReport] = field(default_factory=list)
    has_learned: bool = False
    """Whether pattern statistics of the site are stored."""
    skipped: Counter[str] = field(default_factory=Counter)
    _archives: dict[int, MemoryArchive] = field(default_factory=dict)

    def crawl(self, *, most: int | None = None) -> TrapWeb:
        """Run the crawler for at most this many pages; return the web with its requests."""
        web = TrapWeb(self.site, self.clock)
        run(self._run(web, most))
        return web

    async def _run(self, web: TrapWeb, most: int | None) -> None:
        base = self.settings
        settings = replace(
            base,
            scope=replace(base.scope, seeds=(self.site.seed,)),
            crawl=replace(base.crawl, max_pages=most),
            identity=replace(base.identity, contact="mailto:simulation@example.org"),
        )
        crawl = assemble_crawl(
            settings,
            clock=self.clock,
            fetcher=web,
            store=self.store,
            open_archive=self._archive,
            open_near=lambda _: MemoryNear(),
        )
        async with crawl:
            await crawl.begin()
            self.ended = await crawl.run()
            self.skipped = Counter(reason.value for reason in crawl.stats.refused.elements())
            for shard in crawl.shards.values():
                for site_id in await shard.store.sites_with_state("traps"):
                    self.has_learned = True
                    self.blocked_patterns = trap_reports((await shard.traps.states.of(site_id)).value)
        self.clock = SimClock(start=self.clock.now())

    def _archive(self, shard: int) -> MemoryArchive:
        return self._archives.setdefault(shard, MemoryArchive(shard))
