"""A web of many tiny sites for clusters, cheap to parse.

Site n links to sites 2n+1 and 2n+2, so that links between shards lead to every site.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from evercrawl.core.url import path_of, site_of
from evercrawl.errors import LeaseLost
from evercrawl.model.fetch import Failed, Fault, FetchResult, Request
from evercrawl.model.settings import ScopeSettings
from evercrawl.testing.sim_site import SimFailure, SimResponse
from evercrawl.testing.sim_web import LoggedRequest, SimWeb
from evercrawl.testing.site_plan import NO_FAULTS, hash_number, uniform
from evercrawl.testing.virtual_time import EPOCH
from tests.worlds.cluster.monitor import Monitor
from tests.worlds.cluster.process import SimProcess

DELAYS_S = (1, 1, 1, 2, 5, 10, 45)
"""What sites ask for between two requests; the last is longer than a lease."""
SLOW_SHARE = 0.01
SLOW_S = 25.0
"""Some answers take long; none longer than a request may."""


class ClusterWeb(SimWeb):
    """What the sites say follows from their number and the time."""

    def __init__(self, seed: int, *, sites: int, pages: int, change_every_s: float) -> None:
        super().__init__(seed, sites=0, faults=NO_FAULTS)
        self._seed = seed
        self._count = sites
        self._pages = pages
        self._change_every_s = change_every_s
        self._numbers = {f"http://s{index}.test": index for index in range(sites)}

    def scope(self) -> ScopeSettings:
        """All of it."""
        return ScopeSettings(seeds=tuple(f"{site}/" for site in self._numbers))

    @property
    def first(self) -> str:
        return "http://s0.test/"

    def gap_s(self, site: str) -> float:
        """The least time between two requests at a site."""
        return float(DELAYS_S[hash_number(self._seed, self._numbers[site], "delay") % len(DELAYS_S)])

    def respond(self, site: str, path: str, request: Request, at_s: float) -> SimResponse | SimFailure:
        """What a site does when it is asked at this moment."""
        index = self._numbers[site]
        after_s = 0.02 + 0.3 * uniform(self._seed, site, path, int(at_s))
        if uniform(self._seed, site, path, int(at_s), "slow") < SLOW_SHARE:
            after_s = SLOW_S
        if path == "/robots.txt":
            text = f"User-agent: *\nCrawl-delay: {self.gap_s(site):g}\n"
            return SimResponse(after_s, 200, (("Content-Type", "text/plain"),), text.encode())
        age = int(at_s / self._change_every_s + uniform(site, path))
        tag = f'"{index}{path}{age}"'
        if request.etag == tag:
            return SimResponse(after_s, 304, (("ETag", tag),))
        body = self._body(index, path, age).encode()
        return SimResponse(after_s, 200, (("Content-Type", "text/html"), ("ETag", tag)), body)

    def _body(self, index: int, path: str, age: int) -> str:
        links = [f"/{page}" for page in range(1, self._pages)]
        if path == "/":
            links += [f"http://s{other}.test/" for other in (2 * index + 1, 2 * index + 2)]
        links.append(f"http://s{hash_number(index, path, 'other') % self._count}.test/")
        within = "".join(f'<a href="{link}">{link}</a> ' for link in links if self._exists(link))
        words = f"Page {path} of site {index} says {hash_number(index, path, age)} in its version {age}."
        return f"<html><head><title>{index}{path}</title></head><body><p>{words}</p>{within}</body></html>"

    def _exists(self, link: str) -> bool:
        return not link.startswith("http") or link.removesuffix("/") in self._numbers

    def _address(self, site: str) -> str:
        return "198.18.0.1"


class ClusterFetcher:
    """Implements `Fetcher` for one process, with the real one's look at the lease before it sends."""

    def __init__(self, web: ClusterWeb, process: SimProcess, monitor: Monitor) -> None:
        self._web = web
        self._process = process
        self._monitor = monitor
        self.may_send: Callable[[], bool] = lambda: True

    async def fetch(self, request: Request) -> FetchResult:
        """How it ended; the site sees it when it is sent, not when we connect."""
        site, path = site_of(request.url), path_of(request.url)
        await asyncio.sleep(0.01 + 0.2 * uniform(request.url, self._process.boot_s()))
        if self._process.is_dead or not self.may_send():
            raise LeaseLost(f"{request.url} is not surely ours to ask any more")
        return await self._send(request, site, path)

    async def _send(self, request: Request, site: str, path: str) -> FetchResult:
        sent = self._process.now()
        reaction = self._web.respond(site, path, request, (sent - EPOCH).total_seconds())
        self._monitor.request_sent(site, self._process.number, self._monitor.now() + reaction.after_s)
        try:
            await asyncio.sleep(reaction.after_s)
        except asyncio.CancelledError:
            self._monitor.request_cancelled(site, self._process.number)
            raise
        ended = self._process.now()
        if isinstance(reaction, SimFailure):
            return Failed(request.url, Fault.CONNECT, reaction.detail, ended - sent)
        return self._web.read_response(request, reaction, LoggedRequest(sent, ended, site, path, reaction.status, None))

    async def close(self) -> None:
        """Nothing is held open."""
