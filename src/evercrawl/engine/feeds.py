"""Sitemaps and feeds of a shard's sites, polled within their pace and their rules.
New URLs are entered like links. A date newer than our visit announces a change, which the revisit policy weighs by how
often the announcements of the site have proved right."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, time, timedelta

from evercrawl.core.revisit.change_announcements import after_poll
from evercrawl.core.revisit.interval_rules import SITEMAP_ROUND_DAYS
from evercrawl.core.revisit.visit_schedule import SiteModel
from evercrawl.core.robots.robots_rules import RobotsRules
from evercrawl.core.robots.robots_txt import sitemap_urls
from evercrawl.core.sitemap.sitemap_discovery import (
    SitemapSource,
    SitemapState,
    SitemapWalk,
    SourceKind,
    SourceState,
    extended_url,
    found_kind,
    is_poll_due,
    is_superseded,
    may_read_new_feed,
    needs_probe,
    poll_interval,
    should_request,
    sources_of,
)
from evercrawl.core.sitemap.sitemap_reader import LLMS_PATH
from evercrawl.core.url import canonical, key_of, site_of
from evercrawl.core.usage_terms import TDMREP_BYTES, TDMREP_PATH
from evercrawl.core.visit.links import FoundLinks, add_url
from evercrawl.engine.gather import ShardKnowledge
from evercrawl.engine.interpret import read_sitemap_bounded
from evercrawl.engine.ports import ShardStore
from evercrawl.engine.revisits import DuePages
from evercrawl.engine.robots import SiteAccess
from evercrawl.engine.runtime import BackgroundTasks, Runtime
from evercrawl.engine.site_state import SITEMAPS, SiteState
from evercrawl.model.fetch import Fetched, FetchResult, NotModified, Request, header
from evercrawl.model.page import Page, Reschedule
from evercrawl.model.site import Site
from evercrawl.model.sitemap import Sitemap, SitemapEntry, SitemapType
from evercrawl.model.time import DAY_US, from_us, to_us

MAX_POLLS = 8  # Sites of a shard that are polled at the same time.
ENTRIES_AT_A_TIME = 500
LISTED_DEPTH = 1  # Pages that a sitemap names are as near as those that the home page links to.
MAX_NAMED_SITEMAPS = 50  # Sitemaps that robots.txt may name; large sites name an index.
MAX_MISSES = 3  # After this many missing sources, the poll of a site ends.
A_DAY = timedelta(days=1)


class SitemapPoller:
    """Polls the sitemaps and feeds of one shard's sites."""

    def __init__(
        self,
        store: ShardStore,
        knowledge: ShardKnowledge,
        due: DuePages,
        *,
        runtime: Runtime,
        access: SiteAccess,
        site_numbered: Callable[[int], Awaitable[Site | None]],
        enter_links: Callable[[FoundLinks], Awaitable[None]],
        tasks: BackgroundTasks,
    ) -> None:
        self.tasks = tasks
        self._store = store
        self._states = knowledge.sitemaps
        self._revisits = knowledge.revisits
        self._due = due
        self._runtime = runtime
        self._access = access
        self._site_numbered = site_numbered
        self._enter_links = enter_links
        self._settings = runtime.policy.settings.sitemaps
        self._wants_tdmrep = runtime.policy.settings.robots.tdmrep
        self._schedule = runtime.policy.schedule
        self._forever = runtime.policy.forever
        self._polled: set[int] = set()
        """Sites that were polled in this run."""
        self._new_feeds: set[int] = set()
        """Sites that wait for a poll of what was never requested, since pages named new feeds."""
        self._waiting: dict[int, Site] = {}
        self._polling: set[int] = set()
        """Sites whose poll is under way. A second one would request the same sources again."""
        self._next_us: dict[int, tuple[int, Site]] = {}

    # Schedule

    async def begin(self) -> None:
        """Poll the sites with known sources before anything is fetched again."""
        if not self._settings.enabled:
            return
        for site_id in await self._store.sites_with_state(SITEMAPS.name):
            site = await self._site_numbered(site_id)
            state = (await self._states.of(site_id)).value
            if site is not None and (state.has_source or state.feeds):
                self._queue_poll(site)

    async def apply_robots(self, site: Site, rules: RobotsRules) -> None:
        """Read tdmrep.json if wanted; poll at once if robots.txt names sitemaps, or the policy decides by them."""
        await self._read_tdmrep(site, rules)
        if rules.sitemaps or self._schedule.needs_sitemaps:
            self._queue_poll(site)

    async def _read_tdmrep(self, site: Site, rules: RobotsRules) -> None:
        """Read what the site says about text and data mining, before its first page and then once a day."""
        url, now = site.name + TDMREP_PATH, self._now()
        if not (self._wants_tdmrep and self._settings.enabled and rules.verdict(url).allowed):
            return
        last = (await self._states.of(site.id)).value.tdmrep_read
        if last is not None and 0.0 <= now - last < 1.0:
            return
        answer = await self._access.fetch(Request(url, body_limit=TDMREP_BYTES))
        is_whole = isinstance(answer, Fetched) and answer.truncated is None
        text = answer.body.decode("utf-8", "replace") if isinstance(answer, Fetched) and is_whole else ""
        state = await self._states.of(site.id)
        state.update(state.value._replace(tdmrep=text, tdmrep_read=now))
        self._states.save_soon(site.id)

    def apply(self, site: Site, state: SitemapState) -> None:
        """Poll a site after a visit, if its sources are due or were never requested."""
        if site.id not in self._polled:
            if state.requests >= self._settings.probe_after_pages and needs_probe(state, now=self._now()):
                self._queue_poll(site)
        elif may_read_new_feed(state, requests=site.requests) and site.id not in self._waiting:
            self._new_feeds.add(site.id)
            self._waiting[site.id] = site
            self.tasks.wake()
        elif self._forever and state.has_source:
            outlook = self._revisits.outlooks.cached(site.id)
            if outlook is not None and self._is_due(site, state, outlook.value):
                self._polled.discard(site.id)
                self._queue_poll(site)

    def _is_due(self, site: Site, state: SitemapState, outlook: SiteModel) -> bool:
        level = self._revisits.level()
        return is_poll_due(
            state, outlook.estimate, pages=site.pages, per_day=site.pages / level.span, threshold=level.threshold
        )

    def _queue_poll(self, site: Site) -> None:
        if self._settings.enabled and site.id not in self._polled:
            self._polled.add(site.id)
            self._waiting[site.id] = site
            self.tasks.wake()

    def start_due(self, now_us: int) -> None:
        """Start the polls that are due."""
        for site_id, (moment_us, site) in list(self._next_us.items()):
            if moment_us <= now_us:
                del self._next_us[site_id]
                self._waiting[site_id] = site
        for site_id in [site_id for site_id in self._waiting if site_id not in self._polling]:
            if len(self.tasks) >= MAX_POLLS:
                break
            self._polling.add(site_id)
            # Taken here: pages may name new feeds before the task begins, and they wait for the next poll.
            is_partial = site_id in self._new_feeds
            self._new_feeds.discard(site_id)
            self.tasks.start(self._poll_once(self._waiting.pop(site_id), is_partial=is_partial))

    @property
    def is_busy(self) -> bool:
        """Whether some site is being polled or waits for its poll."""
        return bool(self.tasks or self._waiting)

    def next_us(self) -> int | None:
        """Return when the next poll is due."""
        return min((moment_us for moment_us, _ in self._next_us.values()), default=None)

    # Poll

    async def _poll_once(self, site: Site, *, is_partial: bool) -> None:
        try:
            await self._poll(site, is_partial=is_partial)
        finally:
            self._polling.discard(site.id)

    async def _poll(self, site: Site, *, is_partial: bool) -> None:
        state = await self._states.of(site.id)
        outlook = await self._revisits.outlooks.of(site.id)
        found: set[SourceKind] = set()
        answered: set[str] = set()
        announced = misses = 0
        extended = "always" if self._schedule.needs_sitemaps else self._settings.extended
        feeds = self._feeds(site, state.value)
        for source in sources_of(site.name, named=self._named(site), feeds=feeds, extended=extended):
            known = state.value.sources.get(source.url)
            if site_of(source.url) != site.name or (is_partial and known is not None):
                continue
            if is_superseded(source.kind, found) or extended_url(source.url) in answered:
                continue
            is_new_feed = known is None and source.url in state.value.feeds
            if is_new_feed and not may_read_new_feed(state.value, requests=site.requests):
                continue
            if misses >= MAX_MISSES:
                break
            if should_request(known, now=self._now()):
                kind, news = await self._read(source, site, state, outlook)
                announced += news
                misses += kind is None
                if kind is not None:
                    found.add(kind)
                    answered.add(source.url)
        self._close(site, state, outlook, announced)

    def _named(self, site: Site) -> tuple[str, ...]:
        rules = self._access.robots_of(site)
        named = sitemap_urls(rules.robots, f"{site.name}/robots.txt") if rules is not None else ()
        return named[:MAX_NAMED_SITEMAPS]

    def _feeds(self, site: Site, state: SitemapState) -> tuple[str, ...]:
        """Return the feeds of a site, with its llms.txt if that is to be read."""
        rules, wanted = self._access.robots_of(site), self._settings.llms_txt
        is_named = wanted == "named" and rules is not None and LLMS_PATH.encode() in rules.record.body
        return (site.name + LLMS_PATH, *state.feeds) if wanted == "always" or is_named else state.feeds

    async def _read(
        self, source: SitemapSource, site: Site, state: SiteState[SitemapState], outlook: SiteState[SiteModel]
    ) -> tuple[SourceKind | None, int]:
        """Read a source and everything that it leads to; return its kind and the number of announcements."""
        states = state.value.sources
        last_read = {url: _moment(state.read) for url, state in states.items() if state.read is not None}
        walk = SitemapWalk([source.url], last_read=last_read, max_files=self._settings.max_files)
        kind: SourceKind | None = None
        announced = 0
        while (url := walk.next()) is not None:
            if site_of(url) != site.name:
                continue
            before = state.value.sources.get(url)
            sitemap = await self._fetch_source(SitemapSource(url, source.kind), site, state)
            after = state.value.sources.get(url)
            if url == source.url and after is not None and after.read is not None:
                kind = SourceKind(after.kind)
            if sitemap is None:
                continue
            walk.add_result(url, sitemap)
            if source.kind is SourceKind.EXTENDED and kind is not None and _is_extended(sitemap, before):
                kind = self._learn_extended(source, state)
            if sitemap.type is not SitemapType.INDEX:
                since = before.read if before is not None else None
                announced += await self._read_entries(sitemap.entries, url, outlook, since=since)
        return kind, announced

    def _learn_extended(self, source: SitemapSource, state: SiteState[SitemapState]) -> SourceKind:
        """Mark an index as extended if it leads to extended sitemaps, so that the others need not be fetched."""
        known = state.value.sources[source.url]._replace(kind=SourceKind.EXTENDED.value)
        state.update(state.value.with_source(source.url, known))
        return SourceKind.EXTENDED

    async def _fetch_source(self, source: SitemapSource, site: Site, state: SiteState[SitemapState]) -> Sitemap | None:
        """Fetch a sitemap; None: there is none, or it has not changed."""
        rules, url = self._access.robots_of(site), source.url
        if rules is not None and not rules.verdict(url).allowed:
            return None
        known = state.value.sources.get(url, SourceState(source.kind.value))
        request = Request(url, body_limit=self._settings.max_bytes)
        if known.read is not None:
            request = Request(
                url, etag=known.etag, last_modified=known.last_modified, body_limit=self._settings.max_bytes
            )
        result = await self._access.fetch(request)
        found = await read_sitemap_bounded(result, self._runtime.policy) if isinstance(result, Fetched) else None
        sitemap, after = self._judge(source, known, result, found)
        state.update(state.value.with_source(url, after))
        # A guess that failed must not be repeated after a crash.
        self._states.save_soon(site.id)
        return sitemap

    def _judge(
        self, source: SitemapSource, known: SourceState, result: FetchResult, sitemap: Sitemap | None
    ) -> tuple[Sitemap | None, SourceState]:
        """Return the sitemap in an answer if it is one, and the new state of its source."""
        now = self._now()
        if isinstance(result, NotModified):
            return None, known._replace(read=now, requested=now)
        if isinstance(result, Fetched) and sitemap is not None:
            kind = found_kind(source, sitemap)
            if kind is not None:
                etag, date = header(result.headers, "etag"), header(result.headers, "last-modified")
                is_dated = any(entry.lastmod is not None for entry in sitemap.entries)
                return sitemap, SourceState(kind.value, now, now, etag, date, is_dated)
        return None, known._replace(read=None, requested=now, etag=None, last_modified=None)

    def _close(self, site: Site, state: SiteState[SitemapState], outlook: SiteState[SiteModel], announced: int) -> None:
        now, known = self._now(), state.value
        silent = 0 if announced else known.silent_polls + 1
        state.update(known._replace(polled=now, requests=0, silent_polls=silent, announced_pages=announced))
        has_dates = known.has_dated_sitemap
        if has_dates is not outlook.value.has_dated_sitemap:
            outlook.update(outlook.value._replace(has_dated_sitemap=has_dates))
        if not known.has_source:
            return
        rate_estimate = after_poll(outlook.value.estimate, now=now)
        outlook.update(outlook.value._replace(estimate=rate_estimate))
        if self._forever and (self._revisits.budget.per_day is None or self._schedule.needs_sitemaps):
            threshold = self._revisits.budget.threshold
            days = poll_interval(rate_estimate, pages=site.pages, threshold=threshold)
            days = SITEMAP_ROUND_DAYS if self._schedule.needs_sitemaps else days
            self._next_us[site.id] = (int((now + days) * DAY_US), site)

    # Entries

    async def _read_entries(
        self, entries: Sequence[SitemapEntry], source_url: str, outlook: SiteState[SiteModel], *, since: float | None
    ) -> int:
        """Submit the listed pages, weigh the new dates, and return the number of announcements."""
        announced = 0
        for start in range(0, len(entries), ENTRIES_AT_A_TIME):
            portion = entries[start : start + ENTRIES_AT_A_TIME]
            dates = {
                key_of(name): entry.lastmod
                for entry in portion
                if entry.lastmod is not None
                and _may_be_news(entry.lastmod, since)
                and (name := canonical(entry.url)) is not None
            }
            announced += await self._announce(dates, outlook)
            await self._offer(portion, source_url)
        return announced

    async def _offer(self, entries: Iterable[SitemapEntry], source_url: str) -> None:
        found, runtime = FoundLinks(), self._runtime
        popular, now_us = runtime.popular, to_us(runtime.clock.now())
        parent, scope = _as_parent(source_url), runtime.policy.scope
        for entry in entries:
            if not popular.hit(entry.url):
                popular.add(entry.url)
                add_url(found, entry.url, depth=LISTED_DEPTH, hops=0, parent=parent, scope=scope, now_us=now_us)
        await self._enter_links(found)

    async def _announce(self, dates: dict[bytes, datetime], outlook: SiteState[SiteModel]) -> int:
        """Let the revisit policy weigh the announced changes; return their number."""
        announced = 0
        pages = self._revisits.newest_estimates(await self._store.pages(list(dates)))
        now_us = to_us(self._runtime.clock.now())
        for page in pages:
            if page.rate_estimate is None:
                continue
            moment = self._announced_us(dates[page.key], now_us) / DAY_US
            after, site = self._schedule.announce(page.rate_estimate, outlook.value, at=moment)
            outlook.update(site)
            if after is not None:
                announced += 1
                self._revisits.note_announcement(page.id, moment)
                page = page._replace(rate_estimate=after)
                is_worth = self._revisits.weigh(page, outlook.value, now_us=now_us).is_worth
                self._due.reschedule(Reschedule(page.id, now_us if is_worth else None, after), now_us=now_us)
        return announced

    def _announced_us(self, lastmod: datetime, now_us: int) -> int:
        """Return the moment that a date announces. A policy that trusts dates alone takes a day for its end."""
        end_us = to_us(lastmod + A_DAY)
        if self._schedule.needs_sitemaps and lastmod.time() == time.min and end_us <= now_us:
            return end_us
        return min(to_us(lastmod), now_us)

    def _now(self) -> float:
        return to_us(self._runtime.clock.now()) / DAY_US


def _moment(days: float | None) -> datetime:
    return from_us(int((days or 0.0) * DAY_US))


def _may_be_news(lastmod: datetime, since: float | None) -> bool:
    """Return whether a date may be newer than the last read; a date without a time means any moment of its day."""
    if since is None:
        return True
    latest = lastmod + A_DAY if lastmod.time() == time.min else lastmod
    return latest > _moment(since)


def _is_extended(sitemap: Sitemap, before: SourceState | None) -> bool:
    """Return whether a sitemap is extended, or is the index that led to extended ones at the last read."""
    if sitemap.type is SitemapType.INDEX and before is not None and before.read is not None:
        return before.kind == SourceKind.EXTENDED
    return sitemap.type is SitemapType.EXTENDED


def _as_parent(url: str) -> Page:
    """Return a sitemap as the parent of its pages."""
    return Page(0, b"", url, 0, 0, 0, 0, 0)
