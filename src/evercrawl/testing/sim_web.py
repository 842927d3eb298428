"""The Fetcher port over a synthetic web: all that it will ever do follows from the seed and the time."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from evercrawl.core.answer import Answer, result_of
from evercrawl.core.coding import DecodeLimits
from evercrawl.core.http1 import Head
from evercrawl.core.request_head import constant_lines, request_head
from evercrawl.core.url import path_of, site_of
from evercrawl.engine.ports import Clock
from evercrawl.model.fetch import Exchange, Failed, Fault, FetchResult, Headers, Request, header
from evercrawl.model.settings import HttpSettings
from evercrawl.testing.sim_site import IncomingRequest, SimFailure, SimResponse, SimSite, http_date
from evercrawl.testing.site_content import WebPlan, alias_of, has_alias, origin_of
from evercrawl.testing.site_plan import PageKind, SiteFaults
from evercrawl.testing.virtual_time import EPOCH, SimClock

_PHRASES = {
    200: "OK", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
    307: "Temporary Redirect", 308: "Permanent Redirect", 403: "Forbidden", 404: "Not Found", 410: "Gone",
    429: "Too Many Requests", 500: "Internal Server Error", 503: "Service Unavailable",
}  # fmt: skip


class SimWeb:
    """A web of sites that link to each other, change, break and remember who asked what, and when."""

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
        self._constant = constant_lines(f"{agent}/simulation", None)
        self._index = {origin_of(self._plan, index): index for index in range(sites)}
        self._twins = {alias_of(index): index for index in range(sites) if has_alias(self._plan, index)}
        self._sites: dict[int, SimSite] = {}
        self.record = RequestLog()

    def move_to(self, clock: Clock) -> None:
        """Go on under another clock, as after a restart of the crawler; the record is kept."""
        self._clock = clock

    async def fetch(self, request: Request) -> FetchResult:
        """How the request ended, after as much virtual time as it took."""
        began = self._clock.now()
        at_s = (began - EPOCH).total_seconds()
        site, path = site_of(request.url), path_of(request.url)
        reaction = self.reaction(site, path, request, at_s)
        try:
            await asyncio.sleep(reaction.after_s)
        except asyncio.CancelledError:
            self.record.add(LoggedRequest(began, self._clock.now(), site, path, None, None))
            raise
        ended = self._clock.now()
        if isinstance(reaction, SimFailure):
            self.record.add(LoggedRequest(began, ended, site, path, None, reaction.fault))
            return Failed(request.url, reaction.fault, reaction.detail, ended - began)
        retry = None if reaction.retry_s is None else timedelta(seconds=reaction.retry_s)
        asked = LoggedRequest(began, ended, site, path, reaction.status, None, retry)
        self.record.add(asked)
        return self.concluded(request, reaction, asked)

    async def close(self) -> None:
        """Nothing is held open."""

    def reaction(self, site: str, path: str, request: Request, at_s: float) -> SimResponse | SimFailure:
        """What a site does when it is asked at this moment; asking changes nothing."""
        if site in self._twins:
            return self._twin_reaction(self.site(self._twins[site]), path)
        if site not in self._index:
            return SimFailure(0.05, Fault.DNS, "no such host")
        return self.site(self._index[site]).react(IncomingRequest(path, request, at_s, self._http))

    def _twin_reaction(self, site: SimSite, path: str) -> SimResponse | SimFailure:
        if site.is_nameless:
            return SimFailure(0.05, Fault.DNS, "no such host")
        if site.is_refusing:
            return SimFailure(0.05, Fault.CONNECT, "connection refused")
        return SimResponse(0.05, 301, (("Location", site.origin + path),))

    def concluded(self, request: Request, answered: SimResponse, asked: LoggedRequest) -> FetchResult:
        """The answer, read as the real fetcher reads it: within limits, and judged by the same function."""
        http, size = self._http, len(answered.wire_body)
        limit = self._least(http.wire_bytes, request.body_limit)
        headers = _headers(answered, asked.sent)
        raw = _raw_head(answered.status, headers)
        exchange = Exchange(
            request_head(request, self._constant),
            raw,
            answered.wire_body[:limit],
            self._address(asked.site),
            asked.sent,
            asked.answered - asked.sent,
        )
        coding = header(answered.headers, "content-encoding")
        head = Head(answered.status, 1, headers, {"content-encoding": [coding]} if coding else {}, raw)
        limits = DecodeLimits(self._least(http.decoded_bytes, request.body_limit), http.ratio)
        return result_of(request, Answer(head, exchange, cut=size > limit), limits=limits)

    @staticmethod
    def _least(limit: int, own: int | None) -> int:
        return limit if own is None else min(limit, own)

    def _address(self, site: str) -> str:
        index = self._index.get(site, self._twins.get(site, 0))
        return f"198.18.{index >> 8 & 255}.{index & 255}"

    def site(self, index: int) -> SimSite:
        """The site of this number."""
        if index not in self._sites:
            self._sites[index] = SimSite(self._plan, index, origin_of(self._plan, index))
        return self._sites[index]

    def homes(self) -> list[str]:
        """The home page of every site."""
        return [f"{origin}/" for origin in self._index]

    def twins(self) -> list[str]:
        """The home pages that only lead to another."""
        return [f"{origin}/" for origin in self._twins]

    def allowed(self, url: str) -> bool:
        """What the owner of the site means about this URL; True for hosts that do not exist."""
        return self._rules(site_of(url)).allows(path_of(url))

    def crawl_delay(self, url: str) -> timedelta | None:
        """The pace that the URL's site demands."""
        return self._rules(site_of(url)).delay

    def closed_times(self, site: str) -> list[tuple[datetime, datetime]]:
        """The spans during which a site wants to be left alone, by the Retry-After fields that it sent."""
        answers = self.record.by_site().get(site, [])
        return [(asked.answered, asked.answered + asked.retry_after) for asked in answers if asked.retry_after]

    def version(self, url: str, *, at: datetime | None = None) -> int | None:
        """How often the content of a page has changed by then (by now); None: there is no such page."""
        index = self._index.get(site_of(url))
        page = None if index is None else self.site(index).content.plan.by_path.get(path_of(url))
        if index is None or page is None:
            return None
        moment = at or self._clock.now()
        return self.site(index).content.version(page, (moment - EPOCH).total_seconds())

    def pages(self, kind: PageKind = PageKind.PAGE) -> list[str]:
        """The URLs of all planned pages of a kind."""
        sites = [self.site(index) for index in range(self._plan.sites)]
        return [site.origin + page.path for site in sites for page in site.content.plan.pages if page.kind is kind]

    def violations(self, gap_rule: DelayRule = default_delay) -> list[Violation]:
        """Every impolite request so far."""
        return self.record.violations(gap_rule, self._rules)

    def _rules(self, origin: str) -> SiteDemands:
        index = self._index.get(origin, self._twins.get(origin))
        if index is None:
            return SiteDemands(None, lambda path: True, origin)
        site = self.site(index)
        delay_s = site.robots.delay_s
        delay = None if delay_s is None else timedelta(seconds=delay_s)
        return SiteDemands(delay, site.robots.allows, site.origin)


