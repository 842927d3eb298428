"""Run the production engine in virtual time on a synthetic web, with everything in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from evercrawl.cluster.crawl_builder import assemble_crawl
from evercrawl.core.focus.classifier import TopicSketch
from evercrawl.core.focus.focus import Focus
from evercrawl.engine.crawl import Crawl
from evercrawl.engine.machines import Resolve
from evercrawl.engine.runtime import Ended, StopSignal
from evercrawl.model.settings import Settings
from evercrawl.testing.memory_archive import MemoryArchive, MemoryNear
from evercrawl.testing.sim_web import SimWeb
from evercrawl.testing.store import MemoryStore
from evercrawl.testing.virtual_time import SimClock, run


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
