"""A URL scheme of somebody else: fetched by its own fetcher, stored and explained like any page."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from evercrawl.adapters.plugins import load_schemes
from evercrawl.cluster.crawl_builder import assemble_crawl
from evercrawl.engine.ports import Clock
from evercrawl.engine.runtime import Ended
from evercrawl.errors import ConfigError
from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, FetchResult, Request
from evercrawl.model.settings import Settings
from evercrawl.testing import SimClock, SimWeb, run
from evercrawl.testing.memory_archive import MemoryArchive, MemoryNear
from evercrawl.testing.store import MemoryStore

PAGES = {
    "shelf://books/": b'<a href="/one">one</a> <a href="http://elsewhere.test/">x</a>',
    "shelf://books/one": b"<p>One.",
}


class Shelf:
    """A library of two pages under shelf:, with the interface of a fetcher."""

    def __init__(self, settings: Settings, clock: Clock, user_agent: str) -> None:
        self.asked: list[str] = []

    async def fetch(self, request: Request) -> FetchResult:
        self.asked.append(request.url)
        body = PAGES.get(request.url)
        if body is None:
            return Failed(request.url, Fault.NOT_FOUND, "no such book", timedelta(0), status=404)
        moment = datetime(2026, 1, 1, tzinfo=UTC)
        exchange = Exchange(b"GET", b"HTTP/1.1 200 OK\r\n\r\n", body, None, moment, timedelta(milliseconds=1))
        # Not the declared types: others do not check theirs.
        headers: Any = [["Content-Type", "text/html"]]
        return Fetched(request.url, 200, headers, bytearray(body), exchange)

    async def close(self) -> None:
        pass


def test_a_scheme_that_somebody_brings_is_crawled():
    settings = Settings()
    settings = replace(settings, scope=replace(settings.scope, seeds=("shelf://books/",)))
    archive = MemoryArchive(0)

    async def crawl() -> tuple[Ended, Shelf]:
        clock = SimClock()
        shelf = Shelf(settings, clock, "")
        made = assemble_crawl(
            settings,
            clock=clock,
            fetcher=SimWeb(1, sites=1, clock=clock),
            store=MemoryStore(1),
            open_archive=lambda shard: archive,
            open_near=lambda _: MemoryNear(),
            schemes={"shelf": shelf},
        )
        async with made as running:
            await running.begin()
            return await running.run(), shelf

    ended, shelf = run(crawl())
    assert ended is Ended.DONE
    assert shelf.asked == ["shelf://books/robots.txt", "shelf://books/", "shelf://books/one"]
    assert [entry.url for entry in archive.entries] == ["shelf://books/", "shelf://books/one"]


def test_fetchers_are_found_by_entry_point():
    point = EntryPoint("shelf", f"{__name__}:Shelf", "evercrawl.schemes")
    found = load_schemes(Settings(), SimClock(), "evercrawl/1", points=[point])
    assert isinstance(found["shelf"], Shelf)


def test_a_broken_package_is_named():
    point = EntryPoint("gopher", "no_such_module:Fetcher", "evercrawl.schemes")
    with pytest.raises(ConfigError, match=r"gopher.*no_such_module"):
        load_schemes(Settings(), SimClock(), "evercrawl/1", points=[point])
