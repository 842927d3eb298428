"""What a site says about its own pages: its sitemaps and feeds are asked, within its pace and its rules.

New URLs go the way of every link; a date newer than our visit is a notice that the page changed, which the
revisit policy weighs by how often the site's notices proved true.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING

from evercrawl.core.revisit.announcements import after_announcement, after_poll
from evercrawl.core.revisit.site_model import SiteModel
from evercrawl.core.revisit.visit_schedule import page_estimate_bytes, page_estimate_of
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
    poll_interval,
    should_request,
    sources_of,
)
from evercrawl.core.sitemap.sitemap_reader import read_sitemap
from evercrawl.core.url import canonical, key_of, site_of
from evercrawl.core.visit.links import FoundLinks, add_url
from evercrawl.engine.runtime import TaskSet
from evercrawl.engine.site_state import SIGNALS, SiteState, SiteStates
from evercrawl.model.fetch import Fetched, FetchResult, NotModified, Request, header
from evercrawl.model.page import Page, Reschedule
from evercrawl.model.site import Site
from evercrawl.model.sitemap import Sitemap, SitemapEntry, SitemapType
from evercrawl.model.time import DAY_US, from_us, to_us

if TYPE_CHECKING:
    from evercrawl.core.politeness import HostQueue
    from evercrawl.engine.shard import Shard

MOST_POLLS = 8
"""Sites of a shard that are polled at the same time."""
ENTRIES_AT_A_TIME = 500
LISTED_DEPTH = 1
"""Pages that a sitemap names are as near as those that the home page links to."""
MOST_FEEDS = 3
MOST_NAMED = 50
"""Sitemaps that robots.txt may name; large sites name an index."""
MOST_MISSES = 3
"""A site with so many sources that are none is not asked for more of them at this time."""
A_DAY = timedelta(days=1)


class SitemapPoller:
    """The sources of one shard's sites."""

    def __init__(self, shard: Shard, states: SiteStates[SitemapState], *, forever: bool) -> None:
        self.states = states
        self.polls = TaskSet()
        self._shard = shard
        self._settings = shard.around.settings.sitemaps
        self._forever = forever
        self._polled: set[int] = set()
        """Sites that had their poll in this run."""
        self._unprobed: dict[int, Site] = {}
        """Sites whose usual places are tried when there is nothing better to do."""
        self._waiting: dict[int, Site] = {}
        self._next_us: dict[int, tuple[int, Site]] = {}

    # When

    async def begin(self) -> None:
        """Sites whose sources are known are polled before anything is asked again."""
        if not self._settings.enabled:
            return
        for site_id in await self._shard.store.memory_sites(SIGNALS.name):
            site = await self._shard.intake.site_numbered(site_id)
            state = (await self.states.of(site_id)).memory
            if site is not None and (state.has_source or state.feeds):
                self._want(site)

    def met(self, queue: HostQueue) -> None:
        """The site's rules are known: sources that robots.txt names are asked at once."""
        if queue.robots is not None and queue.robots.sitemaps:
            self._want(queue.site)

    async def visited(self, queue: HostQueue, page: Page, feeds: Sequence[str]) -> None:
        """A page was asked for; feeds that it names near the site's entrance are remembered."""
        if not self._settings.enabled:
            return
        notes = await self.states.of(page.site_id)
        state = notes.memory._replace(requests=notes.memory.requests + 1)
        if feeds and page.depth <= LISTED_DEPTH and len(state.feeds) < MOST_FEEDS:
            own = [feed for feed in feeds if site_of(feed) == queue.site.name]
            state = state._replace(feeds=tuple(dict.fromkeys((*state.feeds, *own)))[:MOST_FEEDS])
        notes.learn(state)
        await self._consider(queue.site, state)

    async def _consider(self, site: Site, state: SitemapState) -> None:
        if site.id not in self._polled:
            if not state.sources and state.requests >= self._settings.probe_after_pages:
                self._unprobed[site.id] = site
        elif self._forever:
            outlook = await self._shard.revisits.outlooks.of(site.id)
            if state.has_source and self._is_due(site, state, outlook.memory):
                self._polled.discard(site.id)
                self._want(site)

    def _is_due(self, site: Site, state: SitemapState, outlook: SiteModel) -> bool:
        level = self._shard.revisits.level()
        return is_poll_due(
            state, outlook.estimate, pages=site.pages, per_day=site.pages / level.span, threshold=level.threshold
        )

    def _want(self, site: Site) -> None:
        if self._settings.enabled and site.id not in self._polled:
            self._polled.add(site.id)
            self._waiting[site.id] = site
            self._shard.wake.set()

    def start_due(self, now_us: int) -> None:
        """Start the polls whose time has come."""
        for site_id, (moment_us, site) in list(self._next_us.items()):
            if moment_us <= now_us:
                del self._next_us[site_id]
                self._waiting[site_id] = site
        while self._waiting and len(self.polls) < MOST_POLLS:
            site = self._waiting.pop(next(iter(self._waiting)))
            task = asyncio.create_task(self._poll(site))
            self.polls.add(task)
            task.add_done_callback(self._ended)

    def probe(self) -> bool:
        """Nothing else is to do: try the usual places of sites that name no sitemap; True: there are some."""
        sites, self._unprobed = self._unprobed, {}
        for site in sites.values():
            self._want(site)
        return bool(sites)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.polls.discard(task)
        self._shard.wake.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            self._shard.break_off(error)

    @property
    def is_busy(self) -> bool:
        """Some site is being polled, or has to wait for it."""
        return bool(self.polls or self._waiting)

    def next_us(self) -> int | None:
        """When the next poll is due."""
        return min((moment_us for moment_us, _ in self._next_us.values()), default=None)

    # How

    async def _poll(self, site: Site) -> None:
        notes = await self.states.of(site.id)
        outlook = await self._shard.revisits.outlooks.of(site.id)
        found: set[SourceKind] = set()
        announced = misses = 0
        for source in sources_of(site.name, named=self._named(site), feeds=notes.memory.feeds):
            is_own = site_of(source.url) == site.name
            known = notes.memory.sources.get(source.url)
            if is_superseded(source.kind, found) or not is_own or _was_just_missing(source, notes.memory):
                continue
            if misses >= MOST_MISSES:
                break
            if should_request(known, now=self._now()):
                kind, news = await self._read(source, site, notes, outlook)
                announced += news
                misses += kind is None
                found |= {kind} if kind is not None else set()
        self._close(site, notes, outlook, announced)

    def _named(self, site: Site) -> tuple[str, ...]:
        queue = self._shard.frontier.queues.get(site.id)
        gate = queue.robots if queue is not None else None
        gate = gate or self._shard.gate_of(site)
        named = sitemap_urls(gate.robots, f"{site.name}/robots.txt") if gate is not None else ()
        return named[:MOST_NAMED]

    async def _read(
        self, source: SitemapSource, site: Site, notes: SiteState[SitemapState], outlook: SiteState[SiteModel]
    ) -> tuple[SourceKind | None, int]:
        """Read a source and all that it leads to; gives what it is, and how much it announced."""
        states = notes.memory.sources
        last_read = {url: _moment(state.read) for url, state in states.items() if state.read is not None}
        walk = SitemapWalk([source.url], last_read=last_read, most_files=self._settings.max_files)
        kind: SourceKind | None = None
        announced = 0
        while (url := walk.next()) is not None:
            if site_of(url) != site.name:
                continue
            before = notes.memory.sources.get(url)
            sitemap = await self._ask(SitemapSource(url, source.kind), site, notes)
            after = notes.memory.sources.get(url)
            if url == source.url and after is not None and after.read is not None:
                kind = SourceKind(after.kind)
            if sitemap is None:
                continue
            walk.add_result(url, sitemap)
            if source.kind is SourceKind.EXTENDED and kind is not None and _is_extended(sitemap, before):
                kind = self._learn_extended(source, notes)
            if sitemap.type is not SitemapType.INDEX:
                since = before.read if before is not None else None
                announced += await self._take_in(sitemap.entries, url, outlook, since=since)
        return kind, announced

    def _learn_extended(self, source: SitemapSource, notes: SiteState[SitemapState]) -> SourceKind:
        """Where an index leads to extended sitemaps, it is one itself: the others need not be asked for."""
        state = notes.memory.sources[source.url]._replace(kind=SourceKind.EXTENDED.value)
        notes.learn(notes.memory.with_source(source.url, state))
        return SourceKind.EXTENDED

    async def _ask(self, source: SitemapSource, site: Site, notes: SiteState[SitemapState]) -> Sitemap | None:
        """The sitemap at this address; None where there is none, or none that differs from the last time."""
        gate, url = self._shard.gate_of(site), source.url
        if gate is not None and not gate.verdict(url).allowed:
            return None
        known = notes.memory.sources.get(url, SourceState(source.kind.value))
        request = Request(url, body_limit=self._settings.max_bytes)
        if known.read is not None:
            request = Request(url, etag=known.etag, last_modified=known.last_modified, body_limit=self._settings.max_bytes)
        result = await self._shard.errands.run(request)
        sitemap, after = self._judge(source, known, result)
        notes.learn(notes.memory.with_source(url, after))
        # A guess that failed is not to be made again after a crash.
        self._shard.ledger.batch.memories[site.id, SIGNALS.name] = SIGNALS.write(notes.memory)
        return sitemap

    def _judge(
        self, source: SitemapSource, known: SourceState, result: FetchResult
    ) -> tuple[Sitemap | None, SourceState]:
        """What an answer holds, and what is remembered of its source."""
        now = self._now()
        if isinstance(result, NotModified):
            return None, known._replace(read=now, requested=now)
        if isinstance(result, Fetched):
            kind_of_content = header(result.headers, "content-type")
            sitemap = read_sitemap(result.body, result.url, content_type=kind_of_content)
            kind = found_kind(source, sitemap)
            if kind is not None:
                etag, date = header(result.headers, "etag"), header(result.headers, "last-modified")
                return sitemap, SourceState(kind.value, now, now, etag, date)
        return None, known._replace(read=None, requested=now, etag=None, last_modified=None)

    def _close(self, site: Site, notes: SiteState[SitemapState], outlook: SiteState[SiteModel], announced: int) -> None:
        now, state = self._now(), notes.memory
        silent = 0 if announced else state.silent_polls + 1
        notes.learn(state._replace(polled=now, requests=0, silent_polls=silent, announced_pages=announced))
        if not state.has_source:
            return
        belief = after_poll(outlook.memory.estimate, now=now)
        outlook.learn(outlook.memory._replace(estimate=belief))
        if self._forever and self._shard.revisits.purse.per_day is None:
            threshold = self._shard.revisits.purse.threshold
            days = poll_interval(belief, pages=site.pages, threshold=threshold)
            self._next_us[site.id] = (int((now + days) * DAY_US), site)

    # What it says

    async def _take_in(
        self, entries: Sequence[SitemapEntry], source_url: str, outlook: SiteState[SiteModel], *, since: float | None
    ) -> int:
        """Offer the pages that are listed, and heed the dates that are news; gives the number of notices."""
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
            announced += await self._heed(dates, outlook)
            await self._offer(portion, source_url)
        return announced

    async def _offer(self, entries: Iterable[SitemapEntry], source_url: str) -> None:
        shard, offers = self._shard, FoundLinks()
        popular, now_us = shard.around.popular, to_us(shard.around.clock.now())
        for entry in entries:
            if not popular.hit(entry.url):
                popular.add(entry.url)
                add_url(
                    offers,
                    entry.url,
                    depth=LISTED_DEPTH,
                    hops=0,
                    parent=_as_parent(source_url),
                    scope=shard.around.scope,
                    now_us=now_us,
                )
        own, others = shard.sort_out(offers.candidates)
        placed = await shard.intake.place(await shard.intake.unknown(own))
        shard.pass_on(placed, others, offers.refusals)

    async def _heed(self, dates: dict[bytes, datetime], outlook: SiteState[SiteModel]) -> int:
        shard, announced = self._shard, 0
        pages = await shard.store.pages(list(dates))
        now_us = to_us(shard.around.clock.now())
        for page in pages:
            belief = page_estimate_of(page.belief)
            if belief is None:
                continue
            moment = min(to_us(dates[page.key]), now_us) / DAY_US
            after, site = after_announcement(belief, outlook.memory.estimate, announced_at=moment)
            outlook.learn(outlook.memory._replace(estimate=site))
            if after.announcements > belief.announcements:
                announced += 1
                page = page._replace(belief=page_estimate_bytes(after))
                is_worth = shard.revisits.weigh(page, outlook, now_us=now_us).is_worth
                due_us = now_us if is_worth else None
                shard.ledger.batch.rescheduled.append(Reschedule(page.id, due_us, page.belief))
                shard.due.note(now_us)
        shard.ledger.touch()
        return announced

    def _now(self) -> float:
        return to_us(self._shard.around.clock.now()) / DAY_US


def _moment(days: float | None) -> datetime:
    return from_us(int((days or 0.0) * DAY_US))


def _may_be_news(lastmod: datetime, since: float | None) -> bool:
    """A date alone means any moment of its day."""
    if since is None:
        return True
    latest = lastmod + A_DAY if lastmod.time() == time.min else lastmod
    return latest > _moment(since)


def _is_extended(sitemap: Sitemap, before: SourceState | None) -> bool:
    """It is, or it is the index that led to extended sitemaps the last time: now only dates may be news."""
    if sitemap.type is SitemapType.INDEX and before is not None and before.read is not None:
        return before.kind == SourceKind.EXTENDED
    return sitemap.type is SitemapType.EXTENDED


def _as_parent(url: str) -> Page:
    """A sitemap as the one who led to a page."""
    return Page(0, b"", url, 0, 0, 0, 0, 0)


def _was_just_missing(source: SitemapSource, state: SitemapState) -> bool:
    """The same file was not there when it was asked for with the parameter: most servers ignore that."""
    if source.kind is not SourceKind.GUESSED:
        return False
    asked = state.sources.get(extended_url(source.url))
    return asked is not None and asked.read is None
