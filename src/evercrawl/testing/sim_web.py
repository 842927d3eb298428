"""Synthetic web behind the Fetcher port: everything it does follows from its seed and the time."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from evercrawl.core.http.content_coding import DecodeLimits
from evercrawl.core.http.http1 import ResponseHead
from evercrawl.core.http.message import RawResponse, constant_headers, fetch_result, request_bytes
from evercrawl.core.url import path_of, site_of
from evercrawl.engine.ports import Clock
from evercrawl.model.fetch import Exchange, Failed, Fault, FetchResult, Headers, Request, header
from evercrawl.model.settings import HttpSettings
from evercrawl.testing.sim_site import (
    IncomingRequest,
    SimFailure,
    SimResponse,
    SimSite,
    WebPlan,
    alias_of,
    has_alias,
    http_date,
    origin_of,
)
from evercrawl.testing.site_plan import PageKind, SiteFaults
from evercrawl.testing.virtual_time import EPOCH, SimClock

_PHRASES = {
    200: "OK", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
    307: "Temporary Redirect", 308: "Permanent Redirect", 403: "Forbidden", 404: "Not Found", 410: "Gone",
    429: "Too Many Requests", 500: "Internal Server Error", 503: "Service Unavailable",
}  # fmt: skip
ROBOTS_PATH = "/robots.txt"


class LoggedRequest(NamedTuple):
    """One request as the web saw it. With neither status nor fault, the crawler gave up waiting."""

    sent: datetime
    answered: datetime
    site: str
    path: str
    status: int | None
    fault: Fault | None
    retry_after: timedelta | None = None


class ViolationKind(StrEnum):
    """What a request did wrong."""

    CONCURRENT = "sent while another request to the site was unanswered"
    TOO_SOON = "sent before the delay had passed"
    RETRY_AFTER = "sent before the time that Retry-After named"
    ROBOTS = "disallowed by robots.txt"
    ROBOTS_UNREAD = "sent before robots.txt could be read"


class Violation(NamedTuple):
    """An impolite request."""

    kind: ViolationKind
    request: LoggedRequest
    detail: str


DelayRule = Callable[[LoggedRequest, timedelta | None], timedelta]
"""The previous request and the site's Crawl-delay -> least time between its answer and the next request."""


def default_delay(previous: LoggedRequest, crawl_delay: timedelta | None) -> timedelta:
    """Return the delay that the default settings promise: 1 s, the Crawl-delay, or ten times the last answer's time."""
    adaptive = min(10 * (previous.answered - previous.sent), timedelta(minutes=1))
    return max(timedelta(seconds=1), adaptive, crawl_delay or timedelta(0))


class SiteDemands(NamedTuple):
    """What a site demands of crawlers."""

    crawl_delay: timedelta | None
    allows: Callable[[str], bool]
    robots_site: str  # The origin that serves its robots.txt: another one if this origin only redirects.


class RequestLog:
    """Every request, in the order of the answers, and a politeness check that is independent of the crawler."""

    def __init__(self) -> None:
        self.requests: list[LoggedRequest] = []

    def add(self, request: LoggedRequest) -> None:
        """Add a request that has ended."""
        self.requests.append(request)

    def by_site(self) -> dict[str, list[LoggedRequest]]:
        """Return the requests that reached each site, in the order in which they were sent."""
        sites: dict[str, list[LoggedRequest]] = defaultdict(list)
        for request in sorted(self.requests, key=lambda request: request.sent):
            if request.fault is not Fault.DNS:
                sites[request.site].append(request)
        return dict(sites)

    def violations(self, delay_rule: DelayRule, demands_of: Callable[[str], SiteDemands]) -> list[Violation]:
        """Return every impolite request, site by site."""
        sites = self.by_site()
        read_at = {site: _robots_read_at(requests) for site, requests in sites.items()}
        found: list[Violation] = []
        for site, requests in sites.items():
            demands = demands_of(site)
            found += _delay_violations(requests, delay_rule, demands.crawl_delay)
            found += _robots_violations(requests, demands, read_at.get(demands.robots_site))
        return found


