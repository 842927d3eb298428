"""One run over a collection: opens shards, moves parcels between them, keeps the limits, and knows when it
is over.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime, timedelta
from random import Random
from types import TracebackType

from evercrawl.core.credit.ledger import CREDIT_KEY
from evercrawl.core.duplicates.url_seen import BloomChain, UrlSeenTest
from evercrawl.core.frontier import Frontier
from evercrawl.core.politeness import Pace, SideRequest, parse_delay_rules, parse_hours, quiet_until
from evercrawl.core.revisit.request_budget import (
    BUDGET_KEY,
    RUN_BURST_DAYS,
    WATCH_BURST_DAYS,
    RequestBudget,
    initial_threshold,
)
from evercrawl.core.robots.robots_rules import RobotsRules
from evercrawl.core.scope.scope import Scope
from evercrawl.core.url import key_of, shard_of_site, site_of
from evercrawl.engine.commits import CONTENT_FILTER_BYTES
from evercrawl.engine.credit import Generations, ShardCredit
from evercrawl.engine.duplicates import MIRRORS_KEY, Duplicates, Mirrors
from evercrawl.engine.focus import FOCUS_KEY
from evercrawl.engine.heed import apply_rules
from evercrawl.engine.links import LinkIntake
from evercrawl.engine.ports import OpenArchive, OpenNear, ShardStore, Store
from evercrawl.engine.post import LinkRouter
from evercrawl.engine.robots import RobotsCache, SideRequests
from evercrawl.engine.runtime import Ended, RunStats, Runtime, StopSignal
from evercrawl.engine.seeds import UrlSubmitter
from evercrawl.engine.shard import Shard
from evercrawl.engine.traps import Traps
from evercrawl.errors import EvercrawlError
from evercrawl.model.fetch import FetchResult, Request
from evercrawl.model.page import Candidate, DuplicateCandidate, ShardState
from evercrawl.model.reason import Reason
from evercrawl.model.settings import RevisitSettings, TrapSettings
from evercrawl.model.site import Site
from evercrawl.model.time import DAY_US, span_us, to_us

log = logging.getLogger("evercrawl")

COLLECT_SELDOM = (50_000, 10, 10)
"""Garbage collector thresholds: a page makes thousands of short-lived values and no cycles."""
LISTEN_EVERY = timedelta(seconds=2)
"""How soon a running crawl hears what the operator says about traps and slower sites."""

NewRules = Callable[[], TrapSettings | None]
NewSlower = Callable[[], tuple[str, ...] | None]


class Crawl:
    """The shards of one process and what they share.

    Invariant: at most `concurrency` requests are in flight over all shards, and no visit starts once a
    limit is reached.
    """

    def __init__(
        self,
        *,
        store: Store,
        open_archive: OpenArchive,
        open_near: OpenNear,
        around: Runtime,
        seen: UrlSeenTest,
        pace: Pace,
        seed: int = 0,
        stop: StopSignal | None = None,
        forever: bool = False,
        new_rules: NewRules | None = None,
        new_slower: NewSlower | None = None,
        after: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`forever`: do not end when nothing is due, but wait for it. `new_rules`: what the operator has
        written about traps since it was asked last, `new_slower` the same about sites that are asked more
        slowly. `after`: what is left to do when every shard is closed.
        """
        self._after = after
        self.tally = RunStats()
        self.shards: dict[int, Shard] = {}
        self._generations = Generations(lambda: sum(shard.credits.whole for shard in self.shards.values()))
        self._store = store
        self._open_archive = open_archive
        self._open_near = open_near
        self._around = around
        self._seen = seen
        self._contents = BloomChain(CONTENT_FILTER_BYTES)
        self._pace = pace
        self._seed = seed
        self._stop = stop or StopSignal()
        self._settings = around.settings
        self._forever = forever
        self._new_rules = new_rules
        self._new_slower = new_slower
        self._neighbours = around.neighbours
        self._quiet_hours = tuple(parse_hours(text) for text in around.settings.revisit.quiet_hours)
        self._mirrors = Mirrors(is_on=around.settings.duplicates.mirrors)
        self.purse = _purse(around.settings.revisit, forever=forever)
        self._slots = asyncio.Semaphore(self._settings.crawl.concurrency)
        self._errands = SideRequests(self._send_errand)
        self._gates = RobotsCache(around.agent, allow_private=around.settings.http.allow_private)
        self._opening: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._running: dict[int, asyncio.Task[None]] = {}
        self._news = asyncio.Event()
        self.offering = UrlSubmitter(
            around, opened=self.shards, open_shard=self.shard, shards=store.shards, tally=self.tally
        )
        self.post = LinkRouter(around.neighbours, opened=self.shards, open_shard=self.shard, has_news=self._news.set)
        self.began = around.clock.now()
        self._is_open = False
        self.pages_before = 0
        """Pages that the collection held when the run began."""
        self.pending_before = 0

    # Beginning

    async def begin(self, *, refresh: bool = False) -> None:
        """Everything that comes before the first request; with `refresh` every known page is put into the
        queue.
        """
        await self.open_shards()
        for shard in list(self.shards.values()):
            await shard.signals.begin()
        if refresh:
            await self.requeue_all()
        await self.offering.add_seeds(self._settings.scope.seeds)
        await self.offering.reconsider_refusals()

    async def open_shards(self) -> None:
        """Take over every shard that holds something, and deliver what was on its way."""
        for number in await self._store.existing_shards():
            if self._neighbours.owns(number):
                await self.shard(number)
        if self.shards:
            first = self.shards[min(self.shards)]
            self.purse.restore(await first.store.memory(*BUDGET_KEY))
            if self._around.focus is not None:
                self._around.focus.recall(await first.store.memory(*FOCUS_KEY))
            self._mirrors.recall(await first.store.memory(*MIRRORS_KEY))
        for shard in list(self.shards.values()):
            for parcel in await shard.store.parcels():
                self.post.send(parcel)

    async def shard(self, number: int) -> Shard:
        """The shard of that number, opened if it is not yet."""
        async with self._opening[number]:
            if number not in self.shards:
                await self._open_shard(number)
        return self.shards[number]

    async def _open_shard(self, number: int) -> None:
        store = await self._store.open_shard(number)
        facts = await store.claim()
        self.pages_before += facts.pages
        self.pending_before += facts.pending
        archive = self._open_archive(number)
        archive.cut_back(facts.archive_end)
        async for keys in store.keys():
            self._seen.load(keys)
        gate_of = self._gate_finder(number)
        frontier = self._new_frontier(facts, gate_of)
        traps = Traps(store, self._around.guard, shards=self._store.shards)
        credits = await self._new_credits(store, facts)
        shard = Shard(
            store=store,
            facts=facts,
            archive=archive,
            frontier=frontier,
            intake=self._new_intake(store, facts, gate_of, credits, traps),
            traps=traps,
            around=self._around,
            tally=self.tally,
            errands=self._errands,
            shards=self._store.shards,
            slots=self._slots,
            may_start=self.may_start,
            deliver=self.post.send,
            is_delivered=self.post.confirm,
            became_quiet=self._news.set,
            restart_gap=self._pace.floor,
            purse=self.purse,
            blocked_until_us=self.blocked_until_us,
            robots_of=gate_of,
            forever=self._forever,
            credits=credits,
            twins=self._new_twins(store, number),
            takes_parcels=self._takes_parcels,
            contents=self._contents if not facts.pages else None,
        )
        shard.mailbox.recall_sent(await store.parcels())
        self.shards[number] = shard
        self.purse.pages += facts.pages
        first, back_queues = min(self.shards), self._back_queues()
        for other in self.shards.values():
            other.keeps_purse = other.number == first
            other.frontier.back_queues = back_queues
        await apply_rules(shard)
        if self._is_open:
            self._running[number] = asyncio.create_task(shard.run())

    def _new_frontier(self, facts: ShardState, gate_of: Callable[[Site], RobotsRules | None]) -> Frontier:
        settings, focus = self._settings.frontier, self._around.focus
        return Frontier(
            pace=self._pace,
            bands=settings.priorities,
            window=settings.window if focus is None else focus.window,
            back_queues=self._back_queues(),
            random=Random(f"{self._seed}/{facts.shard}/{facts.epoch}"),
            robots_of=gate_of,
            worth=None if focus is None else focus.worth_of,
        )

    def _new_intake(
        self,
        store: ShardStore,
        facts: ShardState,
        gate_of: Callable[[Site], RobotsRules | None],
        credits: ShardCredit,
        traps: Traps,
    ) -> LinkIntake:
        return LinkIntake(
            store,
            facts,
            seen=self._seen,
            clock=self._around.clock,
            pages_per_site=self._settings.scope.max_pages_per_site,
            robots_of=gate_of,
            focus=self._around.focus,
            traps=traps,
            credits=credits,
        )

    def _takes_parcels(self, number: int) -> bool:
        """The shard is there already, here or at a neighbour's."""
        return number in self.shards or not self._neighbours.owns(number)

    def _new_twins(self, store: ShardStore, number: int) -> Duplicates:
        return Duplicates(
            store,
            self._open_near(number),
            settings=self._settings.duplicates,
            mirrors=self._mirrors,
            twin_at=self._twin_at,
        )

    async def _twin_at(self, url: str) -> DuplicateCandidate | None:
        """What is known of a page of any shard of this process."""
        shard = self.shards.get(shard_of_site(site_of(url), self._store.shards))
        return None if shard is None else await shard.store.twin(key_of(url))

    async def _new_credits(self, store: ShardStore, facts: ShardState) -> ShardCredit:
        def pages_elsewhere() -> dict[int, int]:
            others = self.shards.items()
            return {number: other.credits.pages for number, other in others if number != facts.shard}

        return ShardCredit(
            await store.memory(*CREDIT_KEY),
            pages=facts.pages,
            settings=self._settings.credit,
            bands=self._settings.frontier.priorities,
            seeds=len(self._settings.scope.seeds),
            pages_elsewhere=pages_elsewhere,
            generations=self._generations,
        )

    def _back_queues(self) -> int:
        """B of Mercator, shared out over the open shards."""
        in_all = self._settings.frontier.back_queues or 3 * self._settings.crawl.concurrency
        return max(4, in_all // max(1, len(self.shards)))

    def _gate_finder(self, number: int) -> Callable[[Site], RobotsRules | None]:
        def gate_of(site: Site) -> RobotsRules | None:
            queue = self.shards[number].frontier.queues.get(site.id) if number in self.shards else None
            if queue is not None and queue.robots is not None:
                return queue.robots
            return self._gates.of(site)

        return gate_of

    async def requeue_all(self) -> None:
        """Put every known page into the queue, whatever the schedule says."""
        for shard in list(self.shards.values()):
            await shard.due.requeue_all()

    @property
    def scope(self) -> Scope:
        """Which URLs belong."""
        return self._around.scope

    # For reports

    def now(self) -> datetime:
        """The run's present moment."""
        return self._around.clock.now()

    def elapsed(self) -> timedelta:
        """How long the run has lasted."""
        return self.now() - self.began

    def in_flight(self) -> int:
        """Requests under way."""
        return sum(shard.in_flight for shard in self.shards.values())

    def closed_sites(self) -> list[Site]:
        """Sites with work that are left alone for now."""
        now_us = to_us(self.now())
        return [site for shard in self.shards.values() for site in shard.frontier.closed_sites(now_us=now_us)]

    def url_seen(self) -> dict[str, float]:
        """How the URL-seen test worked in this run."""
        popular, counts = self._around.popular, self._seen.counts
        offered = popular.hits + popular.misses
        tested = counts.new_by_filter + counts.store_lookups
        return {
            "offered": offered,
            "cache_hit_rate": round(popular.hits / offered, 4) if offered else 0.0,
            "filter_sure_rate": round(counts.new_by_filter / tested, 4) if tested else 0.0,
            "store_lookups": counts.store_lookups,
            "false_positives": counts.false_positives,
        }

    def is_throttled(self) -> bool:
        """Some site with work has asked us to stay away."""
        return any((site.closed_reason or "").startswith(Reason.SITE_PAUSED) for site in self.closed_sites())

    # Running

    async def run(self) -> Ended:
        """Visit what is due until nothing is left, a limit is reached, or the operator stops it."""
        self._is_open = True
        gc.freeze()
        gc.set_threshold(*COLLECT_SELDOM)
        for number, shard in list(self.shards.items()):
            await shard.commit()
            self._running[number] = asyncio.create_task(shard.run())
        listening = asyncio.create_task(self._listen())
        try:
            return await self._until_over()
        finally:
            listening.cancel()
            await self._wind_up()

    async def _listen(self) -> None:
        """Heed what the operator says about traps and slower sites while the crawl runs."""
        while self._new_rules is not None:
            await asyncio.sleep(LISTEN_EVERY.total_seconds())
            slower = self._new_slower() if self._new_slower is not None else None
            if slower is not None:
                self.slow_down(slower)
            rules = self._new_rules()
            if rules is None:
                continue
            self._around.guard.update(rules)
            try:
                for shard in list(self.shards.values()):
                    await apply_rules(shard)
            except EvercrawlError as error:
                # Each shard finds out by itself that its store is gone, and says so.
                log.warning("the rules on traps were heard, not stored: %s", error)

    def slow_down(self, rules: Iterable[str]) -> None:
        """From now on these rules on slower sites count, and no others."""
        self._pace = self._pace._replace(slower=parse_delay_rules(rules))
        now_us = to_us(self._around.clock.now())
        for shard in self.shards.values():
            shard.frontier.set_pace(self._pace, now_us=now_us)
            shard.wake.set()

    def may_start(self) -> bool:
        """One more request may begin."""
        if not self._is_open or self._stop.stage or self.limit_reached() is not None:
            return False
        if not self._neighbours.may_ask():
            return False
        return self.blocked_until_us() is None

    def blocked_until_us(self) -> int | None:
        """When requests may begin again: behind quiet hours, or with the next token of the budget; None:
        now.
        """
        now = self._around.clock.now()
        quiet = quiet_until(self._quiet_hours, now=now)
        if quiet is not None:
            return to_us(quiet)
        now_days = to_us(now) / DAY_US
        if self.purse.may_spend(now_days):
            return None
        return to_us(now) + int((self.purse.next_token_at(now_days) - now_days) * DAY_US) + 1

    def limit_reached(self) -> str | None:
        """The limit that ends this run, in words; None: none yet."""
        limits = self._settings.crawl
        visits, wire_bytes = self._neighbours.spent(self.tally.visits, self.tally.wire_bytes)
        if limits.max_pages is not None and visits >= limits.max_pages:
            return f"{limits.max_pages} pages"
        if limits.max_bytes is not None and wire_bytes >= limits.max_bytes:
            return f"{limits.max_bytes} bytes"
        if limits.max_time is not None and self._around.clock.now() - self.began >= limits.max_time:
            return f"{limits.max_time.total_seconds():.0f} seconds"
        return None

    async def _until_over(self) -> Ended:
        while True:
            self._news.clear()
            self._raise_errors()
            if self._stop.stage:
                return Ended.INTERRUPTED
            if self.limit_reached() is not None or self._is_budget_spent():
                return Ended.LIMIT
            ended = self._quiet_end()
            if ended is not None and self._neighbours.agree(ended):
                return ended
            await self._wait_for_news()

    def _is_budget_spent(self) -> bool:
        """Work is left that the budget does not pay for today; only who watches waits for tomorrow."""
        if self._forever or self.in_flight() or self.purse.may_spend(to_us(self.now()) / DAY_US):
            return False
        return any(shard.frontier.has_sites() for shard in self.shards.values())

    def _quiet_end(self) -> Ended | None:
        if self._forever or self.post.deliveries or not all(shard.is_quiet for shard in self.shards.values()):
            return None
        moments = [shard.quiet_until_us for shard in self.shards.values() if shard.quiet_until_us is not None]
        waiting = any(shard.frontier.has_sites() for shard in self.shards.values())
        patient_until = to_us(self._around.clock.now()) + span_us(self._settings.crawl.idle_timeout)
        if moments and min(moments) <= patient_until:
            return None
        return Ended.CLOSED if waiting else Ended.DONE

    async def _wait_for_news(self) -> None:
        waiters = [asyncio.create_task(self._news.wait()), asyncio.create_task(self._stop.changed())]
        try:
            await asyncio.wait(
                [*waiters, *self._running.values()], return_when=asyncio.FIRST_COMPLETED, timeout=self._time_left()
            )
        finally:
            for waiter in waiters:
                waiter.cancel()

    def _time_left(self) -> float | None:
        limit = self._settings.crawl.max_time
        if limit is None:
            return None
        return max(0.0, (self.began + limit - self._around.clock.now()).total_seconds())

    def _raise_errors(self) -> None:
        if self.post.failed is not None:
            raise self.post.failed
        for task in self._running.values():
            if task.done() and not task.cancelled() and (error := task.exception()) is not None:
                raise _innermost(error)

    async def _wind_up(self) -> None:
        """Let requests in flight end, save everything, let go."""
        self._is_open = False
        patience = timedelta(0) if self._stop.stage >= 2 else self._settings.crawl.shutdown_timeout
        hurry = asyncio.create_task(self._cancel_when_hurried())
        try:
            await asyncio.gather(*(shard.finish(patience) for shard in self.shards.values()))
        finally:
            tasks = [hurry, *self._running.values(), *self.post.deliveries]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for shard in list(self.shards.values()):
            await shard.commit()

    async def _cancel_when_hurried(self) -> None:
        """A second word from the operator while requests end: break them off."""
        while self._stop.stage < 2:
            await self._stop.changed()
        for shard in self.shards.values():
            shard.cancel_visits()

    async def __aenter__(self) -> Crawl:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of every shard and of the network. After an error the shards count as crashed: nobody
        knows their last moments. No request is under way when this returns.
        """
        if error is not None:
            await asyncio.gather(*(shard.abandon() for shard in self.shards.values()))
        for shard in list(self.shards.values()):
            await shard.close(cleanly=error is None)
        await self._store.close()
        await self._around.fetcher.close()
        if self._after is not None:
            await self._after()

    # Between shards

    def pass_on(self, candidate: Candidate, target: int) -> None:
        """Send a URL to a shard that is not ours, with the next commit of one that is."""
        if self.shards:
            self.shards[min(self.shards)].pass_on([], {target: [candidate]}, [])

    async def gain(self, number: int) -> None:
        """A shard has become ours while the run goes on."""
        shard = await self.shard(number)
        await shard.signals.begin()
        for parcel in await shard.store.parcels():
            self.post.send(parcel)
        self._news.set()

    async def let_go(self, number: int, within: timedelta) -> None:
        """A shard goes to somebody else: finish what is under way there, save, and release it."""
        shard = self.shards[number]
        shard.retire()
        await shard.finish(within)
        running = self._running.pop(number, None)
        if running is not None:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        await shard.commit()
        del self.shards[number]
        await shard.close(cleanly=True)

    def is_quiet(self) -> bool:
        """Nothing is under way and nothing waits to be saved."""
        return not self.post.deliveries and all(shard.is_quiet for shard in self.shards.values())

    async def answer(self, request: Request) -> FetchResult:
        """Ask one of our sites for a neighbour, in that site's pace."""
        return await self._errands.run(request)

    def wake(self) -> None:
        """Something happened outside that may end the run."""
        self._news.set()

    async def _send_errand(self, errand: SideRequest) -> None:
        number = shard_of_site(site_of(errand.url), self._store.shards)
        if self._neighbours.owns(number):
            await (await self.shard(number)).add_side_request(errand)
        else:
            result = await self._neighbours.ask(self._errands.request_of(errand), number)
            self._errands.done(errand, result)


def _purse(settings: RevisitSettings, *, forever: bool) -> RequestBudget:
    worth = settings.min_freshness_gain / timedelta(days=1)
    threshold = initial_threshold(per_day=settings.budget, pages=0, worth=worth)
    burst = WATCH_BURST_DAYS if forever else RUN_BURST_DAYS
    return RequestBudget(settings.budget, threshold, burst_days=burst)


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
