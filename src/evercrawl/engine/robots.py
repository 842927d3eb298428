"""robots.txt of a shard's sites: fetched conditionally, hop by hop, and never faster than a site's pace.

Redirects of robots.txt, sitemaps and probes need requests to sites that have their own pace: these are side requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from evercrawl.core.politeness import SideRequest
from evercrawl.core.robots.robots_rules import RobotsRules, compile_robots, redirect_loop_record, robots_record_of
from evercrawl.engine.ports import Clock
from evercrawl.model.fetch import FetchResult, Moved, Request
from evercrawl.model.settings import RobotsSettings
from evercrawl.model.site import RobotsRecord, Site

MAX_CACHED = 2000

Fetch = Callable[[Request], Awaitable[FetchResult]]


class SiteAccess(NamedTuple):
    """Fetches URLs of a site within its pace; the caller checks its rules."""

    fetch: Fetch
    robots_of: Callable[[Site], RobotsRules | None]


async def read_robots(
    site: Site, *, fetch: Fetch, fetch_elsewhere: Fetch, clock: Clock, settings: RobotsSettings
) -> RobotsRecord:
    """Fetch robots.txt of a site. `fetch_elsewhere` follows redirects in the pace of the sites that they lead to."""
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
            await self._send(SideRequest(request.url, token))
            return await answer
        finally:
            self._requests.pop(token, None)
            self._answers.pop(token, None)

    def request_of(self, side_request: SideRequest) -> Request:
        """Return what to fetch."""
        return self._requests.get(side_request.token, Request(side_request.url))

    def done(self, side_request: SideRequest, result: FetchResult) -> None:
        """Hand the answer to whoever waits for it."""
        answer = self._answers.get(side_request.token)
        if answer is not None and not answer.done():
            answer.set_result(result)