def _delay_violations(
    requests: list[LoggedRequest], delay_rule: DelayRule, crawl_delay: timedelta | None
) -> Iterator[Violation]:
    closed_until = answered = datetime.min.replace(tzinfo=requests[0].sent.tzinfo)
    previous: LoggedRequest | None = None
    for request in requests:
        if previous is not None:
            delay = delay_rule(previous, crawl_delay)
            if request.sent < answered:
                yield Violation(ViolationKind.CONCURRENT, request, f"{previous.path} was answered only at {answered}")
            elif request.sent < previous.answered + delay:
                passed = request.sent - previous.answered
                yield Violation(ViolationKind.TOO_SOON, request, f"{passed} instead of {delay} after {previous.path}")
        if request.sent < closed_until:
            yield Violation(ViolationKind.RETRY_AFTER, request, f"closed until {closed_until}")
        if request.retry_after is not None:
            closed_until = max(closed_until, request.answered + request.retry_after)
        previous, answered = request, max(answered, request.answered)


def _robots_violations(
    requests: list[LoggedRequest], demands: SiteDemands, read_at: datetime | None
) -> Iterator[Violation]:
    for request in requests:
        if request.path == ROBOTS_PATH:
            continue
        if not demands.allows(request.path):
            yield Violation(ViolationKind.ROBOTS, request, "")
        elif read_at is None or request.sent < read_at:
            yield Violation(ViolationKind.ROBOTS_UNREAD, request, f"readable only from {read_at}")


def _robots_read_at(requests: list[LoggedRequest]) -> datetime | None:
    """Return the first moment at which the crawler could know the site's rules (RFC 9309 section 2.3.1)."""
    for request in requests:
        if request.path == ROBOTS_PATH and request.status in (200, 404, 410):
            return request.answered
    return None


