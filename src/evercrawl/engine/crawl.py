"""One run over a collection: opens shards, routes links between them, keeps the limits, and decides when it ends."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime, timedelta
from types import TracebackType
from typing import NamedTuple

from evercrawl.core.credit.ledger import CREDIT_KEY
from evercrawl.core.duplicates.repeats import MIRRORS_KEY
from evercrawl.core.politeness import Pace, SideRequest, parse_delay_rules, parse_hours, quiet_until
from evercrawl.core.revisit.request_budget import BUDGET_KEY
from evercrawl.core.scope.scope import Scope
from evercrawl.core.url import key_of, shard_of_site, site_of
from evercrawl.engine.commits import LinkRouter
from evercrawl.engine.links import UrlSubmitter
from evercrawl.engine.ports import OpenArchive, OpenNear, Store
from evercrawl.engine.runtime import FOCUS_KEY, Ended, Runtime, StopSignal
from evercrawl.engine.shard import Shard
from evercrawl.engine.shared import ShardHost, ShardPorts, SharedState
from evercrawl.errors import EvercrawlError
from evercrawl.model.fetch import FetchResult, Request
from evercrawl.model.page import Candidate, DuplicateCandidate
from evercrawl.model.reason import Reason
from evercrawl.model.settings import TrapSettings
from evercrawl.model.site import Site
from evercrawl.model.time import DAY_US, span_us, to_us

log = logging.getLogger("evercrawl")

GC_THRESHOLDS = (50_000, 10, 10)
"""Garbage collector thresholds: a page makes thousands of short-lived values and no cycles."""
RELOAD_EVERY = timedelta(seconds=2)  # How often a running crawl checks for new trap rules and rate overrides.

NewRules = Callable[[], TrapSettings | None]
Overrides = tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, str], ...]]
"""Rate overrides, removed pages, and the user's schedules by pattern."""
NewOverrides = Callable[[], Overrides | None]


class CrawlPorts(NamedTuple):
    """Where a collection keeps its data."""

    store: Store
    open_archive: OpenArchive
    open_near: OpenNear


class RuleUpdates(NamedTuple):
    """Rules that may change during a run; each call returns what has changed since the last one."""

    traps: NewRules
    delays: NewOverrides | None = None
    is_paused: Callable[[], bool] = lambda: False  # Whether the operator has paused the run.


