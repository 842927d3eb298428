"""One run of a collection, from the lock to the summary: in this process, with several workers, or as a
member of a cluster.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from evercrawl.adapters.analysers import load_analysers
from evercrawl.adapters.focus_file import focus_from_file, focus_from_page, save_focus
from evercrawl.adapters.plugins import installed_schemes, load_filter
from evercrawl.adapters.sql.state_reader import StateReader
from evercrawl.adapters.system import reduce_gc_frequency
from evercrawl.cluster.crawl_builder import build_crawl, pace_for, uses_database
from evercrawl.cluster.supervisor import run_workers
from evercrawl.cluster.totals import PROGRESS_EVERY_S, report_progress, run_summary
from evercrawl.cluster.visit_requests import watch_requests
from evercrawl.collection.alerts.notifier import run_notifier
from evercrawl.collection.forecast import count_wait_causes
from evercrawl.collection.runs import publish_progress, record_run
from evercrawl.collection.search_index import follow_crawl
from evercrawl.collection.stored_pages import page_content
from evercrawl.config import collection_file, write_setting
from evercrawl.core.focus.focus import Focus, focus_from_query
from evercrawl.core.scope.scope import Scope
from evercrawl.engine.runtime import Ended, StopSignal
from evercrawl.errors import ConfigError
from evercrawl.model.report import Progress, Summary
from evercrawl.model.settings import Settings


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run is to do: also what is not due yet, wait for what comes due, look for a topic."""

    refresh: bool
    forever: bool
    focus: str | None
    stop: StopSignal
    tell: Callable[[Progress], None]


def add_seeds(path: Path, settings: Settings, urls: Sequence[str]) -> Settings:
    """New seeds belong to the collection from now on: they are written to its file."""
    known = settings.scope.seeds
    seeds = tuple(dict.fromkeys((*known, *urls)))
    if not seeds:
        raise ConfigError("nothing to crawl: the collection has no seeds yet; name a URL")
    if seeds == known:
        return settings
    settings = replace(settings, scope=replace(settings.scope, seeds=seeds))
    Scope(settings.scope, schemes=installed_schemes())
    write_setting(collection_file(path), "scope.seeds", seeds)
    return settings


async def run_crawl(path: Path, settings: Settings, errand: RunOptions, *, lock: int) -> Summary:
    """Run a collection that the caller has locked (by this open file), tell alerts meanwhile, keep the
    summary.
    """
    with publish_progress(path, errand.tell, forever=errand.forever) as tell:
        began = datetime.now(UTC)
        _check_outposts(path, settings)
        if errand.focus is not None:
            await set_focus(path, settings, errand.focus)
        async with run_notifier(path, settings):
            summary = await _run(path, settings, replace(errand, tell=tell), lock=lock)
        not_needed_by = count_wait_causes(StateReader(path), pages=summary.not_needed, since=began)
        summary = replace(summary, not_needed_by=not_needed_by)
        record_run(path, summary, began=began, forever=errand.forever)
        return summary


def _check_outposts(path: Path, settings: Settings) -> None:
    """An outpost has one home: a site whose shard went to another process would have two askers."""
    is_shared = settings.crawl.workers > 1 or uses_database(path, settings.store)
    if settings.outposts.listen is not None and is_shared:
        raise ConfigError("outposts need one process and its own files at home: leave --workers and --store away")


async def _run(path: Path, settings: Settings, errand: RunOptions, *, lock: int) -> Summary:
    if settings.crawl.workers > 1:
        return await _run_crew(path, settings, errand, lock=lock)
    if uses_database(path, settings.store):
        from evercrawl.cluster.database_worker import (
            CrawlTask,  # the database's library is an extra
            run_in_cluster,
        )

        task = CrawlTask(path, settings, errand.refresh, errand.forever)
        return await run_in_cluster(task, stop=errand.stop, on_progress=errand.tell)
    return await _run_here(path, settings, errand)


async def _run_crew(path: Path, settings: Settings, errand: RunOptions, *, lock: int) -> Summary:
    async with follow_crawl(path, settings.search, forever=errand.forever) as beside:
        summary = await run_workers(
            path,
            settings,
            refresh=errand.refresh,
            forever=errand.forever,
            stop=errand.stop,
            on_progress=errand.tell,
            lock=lock,
        )
        beside.is_done = summary.stopped != Ended.INTERRUPTED.value
    return summary


async def _run_here(path: Path, settings: Settings, errand: RunOptions) -> Summary:
    crawl = build_crawl(path, settings, stop=errand.stop, forever=errand.forever)
    async with follow_crawl(path, settings.search, forever=errand.forever) as beside:
        async with crawl:
            await crawl.begin(refresh=errand.refresh)
            async with watch_requests(crawl, path), report_progress(crawl, errand.tell, every_s=PROGRESS_EVERY_S):
                ended = await crawl.run()
        beside.is_done = ended is not Ended.INTERRUPTED
    return run_summary(crawl, path, ended)


NONE = "none"
"""The word that takes the focus away."""


async def set_focus(collection: Path, settings: Settings, named: str) -> None:
    """Give the collection the focus that is named; ConfigError where it cannot be learned."""
    if named == NONE:
        save_focus(collection, None)
    elif named.startswith(("http://", "https://")):
        save_focus(collection, focus_from_page(named, await _fetched(named, settings)))
    elif Path(named).is_file():
        save_focus(collection, focus_from_file(Path(named)))
    else:
        save_focus(collection, _of_words(named))


def _of_words(named: str) -> Focus:
    if "/" in named or named.endswith((".jsonl", ".json")):
        raise ConfigError(f"--focus {named!r}: there is no such file; it may also be a URL or words")
    try:
        return focus_from_query(named)
    except ValueError as error:
        raise ConfigError(f"--focus {named!r}: {error}") from error


async def _fetched(url: str, settings: Settings) -> str:
    """The page, asked for by the same polite means as every other: robots.txt first, then the gap."""
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
    # The crawl that follows does not know that its site was asked just now.
    await asyncio.sleep(pace_for(settings).floor.total_seconds())
    return page.html.decode("utf-8", "replace")


def check_plugins(settings: Settings) -> None:
    """Raise ConfigError for a filter, URL pattern or analyser that cannot be used; modules in this folder count."""
    names = (*settings.scope.plugins, *settings.analysis.analysers)
    if any(":" in name for name in names):
        sys.path.insert(0, str(Path.cwd()))
    filters = {name: load_filter(name) for name in settings.scope.plugins}
    Scope(settings.scope, filters=filters, schemes=installed_schemes())
    load_analysers(settings.analysis.analysers)


def min_delay(settings: Settings) -> timedelta:
    """Return the shortest delay between two requests to a site."""
    return pace_for(settings).floor


def tune_process() -> None:
    """Tune the garbage collector of a process that does nothing but crawl."""
    reduce_gc_frequency()
