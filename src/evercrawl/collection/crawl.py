"""Run a crawl of a collection: in this process, with several workers, or as a member of a cluster."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING

from evercrawl.adapters.graph_files import has_graph_support, load_numpy
from evercrawl.adapters.plugins import installed_schemes, load_filter
from evercrawl.adapters.sql.state_reader import StateReader
from evercrawl.adapters.system import loop_factory, raise_file_limit
from evercrawl.cluster.crawl_builder import build_crawl, pace_for, uses_database
from evercrawl.cluster.run_requests import end_control, stop_on_request, watch_requests
from evercrawl.cluster.totals import PROGRESS_EVERY_S, report_progress, run_summary
from evercrawl.collection.alerts.delivery_run import run_notifier
from evercrawl.collection.current_rules import requeue_allowed
from evercrawl.collection.runs import publish_progress, record_run
from evercrawl.config import collection_file, write_setting
from evercrawl.core.scope.scope import Scope
from evercrawl.core.url import canonical
from evercrawl.engine.runtime import Ended, StopSignal
from evercrawl.errors import ConfigError, EvercrawlError
from evercrawl.model.run import Progress, Summary
from evercrawl.model.settings import SearchSettings, Settings

if TYPE_CHECKING:
    from evercrawl.core.focus.classifier import TopicSketch

__all__ = [
    "RunOptions", "StopSignal", "add_seeds", "check_plugins", "follow_crawl", "loop_factory", "min_delay",
    "raise_file_limit", "run_crawl", "set_focus",
]  # fmt: skip

log = logging.getLogger("evercrawl")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of one run: visit pages that are not due, wait for due pages, focus on a topic."""

    refresh: bool
    forever: bool
    focus: str | None
    stop: StopSignal
    on_progress: Callable[[Progress], None]


def add_seeds(path: Path, settings: Settings, urls: Sequence[str]) -> Settings:
    """Add new seeds to the collection's file, and return the settings with all seeds."""
    for url in urls:
        if (removed := Scope(settings.scope).listed_refusal(canonical(url) or url)) is not None:
            raise ConfigError(f"{url} cannot be crawled: {removed[1]}")
    known = settings.scope.seeds
    seeds = tuple(dict.fromkeys((*known, *urls)))
    if not seeds:
        raise ConfigError("nothing to crawl: the collection has no seeds yet; give a URL")
    if seeds == known:
        return settings
    settings = replace(settings, scope=replace(settings.scope, seeds=seeds))
    Scope(settings.scope, sites=settings.sites, schemes=installed_schemes())
    write_setting(collection_file(path), "scope.seeds", seeds)
    return settings


async def run_crawl(path: Path, settings: Settings, options: RunOptions, *, lock: int) -> Summary:
    """Crawl a collection that the caller has locked (by this open file), send alerts, and record the run."""
    with publish_progress(path, options.on_progress, forever=options.forever) as on_progress:
        began = datetime.now(UTC)
        end_control(path)
        _check_outposts(path, settings)
        if options.focus is not None:
            await set_focus(path, settings, options.focus)
            settings = _start_at_example(settings, options.focus)
        requeue_allowed(path, settings)
        stopping = asyncio.create_task(stop_on_request(path, options.stop.finish, began=began))
        try:
            async with run_notifier(path, settings):
                summary = await _run(path, settings, replace(options, on_progress=on_progress), lock=lock)
        finally:
            stopping.cancel()
        reader = StateReader(path)
        if summary.not_needed:
            from evercrawl.collection.forecast import count_wait_causes  # a first crawl needs nothing of it

            causes = count_wait_causes(reader, pages=summary.not_needed, since=began)
            summary = replace(summary, not_needed_by=causes)
        summary = replace(summary, next_visit=reader.next_due())
        record_run(path, summary, began=began, forever=options.forever)
        return summary


def _check_outposts(path: Path, settings: Settings) -> None:
    """Raise ConfigError if outposts would share the collection with other processes."""
    is_shared = settings.crawl.workers > 1 or uses_database(path, settings.store)
    if settings.outposts.listen is not None and is_shared:
        raise ConfigError("outposts work only with one process and local files; remove --workers and --store")


