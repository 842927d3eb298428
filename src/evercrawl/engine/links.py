"""New links of a shard: skip known URLs, check the rest, and queue them as pages of their sites."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from evercrawl.core.duplicates.url_seen import UrlSeenTest
from evercrawl.core.robots.robots_rules import RobotsRules
from evercrawl.core.scope.scope import NO_ANSWERS, is_unsure_ending
from evercrawl.core.url import parse, registrable_domain, shard_of_site, site_of, site_parts
from evercrawl.core.visit.links import MAX_REFUSED_CHARS, FoundLinks, add_url
from evercrawl.engine.decision import LinkTarget, NewLink, Policy, Refused
from evercrawl.engine.page_order import PageOrder
from evercrawl.engine.ports import ShardStore
from evercrawl.engine.runtime import FocusGuide, RunStats, Runtime
from evercrawl.engine.traps import Traps, check_trap_link
from evercrawl.model.page import Batch, Candidate, NewPage, Page, Refusal, ShardState
from evercrawl.model.reason import REASON_TEXT, Reason
from evercrawl.model.site import Site
from evercrawl.model.time import to_us

MAX_SITES = 20_000  # Site rows in memory; others are read again from the store.

REFUSALS_PORTION = 5000
ANNOUNCED = "an announcement"  # The parent of a page that was announced or requested.
FINAL_REFUSALS = frozenset(
    {Reason.INVALID_URL, Reason.UNSUPPORTED_SCHEME, Reason.NOFOLLOW, Reason.URL_TOO_LONG, Reason.TOO_MANY_REDIRECTS}
)
"""Refusals that no change of settings or robots.txt can undo; only the beginning of a long URL was stored."""

PlacedLink = tuple[Candidate, Site]


def judge_new_links(
    links: Iterable[PlacedLink], targets: Mapping[int, LinkTarget], *, year: int, policy: Policy
) -> tuple[NewLink, ...]:
    """Decide which links become pages: traps, the limit of pages per site, and robots.txt may refuse them."""
    entered: Counter[int] = Counter()
    judged = []
    for candidate, site in links:
        target = targets[site.id]
        pages = target.pages + entered[site.id]
        link = check_trap_link(NewLink(candidate, site), target, pages=pages, year=year, rules=policy.traps)
        if link.refused is None and candidate.depth > 0:
            link = _check_ending(link, target, policy)
        if link.refused is None:
            lift = policy.scope.selection(candidate.url).priority
            link = link._replace(refused=_link_refusal(candidate, target, pages, policy), lift=lift)
        entered[site.id] += link.refused is None
        judged.append(link)
    return tuple(judged)


def _check_ending(link: NewLink, target: LinkTarget, policy: Policy) -> NewLink:
    """Return the link, refused if its ending means a file, or put last if it probably does."""
    url = link.candidate.url
    refused = policy.scope.ending_refusal(url, target.answers)
    if refused is not None:
        return link._replace(refused=refused)
    is_unsure = policy.scope.ending_refusal(url, NO_ANSWERS) and is_unsure_ending(target.answers, url)
    return link._replace(is_last=True) if is_unsure else link


def _link_refusal(candidate: Candidate, target: LinkTarget, pages: int, policy: Policy) -> Refused | None:
    limit = policy.scope.selection(candidate.url).max_pages
    if limit is not None and pages >= limit:
        return Reason.SITE_PAGE_LIMIT, f"{REASON_TEXT[Reason.SITE_PAGE_LIMIT]} ({limit})"
    if target.robots is None:
        return None
    verdict = target.robots.verdict(candidate.url)
    # While robots.txt cannot be read nothing is decided: the page waits in the queue.
    if verdict.allowed or target.robots.is_unreachable:
        return None
    return verdict.reason or Reason.ROBOTS, verdict.detail


class LinkIntake:
    """The new pages of one shard.
    Invariant: a key becomes a page at most once, also when two visits find it at the same time and neither is
    committed. `reserve` gives it to one of them."""

    def __init__(
        self,
        store: ShardStore,
        facts: ShardState,
        *,
        shards: int,
        seen: UrlSeenTest,
        order: PageOrder,
        traps: Traps,
        robots_of: Callable[[Site], RobotsRules | None],
        focus: FocusGuide | None = None,
    ) -> None:
        self._store = store
        self.shard = facts.shard
        self._shards = shards
        self._seen = seen
        self._order = order
        self._credit = order.credit
        self._traps = traps
        self._robots_of = robots_of
        self._focus = focus
        self._next_id = facts.next_id
        self._next_seq = facts.next_seq
        self._next_site_id = facts.next_site_id
        self._sites: OrderedDict[str, Site] = OrderedDict()
        self._page_counts: dict[int, int] = {}
        self._uncommitted: set[bytes] = set()
        self._unsaved_sites: dict[int, Site] = {}
        self._names: dict[int, str] = {}

    def next_seq(self) -> int:
        """Return a new place in the queue."""
        self._next_seq += 1
        return self._next_seq - 1

    # Reading

    def shard_of(self, site: str) -> int:
        """Return the number of the shard that a site belongs to."""
        return shard_of_site(site, self._shards)

    def split(self, candidates: Iterable[Candidate]) -> tuple[list[Candidate], dict[int, list[Candidate]]]:
        """Return the candidates of this shard, and those of others by shard."""
        own: list[Candidate] = []
        others: dict[int, list[Candidate]] = {}
        for candidate in candidates:
            shard = self.shard_of(site_of(candidate.url))
            (own if shard == self.shard else others.setdefault(shard, [])).append(candidate)
        return own, others

    async def place(self, candidates: Sequence[Candidate]) -> list[PlacedLink]:
        """Reserve the candidates that are not pages yet, and return them with their sites."""
        placed = [
            (candidate, await self.site_for(site_of(candidate.url))) for candidate in await self.reserve(candidates)
        ]
        for site in {site.id: site for _, site in placed}.values():
            await self._traps.load_for_links(site.id, pages=self.pages_of(site))
            await self._order.yields.of(site.id)
        expected = self._order.expected
        return [(candidate._replace(expected=expected(candidate.url, site.id)), site) for candidate, site in placed]

    async def reserve(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates that are not pages yet; other visits do not get them."""
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

    def targets(self, placed: Iterable[PlacedLink]) -> dict[int, LinkTarget]:
        """Return what is known about the sites of placed links."""
        return {site.id: self._target(site) for site in {site.id: site for _, site in placed}.values()}

    def _target(self, site: Site) -> LinkTarget:
        pages = self.pages_of(site)
        traps, blocked = self._traps.target(site, pages=pages)
        return LinkTarget(site, pages, self._robots_of(site), traps, blocked, self._order.answers(site.id))

    async def known(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return the keys that are pages already."""
        return await self._store.known(keys) | self._uncommitted.intersection(keys)

    def pages_of(self, site: Site) -> int:
        """Return the number of pages of a site, those that wait for a commit included."""
        return self._page_counts.get(site.id, site.pages)

    def is_uncommitted(self, key: bytes) -> bool:
        """Return whether the key is a page that waits for its commit."""
        return key in self._uncommitted

    async def site_for(self, name: str) -> Site:
        """Return the site of that name; a new one is stored with its first page."""
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
        """Keep the newest row of a site in memory."""
        self._sites[site.name] = site
        self._sites.move_to_end(site.name)
        self._names[site.id] = site.name
        while len(self._sites) > MAX_SITES:
            _, gone = self._sites.popitem(last=False)
            self._page_counts.pop(gone.id, None)
            self._names.pop(gone.id, None)

    async def site_numbered(self, site_id: int) -> Site | None:
        """Return the newest row of a site."""
        name = self._names.get(site_id)
        return self._sites[name] if name is not None else await self._store.site(site_id)

    # Writing

    def enter(self, links: Iterable[NewLink], batch: Batch, *, now_us: int) -> list[Refusal]:
        """Write new pages into the batch, and return the refusals of the others."""
        refusals: list[Refusal] = []
        for link in links:
            if link.refused is not None:
                refusals.append(_refusal_of(link.candidate, link.refused, now_us))
                self._uncommitted.discard(link.candidate.key)
                self._credit.refuse(link.candidate)
                continue
            if link.site.id in self._unsaved_sites:
                batch.sites.setdefault(link.site.id, self._unsaved_sites.pop(link.site.id))
            batch.new_pages.append(self._new_page(link, now_us))
        return refusals

    def release(self, links: Iterable[PlacedLink]) -> None:
        """Give back reserved candidates that do not become pages."""
        self._uncommitted.difference_update(candidate.key for candidate, _ in links)

    def _new_page(self, link: NewLink, now_us: int) -> NewPage:
        candidate, site = link.candidate, link.site
        page = NewPage(
            self._next_id,
            candidate.key,
            candidate.url,
            site.id,
            candidate.depth,
            candidate.hops,
            self._order.last_priority if link.is_last else self._lifted(self._priority_of(candidate), link.lift),
            self.next_seq(),
            candidate.parent_id,
            now_us,
            *self._credit.add_page(candidate),
        )
        self._next_id += 1
        self._page_counts[site.id] = self.pages_of(site) + 1
        return page

    def _lifted(self, priority: int, lift: int) -> int:
        return max(0, min(self._order.last_priority, priority - lift))

    def _priority_of(self, candidate: Candidate) -> int:
        if self._focus is not None:
            return self._focus.priority_of(candidate)
        return self._order.priority_of(candidate)

    def forget_committed(self, batch: Batch) -> None:
        """Forget the keys that the commit has stored."""
        self._uncommitted.difference_update(page.key for page in batch.new_pages)


def _refusal_of(candidate: Candidate, refused: Refused, now_us: int) -> Refusal:
    reason, detail = refused
    return Refusal(candidate.key, candidate.url, reason, detail, candidate.parent, now_us, candidate.depth)


class LinkShard(Protocol):
    """What a shard does with URLs that no visit found."""

    store: ShardStore

    async def offer(self, candidates: list[Candidate]) -> None:
        """Enter links that belong to this shard."""

    def refuse(self, refusals: list[Refusal]) -> None:
        """Note refusals."""

    async def is_trap(self, url: str) -> bool:
        """Return whether trap detection or a user rule refuses a URL."""

    async def visit_soon(self, keys: list[bytes]) -> None:
        """Queue known pages before those that the schedule has queued."""


class UrlSubmitter:
    """Submits URLs that no visit found to their shards, here or at a peer: seeds, announcements, old refusals."""

    def __init__(
        self,
        runtime: Runtime,
        *,
        opened: Mapping[int, LinkShard],
        open_shard: Callable[[int], Awaitable[LinkShard]],
        shards: int,
        stats: RunStats,
    ) -> None:
        """`opened`: the open shards of this process. `open_shard` opens one. `shards`: of the whole collection."""
        self._runtime = runtime
        self._peers = runtime.peers
        self._opened = opened
        self._open_shard = open_shard
        self._shards = shards
        self._stats = stats

    async def add_seeds(self, urls: Iterable[str]) -> None:
        """Submit seeds; refused ones are noted with their reason."""
        for url in urls:
            found = FoundLinks()
            now_us = to_us(self._runtime.clock.now())
            add_url(
                found, parse(url) or url, depth=0, hops=0, parent=None, scope=self._runtime.policy.scope, now_us=now_us
            )
            found.candidates = [seed for seed in found.candidates if self._owns(seed)]
            for candidate in found.candidates:
                await self._adopt_new_home(candidate)
            await self._distribute(found)

    async def _adopt_new_home(self, seed: Candidate) -> None:
        """Add the host that a seed moved to in an earlier run to the scope."""
        shard = await self._open_shard(self._shard_of(seed))
        target = await shard.store.moved_to(seed.key)
        if target is not None:
            self._runtime.adopt(seed.url, target)

    def _shard_of(self, candidate: Candidate) -> int:
        return shard_of_site(site_of(candidate.url), self._shards)

    def _owns(self, candidate: Candidate) -> bool:
        return self._peers.owns(self._shard_of(candidate))

    async def reconsider_refusals(self) -> None:
        """Submit refused URLs again, since rules and scope may have changed.
        A URL that is refused again does not count as a refusal of this run."""
        counted = self._stats.refused.copy()
        for shard in list(self._opened.values()):
            after = b""
            while refusals := await shard.store.refusals(after, REFUSALS_PORTION):
                after = refusals[-1].key
                found = FoundLinks()
                for refusal in self._of_sites_in_scope(refusals):
                    if refusal.reason is not Reason.TRAP or not await self._is_still_trap(refusal):
                        self._judge_again(refusal, found)
                await self._distribute(found)
        self._stats.refused = counted

    def _of_sites_in_scope(self, refusals: Iterable[Refusal]) -> Iterator[Refusal]:
        """Yield the refusals of sites in scope; those of one site follow each other."""
        excluded, scope = "?", self._runtime.policy.scope
        for refusal in refusals:
            if refusal.reason is Reason.OUT_OF_SCOPE:
                if refusal.url.startswith(excluded):
                    continue
                site = site_of(refusal.url)
                if scope.excludes_site(site):
                    excluded = f"{site}/"
                    continue
            yield refusal

    async def _is_still_trap(self, refusal: Refusal) -> bool:
        """Return whether trap detection still refuses a URL; a trap has too many URLs to submit all of them again."""
        shard = await self._open_shard(shard_of_site(site_of(refusal.url), self._shards))
        return await shard.is_trap(refusal.url)

    def _judge_again(self, refusal: Refusal, found: FoundLinks) -> None:
        if refusal.reason in FINAL_REFUSALS or len(refusal.url) >= MAX_REFUSED_CHARS:
            return
        if self._runtime.policy.scope.verdict(refusal.url, depth=refusal.depth, answers=None) is None:
            found.candidates.append(Candidate(refusal.url, refusal.key, refusal.depth, 0, refusal.parent, None))

    async def _distribute(self, found: FoundLinks) -> None:
        for candidate in found.candidates:
            await self.offer(candidate)
        if found.refusals and self._peers.is_first():
            shard = await self._open_shard(min(self._opened, default=0))
            shard.refuse(found.refusals)

    async def offer(self, candidate: Candidate) -> None:
        """Submit a URL to the shard that it belongs to."""
        number = self._shard_of(candidate)
        if self._peers.owns(number):
            await (await self._open_shard(number)).offer([candidate])
        else:
            self._peers.offer_url(candidate, number)

    async def visit_soon(self, urls: Iterable[str]) -> None:
        """Visit announced pages soon: new ones are entered like links, known ones are queued.
        URLs outside the scope are refused with their reason. Everything is stored when this returns."""
        found, now_us = FoundLinks(), to_us(self._runtime.clock.now())
        asking = Page(0, b"", ANNOUNCED, 0, 0, 0, 0, 0)
        for url in urls:
            href = parse(url) or url
            add_url(found, href, depth=1, hops=0, parent=asking, scope=self._runtime.policy.scope, now_us=now_us)
        found.candidates = [candidate for candidate in found.candidates if self._owns(candidate)]
        await self._distribute(found)
        keys: dict[int, list[bytes]] = {}
        for candidate in found.candidates:
            keys.setdefault(self._shard_of(candidate), []).append(candidate.key)
        for number, some in keys.items():
            await (await self._open_shard(number)).visit_soon(some)
