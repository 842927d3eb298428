"""The class `Collection`: everything that the command line can do, as typed Python.
Methods import what they need when they are called, so that reading a page does not load the crawler."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from evercrawl.adapters.system import CollectionLock, loop_factory, outside_event_loop
from evercrawl.config import create_collection, is_collection, read_settings, removals_folder
from evercrawl.config.trust import check_collection
from evercrawl.core.traps.user_rules import RuleAction
from evercrawl.core.url import without_user
from evercrawl.errors import ConfigError
from evercrawl.model.change import PartVerdict
from evercrawl.model.listing import SkippedUrl, VersionSelection
from evercrawl.model.settings import Settings, TrapSettings

if TYPE_CHECKING:
    from evercrawl.collection.alerts.registry import AlertRegistry
    from evercrawl.collection.alerts.subscriptions import WebsubClient
    from evercrawl.collection.exchange.export_run import ExportReport, OnProgress
    from evercrawl.collection.exchange.import_run import OnImport
    from evercrawl.collection.exchange.import_shard import ImportReport
    from evercrawl.collection.field_values import FieldRow, RepairProposal, SuggestedFields
    from evercrawl.collection.iterators import PageChange, PageItem, PageVersion, RecordIterator
    from evercrawl.collection.maintenance import DiskUsage, OnVerify, VerifyReport
    from evercrawl.collection.overrides import PlaceSchedule
    from evercrawl.collection.removal import Removal
    from evercrawl.collection.searcher import Searcher
    from evercrawl.core.items import ExtractItems
    from evercrawl.engine.runtime import StopSignal
    from evercrawl.model.change import Mute, PictureDiff, VersionDiff
    from evercrawl.model.fields import FieldRepair, FieldRule
    from evercrawl.model.history import (
        ChangeGroup,
        PageEvent,
        PageHistory,
        PageSentiment,
        PageStatistics,
        PruneReport,
        WatchReport,
    )
    from evercrawl.model.listing import (
        BadLink,
        CreditReport,
        GraphSummary,
        PageBalance,
        PageLinks,
        RankedPage,
        SkippedUrl,
        VisitLogRow,
    )
    from evercrawl.model.report import Explanation, FreshnessEstimate, PageContent, RevisitPlan, Status
    from evercrawl.model.run import Progress, Summary
    from evercrawl.model.search import IndexState, SearchResults
    from evercrawl.model.site import RateOverride, RuleEffect, TrapPattern
    from evercrawl.sitemaps.generator import BuildReport


def open(
    path: str | Path,
    *,
    create: bool = False,
    settings: Settings | None = None,
    untrusted: bool = False,
    **overrides: object,
) -> Collection:
    """Open the collection in a folder; with `create`, create it if there is none.
    Single settings may be given as `section__name=value`, such as `http__allow_private=True`; they are not written.
    With `untrusted`, or if you neither created nor trusted it, its alerts and its settings that name code, files or
    machines are off."""
    folder = Path(path)
    if settings is not None and overrides:
        raise ConfigError("give either settings or single settings such as crawl__max_pages=5, not both")
    if not is_collection(folder):
        if not create:
            raise ConfigError(f"{folder} is not a collection; create one with create=True or: evercrawl crawl URL")
        create_collection(folder)
    if settings is None:
        flags = {name.replace("__", ".", 1): value for name, value in overrides.items()}
        return Collection(folder, read_settings(folder, flags=flags, untrusted=untrusted).settings)
    named = {"store.url": settings.store.url, "archive.url": settings.archive.url}
    distrust = check_collection(folder, os.environ, named=named, untrusted=untrusted)
    return Collection(folder, replace(settings, is_trusted=settings.is_trusted and distrust is None))


MAX_SEEDS_SHOWN = 10  # In a notebook.


class Collection:
    """A folder with everything of one crawl. Reading takes no lock; crawling takes an exclusive one."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path = path
        self.settings = settings
        self._stop: StopSignal | None = None

    def __repr__(self) -> str:
        return f"<evercrawl.Collection {str(self.path)!r}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: where the collection is and where it starts."""
        from html import escape

        seeds = self.settings.scope.seeds
        shown = "".join(f"<li>{escape(seed)}</li>" for seed in seeds[:MAX_SEEDS_SHOWN])
        more = f"<li>… {len(seeds) - MAX_SEEDS_SHOWN:,} more</li>" if len(seeds) > MAX_SEEDS_SHOWN else ""
        return f"<b>Collection {escape(str(self.path))}</b><ul>{shown}{more}</ul>"

    def typed_url(self, text: str) -> str:
        """Return the URL of a page as people type it, with its scheme (that of the known site, otherwise https) and
        as links are stored: without a user name and password."""
        from evercrawl.collection.site_list import known_scheme

        return without_user(text if "://" in text else f"{known_scheme(self.path, self.settings, text)}://{text}")

    # Crawling

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
        """Visit the pages that are due, starting from the seeds and `urls`, and send alerts meanwhile.
        With `refresh`, every known page is due. With `forever`, the crawl waits for pages to become due until it is
        stopped. `focus` is a file of examples, an example URL, or words; it stays until you give another or "none"."""
        from evercrawl.collection.crawl import RunOptions, StopSignal, add_seeds, run_crawl

        self._stop = stop or StopSignal()
        with CollectionLock(self.path) as lock:
            self._finish_removals()
            self.settings = add_seeds(self.path, self.settings, urls)
            options = RunOptions(refresh, forever, focus, self._stop, on_progress or _ignore_progress)
            try:
                summary = await run_crawl(self.path, self.settings, options, lock=lock.fileno())
                self._repair_fields()
                return summary
            finally:
                self._finish_removals()

    def crawl_blocking(
        self,
        *,
        urls: Sequence[str] = (),
        refresh: bool = False,
        stop: StopSignal | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        focus: str | None = None,
    ) -> Summary:
        """Run `crawl` in an event loop of its own. Where a loop runs already, as in a notebook, it gets a thread of its
        own meanwhile, so that `on_progress` is called there."""

        def run() -> Summary:
            with asyncio.Runner(loop_factory=loop_factory()) as runner:
                return runner.run(
                    self.crawl(urls=urls, refresh=refresh, stop=stop, on_progress=on_progress, focus=focus)
                )

        return outside_event_loop(run, on_interrupt=self.stop)

    def stop(self, *, now: bool = False) -> None:
        """End the running crawl: let requests in flight finish, or with `now`, cancel them."""
        if self._stop is not None and now:
            self._stop.cancel()
        elif self._stop is not None:
            self._stop.finish()

    # Removal

    def remove(self, kind: str, name: str, *, request: str = "", who: str = "library", apply: bool = False) -> Removal:
        """Return what removing a site, page or version (`kind`) deletes; with `apply`, remove it everywhere.
        `name` is a site, a URL or `URL@VERSION`; `request` says why, or on whose request."""
        from evercrawl.collection.removal import preview, remove

        if not apply:
            return preview(self.path, self.settings, kind, name)
        return remove(self.path, self.settings, kind, name, request=request, who=who)

    def _finish_removals(self) -> None:
        """Carry out removals that were interrupted or had to wait for a crawl."""
        if removals_folder(self.path).is_dir():
            from evercrawl.collection.removal import finish_removals

            finish_removals(self.path, self.settings)

    # Status and decisions

    def status(self) -> Status:
        """Return counts by outcome and reason, sites, load, due pages and trap patterns."""
        from evercrawl.adapters.sql.state_reader import StateReader
        from evercrawl.collection.runs import status_of
        from evercrawl.collection.traps import costliest_traps

        traps = costliest_traps(StateReader(self.path))
        return replace(status_of(self.path, self.settings), traps=traps, rate_overrides=self.rate_overrides())

    def why(self, url: str) -> Explanation:
        """Return the decision about a URL, the rule behind it, and when the URL is due."""
        from evercrawl.collection.explain import explain

        return explain(self.path, self.settings, without_user(url))

    def skipped(self, site: str | None = None) -> Iterator[SkippedUrl]:
        """Yield every URL that was found but not requested, with the reason."""
        from evercrawl.collection.current_rules import skipped_urls

        return skipped_urls(self.path, self.settings, site)

    def log(
        self, site: str | None = None, *, since: datetime | None = None, until: datetime | None = None
    ) -> Iterator[VisitLogRow]:
        """Yield every visit to a site, or to all sites, oldest first."""
        from evercrawl.collection.visit_log import iterate_visits

        return iterate_visits(self.path, self.settings, site=site, since=since, until=until)

    def freshness(self) -> FreshnessEstimate:
        """Return the estimated share of pages whose copy is current, with its uncertainty."""
        from evercrawl.adapters.sql.state_reader import StateReader
        from evercrawl.collection.forecast import collection_freshness

        return collection_freshness(StateReader(self.path), self.settings.revisit, now=datetime.now(UTC))

    def plan(self, budget: float | str | None = None) -> RevisitPlan:
        """Return which pages a budget would visit and the freshness to expect, without any request.
        The budget is requests per day, or text such as "50/hour"; None: the budget of the settings."""
        from evercrawl.adapters.sql.state_reader import StateReader
        from evercrawl.collection.forecast import plan_revisits
        from evercrawl.model.time import parse_rate

        try:
            per_day = parse_rate(budget) if isinstance(budget, str) else budget
        except ValueError as error:
            raise ConfigError(f"the budget {budget!r} {error}") from None
        return plan_revisits(StateReader(self.path), self.settings.revisit, budget=per_day, now=datetime.now(UTC))

    # Pages and their versions

    def screenshot(self, url: str) -> bytes:
        """Return the screenshot of a rendered version (`URL@TIME`; default: the newest), as WebP or PNG."""
        from evercrawl.collection.stored_pages import page_screenshot

        return page_screenshot(self.path, self.settings, url)

    def show(self, url: str, at: str | None = None) -> PageContent:
        """Return a version of a page: `at` (or `@...` after the URL) is a time, -1 or v3; default: the newest."""
        from evercrawl.collection.stored_pages import page_content

        return page_content(self.path, self.settings, url, at)

    def markdown(self, url: str, at: str | None = None) -> str:
        """Return a version of a page as Markdown: title, source, main text; `at` as in `show`."""
        from evercrawl.collection.exchange.markdown import content_markdown

        return content_markdown(self.show(url, at))

    def history(self, url: str) -> PageHistory:
        """Return every version of a page, oldest first, with the time span in which it appeared."""
        from evercrawl.collection.history import page_history

        return page_history(self.path, self.settings, url)

    def sentiment(self, url: str) -> PageSentiment:
        """Return the sentiment of each version of a page, and the mean of its site."""
        from evercrawl.collection.history import page_sentiment_history

        return page_sentiment_history(self.path, self.settings, url)

    def statistics(self, url: str) -> PageStatistics:
        """Return the statistics of one page: parent, ASCII count, last modified, frequency of change, file."""
        from evercrawl.collection.history import page_statistics

        return page_statistics(self.path, self.settings, url)

    def diff(self, url: str, a: str | None = None, b: str | None = None) -> VersionDiff:
        """Return the difference from version `a` (default: the second newest) to `b` (default: the newest)."""
        from evercrawl.collection.history import diff_versions

        return diff_versions(self.path, self.settings, url, a, b)

    def diff_screenshots(self, url: str, a: str | None = None, b: str | None = None) -> PictureDiff:
        """Return where the screenshots of two versions differ; raise ConfigError if one of them has none."""
        from evercrawl.collection.history import diff_screenshots

        return diff_screenshots(self.path, self.settings, url, a, b)

    def pages(
        self,
        *,
        site: str | None = None,
        pattern: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        media_type: str | None = None,
        lang: str | None = None,
        text: str | None = None,
        usable_for: str | None = None,
        all_versions: bool = False,
    ) -> RecordIterator[PageVersion]:
        """Return the newest version of each page, or all versions, that match all filters. `pattern` is a URL in which
        `*` stands for any text, `text` is contained in the main text; times may be written as "7d" or "2026-11-01".
        `usable_for` leaves out versions whose publisher refuses this use: search, ai-input, ai-train, tdm."""
        from evercrawl.collection.iterators import PageFilter, RecordIterator, iterate_pages

        selection = VersionSelection(site, _moment(since), _moment(until, at_end=True), lang, all_versions, usable_for)
        wanted = PageFilter(selection, pattern, media_type, text)
        filters: dict[str, object] = {"site": site, "pattern": pattern, "since": since, "until": until}
        filters |= {"media_type": media_type, "lang": lang, "text": text, "usable_for": usable_for}
        filters["all_versions"] = all_versions
        return RecordIterator("pages", lambda: iterate_pages(self.path, self.settings, wanted), filters)

    def changes(
        self,
        since: datetime | str | None = None,
        *,
        until: datetime | str | None = None,
        site: str | None = None,
        pattern: str | None = None,
        text: str | None = None,
        noise: bool = False,
    ) -> RecordIterator[PageChange]:
        """Return the changes of pages that match all filters, oldest first, with their edits; see `pages`.
        For the same edit on many pages as one, see `change_groups`."""
        from evercrawl.collection.iterators import ChangeFilter, RecordIterator, iterate_changes

        wanted = ChangeFilter(_moment(since), _moment(until, at_end=True), site, pattern, text, noise)
        filters = {"since": since, "until": until, "site": site, "pattern": pattern, "text": text, "noise": noise}
        return RecordIterator("changes", lambda: iterate_changes(self.path, wanted), filters)

    def items(
        self, source: type | ExtractItems | None = None, *, all_versions: bool = False, **filters: Any
    ) -> RecordIterator[PageItem]:
        """Return the items that analysers stored with pages: all, or those of one class (a dataclass or pydantic
        model). With a function instead, run it on the stored pages now. The filters are those of `pages`."""
        from evercrawl.collection.iterators import RecordIterator, iterate_items

        pages = self.pages(all_versions=all_versions, **filters)
        shown = filters | {"of": getattr(source, "__name__", None), "all_versions": all_versions}
        return RecordIterator("items", lambda: iterate_items(iter(pages), source), shown)

    def change_groups(
        self, since: datetime, *, site: str | None = None, noise: bool = False, muted: bool = False
    ) -> list[ChangeGroup]:
        """Return the changes of known pages since a time, grouped, most significant first.
        Changes in muted parts are included only with `muted`, and what the last visits called noise with `noise`."""
        from evercrawl.collection.change_groups import changes_since
        from evercrawl.collection.overrides import add_noise, noise_since

        mutes = [] if muted else self.mutes()
        found = changes_since(self.path, since, site=site, noise=noise, mutes=mutes)
        return add_noise(found, noise_since(self.path, since, site=site, mutes=mutes)) if noise else found

    def page_events(self, since: datetime, *, site: str | None = None) -> tuple[PageEvent, ...]:
        """Return the pages that are new, gone or back since a time, the newest first."""
        from evercrawl.collection.change_groups import read_window

        return read_window(self.path, since, site=site, with_texts=False).events

    def mutes(self, verdict: PartVerdict = PartVerdict.NOISE) -> list[Mute]:
        """Return the muted parts of pages, or those whose changes are always reported."""
        from evercrawl.collection.change_inbox import ChangeInbox

        return ChangeInbox(self.path).mutes(verdict)

    def mute(
        self,
        pattern: str,
        *,
        site: str | None = None,
        page: str | None = None,
        who: str = "library",
        verdict: PartVerdict = PartVerdict.NOISE,
    ) -> Mute:
        """Hide changes that match a pattern (`*` matches anything), on a site or on a page.
        With the verdict `content` they are reported instead from the next visit on, even if they look like noise."""
        from evercrawl.collection.change_inbox import add_mute

        return add_mute(self.path, pattern, site=site, page=page, who=who, now=datetime.now(UTC), verdict=verdict)

    def unmute(self, number: int) -> Mute | None:
        """Remove a mute, or what is always reported, by its number; return None if there is none."""
        from evercrawl.collection.change_inbox import ChangeInbox

        return ChangeInbox(self.path).unmute(number)

    # Fields

    def fields(self) -> tuple[FieldRule, ...]:
        """Return the rules of the fields, in the order in which they were added."""
        from evercrawl.collection.field_values import load_rules

        return load_rules(self.path)

    def add_field(self, rule: FieldRule, *, force: bool = False) -> None:
        """Add a field; with `force`, replace the one of this name."""
        from evercrawl.collection.field_values import add_rule

        add_rule(self.path, rule, force=force)

    def remove_field(self, name: str) -> FieldRule:
        """Remove a field; return its rule."""
        from evercrawl.collection.field_values import remove_rule

        return remove_rule(self.path, name)

    def lost_fields(self) -> set[str]:
        """Return the names of the fields that were not found at the last visit of a page."""
        from evercrawl.collection.field_values import propose_repairs

        return {one.repair.name for one in propose_repairs(self.path, self.settings)}

    def field_repairs(self, names: Sequence[str] = (), *, all_pages: bool = True) -> Iterator[RepairProposal]:
        """Yield the fields whose selector stopped matching, with the selector that finds their value now. Without
        `all_pages`, only those that crawls reported, which is faster."""
        from evercrawl.collection.field_values import propose_repairs

        pages = (
            (name, row.url)
            for row in (self.field_values(names) if all_pages else ())
            for name, reading in row.readings.items()
            if reading.value is None
        )
        return propose_repairs(self.path, self.settings, names, pages=pages)

    def decide_field_repair(self, name: str, *, accept: bool) -> FieldRepair:
        """Accept or reject the new selector that is proposed for a field; return it."""
        from evercrawl.collection.field_values import decide_repair

        return decide_repair(self.path, name, self.field_repairs([name]), accept=accept)

    def _repair_fields(self) -> None:
        """Use the repairs of lost fields that are sure."""
        from evercrawl.config.fields_file import REPAIRS_FILE

        if (self.path / REPAIRS_FILE).exists():
            from evercrawl.collection.field_values import repair_lost_fields

            repair_lost_fields(self.path, self.settings)

    def suggest_fields(self, url: str) -> SuggestedFields:
        """Suggest fields for a page from its newest version and those of pages with URLs like its own."""
        from evercrawl.collection.field_values import suggest_for

        return suggest_for(self.path, self.settings, url)

    def field_values(
        self,
        names: Sequence[str] = (),
        *,
        all_versions: bool = False,
        site: str | None = None,
        pattern: str | None = None,
        where: str | None = None,
    ) -> Iterator[FieldRow]:
        """Yield the values of fields, of the newest version of each page or of all versions, oldest first. With a
        `pattern`, only of pages whose URL matches it; with `where`, only rows for which a condition such as
        `price below 50` is true."""
        from evercrawl.collection.field_values import choose_rules, field_rows, rows_where

        selection = VersionSelection(site=site, all_versions=all_versions)
        rows = field_rows(self.path, self.settings, choose_rules(self.path, names), selection, pattern)
        return rows if where is None else rows_where(rows, where)

    @property
    def alerts(self) -> AlertRegistry:
        """The alerts: add, list, test, log, remove."""
        from evercrawl.collection.alerts.registry import AlertRegistry

        return AlertRegistry(self.path, self.settings)

    def websub(self, public_url: str | None = None) -> WebsubClient:
        """Return the WebSub subscriptions; to subscribe, give the public URL of `serve`, or set `web.public_url`."""
        from evercrawl.collection.alerts.subscriptions import WebsubClient, callback_url_at, no_callback

        public_url = public_url or self.settings.web.public_url
        callback = no_callback if public_url is None else callback_url_at(public_url)
        return WebsubClient(self.path, self.settings, callback=callback)

    # Traps, rates and schedules

    def schedules(self) -> list[PlaceSchedule]:
        """Return your schedules, by place."""
        from evercrawl.collection.overrides import schedules_of

        return schedules_of(self.settings, now=datetime.now(UTC))

    def set_schedule(self, place: str, when: str, *, zone: str = "") -> PlaceSchedule:
        """Say when to visit a site (host or origin), a page (URL) or everything that begins so (with `*` at its end),
        also in a running crawl: `every 10 minutes`, `weekdays at 9`. Times of day are in `zone`, by default UTC."""
        from evercrawl.collection.overrides import parse_place, set_schedule

        return set_schedule(self.path, parse_place(self.path, place), when, zone=zone, now=datetime.now(UTC))

    def remove_schedule(self, place: str) -> bool:
        """Let visits to a place follow what was learned; return False if it has no schedule."""
        from evercrawl.collection.overrides import parse_place, remove_schedule

        known = {site.pattern for site in self.settings.sites}
        return remove_schedule(self.path, place if place in known else parse_place(self.path, place))

    def traps(self) -> list[TrapPattern]:
        """Return the excluded and throttled URL patterns with the evidence; your own rules come first."""
        from evercrawl.collection.traps import trap_patterns

        return trap_patterns(self.path, self.settings.traps)

    def trap_exclude(self, pattern: str, site: str | None = None, *, apply: bool = False) -> RuleEffect:
        """Return what excluding a pattern affects; with `apply`, exclude it, also in a running crawl."""
        return self._trap_rule(RuleAction.EXCLUDE, pattern, site, apply=apply)

    def trap_allow(self, pattern: str, site: str | None = None, *, apply: bool = False) -> RuleEffect:
        """Return what allowing a pattern affects; with `apply`, allow it, also in a running crawl."""
        return self._trap_rule(RuleAction.ALLOW, pattern, site, apply=apply)

    def trap_undo(self, pattern: str, site: str | None = None) -> bool:
        """Remove your rules about a pattern; return False if there are none."""
        from evercrawl.adapters.sql.state_reader import StateReader
        from evercrawl.collection.traps import match_sites, set_rule

        before = self._trap_settings()
        after = set_rule(self.path, before, None, pattern, match_sites(StateReader(self.path), site))
        self.settings = replace(self.settings, traps=after)
        return after != before

    def _trap_rule(self, action: RuleAction, pattern: str, site: str | None, *, apply: bool) -> RuleEffect:
        from evercrawl.collection.traps import rule_effect, set_rule

        effect = rule_effect(self.path, pattern, site)
        if not apply:
            return effect
        after = set_rule(self.path, self._trap_settings(), action, pattern, effect.sites)
        self.settings = replace(self.settings, traps=after)
        return replace(effect, done=True)

    def _trap_settings(self) -> TrapSettings:
        """Return the rules in the collection's file, which another process may have changed."""
        return read_settings(self.path).settings.traps

    def rate_overrides(self) -> tuple[RateOverride, ...]:
        """Return the sites with a minimum delay of their own."""
        from evercrawl.collection.overrides import rate_overrides

        return rate_overrides(read_settings(self.path).settings.pace.overrides)

    def set_rate_override(self, site: str, delay: timedelta) -> RateOverride:
        """Set the minimum delay between two requests to a site, also in a running crawl."""
        from evercrawl.collection.overrides import set_rate_override

        return set_rate_override(self.path, site, delay)

    def remove_rate_override(self, site: str) -> bool:
        """Remove the minimum delay of a site; return False if it has none."""
        from evercrawl.collection.overrides import remove_rate_override

        return remove_rate_override(self.path, site)

    # Data in and out

    def export(
        self,
        form: str,
        to: str | Path | None = None,
        *,
        selection: VersionSelection | None = None,
        force: bool = False,
        as_sent: bool = False,
        cursor: str | Path | None = None,
        on_progress: OnProgress | None = None,
    ) -> ExportReport:
        """Write the selected versions in one of the formats of `evercrawl export`; with the file `cursor`, only what
        is new since the last export with it."""
        from evercrawl.collection.exchange.export import export, parse_export_format

        return export(
            self.path,
            self.settings,
            parse_export_format(form),
            to=None if to is None else Path(to),
            selection=selection,
            force=force,
            as_sent=as_sent,
            cursor=None if cursor is None else Path(cursor),
            on_progress=on_progress,
        )

    def import_(self, form: str, files: Sequence[str | Path], *, on_progress: OnImport | None = None) -> ImportReport:
        """Import WARC files or WACZ packages: every response in them becomes a visit at its time."""
        from evercrawl.collection.exchange.import_run import import_archives
        from evercrawl.collection.exchange.import_sources import parse_import_format

        paths = [Path(file) for file in files]
        kind = parse_import_format(form)
        return outside_event_loop(
            lambda: import_archives(self.path, self.settings, paths, form=kind, on_progress=on_progress)
        )

    def import_watches(self, form: str, file: str | Path) -> WatchReport:
        """Add the pages of a list of URLs (`urls`), or of what another program has: `archivebox`, `changedetection`,
        `heritrix`, `scrapy`."""
        from evercrawl.collection.exchange.watch_import import IMPORTERS

        if form not in IMPORTERS:
            raise ConfigError(f"unknown import format {form!r}; choose from {', '.join(IMPORTERS)}")
        report = outside_event_loop(lambda: IMPORTERS[form](self.path, self.settings, Path(file)))
        self.settings = read_settings(self.path).settings
        return report

    def build_sitemap(
        self,
        to: str | Path,
        *,
        state: str | Path,
        base_url: str | None = None,
        gzip: bool = False,
        llms_txt: bool = False,
    ) -> BuildReport:
        """Write sitemaps of the pages below `base_url` (default: the collection's site) into the folder `to`.
        `state` is the file that the next build compares with."""
        from evercrawl.collection.sitemap import build_from_collection, collection_base_url
        from evercrawl.sitemaps.folder_pages import parse_base_url
        from evercrawl.sitemaps.generator import SitemapTarget

        base = collection_base_url(self.settings) if base_url is None else parse_base_url(base_url)
        target = SitemapTarget(Path(to), base, Path(state), compressed=gzip, llms_txt=llms_txt)
        return build_from_collection(self.path, self.settings, target)

    # Maintenance

    def prune(self, keep: str, *, apply: bool = False) -> PruneReport:
        """Return what a retention rule such as "daily:30 monthly:*" deletes; with `apply`, delete it."""
        from evercrawl.collection.maintenance import prune

        return prune(self.path, self.settings, keep, apply=apply)

    def verify(self, *, on_progress: OnVerify | None = None) -> VerifyReport:
        """Read every stored version and check its digests."""
        from evercrawl.collection.maintenance import verify

        return verify(self.path, on_progress=on_progress)

    def disk_usage(self) -> list[DiskUsage]:
        """Return the disk usage of each part of the collection."""
        from evercrawl.collection.maintenance import disk_usage

        return disk_usage(self.path)

    def vacuum(self) -> int:
        """Free unused space in the state files; return the number of bytes freed."""
        from evercrawl.collection.maintenance import vacuum

        return vacuum(self.path, self.settings)

    # Search and the link graph

    def search(
        self, query: str, *, limit: int = 10, as_of: datetime | None = None, with_facets: bool = False
    ) -> SearchResults:
        """Update the index and return the best hits; raise ConfigError for an invalid query."""
        from evercrawl.collection.search import search

        settings = self.settings.search
        return search(self.path, settings, query, limit=limit, as_of=as_of, with_facets=with_facets)

    def searcher(self) -> Searcher:
        """Open the index for many queries, without updating it; the caller closes the searcher."""
        from evercrawl.collection.searcher import Searcher

        return Searcher(self.path, self.settings.search)

    def index_state(self) -> IndexState:
        """Return the size of the search index and how far it lags behind the collection."""
        from evercrawl.collection.search_index import index_state, open_text_index

        return index_state(self.path, open_text_index(self.path))

    def rebuild_index(self) -> int:
        """Rebuild the search index and the link graph; return the number of versions indexed."""
        from evercrawl.adapters.graph_files import has_graph_support
        from evercrawl.collection.search_index import rebuild_index

        count = rebuild_index(self.path, self.settings.search)
        if has_graph_support():
            self.rebuild_graph()
        return count

    def links(self, url: str, *, rebuild: bool = True) -> PageLinks:
        """Return the links to and from a page and its importance.
        Without `rebuild`, the existing link graph is used even if it is outdated."""
        from evercrawl.collection.link_report import page_links

        return page_links(self.path, self.settings, url, rebuild=rebuild)

    def credit(self, *, limit: int = 20) -> CreditReport:
        """Return the credit of the collection and its richest pages."""
        from evercrawl.collection.link_report import credit_report

        return credit_report(self.path, self.settings, limit=limit)

    def page_credit(self, url: str) -> PageBalance:
        """Return the credit of a page."""
        from evercrawl.collection.link_report import page_balance

        return page_balance(self.path, self.settings, url)

    def bad_links(self, site: str | None = None) -> Iterator[BadLink]:
        """Yield links that are dead or redirect."""
        from evercrawl.collection.link_report import bad_links

        return bad_links(self.path, site)

    def orphans(self, limit: int | None = None) -> list[str]:
        """Return known pages that no page links to; with a limit, some of them."""
        from evercrawl.collection.link_report import orphans

        return orphans(self.path, limit)

    def graph(self) -> GraphSummary:
        """Return the figures of the link graph."""
        from evercrawl.collection.link_report import graph_summary

        return graph_summary(self.path)

    def top_pages(self, scores: str = "ranks", limit: int = 20) -> list[RankedPage]:
        """Return the pages with the highest PageRank (ranks), hub or authority scores (hubs, authorities)."""
        from evercrawl.collection.link_report import fresh_graph, top_pages

        return top_pages(self.path, fresh_graph(self.path), scores, limit)

    def update_graph(self) -> None:
        """Rebuild the link graph if it is outdated and can be built here."""
        from evercrawl.adapters.graph_files import has_graph_support
        from evercrawl.collection.link_report import fresh_graph

        if has_graph_support():
            fresh_graph(self.path)

    def rebuild_graph(self) -> None:
        """Rebuild the link graph."""
        from evercrawl.adapters.graph_files import load_numpy

        load_numpy()
        from evercrawl.collection.graph_builder import build_graph

        build_graph(self.path)

    def export_graph(self, form: str, to: str | Path, *, force: bool = False) -> dict[str, int]:
        """Write the link graph as graphml or parquet; return the numbers of pages and links."""
        from evercrawl.adapters.graph_files import load_numpy

        load_numpy()
        from evercrawl.collection.graph_builder import export_graph

        return export_graph(self.path, form, Path(to), force=force)

    def draw_graph(self, site: str | None = None) -> str:
        """Return the structure of the collection or of one site as SVG."""
        from evercrawl.adapters.graph_files import load_numpy

        load_numpy()
        from evercrawl.collection.graph_builder import draw_graph

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


def _ignore_progress(_: Progress) -> None:
    pass


def _moment(text: datetime | str | None, *, at_end: bool = False) -> datetime | None:
    from evercrawl.model.time import parse_time

    return parse_time(text, now=datetime.now(UTC), at_end=at_end) if isinstance(text, str) else text
