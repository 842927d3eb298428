"""The Fetcher port over a synthetic web: all that it will ever do follows from the seed and the time."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from evercrawl.core.answer import Answer, result_of
from evercrawl.core.coding import DecodeLimits
from evercrawl.core.http1 import Head
from evercrawl.core.request_head import constant_lines, request_head
from evercrawl.core.url import path_of, site_of
from evercrawl.engine.ports import Clock
from evercrawl.model.fetch import Exchange, Failed, Fault, FetchResult, Headers, Request, header
from evercrawl.model.settings import HttpSettings
from evercrawl.testing.clock import EPOCH, SimClock
from evercrawl.testing.content import WebPlan, has_twin, origin_of, twin_of
from evercrawl.testing.plan import PageKind
from evercrawl.testing.record import Asked, GapRule, SiteRules, Violation, WebRecord, gentle_gap
from evercrawl.testing.site import Answered, Asking, Broken, SimSite, http_date
from evercrawl.testing.trouble import Faults

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
        faults: Faults | None = None,
        clock: Clock | None = None,
        http: HttpSettings | None = None,
        agent: str = "evercrawl",
    ) -> None:
        self._plan = WebPlan(seed, sites, pages_per_site, Faults() if faults is None else faults, agent)
        self._clock = clock or SimClock()
        self._http = http or HttpSettings()
        self._constant = constant_lines(f"{agent}/simulation", None)
        self._index = {origin_of(self._plan, index): index for index in range(sites)}
        self._twins = {twin_of(index): index for index in range(sites) if has_twin(self._plan, index)}
        self._sites: dict[int, SimSite] = {}
        self.record = WebRecord()

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
            self.record.add(Asked(began, self._clock.now(), site, path, None, None))
            raise
        ended = self._clock.now()
        if isinstance(reaction, Broken):
            self.record.add(Asked(began, ended, site, path, None, reaction.fault))
            return Failed(request.url, reaction.fault, reaction.detail, ended - began)
        retry = None if reaction.retry_s is None else timedelta(seconds=reaction.retry_s)
        asked = Asked(began, ended, site, path, reaction.status, None, retry)
        self.record.add(asked)
        return self.concluded(request, reaction, asked)

    async def close(self) -> None:
        """Nothing is held open."""

    def reaction(self, site: str, path: str, request: Request, at_s: float) -> Answered | Broken:
        """What a site does when it is asked at this moment; asking changes nothing."""
        if site in self._twins:
            return self._twin_reaction(self.site(self._twins[site]), path)
        if site not in self._index:
            return Broken(0.05, Fault.DNS, "no such host")
        return self.site(self._index[site]).react(Asking(path, request, at_s, self._http))

    def _twin_reaction(self, site: SimSite, path: str) -> Answered | Broken:
        if site.is_nameless:
            return Broken(0.05, Fault.DNS, "no such host")
        if site.is_refusing:
            return Broken(0.05, Fault.CONNECT, "connection refused")
        return Answered(0.05, 301, (("Location", site.origin + path),))

    def concluded(self, request: Request, answered: Answered, asked: Asked) -> FetchResult:
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

    def violations(self, gap_rule: GapRule = gentle_gap) -> list[Violation]:
        """Every impolite request so far."""
        return self.record.violations(gap_rule, self._rules)

    def _rules(self, origin: str) -> SiteRules:
        index = self._index.get(origin, self._twins.get(origin))
        if index is None:
            return SiteRules(None, lambda path: True, origin)
        site = self.site(index)
        delay_s = site.robots.delay_s
        delay = None if delay_s is None else timedelta(seconds=delay_s)
        return SiteRules(delay, site.robots.allows, site.origin)


def _headers(answered: Answered, sent: datetime) -> Headers:
    date = http_date((sent - EPOCH).total_seconds())
    headers: Headers = (("Date", date), ("Server", "sim"), *answered.headers)
    if answered.status == 304:
        return headers
    return (*headers, ("Content-Length", str(len(answered.wire_body))))


def _raw_head(status: int, headers: Headers) -> bytes:
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers])
    return f"HTTP/1.1 {status} {_PHRASES.get(status, '')}\r\n{lines}\r\n".encode("latin-1")
