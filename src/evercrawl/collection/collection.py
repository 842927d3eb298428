"""The library: everything that the command line can do, as typed Python.

import evercrawl

with evercrawl.open("example.org.evercrawl", create=True) as collection:
    summary = collection.crawl_blocking(urls=["https://example.org/"])
    print(summary.fetched, collection.why("https://example.org/private").detail)

What a method needs is imported when it is called: whoever looks at a page does not wait for the crawler.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from evercrawl.adapters.system import CollectionLock
from evercrawl.collection.exchange.export_run import Selection
from evercrawl.config import create_collection, is_collection, read_settings
from evercrawl.core.traps.user_rules import RuleAction
from evercrawl.engine.runtime import StopSignal
from evercrawl.errors import ConfigError
from evercrawl.model.settings import Settings, TrapSettings

if TYPE_CHECKING:
    from evercrawl.collection.alerts.registry import AlertRegistry
    from evercrawl.collection.alerts.subscriptions import WebsubClient
    from evercrawl.collection.exchange.export_run import ExportReport, OnProgress
    from evercrawl.collection.exchange.import_run import OnImport
    from evercrawl.collection.exchange.import_shard import ImportReport
    from evercrawl.collection.maintenance import DiskUsage, OnVerify, VerifyReport
    from evercrawl.collection.searcher import Searcher
    from evercrawl.model.change import VersionDiff
    from evercrawl.model.history import ChangeGroup, Mute, PageHistory, PageSentiment, PageStatistics, PruneReport
    from evercrawl.model.links import BadLink, GraphSummary, PageLinks, RankedPage
    from evercrawl.model.listing import VisitLogRow
    from evercrawl.model.report import (
        Explanation,
        FreshnessEstimate,
        PageContent,
        Progress,
        RevisitPlan,
        SkippedUrl,
        Status,
        Summary,
    )
    from evercrawl.model.search import IndexState, SearchResults
    from evercrawl.model.site import RateOverride, RuleEffect, TrapPattern
    from evercrawl.sitemaps.generator import BuildReport

__all__ = ["Collection", "Selection", "StopSignal", "open"]


def open(path: str | Path, *, create: bool = False, settings: Settings | None = None) -> Collection:
    """The collection in a folder; with `create` it is made where there is none."""
    folder = Path(path)
    if not is_collection(folder):
        if not create:
            raise ConfigError(f"{folder} is not a collection; make one with create=True or: evercrawl crawl URL")
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
        forever: bool = False,
        stop: StopSignal | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        focus: str | None = None,
    ) -> Summary:
        """Start, resume or update: visit what is due, from the seeds and `urls` on, and say what was done.

        With `forever` it waits for what comes due, until `stop` says otherwise. `focus` is what to look
        for: a file of examples, the URL of one, or words; it stays until another is given, or "none".
        Alerts are told meanwhile.
        """
        from evercrawl.collection.crawl import RunOptions, add_seeds, run_crawl

        with CollectionLock(self.path) as lock:
            self.settings = add_seeds(self.path, self.settings, urls)
            tell = on_progress or _tell_nobody
            errand = RunOptions(refresh, forever, focus, stop or StopSignal(), tell)
            return await run_crawl(self.path, self.settings, errand, lock=lock.fileno())

    def crawl_blocking(
        self,
        *,
        urls: Sequence[str] = (),
        refresh: bool = False,
        stop: StopSignal | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        focus: str | None = None,
    ) -> Summary:
        """The same for programs without an event loop."""
        import uvloop

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(self.crawl(urls=urls, refresh=refresh, stop=stop, on_progress=on_progress, focus=focus))

    @property
    def alerts(self) -> AlertRegistry:
        """What somebody wants to be told of; add, list, test, log, remove."""
        from evercrawl.collection.alerts.registry import AlertRegistry

        return AlertRegistry(self.path, self.settings)

    def websub(self, public_url: str | None = None) -> WebsubClient:
        """Subscriptions at hubs; `public_url`: where `evercrawl serve` is reached by them, needed to ask for
        something.
        """
        from evercrawl.collection.alerts.subscriptions import (  # few ask for it
            WebsubClient,
            callback_url_at,
            no_callback,
        )

        callback = no_callback if public_url is None else callback_url_at(public_url)
        return WebsubClient(self.path, self.settings, callback=callback)

    def status(self) -> Status:
        """Counts by outcome and reason, sites, load, what is due, sites that explode."""
        from evercrawl.adapters.sql.state_reader import StateReader
        from evercrawl.collection.status import status_of
        from evercrawl.collection.traps import exploding_sites

        traps = exploding_sites(StateReader(self.path))
        return replace(status_of(self.path, self.settings), traps=traps, slowed=self.slowed())

    def traps(self) -> list[TrapPattern]:
        """What is left out or asked for last since it brings nothing, with the evidence; your rules first."""
        from evercrawl.collection.traps import trap_patterns

        return trap_patterns(self.path, self.settings.traps)

    def trap_exclude(self, pattern: str, site: str | None = None, *, do: bool = False) -> RuleEffect:
        """What leaving out a pattern would touch; with `do` it is left out from now on, also by a crawl that
        runs.
        """
        return self._rule(RuleAction.EXCLUDE, pattern, site, do=do)

    def trap_allow(self, pattern: str, site: str | None = None, *, do: bool = False) -> RuleEffect:
        """What allowing a pattern would touch; with `do` nothing is said against it from now on."""
        return self._rule(RuleAction.ALLOW, pattern, site, do=do)

    def trap_undo(self, pattern: str, site: str | None = None) -> bool:
        """Take back every word about a pattern; False: there was none."""
        from evercrawl.adapters.sql.state_reader import StateReader
        from evercrawl.collection.traps import match_sites, set_rule

        before = self._trap_settings()
        after = set_rule(self.path, before, None, pattern, match_sites(StateReader(self.path), site))
        self.settings = replace(self.settings, traps=after)
        return after != before

    def _rule(self, word: RuleAction, pattern: str, site: str | None, *, do: bool) -> RuleEffect:
        from evercrawl.collection.traps import rule_effect, set_rule

        effect = rule_effect(self.path, pattern, site)
        if not do:
            return effect
        after = set_rule(self.path, self._trap_settings(), word, pattern, effect.sites)
        self.settings = replace(self.settings, traps=after)
        return replace(effect, done=True)

    def _trap_settings(self) -> TrapSettings:
        """As they are in the collection's file, which others may have written since."""
        return read_settings(self.path).settings.traps

    def slowed(self) -> tuple[RateOverride, ...]:
        """Sites that are asked more slowly because somebody said so."""
        from evercrawl.collection.rate_overrides import rate_overrides

        return rate_overrides(read_settings(self.path).settings.pace.overrides)

    def slow_down(self, site: str, gap: timedelta) -> RateOverride:
        """At least this gap between two requests to the site from now on, also in a crawl that runs."""
        from evercrawl.collection.rate_overrides import set_rate_override

        return set_rate_override(self.path, site, gap)

    def slow_no_more(self, site: str) -> bool:
        """Take back what was said about the site; False: nothing was."""
        from evercrawl.collection.rate_overrides import remove_rate_override

        return remove_rate_override(self.path, site)

    def freshness(self) -> FreshnessEstimate:
        """The estimated share of pages whose copy is current, with its uncertainty."""
        from evercrawl.adapters.sql.state_reader import StateReader
        from evercrawl.collection.forecast import collection_freshness

        return collection_freshness(StateReader(self.path), self.settings.revisit, now=datetime.now(UTC))

    def plan(self, budget: float | str | None = None) -> RevisitPlan:
        """What would be fetched with a budget (requests a day, or text such as "50/hour"; None: that of the
        settings), and the freshness to expect; nothing is sent.
        """
        from evercrawl.adapters.sql.state_reader import StateReader
        from evercrawl.collection.forecast import plan_revisits
        from evercrawl.model.time import parse_rate

        try:
            per_day = parse_rate(budget) if isinstance(budget, str) else budget
        except ValueError as error:
            raise ConfigError(f"the budget {budget!r} {error}") from None
        return plan_revisits(StateReader(self.path), self.settings.revisit, budget=per_day, now=datetime.now(UTC))

    def why(self, url: str) -> Explanation:
        """What was decided about a URL, by which rule, and when it is due."""
        from evercrawl.collection.explain import explain

        return explain(self.path, self.settings, url)

    def skipped(self, site: str | None = None) -> Iterator[SkippedUrl]:
        """Every URL that we met and did not ask for, with the reason."""
        from evercrawl.collection.status import skipped_urls

        return skipped_urls(self.path, site)

    def log(
        self, site: str | None = None, *, since: datetime | None = None, until: datetime | None = None
    ) -> Iterator[VisitLogRow]:
        """Every visit to a site, or to all, oldest first; `core.crawl_log.crawl_line` writes it as Heritrix
        would.
        """
        from evercrawl.collection.visit_log import iterate_visits

        return iterate_visits(self.path, self.settings, site=site, since=since, until=until)

    def show(self, url: str, at: str | None = None) -> PageContent:
        """A version of a page: `at` (or `@...` behind the URL) is a time, -1, or v3; else the newest."""
        from evercrawl.collection.stored_pages import page_content

        return page_content(self.path, self.settings, url, at)

    def history(self, url: str) -> PageHistory:
        """Every version of a page, oldest first, with the span in which it came to be."""
        from evercrawl.collection.history import page_history

        return page_history(self.path, self.settings, url)

    def sentiment(self, url: str) -> PageSentiment:
        """How friendly a page was, version by version, and the mean of its site."""
        from evercrawl.collection.history import page_sentiment_history

        return page_sentiment_history(self.path, self.settings, url)

    def facts(self, url: str) -> PageStatistics:
        """The statistics of one page: parent, ASCII count, last modified, frequency of change, file."""
        from evercrawl.collection.history import page_statistics

        return page_statistics(self.path, self.settings, url)

    def diff(self, url: str, a: str | None = None, b: str | None = None) -> VersionDiff:
        """From version `a` (otherwise the one before the newest) to `b` (otherwise the newest)."""
        from evercrawl.collection.history import diff_versions

        return diff_versions(self.path, self.settings, url, a, b)

    def changes(
        self, since: datetime, *, site: str | None = None, noise: bool = False, muted: bool = False
    ) -> list[ChangeGroup]:
        """What changed on known pages since a moment, grouped, the most significant first; what lies in muted
        parts only with `muted`.
        """
        from evercrawl.collection.change_groups import changes_since

        mutes = [] if muted else self.mutes()
        return changes_since(self.path, since, site=site, noise=noise, mutes=mutes)

    def mutes(self) -> list[Mute]:
        """The parts of pages whose changes nobody wants to be told of."""
        from evercrawl.collection.change_inbox import ChangeInbox

        return ChangeInbox(self.path).mutes()

    def mute(self, pattern: str, *, site: str | None = None, page: str | None = None, who: str = "library") -> Mute:
        """Tell nobody any more of edits of this form (`*` stands for anything), on a site or on a page."""
        from evercrawl.collection.change_inbox import add_mute

        return add_mute(self.path, pattern, site=site, page=page, who=who, now=datetime.now(UTC))

    def unmute(self, number: int) -> Mute | None:
        """Take a mute back by its number; None: there is none."""
        from evercrawl.collection.change_inbox import ChangeInbox

        return ChangeInbox(self.path).unmute(number)

    def prune(self, keep: str, *, do: bool = False) -> PruneReport:
        """What a retention rule such as "daily:30 monthly:*" takes away; with `do` it is taken away."""
        from evercrawl.collection.maintenance import prune

        return prune(self.path, self.settings, keep, do=do)

    def export(
        self,
        form: str,
        to: str | Path | None = None,
        *,
        selection: Selection | None = None,
        force: bool = False,
        on_progress: OnProgress | None = None,
    ) -> ExportReport:
        """Write the selected versions in one of the forms that `evercrawl export` has."""
        from evercrawl.collection.exchange.export import export, parse_export_format

        return export(
            self.path,
            self.settings,
            parse_export_format(form),
            to=None if to is None else Path(to),
            selection=selection,
            force=force,
            on_progress=on_progress,
        )

    def import_(self, form: str, files: Sequence[str | Path], *, on_progress: OnImport | None = None) -> ImportReport:
        """Take in WARC files or WACZ packages: every answer in them becomes a visit at its time."""
        from evercrawl.collection.exchange.import_run import import_archives
        from evercrawl.collection.exchange.import_sources import parse_import_format

        paths = [Path(file) for file in files]
        return import_archives(self.path, self.settings, paths, form=parse_import_format(form), on_progress=on_progress)

    def build_sitemap(
        self, to: str | Path, *, state: str | Path, base_url: str | None = None, gzip: bool = False
    ) -> BuildReport:
        """Write sitemaps of the pages below `base_url` (otherwise of the collection's one site) into the
        folder `to`; `state` is the file that the next build compares with.
        """
        from evercrawl.collection.sitemap import build_from_collection, collection_base_url
        from evercrawl.sitemaps.folder_pages import parse_base_url
        from evercrawl.sitemaps.generator import SitemapTarget

        base = collection_base_url(self.settings) if base_url is None else parse_base_url(base_url)
        target = SitemapTarget(Path(to), base, Path(state), compressed=gzip)
        return build_from_collection(self.path, self.settings, target)

    def verify(self, *, on_progress: OnVerify | None = None) -> VerifyReport:
        """Read every stored version back and compute its digests anew."""
        from evercrawl.collection.maintenance import verify

        return verify(self.path, on_progress=on_progress)

    def space(self) -> list[DiskUsage]:
        """The room that the collection takes, part by part."""
        from evercrawl.collection.maintenance import disk_usage

        return disk_usage(self.path)

    def vacuum(self) -> int:
        """Give back what the state files hold without need; the number of bytes freed."""
        from evercrawl.collection.maintenance import vacuum

        return vacuum(self.path, self.settings)

    # Search and the link graph: imported where they are asked for, because their libraries are large

    def search(
        self, query: str, *, limit: int = 10, as_of: datetime | None = None, with_facets: bool = False
    ) -> SearchResults:
        """The best hits for a query, as `evercrawl search` has them; ConfigError where it cannot be read."""
        from evercrawl.collection.search import search

        settings = self.settings.search
        return search(self.path, settings, query, limit=limit, as_of=as_of, with_facets=with_facets)

    def searching(self) -> Searcher:
        """The index held open for many questions; the caller closes it and brings the index up itself."""
        from evercrawl.collection.searcher import Searcher

        return Searcher(self.path, self.settings.search)

    def index_state(self) -> IndexState:
        """How the search index stands to the collection."""
        from evercrawl.collection.search_index import index_state, open_text_index

        return index_state(self.path, open_text_index(self.path))

    def rebuild_index(self) -> int:
        """Make index and link graph anew from what is stored; the number of versions indexed."""
        from evercrawl.collection.graph_builder import build_graph
        from evercrawl.collection.search_index import rebuild_index

        count = rebuild_index(self.path, self.settings.search)
        build_graph(self.path)
        return count

    def links(self, url: str, *, as_it_was: bool = False) -> PageLinks:
        """What links to a page, what it links to, and how important it is; `as_it_was`: by the link graph as
        it was last made, which costs nothing.
        """
        from evercrawl.collection.link_report import page_links

        return page_links(self.path, self.settings, url, as_it_was=as_it_was)

    def bad_links(self, site: str | None = None) -> Iterator[BadLink]:
        """Links that are dead or lead to pages that have moved."""
        from evercrawl.collection.link_report import bad_links

        return bad_links(self.path, site)

    def orphans(self) -> list[str]:
        """Known pages that no page links to."""
        from evercrawl.collection.link_report import orphans

        return orphans(self.path)

    def graph(self) -> GraphSummary:
        """The link graph in numbers."""
        from evercrawl.collection.link_report import graph_summary

        return graph_summary(self.path)

    def best_pages(self, scores: str = "ranks", most: int = 20) -> list[RankedPage]:
        """The pages with the highest PageRank (ranks), hub or authority scores (hubs, authorities)."""
        from evercrawl.collection.graph_builder import up_to_date_graph
        from evercrawl.collection.link_report import top_pages

        return top_pages(self.path, up_to_date_graph(self.path), scores, most)

    def rebuild_graph(self) -> None:
        """Make the link graph anew."""
        from evercrawl.collection.graph_builder import build_graph

        build_graph(self.path)

    def export_graph(self, form: str, to: str | Path, *, force: bool = False) -> dict[str, int]:
        """Write the link graph as graphml or parquet; the numbers of pages and links."""
        from evercrawl.collection.graph_export import export_graph

        return export_graph(self.path, form, Path(to), force=force)

    def draw_graph(self, site: str | None = None) -> str:
        """The structure of the collection or of one site, as SVG."""
        from evercrawl.collection.graph_export import draw_graph

        return draw_graph(self.path, site)

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


def _tell_nobody(_: Progress) -> None:
    pass
