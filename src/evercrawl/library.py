"""The library: everything that the command line can do, as typed Python.

import evercrawl

with evercrawl.open("example.org.evercrawl", create=True) as collection:
    summary = collection.crawl_blocking(urls=["https://example.org/"])
    print(summary.fetched, collection.why("https://example.org/private").detail)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from evercrawl.adapters.lock import CollectionLock
from evercrawl.build import build_crawl
from evercrawl.config import create_collection, is_collection, read_settings
from evercrawl.engine.stop import StopSignal
from evercrawl.errors import ConfigError
from evercrawl.look import explain, page_view, skipped_urls, status_of
from evercrawl.model.report import Explanation, PageView, Progress, SkippedUrl, Status, Summary
from evercrawl.model.settings import Settings
from evercrawl.report import reporting, summary_of

__all__ = ["Collection", "StopSignal", "open"]

PROGRESS_EVERY_S = 0.25


def open(path: str | Path, *, create: bool = False, settings: Settings | None = None) -> Collection:
    """The collection in a folder; with `create` it is made where there is none."""
    folder = Path(path)
    if not is_collection(folder):
        if not create:
            raise ConfigError(
                f"{folder} is not a collection; make one with create=True or: evercrawl crawl URL"
            )
        create_collection(folder)
    return Collection(folder, settings or read_settings(folder).settings)


class Collection:
    """A folder that holds everything of one crawl. Looking needs no lock; crawling takes one."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path = path
        self.settings = settings

    async def crawl(
        self,
        *,
        urls: Sequence[str] = (),
        refresh: bool = False,
        stop: StopSignal | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Summary:
        """Start, resume or update: visit what is due, from the seeds and `urls` on, and say what was done."""
        with CollectionLock(self.path):
            settings = self._with_seeds(urls)
            crawl = build_crawl(self.path, settings, stop=stop)
            async with crawl:
                await crawl.begin(refresh=refresh)
                async with reporting(crawl, on_progress, every_s=PROGRESS_EVERY_S):
                    ended = await crawl.run()
            return summary_of(crawl, self.path, ended)

    def crawl_blocking(
        self,
        *,
        urls: Sequence[str] = (),
        refresh: bool = False,
        stop: StopSignal | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Summary:
        """The same for programs without an event loop."""
        import uvloop

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(self.crawl(urls=urls, refresh=refresh, stop=stop, on_progress=on_progress))

    def status(self) -> Status:
        """Counts by outcome and reason, sites, load, what is due."""
        return status_of(self.path)

    def why(self, url: str) -> Explanation:
        """What was decided about a URL, by which rule, and when it is due."""
        return explain(self.path, self.settings, url)

    def skipped(self, site: str | None = None) -> Iterator[SkippedUrl]:
        """Every URL that we met and did not ask for, with the reason."""
        return skipped_urls(self.path, site)

    def show(self, url: str) -> PageView:
        """The newest stored version of a page."""
        return page_view(self.path, self.settings, url)

    def _with_seeds(self, urls: Sequence[str]) -> Settings:
        seeds = tuple(dict.fromkeys((*self.settings.scope.seeds, *urls)))
        if not seeds:
            raise ConfigError("nothing to crawl: the collection has no seeds yet; name a URL")
        return replace(self.settings, scope=replace(self.settings.scope, seeds=seeds))

    def __enter__(self) -> Collection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    async def __aenter__(self) -> Collection:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass
