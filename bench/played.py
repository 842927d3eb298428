"""A crawl by the whole engine in virtual time, with everything in memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Protocol

from evercrawl.cluster.crawl_builder import assemble_crawl
from evercrawl.engine.ports import Fetcher
from evercrawl.model.settings import Settings
from evercrawl.testing.sim_world import MemoryArchive, MemoryNear
from evercrawl.testing.store import MemoryStore
from evercrawl.testing.virtual_time import SimClock, run


class TimedWeb(Fetcher, Protocol):
    """A web that answers in its own time."""

    clock: SimClock


def settings_for(seeds: Iterable[str], *, requests: int) -> Settings:
    """So many requests from these pages, at the pace that is the default."""
    base = Settings()
    return replace(
        base,
        scope=replace(base.scope, seeds=tuple(seeds)),
        crawl=replace(base.crawl, max_pages=requests, idle_timeout=timedelta(hours=1)),
        http=replace(base.http, allow_private=True),
        identity=replace(base.identity, contact="mailto:bench@example.org"),
    )


def play(settings: Settings, web: TimedWeb, store: MemoryStore) -> None:
    """Crawl until nothing is left or the limit is reached."""

    async def go() -> None:
        made = assemble_crawl(
            settings,
            clock=web.clock,
            fetcher=web,
            store=store,
            open_archive=MemoryArchive,
            open_near=lambda _: MemoryNear(),
        )
        async with made as running:
            await running.begin()
            await running.run()

    run(go())