def _headers(answered: SimResponse, sent: datetime) -> Headers:
    date = http_date((sent - EPOCH).total_seconds())
    headers: Headers = (("Date", date), ("Server", "sim"), *answered.headers)
    if answered.status == 304:
        return headers
    return (*headers, ("Content-Length", str(len(answered.wire_body))))


def _raw_head(status: int, headers: Headers) -> bytes:
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers])
    return f"HTTP/1.1 {status} {_PHRASES.get(status, '')}\r\n{lines}\r\n".encode("latin-1")


ROBOTS_PATH = "/robots.txt"


class LoggedRequest(NamedTuple):
    """One request as the web saw it. Neither status nor fault: the crawler gave up waiting."""

    sent: datetime
    answered: datetime
    site: str
    path: str
    status: int | None
    fault: Fault | None
    retry_after: timedelta | None = None


class ViolationKind(StrEnum):
    """What a request did wrong."""

    AT_ONCE = "asked while another request to the site was not answered"
    TOO_SOON = "asked within the gap"
    RETRY_AFTER = "asked before the time that Retry-After named"
    ROBOTS = "asked for what robots.txt forbids"
    ROBOTS_UNREAD = "asked before robots.txt could be read"


class Violation(NamedTuple):
    """An impolite request."""

    offence: ViolationKind
    asked: LoggedRequest
    detail: str


