"""Load URL filters, fetchers of other schemes and document handlers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from evercrawl.adapters.plugins import HANDLER_GROUP, load_filter, load_handlers, load_schemes
from evercrawl.cluster.crawl_builder import assemble_crawl
from evercrawl.engine.ports import Clock
from evercrawl.engine.runtime import Ended
from evercrawl.errors import ConfigError
from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, FetchResult, Request
from evercrawl.model.settings import Settings
from evercrawl.testing import SimClock, SimWeb, run
from evercrawl.testing.sim_world import MemoryArchive, MemoryNear
from evercrawl.testing.store import MemoryStore

SOURCE = """
class OnlyNews:
    def accepts(self, url):
        return "/news/" in url

class NeedsMore:
    def __init__(self, more):
        pass

class Space:
    inner = OnlyNews()

ready = OnlyNews()
number = 3
"""


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plugin_filters.py").write_text(SOURCE)
    (tmp_path / "plugin_broken.py").write_text("1 / 0")
    (tmp_path / "plugin_lacking.py").write_text("import plugin_that_does_not_exist")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("modules")
@pytest.mark.parametrize("name", ["plugin_filters:OnlyNews", "plugin_filters:ready", "plugin_filters:Space.inner"])
def test_objects_and_classes_are_loaded(name: str):
    found = load_filter(name)
    assert found.accepts("https://a.test/news/1")
    assert not found.accepts("https://a.test/")


@pytest.mark.usefixtures("modules")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("plugin_filters", "write it as module:object"),
        (":OnlyNews", "write it as module:object"),
        ("no_such_module:X", "there is no module 'no_such_module'"),
        ("no_such_module.inner:X", "there is no module 'no_such_module'"),
        ("plugin_filters.inner:X", "plugin_filters"),
        ("plugin_broken:X", "importing plugin_broken failed: ZeroDivisionError"),
        ("plugin_lacking:X", "plugin_lacking needs a missing module"),
        ("plugin_filters:Missing", "plugin_filters has no object 'Missing'"),
        ("plugin_filters:NeedsMore", r"NeedsMore\(\) failed: TypeError"),
        ("plugin_filters:number", r"number has no method accepts\(url\)"),
        ("plugin_filters:Space", r"Space has no method accepts\(url\)"),
    ],
)
def test_load_errors_are_explained(name: str, message: str):
    with pytest.raises(ConfigError, match=message):
        load_filter(name)


PAGES = {
    "shelf://books/": b'<a href="/one">one</a> <a href="http://elsewhere.test/">x</a>',
    "shelf://books/one": b"<p>One.",
}


class Shelf:
    """A fetcher of two pages with the scheme shelf:."""

    def __init__(self, settings: Settings, clock: Clock, user_agent: str) -> None:
        self.requested: list[str] = []

    async def fetch(self, request: Request) -> FetchResult:
        self.requested.append(request.url)
        body = PAGES.get(request.url)
        if body is None:
            return Failed(request.url, Fault.NOT_FOUND, "no such book", timedelta(0), status=404)
        moment = datetime(2026, 1, 1, tzinfo=UTC)
        exchange = Exchange(b"GET", b"HTTP/1.1 200 OK\r\n\r\n", body, None, moment, timedelta(milliseconds=1))
        # Not the declared types: plugins may not check theirs.
        headers: Any = [["Content-Type", "text/html"]]
        return Fetched(request.url, 200, headers, bytearray(body), exchange)

    async def close(self) -> None:
        pass


def test_pages_of_a_plugins_scheme_are_crawled():
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
    assert shelf.requested == ["shelf://books/robots.txt", "shelf://books/", "shelf://books/one"]
    assert [entry.url for entry in archive.entries] == ["shelf://books/", "shelf://books/one"]


def test_fetchers_are_found_by_entry_point():
    point = EntryPoint("shelf", f"{__name__}:Shelf", "evercrawl.schemes")
    found = load_schemes(Settings(), SimClock(), "evercrawl/1", points=[point])
    assert isinstance(found["shelf"], Shelf)


def test_a_broken_package_is_reported():
    point = EntryPoint("gopher", "no_such_module:Fetcher", "evercrawl.schemes")
    with pytest.raises(ConfigError, match=r"gopher.*no_such_module"):
        load_schemes(Settings(), SimClock(), "evercrawl/1", points=[point])


def handler_point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name=name, value=value, group=HANDLER_GROUP)


def test_a_broken_handler_is_a_warning() -> None:
    good = handler_point("b", "evercrawl.adapters.pdf:handler")
    handlers, warnings = load_handlers([good, handler_point("a", "no_such_module:x"), handler_point("c", "io:BytesIO")])
    assert set(handlers) == {"application/pdf", "application/x-pdf"}
    assert len(warnings) == 2
    assert "no_such_module" in warnings[0]


def test_the_package_provides_the_pdf_handler() -> None:
    handlers, _ = load_handlers()
    assert "application/pdf" in handlers
