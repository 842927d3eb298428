"""Taking links into a shard: seen before? forbidden? else a new page in the queue of its site."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from evercrawl.core.duplicates.url_seen import UrlSeenTest
from evercrawl.core.robots.robots_rules import RobotsRules
from evercrawl.core.url import registrable_domain, site_of, site_parts
from evercrawl.engine.credit import ShardCredit
from evercrawl.engine.focus import FocusGuide
from evercrawl.engine.ports import Clock, ShardStore
from evercrawl.model.page import Batch, Candidate, NewPage, Refusal, ShardState
from evercrawl.model.reason import REASON_TEXT, Reason
from evercrawl.model.site import Site
from evercrawl.model.time import to_us

if TYPE_CHECKING:
    from evercrawl.engine.traps import Offered, Traps

MOST_SITES_IN_MEMORY = 20_000
"""Site rows that intake keeps at hand; others are read again from the store."""


class LinkIntake:
    """The door of one shard.

    Invariant: a key becomes a page at most once, also when two visits offer it at the same time and neither
    is committed.
    """

    def __init__(
        self,
        store: ShardStore,
        facts: ShardState,
        *,
        seen: UrlSeenTest,
        clock: Clock,
        pages_per_site: int | None,
        gate_of: Callable[[Site], RobotsRules | None],
        credits: ShardCredit,
        traps: Traps,
        focus: FocusGuide | None = None,
    ) -> None:
        self._focus = focus
        self._store = store
        self._credits = credits
        self._traps = traps
        self._seen = seen
        self._clock = clock
        self._pages_per_site = pages_per_site
        self._gate_of = gate_of
        self._next_id = facts.next_id
        self._next_seq = facts.next_seq
        self._next_site_id = facts.next_site_id
        self._sites: OrderedDict[str, Site] = OrderedDict()
        self._page_counts: dict[int, int] = {}
        self._uncommitted: set[bytes] = set()
        self._unsaved_sites: dict[int, Site] = {}
        self._names: dict[int, str] = {}

    def next_seq(self) -> int:
        """A fresh place in the queue."""
        self._next_seq += 1
        return self._next_seq - 1

    async def unknown(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Those that are not pages yet; each is remembered at once, so nobody else gets it too."""
        by_key = {candidate.key: candidate for candidate in candidates}
        fresh, unsure = self._seen.split(list(by_key))
        self._seen.learn(fresh)
        self._uncommitted.update(fresh)
        if unsure:
            stored = await self._store.known(unsure)
            missed = self._seen.resolve(unsure, stored | self._uncommitted.intersection(unsure))
            self._uncommitted.update(missed)
            fresh += missed
        return [by_key[key] for key in fresh]

    async def known(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those of the keys that are pages already."""
        return await self._store.known(keys) | self._uncommitted.intersection(keys)

    def pages_of(self, site: Site) -> int:
        """Pages of the site that are known, those among them that are not stored yet."""
        return self._page_counts.get(site.id, site.pages)

    def is_on_its_way(self, key: bytes) -> bool:
        """The key was offered as a page that is not stored yet."""
        return key in self._uncommitted

    async def site_for(self, name: str) -> Site:
        """The site of that name, made if it is new; a new one is stored with its first page."""
        site = self._sites.get(name)
        if site is not None:
            self._sites.move_to_end(name)
            return site
        site = (await self._store.sites_named([name])).get(name)
        if site is None and name in self._sites:
            return self._sites[name]
        if site is None:
            site = Site(self._next_site_id, name, registrable_domain(site_parts(name).host))
            self._next_site_id += 1
            self._unsaved_sites[site.id] = site
        self.remember(site)
        return site

    def remember(self, site: Site) -> None:
        """Keep the newest row of a site at hand."""
        self._sites[site.name] = site
        self._sites.move_to_end(site.name)
        self._names[site.id] = site.name
        while len(self._sites) > MOST_SITES_IN_MEMORY:
            _, gone = self._sites.popitem(last=False)
            self._page_counts.pop(gone.id, None)
            self._names.pop(gone.id, None)

    async def site_numbered(self, site_id: int) -> Site | None:
        """The newest row of a site."""
        name = self._names.get(site_id)
        return self._sites[name] if name is not None else await self._store.site(site_id)

    async def place(self, candidates: Iterable[Candidate]) -> list[tuple[Candidate, Site]]:
        """Each candidate with its site, whose yield is at hand from now on."""
        placed = [(candidate, await self.site_for(site_of(candidate.url))) for candidate in candidates]
        for site in {site.id: site for _, site in placed}.values():
            await self._traps.load_for_links(site.id, pages=self.pages_of(site))
        return placed

    def enter(self, placed: Iterable[tuple[Candidate, Site]], batch: Batch) -> list[Refusal]:
        """Write new pages into the batch; gives back those that robots.txt, a limit or a fence forbids.

        Does not wait, so that the pages and the visit that found them are in one commit.
        """
        now_us = to_us(self._clock.now())
        refusals: list[Refusal] = []
        for candidate, site in placed:
            offered = self._offered(candidate, site)
            refused = offered.refused or self._refusal(candidate, site)
            if refused is not None:
                refusals.append(_refusal_of(candidate, refused, now_us))
                self._uncommitted.discard(candidate.key)
                self._credits.refused(candidate)
                continue
            if site.id in self._unsaved_sites:
                batch.sites.setdefault(site.id, self._unsaved_sites.pop(site.id))
            batch.new_pages.append(self._new_page(candidate, site, now_us, is_last=offered.is_last))
        return refusals

    def refuses(self, candidate: Candidate, site: Site) -> bool:
        """The candidate would not become a page."""
        return self._offered(candidate, site).refused is not None or self._refusal(candidate, site) is not None

    def _offered(self, candidate: Candidate, site: Site) -> Offered:
        year = self._clock.now().year
        is_asked_for = candidate.depth == 0
        if not is_asked_for and self.pages_of(site) == 0:
            first = self._traps.on_first_offer(candidate.url, site)
            if first.refused is not None:
                return first
        return self._traps.on_offer(candidate.url, site_id=site.id, year=year, is_asked_for=is_asked_for)

    def _refusal(self, candidate: Candidate, site: Site) -> tuple[Reason, str] | None:
        if self._pages_per_site is not None and self.pages_of(site) >= self._pages_per_site:
            return Reason.SITE_PAGE_LIMIT, f"{REASON_TEXT[Reason.SITE_PAGE_LIMIT]} ({self._pages_per_site})"
        gate = self._gate_of(site)
        if gate is None:
            return None
        verdict = gate.verdict(candidate.url)
        # While robots.txt cannot be read nothing is decided: the page waits in the queue.
        if verdict.allowed or gate.is_unreachable:
            return None
        return verdict.reason or Reason.ROBOTS, verdict.detail

    def _new_page(self, candidate: Candidate, site: Site, now_us: int, *, is_last: bool) -> NewPage:
        band = self._credits.last_band if is_last else self._band_of(candidate)
        page = NewPage(
            self._next_id,
            candidate.key,
            candidate.url,
            site.id,
            candidate.depth,
            candidate.hops,
            band,
            self.next_seq(),
            candidate.parent_id,
            now_us,
            *self._credits.entered(candidate),
        )
        self._next_id += 1
        self._page_counts[site.id] = self.pages_of(site) + 1
        return page

    def _band_of(self, candidate: Candidate) -> int:
        if self._focus is not None:
            return self._focus.band_of(candidate)
        return self._credits.band_of(candidate)

    def committed(self, batch: Batch) -> None:
        """The batch is stored; its keys are found there from now on."""
        self._uncommitted.difference_update(page.key for page in batch.new_pages)


def _refusal_of(candidate: Candidate, refused: tuple[Reason, str], now_us: int) -> Refusal:
    reason, detail = refused
    return Refusal(candidate.key, candidate.url, reason, detail, candidate.parent, now_us, candidate.depth)