DelayRule = Callable[[LoggedRequest, timedelta | None], timedelta]
"""The request before and the site's Crawl-delay -> least time between its answer and the next request."""


def default_delay(before: LoggedRequest, delay: timedelta | None) -> timedelta:
    """The default promise: 1 s, the Crawl-delay, and ten times the last answer's time up to a minute."""
    took = min(10 * (before.answered - before.sent), timedelta(minutes=1))
    return max(timedelta(seconds=1), took, delay or timedelta(0))


class SiteDemands(NamedTuple):
    """What a site demands of its visitors."""

    delay: timedelta | None
    allows: Callable[[str], bool]
    robots_site: str
    """Where its robots.txt lies: another origin if it only redirects."""


class RequestLog:
    """Every request, in the order of the answers."""

    def __init__(self) -> None:
        self.asked: list[LoggedRequest] = []

    def add(self, asked: LoggedRequest) -> None:
        """One more request has ended."""
        self.asked.append(asked)

    def by_site(self) -> dict[str, list[LoggedRequest]]:
        """The requests that reached each site, in the order in which they were sent."""
        sites: dict[str, list[LoggedRequest]] = defaultdict(list)
        for asked in sorted(self.asked, key=lambda asked: asked.sent):
            if asked.fault is not Fault.DNS:
                sites[asked.site].append(asked)
        return dict(sites)

    def violations(self, gap_rule: DelayRule, rules_of: Callable[[str], SiteDemands]) -> list[Violation]:
        """Every impolite request, site by site."""
        sites = self.by_site()
        read_at = {site: _robots_read_at(asked) for site, asked in sites.items()}
        found: list[Violation] = []
        for site, requests in sites.items():
            rules = rules_of(site)
            found += _gap_offences(requests, gap_rule, rules.delay)
            found += _robots_offences(requests, rules, read_at.get(rules.robots_site))
        return found


def _gap_offences(requests: list[LoggedRequest], gap_rule: DelayRule, delay: timedelta | None) -> Iterator[Violation]:
    closed_until = answered = datetime.min.replace(tzinfo=requests[0].sent.tzinfo)
    before: LoggedRequest | None = None
    for asked in requests:
        if before is not None:
            gap = gap_rule(before, delay)
            if asked.sent < answered:
                yield Violation(ViolationKind.AT_ONCE, asked, f"{before.path} was answered only at {answered}")
            elif asked.sent < before.answered + gap:
                passed = asked.sent - before.answered
                yield Violation(ViolationKind.TOO_SOON, asked, f"{passed} instead of {gap} after {before.path}")
        if asked.sent < closed_until:
            yield Violation(ViolationKind.RETRY_AFTER, asked, f"closed until {closed_until}")
        if asked.retry_after is not None:
            closed_until = max(closed_until, asked.answered + asked.retry_after)
        before, answered = asked, max(answered, asked.answered)


def _robots_offences(
    requests: list[LoggedRequest], rules: SiteDemands, read_at: datetime | None
) -> Iterator[Violation]:
    for asked in requests:
        if asked.path == ROBOTS_PATH:
            continue
        if not rules.allows(asked.path):
            yield Violation(ViolationKind.ROBOTS, asked, "")
        elif read_at is None or asked.sent < read_at:
            yield Violation(ViolationKind.ROBOTS_UNREAD, asked, f"readable only from {read_at}")


def _robots_read_at(requests: list[LoggedRequest]) -> datetime | None:
    """The first moment at which the crawler could know the site's rules (RFC 9309 section 2.3.1)."""
    for asked in requests:
        if asked.path == ROBOTS_PATH and asked.status in (200, 404, 410):
            return asked.answered
    return None