class SimWeb:
    """A web of sites that link to each other, change and fail, and that logs every request."""

    def __init__(
        self,
        seed: int,
        *,
        sites: int = 20,
        pages_per_site: int = 50,
        faults: SiteFaults | None = None,
        clock: Clock | None = None,
        http: HttpSettings | None = None,
        agent: str = "evercrawl",
    ) -> None:
        self._plan = WebPlan(seed, sites, pages_per_site, SiteFaults() if faults is None else faults, agent)
        self._clock = clock or SimClock()
        self._http = http or HttpSettings()
        self._constant = constant_headers(f"{agent}/simulation", None)
        self._index = {origin_of(self._plan, index): index for index in range(sites)}
        self._aliases = {alias_of(index): index for index in range(sites) if has_alias(self._plan, index)}
        self._sites: dict[int, SimSite] = {}
        self.log = RequestLog()

    def use_clock(self, clock: Clock) -> None:
        """Continue under another clock, as after a restart of the crawler. The log is kept."""
        self._clock = clock

    async def fetch(self, request: Request) -> FetchResult:
        """Return the result of the request after the virtual time that it takes."""
        began = self._clock.now()
        at_s = (began - EPOCH).total_seconds()
        site, path = site_of(request.url), path_of(request.url)
        response = self.respond(site, path, request, at_s)
        try:
            await asyncio.sleep(response.after_s)
        except asyncio.CancelledError:
            self.log.add(LoggedRequest(began, self._clock.now(), site, path, None, None))
            raise
        ended = self._clock.now()
        if isinstance(response, SimFailure):
            self.log.add(LoggedRequest(began, ended, site, path, None, response.fault))
            return Failed(request.url, response.fault, response.detail, ended - began)
        retry = None if response.retry_s is None else timedelta(seconds=response.retry_s)
        logged = LoggedRequest(began, ended, site, path, response.status, None, retry)
        self.log.add(logged)
        return self.read_response(request, response, logged)

    async def close(self) -> None:
        """Nothing is held open."""

    def respond(self, site: str, path: str, request: Request, at_s: float) -> SimResponse | SimFailure:
        """Return what a site does with a request at this moment. The web does not change."""
        if site in self._aliases:
            return _alias_response(self.site(self._aliases[site]), path)
        if site not in self._index:
            return SimFailure(0.05, Fault.DNS, "no such host")
        return self.site(self._index[site]).respond(IncomingRequest(path, request, at_s, self._http))

    def read_response(self, request: Request, response: SimResponse, logged: LoggedRequest) -> FetchResult:
        """Read a response as the real fetcher does: within the same limits and with the same function."""
        http, size = self._http, len(response.wire_body)
        limit = _smaller(http.max_wire_bytes, request.body_limit)
        headers = _headers(response, logged.sent)
        raw = _raw_head(response.status, headers)
        exchange = Exchange(
            request_bytes(request, self._constant),
            raw,
            response.wire_body[:limit],
            self._address(logged.site),
            logged.sent,
            logged.answered - logged.sent,
        )
        coding = header(response.headers, "content-encoding")
        head = ResponseHead(response.status, 1, headers, {"content-encoding": [coding]} if coding else {}, raw)
        limits = DecodeLimits(_smaller(http.max_decoded_bytes, request.body_limit), http.max_compression_ratio)
        return fetch_result(request, RawResponse(head, exchange, is_cut=size > limit), limits=limits)

    def _address(self, site: str) -> str:
        index = self._index.get(site, self._aliases.get(site, 0))
        return f"198.18.{index >> 8 & 255}.{index & 255}"

    def site(self, index: int) -> SimSite:
        """Return the site with this number."""
        if index not in self._sites:
            self._sites[index] = SimSite(self._plan, index, origin_of(self._plan, index))
        return self._sites[index]

    def home_pages(self) -> list[str]:
        """Return the URL of every site's home page."""
        return [f"{origin}/" for origin in self._index]

    def aliases(self) -> list[str]:
        """Return the home pages of origins that only redirect to another."""
        return [f"{origin}/" for origin in self._aliases]

    def allowed(self, url: str) -> bool:
        """Return whether the site's robots.txt allows the URL; True for hosts that do not exist."""
        return self._demands(site_of(url)).allows(path_of(url))

    def crawl_delay(self, url: str) -> timedelta | None:
        """Return the Crawl-delay of the URL's site."""
        return self._demands(site_of(url)).crawl_delay

    def version(self, url: str, *, at: datetime | None = None) -> int | None:
        """Return how often a page has changed by then, or by now; None if there is no such page."""
        index = self._index.get(site_of(url))
        page = None if index is None else self.site(index).content.plan.by_path.get(path_of(url))
        if index is None or page is None:
            return None
        moment = at or self._clock.now()
        return self.site(index).content.version(page, (moment - EPOCH).total_seconds())

    def pages(self, kind: PageKind = PageKind.PAGE) -> list[str]:
        """Return the URLs of all pages of a kind."""
        sites = [self.site(index) for index in range(self._plan.sites)]
        return [site.origin + page.path for site in sites for page in site.content.plan.pages if page.kind is kind]

    def violations(self, delay_rule: DelayRule = default_delay) -> list[Violation]:
        """Return every impolite request so far."""
        return self.log.violations(delay_rule, self._demands)

    def _demands(self, origin: str) -> SiteDemands:
        index = self._index.get(origin, self._aliases.get(origin))
        if index is None:
            return SiteDemands(None, lambda path: True, origin)
        site = self.site(index)
        delay_s = site.robots.delay_s
        delay = None if delay_s is None else timedelta(seconds=delay_s)
        return SiteDemands(delay, site.robots.allows, site.origin)


def _alias_response(site: SimSite, path: str) -> SimResponse | SimFailure:
    if site.is_unresolvable:
        return SimFailure(0.05, Fault.DNS, "no such host")
    if site.is_refusing:
        return SimFailure(0.05, Fault.CONNECT, "connection refused")
    return SimResponse(0.05, 301, (("Location", site.origin + path),))


def _smaller(limit: int, own: int | None) -> int:
    return limit if own is None else min(limit, own)


def _headers(response: SimResponse, sent: datetime) -> Headers:
    date = http_date((sent - EPOCH).total_seconds())
    headers: Headers = (("Date", date), ("Server", "sim"), *response.headers)
    if response.status == 304:
        return headers
    return (*headers, ("Content-Length", str(len(response.wire_body))))


def _raw_head(status: int, headers: Headers) -> bytes:
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers])
    return f"HTTP/1.1 {status} {_PHRASES.get(status, '')}\r\n{lines}\r\n".encode("latin-1")