class Crawl:
    """The shards of one process and what they share.
    Invariant: at most `concurrency` requests are in flight over all shards, and no visit starts once a limit is
    reached."""

    def __init__(
        self,
        ports: CrawlPorts,
        runtime: Runtime,
        *,
        pace: Pace,
        seed: int = 0,
        stop: StopSignal | None = None,
        updates: RuleUpdates | None = None,
        after: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`after` runs when every shard is closed."""
        self.shards: dict[int, Shard] = {}
        self._ports = ports
        self._runtime = runtime
        self._settings = runtime.policy.settings
        self._forever = runtime.policy.forever
        self._peers = runtime.peers
        self._stop = stop or StopSignal()
        self._updates = updates
        self._after = after
        self._quiet_hours = tuple(parse_hours(text) for text in self._settings.revisit.quiet_hours)
        self.shared = SharedState(
            runtime.policy,
            shards=ports.store.shards,
            pace=pace,
            seed=seed,
            total_credit=lambda: sum(shard.credit.whole for shard in self.shards.values()),
            send=self._send_side_request,
            clock=runtime.clock,
            renderer=runtime.renderer,
        )
        self.stats = self.shared.stats
        self._opening: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._running: dict[int, asyncio.Task[None]] = {}
        self._event = asyncio.Event()
        self.urls = UrlSubmitter(
            runtime, opened=self.shards, open_shard=self.shard, shards=ports.store.shards, stats=self.stats
        )
        self.router = LinkRouter(runtime.peers, opened=self.shards, open_shard=self.shard, on_delivery=self._event.set)
        self._host = ShardHost(
            self.may_start,
            self.has_enough_pages,
            self.blocked_until_us,
            self._event.set,
            self._page_at,
            self._pages_elsewhere,
            self._takes_batches,
            self.router.send,
            self.router.confirm,
        )
        self.began = runtime.clock.now()
        self._is_open = False
        self.is_paused = False
        self.pages_before = 0
        """Pages that the collection held when the run began."""
        self.pending_before = 0

    # Start

    async def begin(self, *, refresh: bool = False) -> None:
        """Do everything that comes before the first request; `refresh` queues every known page."""
        if refresh and self.shared.robots_since_us:
            self.shared.robots_since_us = to_us(self.began)
        await self.open_shards()
        for shard in list(self.shards.values()):
            await shard.sitemaps.begin()
        if refresh:
            await self.requeue_all()
        await self.urls.add_seeds(self._settings.scope.seeds)
        await self.urls.reconsider_refusals()

    async def open_shards(self) -> None:
        """Take over every shard that is not empty, and deliver its pending link batches."""
        for number in await self._ports.store.existing_shards():
            if self._peers.owns(number):
                await self.shard(number)
        if self.shards:
            store = self.shards[min(self.shards)].store
            self.shared.budget.restore(await store.site_state(*BUDGET_KEY))
            if self._runtime.focus is not None:
                self._runtime.focus.restore(await store.site_state(*FOCUS_KEY))
            self.shared.mirrors.restore(await store.site_state(*MIRRORS_KEY))
        for shard in list(self.shards.values()):
            for batch in await shard.store.outbox():
                self.router.send(batch)

    async def shard(self, number: int) -> Shard:
        """Return the shard of that number; open it if necessary."""
        async with self._opening[number]:
            if number not in self.shards:
                await self._open_shard(number)
        return self.shards[number]

    async def _open_shard(self, number: int) -> None:
        store = await self._ports.store.open_shard(number)
        facts = await store.claim()
        ahead_us = await store.follow_clock(to_us(self._runtime.clock.now()))
        if ahead_us:
            log.warning(
                "the clock is %s behind the last visit in shard %d; due times were moved back",
                timedelta(microseconds=ahead_us),
                number,
            )
        self.pages_before += facts.pages
        self.pending_before += facts.pending
        archive = self._ports.open_archive(number)
        archive.truncate_to(facts.archive_end)
        async for keys in store.keys():
            self.shared.seen.load(keys)
        ports = ShardPorts(store, archive, self._ports.open_near(number))
        credit = await store.site_state(*CREDIT_KEY)
        shard = Shard(facts, ports, self._runtime, self.shared, self._host, credit_state=credit)
        shard.channel.restore_outbox(await store.outbox())
        self.shards[number] = shard
        self.shared.budget.pages += facts.pages
        first, back_queues = min(self.shards), self._back_queues()
        for other in self.shards.values():
            other.saves_shared_state = other.number == first
            other.frontier.back_queues = back_queues
        await shard.apply_rules()
        if self._is_open:
            self._running[number] = asyncio.create_task(shard.run())

    def _takes_batches(self, number: int) -> bool:
        """Return whether the shard is open already, here or at a peer."""
        return number in self.shards or not self._peers.owns(number)

    async def _page_at(self, url: str) -> DuplicateCandidate | None:
        shard = self.shards.get(self._shard_of(url))
        return None if shard is None else await shard.store.duplicate_candidate(key_of(url))

    def _pages_elsewhere(self, number: int) -> dict[int, int]:
        return {other: shard.credit.pages for other, shard in self.shards.items() if other != number}

    def _shard_of(self, url: str) -> int:
        return shard_of_site(site_of(url), self._ports.store.shards)

    def _back_queues(self) -> int:
        """Return the number of back queues per open shard (B of Mercator)."""
        in_all = self._settings.frontier.back_queues or 3 * self._settings.crawl.concurrency
        return max(4, in_all // max(1, len(self.shards)))

    async def requeue_all(self) -> None:
        """Queue every known page, whatever the schedule says."""
        for shard in list(self.shards.values()):
            await shard.requeue_all()

    @property
    def scope(self) -> Scope:
        """The rules for URLs."""
        return self._runtime.policy.scope

    # For reports

    def now(self) -> datetime:
        """Return the current time of the run."""
        return self._runtime.clock.now()

    def elapsed(self) -> timedelta:
        """Return how long the run has lasted."""
        return self.now() - self.began

    def in_flight(self) -> int:
        """Return the number of requests in flight."""
        return sum(shard.in_flight for shard in self.shards.values())

    def closed_sites(self) -> list[Site]:
        """Return sites with work that are closed for now."""
        now_us = to_us(self.now())
        return [site for shard in self.shards.values() for site in shard.frontier.closed_sites(now_us=now_us)]

    def url_seen(self) -> dict[str, float]:
        """Return how the URL-seen test worked in this run."""
        popular, counts = self._runtime.popular, self.shared.seen.counts
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
        """Return whether some site with work has asked us to stay away."""
        return any((site.closed_reason or "").startswith(Reason.SITE_PAUSED) for site in self.closed_sites())

    # Running

    async def run(self) -> Ended:
        """Visit what is due until nothing is left, a limit is reached, or the operator stops the run."""
        self._is_open = True
        gc.freeze()
        gc.set_threshold(*GC_THRESHOLDS)
        for number in list(self.shards):
            shard = await self.shard(number)  # Links of a peer may be opening it just now; then it runs already.
            await shard.commit()
            if number not in self._running:
                self._running[number] = asyncio.create_task(shard.run())
        reloading = asyncio.create_task(self._reload_rules())
        try:
            return await self._until_over()
        finally:
            reloading.cancel()
            await self._finish()

    async def _reload_rules(self) -> None:
        """Apply pauses and changes of trap rules, rate overrides, removed pages and schedules while the crawl runs."""
        while self._updates is not None:
            await asyncio.sleep(RELOAD_EVERY.total_seconds())
            self._pause(self._updates.is_paused())
            changed = self._updates.delays() if self._updates.delays is not None else None
            if changed is not None:
                self.slow_down(changed[0])
                self.scope.set_removed(changed[1])
                self.scope.set_schedules(dict(changed[2]))
            rules = self._updates.traps()
            if rules is None and changed is None:
                continue
            if rules is not None:
                self._runtime.policy.traps.update(rules)
            try:
                for shard in list(self.shards.values()):
                    await shard.apply_rules()
            except EvercrawlError as error:
                # Each shard detects and reports the loss of its store by itself.
                log.warning("the rules are in force but could not be stored: %s", error)

    def _pause(self, is_paused: bool) -> None:
        """Start no more requests while the operator pauses the run."""
        if is_paused != self.is_paused:
            self.is_paused = is_paused
            for shard in self.shards.values():
                shard.wake.set()

    def slow_down(self, rules: Iterable[str]) -> None:
        """Replace the rate overrides."""
        pace = self.shared.pace = self.shared.pace._replace(overrides=parse_delay_rules(rules))
        now_us = to_us(self._runtime.clock.now())
        for shard in self.shards.values():
            shard.frontier.set_pace(pace, now_us=now_us)
            shard.wake.set()

    def may_start(self) -> bool:
        """Return whether one more request may start."""
        if not self._is_open or self._stop.stage:
            return False
        if self.limit_reached() is not None:
            self._event.set()  # The run is over, even if a shard still waits for a sitemap.
            return False
        if not self._peers.may_fetch():
            return False
        return self.blocked_until_us() is None

    def blocked_until_us(self) -> int | None:
        """Return when requests may start again: after a pause, quiet hours, or with the next token of the budget.
        None: now."""
        now = self._runtime.clock.now()
        if self.is_paused:
            return to_us(now + RELOAD_EVERY)
        quiet = quiet_until(self._quiet_hours, now=now)
        if quiet is not None:
            return to_us(quiet)
        now_days = to_us(now) / DAY_US
        if self.shared.budget.may_spend(now_days):
            return None
        return to_us(now) + int((self.shared.budget.next_token_at(now_days) - now_days) * DAY_US) + 1

    def has_enough_pages(self) -> bool:
        """Return whether no more pages may be visited; assets of visited pages are still fetched."""
        most = self._settings.crawl.max_pages
        if most is None:
            return False
        visits, _ = self._peers.report_spent(self.stats.visits, self.stats.wire_bytes)
        return visits >= most

    def limit_reached(self) -> str | None:
        """Return the limit that ends this run, in words; None: there is none yet."""
        limits = self._settings.crawl
        _, wire_bytes = self._peers.report_spent(self.stats.visits, self.stats.wire_bytes)
        if self.has_enough_pages() and not any(shard.is_completing for shard in self.shards.values()):
            return f"{limits.max_pages} pages"
        if limits.max_bytes is not None and wire_bytes >= limits.max_bytes:
            return f"{limits.max_bytes} bytes"
        if limits.max_time is not None and self._runtime.clock.now() - self.began >= limits.max_time:
            return f"{limits.max_time.total_seconds():.0f} seconds"
        return None

    async def _until_over(self) -> Ended:
        while True:
            self._event.clear()
            self._raise_errors()
            if self._stop.stage:
                return Ended.INTERRUPTED
            if self.limit_reached() is not None or self._is_budget_spent():
                return Ended.LIMIT
            ended = self.end_if_quiet()
            if ended is not None and self._peers.report_idle(ended):
                return ended
            await self._wait_for_event()

    def _is_budget_spent(self) -> bool:
        """Return whether work is left that today's budget does not cover; a watch waits for tomorrow."""
        if self._forever or self.in_flight() or self.shared.budget.may_spend(to_us(self.now()) / DAY_US):
            return False
        return any(shard.frontier.has_sites() for shard in self.shards.values())

    def end_if_quiet(self) -> Ended | None:
        """Return how the run would end now; None: there is something to do, also if it has to wait for it."""
        if self._forever or self.router.deliveries or not all(shard.is_quiet for shard in self.shards.values()):
            return None
        limits, now_us = self._settings.crawl, to_us(self._runtime.clock.now())
        waits = [(shard.opens_us, limits.idle_timeout) for shard in self.shards.values()]
        waits += [(shard.quiet_until_us, limits.retry_timeout) for shard in self.shards.values()]
        if any(moment is not None and moment <= now_us + span_us(longest) for moment, longest in waits):
            return None
        waiting = any(shard.frontier.has_sites() for shard in self.shards.values())
        return Ended.CLOSED if waiting or self.stats.paused_pages else Ended.DONE

    async def _wait_for_event(self) -> None:
        waiters = [asyncio.create_task(self._event.wait()), asyncio.create_task(self._stop.wait_for_stage())]
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
        return max(0.0, (self.began + limit - self._runtime.clock.now()).total_seconds())

    def _raise_errors(self) -> None:
        if self.router.failed is not None:
            raise self.router.failed
        for task in self._running.values():
            if task.done() and not task.cancelled() and (error := task.exception()) is not None:
                raise _innermost(error)

    async def _finish(self) -> None:
        """Let requests in flight end, save everything, and release the shards."""
        self._is_open = False
        timeout = timedelta(0) if self._stop.stage >= 2 else self._settings.crawl.shutdown_timeout
        canceller = asyncio.create_task(self._cancel_on_second_stop())
        try:
            await asyncio.gather(*(shard.finish(timeout) for shard in self.shards.values()))
        finally:
            for number, shard in list(self.shards.items()):
                if number in self._running:
                    await shard.buffer.cancel(self._running[number])
            tasks = [canceller, *self.router.deliveries]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for shard in list(self.shards.values()):
            await shard.commit()

    async def _cancel_on_second_stop(self) -> None:
        """Cancel requests in flight if the operator stops the run a second time."""
        while self._stop.stage < 2:
            await self._stop.wait_for_stage()
        for shard in self.shards.values():
            shard.cancel_visits()

    async def __aenter__(self) -> Crawl:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release every shard and close the network. No request is in flight when this returns.

        After an error the shards count as crashed: what they did last is unknown.
        """
        if error is not None:
            await asyncio.gather(*(shard.abandon() for shard in self.shards.values()))
        for shard in list(self.shards.values()):
            await shard.close(cleanly=error is None)
        await self._ports.store.close()
        await self.shared.renderer.close()
        if self._runtime.policy.parser is not None:
            self._runtime.policy.parser.close()
        await self._runtime.fetcher.close()
        if self._after is not None:
            await self._after()

    # Between shards

    def forward_url(self, candidate: Candidate, target: int) -> None:
        """Send a URL to a shard of a peer, with the next commit of one of ours."""
        if self.shards:
            self.shards[min(self.shards)].send_links(target, [candidate])

    async def add_shard(self, number: int) -> None:
        """Take over a shard during the run."""
        shard = await self.shard(number)
        await shard.sitemaps.begin()
        for batch in await shard.store.outbox():
            self.router.send(batch)
        self._event.set()

    async def release_shard(self, number: int, within: timedelta) -> None:
        """Release a shard during the run: finish what is in flight, and save."""
        shard = self.shards[number]
        shard.retire()
        await shard.finish(within)
        running = self._running.pop(number, None)
        if running is not None:
            await shard.buffer.cancel(running)
        await shard.commit()
        del self.shards[number]
        await shard.close(cleanly=True)

    async def fetch_for_peer(self, request: Request) -> FetchResult:
        """Fetch from one of our sites for a peer, at the site's pace."""
        return await self.shared.side_requests.run(request)

    def wake(self) -> None:
        """Check whether the run has ended."""
        self._event.set()

    async def _send_side_request(self, side_request: SideRequest) -> None:
        number = self._shard_of(side_request.url)
        if self._peers.owns(number):
            await (await self.shard(number)).add_side_request(side_request)
        else:
            requests = self.shared.side_requests
            requests.done(side_request, await self._peers.fetch_remotely(requests.request_of(side_request), number))


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