async def _run(path: Path, settings: Settings, options: RunOptions, *, lock: int) -> Summary:
    if settings.crawl.workers > 1:
        return await _run_workers(path, settings, options, lock=lock)
    if uses_database(path, settings.store):
        from evercrawl.cluster.database_worker import (
            CrawlTask,  # the database's library is an extra
            run_in_cluster,
        )

        task = CrawlTask(path, settings, options.refresh, options.forever)
        return await run_in_cluster(task, stop=options.stop, on_progress=options.on_progress)
    return await _run_here(path, settings, options)


async def _run_workers(path: Path, settings: Settings, options: RunOptions, *, lock: int) -> Summary:
    from evercrawl.cluster.supervisor import run_workers

    async with follow_crawl(path, settings.search, forever=options.forever) as index:
        summary = await run_workers(
            path,
            settings,
            refresh=options.refresh,
            forever=options.forever,
            stop=options.stop,
            on_progress=options.on_progress,
            lock=lock,
        )
        index.crawl_is_done = summary.stopped != Ended.INTERRUPTED.value
    return summary


async def _run_here(path: Path, settings: Settings, options: RunOptions) -> Summary:
    crawl = build_crawl(path, settings, stop=options.stop, forever=options.forever)
    async with follow_crawl(path, settings.search, forever=options.forever) as index:
        async with crawl:
            await crawl.begin(refresh=options.refresh)
            async with (
                watch_requests(crawl, path),
                report_progress(crawl, options.on_progress, every_s=PROGRESS_EVERY_S),
            ):
                ended = await crawl.run()
        index.crawl_is_done = ended is not Ended.INTERRUPTED
    return run_summary(crawl, path, ended)


NO_FOCUS = "none"  # Removes the focus.


async def set_focus(collection: Path, settings: Settings, named: str) -> None:
    """Set the focus by a file of examples, an example URL, or words; raise ConfigError if that fails."""
    from evercrawl.adapters.focus_file import focus_from_file, save_focus

    if named == NO_FOCUS:
        save_focus(collection, None)
        return
    load_numpy("a focused crawl", "focus")
    if named.startswith(("http://", "https://")):
        save_focus(collection, await _focus_from_page(named, settings))
    elif Path(named).is_file():
        save_focus(collection, focus_from_file(Path(named)))
    else:
        save_focus(collection, _focus_from_words(named))


def _start_at_example(settings: Settings, named: str) -> Settings:
    """Return the settings with an example page that is in scope as a further seed of this run."""
    is_url = named.startswith(("http://", "https://"))
    if not is_url or Scope(settings.scope, schemes=installed_schemes()).verdict(named, depth=1) is not None:
        return settings
    seeds = tuple(dict.fromkeys((*settings.scope.seeds, named)))
    return replace(settings, scope=replace(settings.scope, seeds=seeds))


def _focus_from_words(named: str) -> TopicSketch:
    from evercrawl.adapters.learned import load_background
    from evercrawl.core.focus.classifier import sketch_from_words

    if "/" in named or named.endswith((".jsonl", ".json")):
        raise ConfigError(f"--focus {named!r}: no such file; give a file, a URL or words")
    try:
        return sketch_from_words(named, background=load_background())
    except ValueError as error:
        raise ConfigError(f"--focus {named!r}: {error}") from error


async def _focus_from_page(url: str, settings: Settings) -> TopicSketch:
    from evercrawl.adapters.learned import load_background
    from evercrawl.core.focus.classifier import sketch_from_pages
    from evercrawl.core.focus.focus import parse_page

    html = await _fetch_example(url, settings)
    try:
        return sketch_from_pages([(canonical(url) or url, parse_page(url, html))], background=load_background())
    except ValueError as error:
        raise ConfigError(f"--focus {url}: {error}; give another page, or a few words") from error


