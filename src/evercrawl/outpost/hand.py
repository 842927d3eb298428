"""The crawler hand of an outpost: one polite request at a time to each site, robots.txt first (B9).

The owner's list of hosts, robots.txt, the pace, the owner's rate and the lease are all asked here, whatever
home wants. The rules are the crawler's own code.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import timedelta

from evercrawl.core.fault import FAULT_RULES, site_wait
from evercrawl.core.lane import Lane
from evercrawl.core.moment import from_us, span_us, to_us
from evercrawl.core.pace import Pace
from evercrawl.core.retry_after import retry_after
from evercrawl.core.robots_policy import compile_record, judge_robots_answer
from evercrawl.core.url import canonical, site_of
from evercrawl.engine.ports import Clock, Fetcher
from evercrawl.model.fetch import Failed, Fault, FetchResult, Moved, Request, header
from evercrawl.model.settings import Settings
from evercrawl.model.site import Site
from evercrawl.outpost.protocol.lease import HeldLease
from evercrawl.outpost.protocol.message import FetchJob
from evercrawl.outpost.protocol.route import is_allowed
from evercrawl.outpost.station_book import AgentState

MAX_CONCURRENT_FETCHES = 4
"""Bodies that may be in memory at a time."""
MAX_SITES = 256
"""Sites whose pace is held in memory; the others lie in the file."""


class Declined(Exception):
    """The outpost does not ask for this URL; the crawler may."""


class FetchBlocked(Exception):
    """robots.txt, as the outpost reads it, forbids this URL, or the site wants to be left alone."""


class LeaseExpired(Exception):
    """The site may not be asked any more before home renews the lease."""

    def __init__(self, gap_us: int, *, was_asked: bool) -> None:
        """`gap_us`: the gap of the site, which a lease must leave room for, and which follows a request."""
        super().__init__("the lease was over")
        self.gap_us = gap_us
        self.was_asked = was_asked
        self.rest_us = gap_us if was_asked else 0


@dataclass
class _SiteQueue:
    """A site and whose turn it is there."""

    lane: Lane
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class OutpostFetcher:
    """Asks sites. Invariant: no request without lease, permission and gap, and one at a time to a site."""

    def __init__(
        self,
        fetcher: Fetcher,
        book: AgentState,
        clock: Clock,
        *,
        settings: Settings,
        pace: Pace,
        allow: tuple[str, ...],
        rate_gap: timedelta,
        after_crash: bool,
    ) -> None:
        """`rate_gap`: least time between any two requests of this outpost, as its owner wants it."""
        self._fetcher = fetcher
        self._book = book
        self._clock = clock
        self._settings = settings
        self._pace = pace
        self._allow = allow
        self._rate_gap_us = span_us(rate_gap)
        self._rate_open_us = 0
        self._crashed_at_us = to_us(clock.now()) if after_crash else None
        self._places: OrderedDict[str, _SiteQueue] = OrderedDict()
        self._fetching = asyncio.Semaphore(MAX_CONCURRENT_FETCHES)
        self.requests = 0

    async def fetch(self, job: FetchJob, tenure: HeldLease, *, on_start: Callable[[], None]) -> FetchResult:
        """How the request ended; NotMine, Withheld or LeaseOver where it was not (or not fully) made.

        `on_start` is called when the request for the job itself goes out.
        """
        if canonical(job.url) != job.url or not is_allowed(site_of(job.url), self._allow):
            raise Declined("the owner of the outpost does not allow this host")
        site = site_of(job.url)
        place = self._place(site)
        async with place.turn:
            is_robots = job.url == f"{site}/robots.txt"
            if not is_robots:
                await self._read_robots(place.lane, tenure)
                self._check_robots(place.lane, job.url)
            request = Request(job.url, job.etag, job.last_modified, job.body_limit)
            result = await self._ask(place.lane, request, tenure, on_start)
            if is_robots:
                self._learn_robots(place.lane, result)
            return result

    def _place(self, name: str) -> _SiteQueue:
        place = self._places.get(name)
        if place is None:
            place = self._places[name] = _SiteQueue(self._lane(name))
            for old in list(self._places):
                if len(self._places) <= MAX_SITES:
                    break
                if not self._places[old].turn.locked() and old != name:
                    del self._places[old]
        self._places.move_to_end(name)
        return place

    def _lane(self, name: str) -> Lane:
        site = self._book.site(name) or Site(0, name, "")
        if self._crashed_at_us is not None:
            # Nobody knows what was asked in the last moments: the site gets its whole gap from the start on.
            gap_us = max(span_us(self._pace.floor), site.gap_ms * 1000)
            site = site._replace(open_us=max(site.open_us, self._crashed_at_us + gap_us))
        gate = None
        if site.robots is not None:
            gate = compile_record(site.robots, agent=self._settings.identity.product)
        return Lane(site, gate, bands=1)

    # robots.txt

    async def _read_robots(self, lane: Lane, tenure: HeldLease) -> None:
        if lane.needs_robots(to_us(self._clock.now())):
            limit = self._settings.robots.body_bytes
            request = Request(f"{lane.site.name}/robots.txt", body_limit=limit)
            try:
                self._learn_robots(lane, await self._ask(lane, request, tenure))
            except Declined:
                return  # a folder without robots.txt: home's own reading of it counts

    def _learn_robots(self, lane: Lane, result: FetchResult) -> None:
        if isinstance(result, Moved):
            return  # home follows it, and decides
        before, now = lane.site.robots, self._clock.now()
        record = judge_robots_answer(before, result, now=now, settings=self._settings.robots)
        lane.gate = compile_record(record, agent=self._settings.identity.product)
        lane.site = lane.site._replace(robots=record)
        lane.heed_delay(now_us=to_us(now), pace=self._pace)
        self._book.note_site(lane.site)

    def _check_robots(self, lane: Lane, url: str) -> None:
        if lane.gate is not None:
            verdict = lane.gate.verdict(url)
            if not verdict.allowed:
                raise FetchBlocked(f"robots.txt, read by the outpost: {verdict.detail}")

    # The request

    async def _ask(
        self, lane: Lane, request: Request, tenure: HeldLease, on_start: Callable[[], None] | None = None
    ) -> FetchResult:
        while True:
            await self._until_open(lane, tenure)
            async with self._fetching:
                if self._opens_us(lane) <= to_us(self._clock.now()):
                    self._check_lease(lane, tenure)
                    if on_start is not None:
                        on_start()
                    return await self._ask_now(lane, request, tenure)

    async def _ask_now(self, lane: Lane, request: Request, tenure: HeldLease) -> FetchResult:
        self.requests += 1
        self._rate_open_us = to_us(self._clock.now()) + self._rate_gap_us
        try:
            result = await self._while_leased(lane, tenure, self._fetcher.fetch(request))
        except LeaseExpired:
            self._answered(lane, Failed(request.url, Fault.INTERNAL, "the lease is over", timedelta(0)))
            raise
        except asyncio.CancelledError:
            self._answered(lane, Failed(request.url, Fault.INTERNAL, "broken off", timedelta(0)))
            raise
        self._answered(lane, result)
        return result

    async def _while_leased(
        self, lane: Lane, tenure: HeldLease, request: Coroutine[None, None, FetchResult]
    ) -> FetchResult:
        """How the request ended; LeaseOver, and the request broken off, where nobody renewed the lease."""
        asking = asyncio.create_task(request)
        try:
            while (seconds := self._seconds_left(lane, tenure)) > 0:
                await asyncio.wait([asking], timeout=seconds)
                if asking.done():
                    return asking.result()
            raise LeaseExpired(self.gap_us(lane), was_asked=True)
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    async def _until_open(self, lane: Lane, tenure: HeldLease) -> None:
        while (opens_us := self._opens_us(lane)) > (now_us := to_us(self._clock.now())):
            if opens_us > now_us + tenure.lease_us:
                raise FetchBlocked(f"the site is left alone: {lane.site.closed_reason or 'the rate is used up'}")
            await self._clock.sleep_until(from_us(opens_us))

    def _opens_us(self, lane: Lane) -> int:
        return max(lane.site.open_us, self._rate_open_us)

    def _check_lease(self, lane: Lane, tenure: HeldLease) -> None:
        if self._seconds_left(lane, tenure) <= 0:
            raise LeaseExpired(self.gap_us(lane), was_asked=False)

    def _seconds_left(self, lane: Lane, tenure: HeldLease) -> float:
        return tenure.time_left_us(to_us(self._clock.now()), self.gap_us(lane)) / 1_000_000

    def rest_of(self, site: str) -> int:
        """The gap of a site, in microseconds."""
        return self.gap_us(self._place(site).lane)

    def gap_us(self, lane: Lane) -> int:
        """How long the site is left in peace after an answer."""
        return max(lane.site.gap_ms * 1000, span_us(self._pace.floor))

    def _answered(self, lane: Lane, result: FetchResult) -> None:
        now = self._clock.now()
        now_us = to_us(now)
        failed = isinstance(result, Failed) and FAULT_RULES[result.fault].blames_site
        if isinstance(result, Failed):
            asked = retry_after(header(result.headers, "retry-after"), now=now)
            pause = site_wait(result, failures=lane.site.failures + 1, asked=asked)
            if pause is not None:
                lane.close_until(now_us + span_us(pause), f"{result.fault}: {result.detail}")
        took = result.took if isinstance(result, Failed) else result.exchange.took
        size = len(result.exchange.wire_body) if result.exchange is not None else 0
        lane.answered(now_us=now_us, took=took, failed=failed, wire_bytes=size, pace=self._pace)
        self._book.note_site(lane.site)
