"""Requests of a shard at the pace of its sites: pages, robots.txt hop by hop, and side requests.
Redirects of robots.txt, sitemaps and probes need requests to sites that have their own pace: these are side requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from evercrawl.core.faults import FAULT_RULES
from evercrawl.core.frontier import FetchRobots, FetchSide, Frontier
from evercrawl.core.politeness import HostQueue, SideRequest, request_end
from evercrawl.core.post_requests import posted_url
from evercrawl.core.robots.robots_rules import RobotsRules, compile_robots, redirect_loop_record, robots_record_of
from evercrawl.engine.assets import StoredAssets, closed_answer, is_closed_for_assets, with_validators
from evercrawl.engine.commits import CommitBuffer
from evercrawl.engine.ports import Clock
from evercrawl.engine.runtime import RunStats, Runtime
from evercrawl.model.fetch import Failed, Fault, FetchResult, Moved, NotModified, Request, header
from evercrawl.model.reason import Reason
from evercrawl.model.settings import RobotsSettings
from evercrawl.model.site import RobotsRecord, Site
from evercrawl.model.time import to_us

MAX_CACHED = 2000
UNREACHABLE_HOSTS = frozenset((Fault.DNS, Fault.TLS))
"""Faults that say more about a site than that its robots.txt cannot be read."""

Fetch = Callable[[Request], Awaitable[FetchResult]]


class SiteAccess(NamedTuple):
    """Fetches URLs of a site within its pace; the caller checks its rules."""

    fetch: Fetch
    robots_of: Callable[[Site], RobotsRules | None]


async def read_robots(
    site: Site, *, fetch: Fetch, fetch_elsewhere: Fetch, clock: Clock, settings: RobotsSettings
) -> RobotsRecord:
    """Fetch robots.txt of a site. `fetch_elsewhere` follows redirects at the pace of the sites that they lead to."""
    before = site.robots
    answer = await fetch(_request(site.name + "/robots.txt", before, settings))
    for _ in range(settings.max_redirects):
        if not isinstance(answer, Moved):
            break
        answer = await fetch_elsewhere(Request(answer.target, body_limit=settings.max_bytes))
    if isinstance(answer, Moved):
        return redirect_loop_record(now=clock.now(), settings=settings)
    return robots_record_of(before, answer, now=clock.now(), settings=settings)


def _request(url: str, before: RobotsRecord | None, settings: RobotsSettings) -> Request:
    if before is None or before.policy != "obey":
        return Request(url, body_limit=settings.max_bytes)
    return Request(url, etag=before.etag, last_modified=before.last_modified, body_limit=settings.max_bytes)


class RobotsCache:
    """Compiled robots.txt files of sites that have no queue at the moment."""

    def __init__(self, agent: str, *, allow_private: bool = False) -> None:
        self._agent = agent
        self._allow_private = allow_private
        self._rules: dict[str, tuple[RobotsRecord, RobotsRules]] = {}

    def of(self, site: Site) -> RobotsRules | None:
        """Return the rules of a site; None: its robots.txt was not read yet."""
        record = site.robots
        if record is None or (record.policy == "private" and self._allow_private):
            return None
        cached = self._rules.get(site.name)
        if cached is not None and cached[0] == record:
            return cached[1]
        rules = compile_robots(record, agent=self._agent)
        if len(self._rules) >= MAX_CACHED:
            self._rules.pop(next(iter(self._rules)))
        self._rules[site.name] = (record, rules)
        return rules


class SideRequests:
    """Side requests of all shards of one process; the shard that owns a site sends those to it."""

    def __init__(self, send: Callable[[SideRequest], Awaitable[None]]) -> None:
        self._send = send
        self._next_token = 0
        self._requests: dict[int, Request] = {}
        self._answers: dict[int, asyncio.Future[FetchResult]] = {}

    async def run(self, request: Request) -> FetchResult:
        """Return the answer to a request, once the site's pace has allowed it."""
        token = self._next_token
        self._next_token += 1
        answer: asyncio.Future[FetchResult] = asyncio.get_running_loop().create_future()
        self._requests[token] = request
        self._answers[token] = answer
        try:
            await self._send(SideRequest(request.url, token, request.obeys_robots, request.is_asset))
            return await answer
        finally:
            self._requests.pop(token, None)
            self._answers.pop(token, None)

    def request_of(self, side_request: SideRequest) -> Request:
        """Return what to fetch."""
        return self._requests.get(side_request.token, Request(side_request.url))

    def is_wanted(self, side_request: SideRequest) -> bool:
        """Return whether some task still waits for the answer."""
        return side_request.token in self._answers

    def done(self, side_request: SideRequest, result: FetchResult) -> None:
        """Pass the answer to the task that waits for it."""
        answer = self._answers.get(side_request.token)
        if answer is not None and not answer.done():
            answer.set_result(result)


