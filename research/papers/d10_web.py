"""The web of the D10 crawl: many hosts behind a line of 8 Mbit/s.

Most hosts have few pages and some have thousands, as on the real web. Only the line sees a page's full size; its text
is short.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime

from tests.worlds.cluster.process import ProcessLoop, SimProcess

from evercrawl.core.url import path_of, site_of
from evercrawl.errors import LeaseLost
from evercrawl.model.fetch import FetchResult, Request
from evercrawl.model.settings import ScopeSettings
from evercrawl.testing.sim_site import SimFailure, SimResponse
from evercrawl.testing.sim_web import LoggedRequest, SimWeb
from evercrawl.testing.site_plan import NO_FAULTS, hash_number, uniform
from evercrawl.testing.virtual_time import EPOCH

LEAST_PAGES, MOST_PAGES = 8, 3000
SLOPE = 1.1
"""Of the Pareto distribution of pages per host."""
OWN_LINKS = 6
OTHER_LINKS = 3
SIZE_SPREAD = 0.9
"""Page sizes range from a tenth of the mean to nearly twice the mean."""
LOOKUP_S = (0.02, 0.4)
ANSWER_S = (0.1, 2.0)
"""Bounds of the time to the first byte."""


class D10Web(SimWeb):
    """Hosts whose pages follow from the seed and their number."""

    def __init__(self, seed: int, *, hosts: int, page_bytes: int) -> None:
        super().__init__(seed, sites=0, faults=NO_FAULTS)
        self._seed = seed
        self._page_bytes = page_bytes
        self._names = [f"http://www.h{index}.test" for index in range(hosts)]
        self._numbers = {name: index for index, name in enumerate(self._names)}
        self._sizes = [self._pages_of(index) for index in range(hosts)]
        self.pages_there = sum(self._sizes)

    def scope(self, depth: int) -> ScopeSettings:
        """Return a scope of all hosts with a depth limit."""
        return ScopeSettings(seeds=tuple(f"{name}/" for name in self._names), max_depth=depth)

    @property
    def first(self) -> str:
        return f"{self._names[0]}/"

    def _pages_of(self, index: int) -> int:
        pages = LEAST_PAGES * (1 - uniform(self._seed, index, "pages")) ** (-1 / SLOPE)
        return int(min(MOST_PAGES, pages))

    def size_of(self, url: str) -> int:
        """Return the bytes of a page on the wire."""
        return int(self._page_bytes * (1 + SIZE_SPREAD * (2 * uniform(url, "size") - 1)))

    def respond(self, site: str, path: str, request: Request, at_s: float) -> SimResponse | SimFailure:
        """Return the response of a host."""
        first, last = ANSWER_S
        after_s = first + (last - first) * uniform(site, path) ** 3
        if path == "/robots.txt":
            return SimResponse(after_s, 404, ())
        body = self._body(self._numbers[site], path).encode()
        return SimResponse(after_s, 200, (("Content-Type", "text/html"),), body)

    def _body(self, index: int, path: str) -> str:
        own, chance = self._sizes[index], hash_number(self._seed, index, path)
        page = int(path[1:] or 0)
        # The first links make every page reachable; the others are random.
        links = {f"/{child}" for child in (3 * page + 1, 3 * page + 2, 3 * page + 3) if child < own}
        links |= {f"/{hash_number(chance, turn) % own}" for turn in range(OWN_LINKS)}
        links |= {f"{self._names[self._other(chance, turn)]}/" for turn in range(OTHER_LINKS)}
        anchors = "".join(f'<a href="{link}">{link}</a>' for link in sorted(links))
        text = f"<p>Page {chance} of host {index}.</p>{anchors}"
        return f"<html><title>{index}{path}</title><body>{text}</body></html>"

    def _other(self, chance: int, turn: int) -> int:
        """Return a random host; popular hosts have small numbers."""
        return int(len(self._names) * uniform(chance, turn, "other") ** 2)

    def _address(self, site: str) -> str:
        return "198.18.0.1"


class SharedLine:
    """A line shared by nodes: bytes pass one after the other."""

    def __init__(self, loop: ProcessLoop, bits_per_s: float) -> None:
        self._loop = loop
        self._bits_per_s = bits_per_s
        self._free_s = 0.0

    async def carry(self, size: int) -> None:
        """Return when this many bytes have passed."""
        self._free_s = max(self._free_s, self._loop.time()) + size * 8 / self._bits_per_s
        await asyncio.sleep(self._free_s - self._loop.time())


class DownloadLog:
    """Downloads of all nodes, and requests sent too soon."""

    def __init__(self, *, interval_s: float) -> None:
        self.page_times: list[float] = []
        self.bytes = 0
        self.too_soon = 0
        self._interval_s = interval_s
        self._ended: dict[str, datetime] = {}

    def sent(self, site: str, now: datetime) -> None:
        """Record a request."""
        ended = self._ended.get(site)
        self.too_soon += ended is not None and (now - ended).total_seconds() < self._interval_s - 1e-6

    def answered(self, site: str, now: datetime, size: int, *, is_page: bool) -> None:
        """Record its end."""
        self._ended[site] = now
        if is_page:
            self.bytes += size
            self.page_times.append((now - EPOCH).total_seconds())


class NodeFetcher:
    """Implements `Fetcher` with limited name look-ups and the node's line."""

    def __init__(self, web: D10Web, process: SimProcess, line: SharedLine, log: DownloadLog, *, lookups: int) -> None:
        self.may_send: Callable[[], bool] = lambda: True
        self._web = web
        self._process = process
        self._connection = line
        self._log = log
        self._lookups = asyncio.Semaphore(lookups)
        self._known: set[str] = set()

    async def fetch(self, request: Request) -> FetchResult:
        """Fetch one page over the line."""
        site, path = site_of(request.url), path_of(request.url)
        await self._look_up(site)
        if not self.may_send():
            raise LeaseLost(f"{request.url} is not surely ours to ask any more")
        sent, is_page = self._process.now(), path != "/robots.txt"
        self._log.sent(site, sent)
        reaction = self._web.respond(site, path, request, 0.0)
        assert isinstance(reaction, SimResponse)
        await asyncio.sleep(reaction.after_s)
        size = self._web.size_of(request.url) if is_page else len(reaction.wire_body)
        await self._connection.carry(size)
        ended = self._process.now()
        self._log.answered(site, ended, size, is_page=is_page)
        return self._web.read_response(request, reaction, LoggedRequest(sent, ended, site, path, reaction.status, None))

    async def _look_up(self, site: str) -> None:
        if site in self._known:
            return
        async with self._lookups:
            first, last = LOOKUP_S
            await asyncio.sleep(first + (last - first) * uniform(site, "lookup"))
        self._known.add(site)

    async def close(self) -> None:
        """Nothing is held open."""
