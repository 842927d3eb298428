"""A polite HTTP client for sitemap checks: one request at a time, within robots.txt and the crawl delay."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from evercrawl.core.politeness import HostQueue, Pace, request_end
from evercrawl.core.robots.robots_rules import RobotsRules, compile_robots, redirect_loop_record, robots_record_of
from evercrawl.core.url import registrable_domain, site_of, site_parts
from evercrawl.engine.ports import Clock, Fetcher
from evercrawl.model.fetch import FetchResult, Moved, Request
from evercrawl.model.settings import Settings
from evercrawl.model.site import Site
from evercrawl.model.time import from_us, to_us


class RequestSkipped(NamedTuple):
    """A request that was not made, and why."""

    url: str
    detail: str
    is_forbidden: bool  # Whether robots.txt forbids it; otherwise the site's delay is longer than we wait.


class PoliteClient:
    """Fetch pages. Invariant: robots.txt comes first, and every request waits for the crawl delay."""

    def __init__(
        self,
        fetcher: Fetcher,
        clock: Clock,
        settings: Settings,
        *,
        pace: Pace,
        on_request: Callable[[str], None] | None = None,
    ) -> None:
        self._fetcher = fetcher
        self._clock = clock
        self._settings = settings
        self._pace = pace
        self._on_request = on_request
        self._queues: dict[str, HostQueue] = {}
        self.requests = 0

    async def fetch(self, url: str, *, body_limit: int | None = None) -> FetchResult | RequestSkipped:
        """Fetch a canonical URL without following redirects."""
        robots = await self.robots_for(site_of(url))
        verdict = robots.verdict(url)
        if not verdict.allowed:
            return RequestSkipped(url, verdict.detail, is_forbidden=True)
        return await self._send(Request(url, body_limit=body_limit))

    async def robots_for(self, site: str) -> RobotsRules:
        """Return the site's robots.txt rules, fetched once."""
        queue = self._queue(site)
        if queue.robots is None:
            queue.robots = await self._fetch_robots(site)
            queue.apply_crawl_delay(now_us=to_us(self._clock.now()), pace=self._pace)
        return queue.robots

    async def _fetch_robots(self, site: str) -> RobotsRules:
        settings = self._settings.robots
        result = await self._send(Request(f"{site}/robots.txt", body_limit=settings.max_bytes))
        for _ in range(settings.max_redirects):
            if not isinstance(result, Moved):
                break
            result = await self._send(Request(result.target, body_limit=settings.max_bytes))
        now = self._clock.now()
        if isinstance(result, (Moved, RequestSkipped)):
            record = redirect_loop_record(now=now, settings=settings)
        else:
            record = robots_record_of(None, result, now=now, settings=settings)
        return compile_robots(record, agent=self._settings.identity.product)

    async def _send(self, request: Request) -> FetchResult | RequestSkipped:
        queue = self._queue(site_of(request.url))
        now = self._clock.now()
        opens = from_us(queue.site.open_us)
        if opens - now > self._settings.crawl.idle_timeout:
            return RequestSkipped(request.url, queue.site.closed_reason or "the site's crawl delay is too long", False)
        if self._on_request is not None:
            self._on_request(request.url)
        await self._clock.sleep_until(opens)
        self.requests += 1
        result = await self._fetcher.fetch(request)
        self._record_result(queue, result)
        return result

    def _record_result(self, queue: HostQueue, result: FetchResult) -> None:
        now = self._clock.now()
        queue.record_answer(request_end(result, now=now), now_us=to_us(now), pace=self._pace)

    def _queue(self, site: str) -> HostQueue:
        if site not in self._queues:
            domain = registrable_domain(site_parts(site).host)
            self._queues[site] = HostQueue(Site(len(self._queues), site, domain), None, priorities=1)
        return self._queues[site]
