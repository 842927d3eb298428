"""A synthetic web whose answers a test can break: dropped, failed, slow or throttled, and servers with few threads."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from evercrawl.model.fetch import Failed, Fault, FetchResult, Request
from evercrawl.model.settings import Settings
from evercrawl.model.site import Site
from evercrawl.testing import NO_FAULTS, LoggedRequest, SimWeb
from evercrawl.testing.sim_site import SimFailure, SimResponse
from evercrawl.testing.sim_world import SimWorld, make_world
from evercrawl.testing.site_plan import uniform

Answer = SimResponse | SimFailure
Breaker = Callable[[str, str, int, Answer], Answer]
"""Site, path, how often the path was requested, and the usual answer -> the answer that is given."""
ROBOTS = "/robots.txt"


class FaultyWeb(SimWeb):
    """A web without faults of its own; `breaker` breaks answers of pages, `threads` limits what a site does at once."""

    def __init__(
        self,
        *,
        sites: int,
        pages: int,
        breaker: Breaker | None = None,
        threads: int | None = None,
        has_robots: bool = False,
    ) -> None:
        super().__init__(3, sites=sites, pages_per_site=pages, faults=NO_FAULTS)
        self.has_robots = has_robots
        self.breaker = breaker
        self.asked: Counter[str] = Counter()
        self.most_at_once = 0
        self._at_once: Counter[str] = Counter()
        self._threads = threads
        self._free: dict[str, asyncio.Semaphore] = {}

    def respond(self, site: str, path: str, request: Request, at_s: float) -> Answer:
        """Return the answer, broken or not."""
        usual = super().respond(site, path, request, at_s)
        self.asked[site + path] += 1
        if path == ROBOTS:
            return usual if self.has_robots else SimResponse(usual.after_s, 404, (), b"no")
        if self.breaker is None:
            return usual
        return self.breaker(site, path, self.asked[site + path], usual)

    async def fetch(self, request: Request) -> FetchResult:
        """Return the answer; a site with few threads lets requests wait, and the crawler gives up after its timeout."""
        site = request.url.split("/")[2]
        self._at_once[site] += 1
        self.most_at_once = max(self.most_at_once, self._at_once[site])
        try:
            if self._threads is None:
                return await super().fetch(request)
            return await self._fetch_with_threads(request, site)
        finally:
            self._at_once[site] -= 1

    async def _fetch_with_threads(self, request: Request, site: str) -> FetchResult:
        began, limit = self._clock.now(), self._http.first_byte_timeout
        free = self._free.setdefault(site, asyncio.Semaphore(self._threads or 1))
        try:
            async with asyncio.timeout(limit.total_seconds()), free:
                result = await super().fetch(request)
        except TimeoutError:
            ended = self._clock.now()
            self.log.add(LoggedRequest(began, ended, f"http://{site}", request.url, None, Fault.TIMEOUT))
            return Failed(request.url, Fault.TIMEOUT, "no response in time", ended - began)
        took = self._clock.now() - began
        if isinstance(result, Failed):
            return replace(result, took=took)
        return replace(result, exchange=replace(result.exchange, took=took))


def one_in(share: int, broken: Callable[[Answer], Answer]) -> Breaker:
    """Break one answer in so many, at random."""

    def breaker(site: str, path: str, count: int, usual: Answer) -> Answer:
        return broken(usual) if path != "/" and uniform(site, path, count) < 1 / share else usual

    return breaker


def dropped(usual: Answer) -> Answer:
    """Close the connection without an answer."""
    return SimFailure(usual.after_s, Fault.EMPTY_REPLY, "the server closed the connection without a response")


def incomplete(usual: Answer) -> Answer:
    """Break off in the middle."""
    return SimFailure(usual.after_s, Fault.INCOMPLETE, "the response ended too early")


def slow(usual: Answer) -> Answer:
    """Take two seconds longer."""
    return usual._replace(after_s=usual.after_s + 2.0)


def status(code: int, *, retry_s: int | None = None) -> Callable[[Answer], Answer]:
    """Answer with a status."""
    headers = (("Retry-After", str(retry_s)),) if retry_s is not None else ()
    return lambda usual: SimResponse(usual.after_s, code, headers, b"no", retry_s=retry_s)


def hangs(_: Answer) -> Answer:
    """Never answer; the crawler gives up after twenty seconds."""
    return SimFailure(20.0, Fault.TIMEOUT, "no response within 20 s")


def refused(_: Answer) -> Answer:
    """Refuse the connection."""
    return SimFailure(0.01, Fault.CONNECT, "connection refused")


def own_world(web: SimWeb, *, gentle: bool = False, **crawl: object) -> SimWorld:
    """Return a world that crawls with `--pace own`, or gently; `crawl` changes the settings of that section."""
    settings = Settings()
    pace = settings.pace if gentle else replace(settings.pace, mode="unlimited")
    limits = replace(settings.crawl, **crawl)  # type: ignore[arg-type]
    traps, scope = replace(settings.traps, enabled=False), replace(settings.scope, exclude=("/calendar/",))
    http = replace(settings.http, allow_private=True)
    settings = replace(settings, pace=pace, crawl=limits, traps=traps, scope=scope, http=http)
    return make_world(web, settings=settings, shards=4)


def run_time(world: SimWorld, *, refresh: bool = False) -> timedelta:
    """Run a crawl and return how long it took in virtual time."""
    began = world.clock.start
    world.crawl(refresh=refresh)
    return world.clock.start - began


def sites_of(world: SimWorld) -> list[Site]:
    """Return every site as it is stored."""
    return [site for shard in range(world.store.shards) for site in world.store.state_of(shard).sites.values()]


def queued_pages(world: SimWorld) -> list[str]:
    """Return the pages that are still queued."""
    states = [world.store.state_of(shard) for shard in range(world.store.shards)]
    return [record.page.url for state in states for record in state.records.values() if record.is_queued]