async def _fetch_example(url: str, settings: Settings) -> str:
    """Fetch the page with a small crawl, so that robots.txt and the delay are respected."""
    from evercrawl.collection.stored_pages import page_content

    only_this = replace(
        settings,
        scope=replace(settings.scope, seeds=(url,), kind="list", max_depth=0),
        crawl=replace(settings.crawl, max_pages=None, workers=1),
        sitemaps=replace(settings.sitemaps, enabled=False),
    )
    with TemporaryDirectory(prefix="evercrawl-focus-") as folder:
        crawl = build_crawl(Path(folder), only_this)
        async with crawl:
            await crawl.begin()
            await crawl.run()
        try:
            page = page_content(Path(folder), only_this, url)
        except ConfigError as error:
            cause = crawl.stats.first_error or "robots.txt or the server refused it"
            raise ConfigError(f"--focus {url}: the example could not be fetched: {cause}") from error
    # The main crawl does not know about this request, so wait out the delay here.
    await asyncio.sleep(pace_for(settings).floor.total_seconds())
    return page.html.decode("utf-8", "replace")


def check_plugins(settings: Settings) -> None:
    """Raise ConfigError for a filter, URL pattern or analyser that cannot be used; modules in this folder count."""
    names = (*settings.scope.plugins, *settings.analysis.analysers)
    if any(":" in name for name in names):
        sys.path.insert(0, str(Path.cwd()))
    filters = {name: load_filter(name) for name in settings.scope.plugins}
    Scope(settings.scope, sites=settings.sites, filters=filters, schemes=installed_schemes())
    if settings.analysis.analysers:
        from evercrawl.adapters.analysers import load_analysers

        load_analysers(settings.analysis.analysers)


def min_delay(settings: Settings) -> timedelta:
    """Return the shortest delay between two requests to a site."""
    return pace_for(settings).floor


GRAPH_INTERVAL = timedelta(hours=1)  # How often a crawl that runs forever rebuilds the link graph.


class IndexUpdater:
    """A thread that updates the search index during a crawl. Its errors never stop the crawl."""

    def __init__(self, collection: Path, settings: SearchSettings) -> None:
        self._collection = collection
        self._settings = settings
        self._stop = threading.Event()
        self.crawl_is_done = False
        """The crawl has ended by itself, so the link graph is rebuilt."""
        self._thread = threading.Thread(target=self._run, name="evercrawl-index", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def finish(self) -> None:
        """Index the rest, and end the thread."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._update_until_stopped()
        except EvercrawlError as error:
            log.warning("the search index is not up to date: %s", error)
        except Exception:
            log.exception("bug while indexing; the crawl continues without indexing")

    def _update_until_stopped(self) -> None:
        built = monotonic()
        while not self._stop.wait(self._settings.index_interval.total_seconds()):
            self._update_index()
            if monotonic() - built > GRAPH_INTERVAL.total_seconds():
                self._update_graph()
                built = monotonic()
        self._update_index()
        if self.crawl_is_done:
            self._update_graph()

    def _update_index(self) -> None:
        from evercrawl.adapters.tantivy import IndexBusy  # slow to load
        from evercrawl.collection.search_index import catch_up, open_text_index

        try:
            catch_up(self._collection, open_text_index(self._collection), self._settings)
        except IndexBusy:
            log.info("another process is writing the search index")

    def _update_graph(self) -> None:
        if not has_graph_support():
            return
        from evercrawl.collection.graph_builder import build_graph, is_outdated

        if is_outdated(self._collection):
            build_graph(self._collection)


@asynccontextmanager
async def follow_crawl(
    collection: Path, settings: SearchSettings, *, forever: bool = False
) -> AsyncIterator[IndexUpdater]:
    """Keep the index up to date while the block runs, if the settings say so."""
    updater = IndexUpdater(collection, settings)
    is_on = settings.enabled and (
        settings.background_index == "always" or (settings.background_index == "watch" and forever)
    )
    if is_on:
        updater.start()
    try:
        yield updater
    finally:
        if is_on:
            await asyncio.to_thread(updater.finish)
