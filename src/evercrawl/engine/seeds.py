"""URLs that come from outside a visit, and the shards that they belong to: seeds, announcements, and what was
refused before other rules held.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping

from evercrawl.core.url import parse, shard_of_site, site_of
from evercrawl.core.visit.links import FoundLinks, add_url
from evercrawl.engine.runtime import RunStats, Runtime
from evercrawl.engine.shard import Shard
from evercrawl.model.page import Candidate, Page, Refusal
from evercrawl.model.reason import Reason
from evercrawl.model.time import to_us

REFUSALS_PORTION = 5000
ANNOUNCED = "an announcement"
"""What led to a page that somebody asked to be visited."""
FINAL_REFUSALS = frozenset(
    {Reason.INVALID_URL, Reason.UNSUPPORTED_SCHEME, Reason.NOFOLLOW, Reason.URL_TOO_LONG, Reason.TOO_MANY_REDIRECTS}
)
"""Refusals that no change of settings or robots.txt undoes by itself; of a URL that is too long only the
beginning was kept.
"""


class UrlSubmitter:
    """Judges URLs by the scope and hands each to its shard, here or at a neighbour's."""

    def __init__(
        self,
        around: Runtime,
        *,
        opened: Mapping[int, Shard],
        open_shard: Callable[[int], Awaitable[Shard]],
        shards: int,
        tally: RunStats,
    ) -> None:
        """`opened`: the shards that are open here; `open_shard` opens any of those that belong here;
        `shards`: of the whole collection.
        """
        self._around = around
        self._neighbours = around.neighbours
        self._opened = opened
        self._open_shard = open_shard
        self._shards = shards
        self._tally = tally

    async def add_seeds(self, urls: Iterable[str]) -> None:
        """Offer seeds; those that are refused are noted with their reason."""
        for url in urls:
            offers = FoundLinks()
            now_us = to_us(self._around.clock.now())
            add_url(offers, parse(url) or url, depth=0, hops=0, parent=None, scope=self._around.scope, now_us=now_us)
            offers.candidates = [seed for seed in offers.candidates if self._owns(seed)]
            for candidate in offers.candidates:
                await self._adopt_new_home(candidate)
            await self._hand_out(offers)

    async def _adopt_new_home(self, seed: Candidate) -> None:
        """The host that a seed was found to have moved to in an earlier run belongs to the scope."""
        shard = await self._open_shard(self._shard_of(seed))
        target = await shard.store.moved_to(seed.key)
        if target is not None:
            self._around.adopt(seed.url, target)

    def _shard_of(self, candidate: Candidate) -> int:
        return shard_of_site(site_of(candidate.url), self._shards)

    def _owns(self, candidate: Candidate) -> bool:
        return self._neighbours.owns(self._shard_of(candidate))

    async def reconsider_refusals(self) -> None:
        """Offer again what was refused, for rules and scope may have changed since.

        What is refused again does not count as a refusal of this run.
        """
        counted = self._tally.refused.copy()
        for shard in list(self._opened.values()):
            after = b""
            while refusals := await shard.store.refusals(after, REFUSALS_PORTION):
                after = refusals[-1].key
                offers = FoundLinks()
                for refusal in refusals:
                    if refusal.reason is not Reason.TRAP or not await self._is_trap_still(refusal):
                        self._judge_again(refusal, offers)
                await self._hand_out(offers)
        self._tally.refused = counted

    async def _is_trap_still(self, refusal: Refusal) -> bool:
        """Nothing has changed for this URL; a trap has too many of them to offer each again."""
        shard = await self._open_shard(shard_of_site(site_of(refusal.url), self._shards))
        site = await shard.intake.site_for(site_of(refusal.url))
        await shard.traps.load(site.id, pages=shard.intake.pages_of(site))
        year = self._around.clock.now().year
        offered = shard.traps.on_offer(refusal.url, site_id=site.id, year=year, is_asked_for=False)
        return offered.refused is not None

    def _judge_again(self, refusal: Refusal, offers: FoundLinks) -> None:
        if refusal.reason in FINAL_REFUSALS:
            return
        if self._around.scope.verdict(refusal.url, depth=refusal.depth) is None:
            offers.candidates.append(Candidate(refusal.url, refusal.key, refusal.depth, 0, refusal.parent, None))

    async def _hand_out(self, offers: FoundLinks) -> None:
        for candidate in offers.candidates:
            await self.offer(candidate)
        if offers.refusals and self._neighbours.is_first():
            shard = await self._open_shard(min(self._opened, default=0))
            shard.refuse(offers.refusals)

    async def offer(self, candidate: Candidate) -> None:
        """Hand a URL to the shard that it belongs to."""
        number = self._shard_of(candidate)
        if self._neighbours.owns(number):
            await (await self._open_shard(number)).offer([candidate])
        else:
            self._neighbours.offer(candidate, number)

    async def visit_soon(self, urls: Iterable[str]) -> None:
        """Pages that somebody announced: new ones are offered like links, known ones enter the queue. What is
        outside the scope is refused with its reason. They are on disk when this returns.
        """
        offers, now_us = FoundLinks(), to_us(self._around.clock.now())
        asking = Page(0, b"", ANNOUNCED, 0, 0, 0, 0, 0)
        for url in urls:
            href = parse(url) or url
            add_url(offers, href, depth=1, hops=0, parent=asking, scope=self._around.scope, now_us=now_us)
        offers.candidates = [candidate for candidate in offers.candidates if self._owns(candidate)]
        await self._hand_out(offers)
        keys: dict[int, list[bytes]] = {}
        for candidate in offers.candidates:
            keys.setdefault(self._shard_of(candidate), []).append(candidate.key)
        for number, some in keys.items():
            await (await self._open_shard(number)).due.visit_soon(some)