class SiteRequests:
    """Sends the requests of one shard; the pace, pauses and totals of a site follow from how they end."""

    def __init__(
        self,
        frontier: Frontier,
        buffer: CommitBuffer,
        assets: StoredAssets,
        *,
        runtime: Runtime,
        side_requests: SideRequests,
        stats: RunStats,
        remember: Callable[[Site], None],
        on_robots: Callable[[Site, RobotsRules], Awaitable[None]],
    ) -> None:
        self._frontier = frontier
        self._buffer = buffer
        self._assets = assets
        self._runtime = runtime
        self._side_requests = side_requests
        self._stats = stats
        self._remember = remember
        self._on_robots = on_robots

    async def send(self, request: Request, queue: HostQueue) -> FetchResult:
        """Send a request; if it has to be repeated, wait for the site's delay first."""
        listed = self._runtime.policy.scope.listed_refusal(request.url)
        if listed is not None:
            return Failed(request.url, Fault.EXCLUDED_HOST, listed[1], timedelta(0))
        request = replace(request, delay_s=queue.site.delay_ms / 1000)
        machines = self._runtime.machines
        if machines is None:
            return await self._runtime.fetcher.fetch(request)
        async with machines.turn(queue.site) as queue.waited:
            return await self._runtime.fetcher.fetch(request)

    async def _send_and_archive(self, queue: HostQueue, request: Request) -> FetchResult:
        answer = await self.send(request, queue)
        if answer.exchange is not None:
            self._assets.archive.append(request.url, answer.exchange)
        self.end(queue, answer, now=self._runtime.clock.now())
        return answer

    async def fetch_robots(self, turn: FetchRobots) -> None:
        """Fetch robots.txt of a site; while it cannot be read the site is closed."""
        queue, clock, policy = turn.queue, self._runtime.clock, self._runtime.policy
        name = Reason.ROBOTS_UNREACHABLE

        async def fetch(request: Request) -> FetchResult:
            nonlocal name
            answer = await self._send_and_archive(queue, request)
            if isinstance(answer, Failed) and answer.fault in UNREACHABLE_HOSTS:
                name = FAULT_RULES[answer.fault].reason
            return answer

        record = await read_robots(
            queue.site,
            fetch=fetch,
            fetch_elsewhere=self._side_requests.run,
            clock=clock,
            settings=policy.settings.robots,
        )
        rules = compile_robots(record, agent=policy.agent)
        await self._on_robots(queue.site, rules)
        self._frontier.apply_robots(queue, rules, now_us=to_us(clock.now()))
        if rules.is_unreachable:
            reason = f"{name}: {record.detail}"
            self._frontier.close_site(queue, until_us=record.expires_us, reason=reason)
            self._fail_assets(queue)
        self._note_site(queue)
        self._buffer.commit_soon()

    async def fetch_side(self, turn: FetchSide) -> None:
        """Send a side request to a site."""
        request, robots = self._side_requests.request_of(turn.side_request), turn.queue.robots
        if turn.side_request.obeys_robots and robots is not None:
            verdict = robots.verdict(request.url)
            if not verdict.allowed or not self._side_requests.is_wanted(turn.side_request):
                refused = Failed(request.url, Fault.ROBOTS, verdict.detail, timedelta(0))
                self._side_requests.done(turn.side_request, refused)
                self._frontier.record_skip(turn.queue)
                self._buffer.count_answer(turn.queue.site.id)
                return
        is_part = request.obeys_robots
        fetch = self._fetch_asset if request.is_asset else self._fetch_part if is_part else self._send_and_archive
        self._side_requests.done(turn.side_request, await fetch(turn.queue, request))

    async def _fetch_part(self, queue: HostQueue, request: Request) -> FetchResult:
        """Fetch a part of a page for the browser, and store it. A fresh copy is used instead, and a stale one again if
        the server says so, but not of the answer to a POST."""
        now, is_read = self._runtime.clock.now(), request.post is None
        known = await self._assets.newest(request.url) if is_read else None
        stored = await self._assets.stored_part(known, at=now) if known is not None else None
        if known is not None and stored is not None and self._assets.is_fresh_part(known, now=now):
            self._frontier.record_skip(queue)
            self._buffer.count_answer(queue.site.id)
            return stored
        answer = await self.send(request if stored is None else with_validators(request, known), queue)
        now = self._runtime.clock.now()
        await self._assets.write(request.url, answer, known, now=now, name=_stored_url(request))
        self.end(queue, answer, now=now)
        return stored if stored is not None and isinstance(answer, NotModified) else answer

    async def _fetch_asset(self, queue: HostQueue, request: Request) -> FetchResult:
        """Fetch an asset unless robots.txt forbids it, and store it."""
        now = self._runtime.clock.now()
        refused = self._assets.refuse(request.url, queue.robots, now=now)
        if refused is not None:
            self._frontier.record_skip(queue)
            self._buffer.count_answer(queue.site.id)
            return refused
        known = await self._assets.newest(request.url)
        answer = await self.send(with_validators(request, known), queue)
        now = self._runtime.clock.now()
        await self._assets.write(request.url, answer, known, now=now)
        self.end(queue, answer, now=now)
        return answer

    def end(self, queue: HostQueue, answer: FetchResult, *, now: datetime, is_retry: bool = False) -> None:
        """Note that a request has ended: the site's delay counts from now on."""
        self._stats.count_request(answer)
        if self._frontier.record_answer(queue, request_end(answer, now=now, is_retry=is_retry), now_us=to_us(now)):
            self._buffer.commit_soon()
            if is_closed_for_assets(queue.site, now_us=to_us(now)):
                self._fail_assets(queue)
        self._buffer.count_answer(queue.site.id)
        self._note_site(queue)

    def _fail_assets(self, queue: HostQueue) -> None:
        """Give up the assets of a site that is closed: their pages are completed in a later run."""
        while queue.assets:
            asset = queue.assets.popleft()
            self._side_requests.done(asset, closed_answer(asset.url, queue.site))

    def _note_site(self, queue: HostQueue) -> None:
        self._buffer.note_site(queue.site)
        self._remember(queue.site)


def _stored_url(request: Request) -> str:
    """Return the URL under which an answer is stored: that of a POST names what was sent."""
    if request.post is None:
        return request.url
    return posted_url(request.url, header(request.headers, "content-type") or "", request.post)
