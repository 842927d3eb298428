"""One synthetic site: how it answers, as a function of its number, the path and the time."""

from __future__ import annotations

import re
from datetime import timedelta
from email.utils import format_datetime
from typing import NamedTuple

from isal import isal_zlib

from evercrawl.model.fetch import Fault, Headers, Request
from evercrawl.model.settings import HttpSettings
from evercrawl.sim.clock import EPOCH
from evercrawl.sim.draw import number, pick, share, stream
from evercrawl.sim.plan import PageKind, PlannedPage, SitePlan
from evercrawl.sim.robots import RobotsKind, robots_plan, robots_tag
from evercrawl.sim.text import Anchor, html_page, paragraphs, sentences
from evercrawl.sim.trouble import Changes, Faults, Windows

STATIC_SHARE = 0.25
"""Pages that never change."""
LONGEST_RETRY_S = 7200
RESET_SHARE = 0.1
ERROR_SHARE = 0.05
NOISY_SHARE = 0.1
BIG_PARAGRAPHS = 900

_CALENDAR = re.compile(r"/calendar/(\d{1,6})/(\d{1,2})")
_HOUR = 3600.0


class WebPlan(NamedTuple):
    """What the whole synthetic web is made from."""

    seed: int
    sites: int
    pages_per_site: int
    faults: Faults
    agent: str
    """The product token that robots.txt files address."""


class Answered(NamedTuple):
    """The site's answer, and after how many seconds it is complete."""

    after_s: float
    status: int
    headers: Headers
    wire_body: bytes = b""
    retry_s: int | None = None


class Broken(NamedTuple):
    """No answer: what the crawler notices instead, and after how many seconds."""

    after_s: float
    fault: Fault
    detail: str


class SimSite:
    """A site and everything that will ever happen to it; asking it changes nothing."""

    def __init__(self, web: WebPlan, index: int, origin: str) -> None:
        self.index = index
        self.origin = origin
        self._web = web
        self._key = f"{web.seed}/{index}"
        faults = web.faults
        self.robots = robots_plan(
            web.seed, index, agent=web.agent, bad=self._has("bad_robots", faults.bad_robots)
        )
        self.plan = SitePlan(web.seed, index, pages=web.pages_per_site, broken=faults.broken_pages)
        self.is_nameless = self._has("nameless", faults.nameless)
        self.is_refusing = self._has("refusing", faults.refusing)
        self._resets = RESET_SHARE if self._has("resets", faults.resets) else 0.0
        self._errors = ERROR_SHARE if self._has("server_errors", faults.server_errors) else 0.0
        self._outages = self._windows("outages", faults.outages, good_s=48 * _HOUR, bad_s=4 * _HOUR)
        self._throttling = self._windows("throttling", faults.throttling, good_s=6 * _HOUR, bad_s=_HOUR / 3)
        slow = self._has("slow", faults.slow)
        self._latency_s = (1.5 + 3 * self._share("pace")) if slow else (0.03 + 0.3 * self._share("pace") ** 2)
        self._validators = pick(("", "etag", "date", "etag date"), self._key, "validators")
        self._is_packed = self._has("packed", 0.25)
        self._is_noisy = self._has("noisy", NOISY_SHARE)
        self._has_calendar = self._has("calendar", 0.2)
        self._sentences = sentences(web.seed, index)
        self._changes: dict[int, Changes] = {}

    def _share(self, *names: object) -> float:
        return share(self._key, *names)

    def _has(self, trait: str, likely: float) -> bool:
        return self._share("has", trait) < likely

    def _windows(self, trait: str, likely: float, *, good_s: float, bad_s: float) -> Windows | None:
        if not self._has(trait, likely):
            return None
        return Windows(stream(self._key, trait), good_s=good_s, bad_s=bad_s)

    def react(self, path: str, request: Request, *, at_s: float, http: HttpSettings) -> Answered | Broken:
        """What happens when this path is asked for at this moment."""
        luck = self._share(path, at_s)
        latency = min(
            self._latency_s * (0.5 + luck + (8 if luck > 0.99 else 0)), http.first_byte.total_seconds() / 2
        )
        return self._unreachable(luck, at_s, http) or self._disturbed(luck, latency, at_s) or (
            self._robots_txt(request, latency, at_s, http)
            if path == "/robots.txt"
            else self._page(path, request, latency, at_s, http)
        )  # fmt: skip

    def _unreachable(self, luck: float, at_s: float, http: HttpSettings) -> Broken | None:
        if self.is_nameless:
            return Broken(0.05, Fault.DNS, "no such host")
        if self.is_refusing or (self._outages and self._outages.at(at_s) and luck < 0.5):
            return Broken(self._latency_s, Fault.CONNECT, "connection refused")
        if self._outages and self._outages.at(at_s):
            return Broken(http.connect.total_seconds(), Fault.CONNECT, "no connection in time")
        return None

    def _disturbed(self, luck: float, latency: float, at_s: float) -> Answered | Broken | None:
        window = self._throttling.at(at_s) if self._throttling else None
        if window is not None:
            return self._throttled(latency, at_s, window.end - at_s)
        chance = luck * 7919 % 1
        if chance < self._resets:
            fault = Fault.RESET if chance < self._resets / 2 else Fault.EMPTY_REPLY
            return Broken(latency, fault, "the connection broke")
        if self._resets <= chance < self._resets + self._errors:
            return _plain(latency, 500, "something broke")
        return None

    def _throttled(self, latency: float, at_s: float, left_s: float) -> Answered:
        """429 or 503 until the window ends; Retry-After in seconds or as a date, as the site likes it."""
        wait = min(int(left_s) + 1, LONGEST_RETRY_S)
        status = 429 if self._has("429", 0.5) else 503
        if not self._has("dates", 0.3):
            return _plain(latency, status, "slow down", ("Retry-After", str(wait)), retry_s=wait)
        until = int(at_s + latency) + wait
        answer = _plain(latency, status, "slow down", ("Retry-After", http_date(until)))
        return answer._replace(retry_s=max(0, int(until - at_s - latency)))

    def _robots_txt(
        self, request: Request, latency: float, at_s: float, http: HttpSettings
    ) -> Answered | Broken:
        plan = self.robots
        if plan.kind is RobotsKind.SILENT:
            return Broken(http.first_byte.total_seconds(), Fault.TIMEOUT, "no answer in time")
        if at_s < plan.broken_until_s:
            return _plain(latency, 500, "something broke")
        if plan.kind in (RobotsKind.MISSING, RobotsKind.FORBIDDEN):
            return _plain(latency, 404 if plan.kind is RobotsKind.MISSING else 403, "no")
        tag = robots_tag(plan)
        if request.etag == tag:
            return Answered(latency, 304, (("ETag", tag),))
        return _typed(latency, "text/plain", plan.text.encode(), ("ETag", tag))

    def _page(
        self, path: str, request: Request, latency: float, at_s: float, http: HttpSettings
    ) -> Answered | Broken:
        page = self.plan.by_path.get(path)
        if page is None:
            return self._calendar(path, latency)
        match page.kind:
            case PageKind.STUCK:
                return Broken(http.first_byte.total_seconds(), Fault.TIMEOUT, "no answer in time")
            case PageKind.ERROR:
                return _plain(latency, 500, "something broke")
            case PageKind.MISSING | PageKind.GONE:
                return _plain(latency, 404 if page.kind is PageKind.MISSING else 410, "no such page")
            case PageKind.MOVED | PageKind.LOOP:
                status = pick((301, 302, 303, 307, 308), self._key, path)
                return _plain(latency, status, "moved", ("Location", self.plan.target(page)))
            case _:
                return self._content(page, request, latency, at_s)

    def _content(self, page: PlannedPage, request: Request, latency: float, at_s: float) -> Answered:
        source = self.plan.partner(page) if page.kind is PageKind.COPY else page
        validators = self._validators_of(source, at_s)
        if validators and _is_current(request, dict(validators)):
            return Answered(latency, 304, validators)
        body, media_type = self.body(source, at_s)
        if not self._is_packed:
            return _typed(latency, media_type, body, *validators)
        packed = isal_zlib.compress(body, 1, 31)
        return _typed(latency, media_type, packed, ("Content-Encoding", "gzip"), *validators)

    def _validators_of(self, page: PlannedPage, at_s: float) -> Headers:
        headers: Headers = ()
        if "etag" in self._validators:
            headers += (("ETag", f'"{page.number}-{self.version(page, at_s)}"'),)
        if "date" in self._validators:
            headers += (("Last-Modified", http_date(self._changes_of(page).last(at_s))),)
        return headers

    def _changes_of(self, page: PlannedPage) -> Changes:
        if page.number not in self._changes:
            chance = stream(self._key, page.number, "changes")
            per_day = 0.0 if chance.random() < STATIC_SHARE else 10 ** chance.uniform(-2.5, 0.8)
            self._changes[page.number] = Changes(chance, per_day=per_day)
        return self._changes[page.number]

    def version(self, page: PlannedPage, at_s: float) -> int:
        """How often the page's content has changed up to this moment."""
        source = self.plan.partner(page) if page.kind is PageKind.COPY else page
        return self._changes_of(source).count(at_s)

    def body(self, page: PlannedPage, at_s: float) -> tuple[bytes, str]:
        """The decoded body at this moment, and its media type."""
        count = (
            BIG_PARAGRAPHS if page.kind is PageKind.BIG else 3 + number(self._key, page.number, "size") % 6
        )
        version = self.version(page, at_s)
        written = paragraphs(self._sentences, f"{self._key}/{page.number}", version=version, count=count)
        if page.kind is PageKind.TEXT:
            return "\n\n".join(written).encode(), "text/plain; charset=utf-8"
        note = f"<footer>served at {at_s:.6f}</footer>\n" if self._is_noisy else ""
        title = f"{written[0].split('.')[0][:50]} ({page.number})"
        return html_page(title, written, self.anchors(page, version), note=note), "text/html; charset=utf-8"

    def anchors(self, page: PlannedPage, version: int) -> list[Anchor]:
        """The links of a page: navigation, own pages, and other sites."""
        found = [Anchor("/", "home"), Anchor(self.plan.ordinary[-1].path, "newest")]
        found += [
            Anchor(own.path, f"{own.kind} {own.number}", own.kind is PageKind.UNFOLLOWED)
            for own in self.plan.linked(page)
        ]
        if page.number == 0:
            first = 2 * self.index + 1
            children = [child for child in (first, first + 1) if child < self._web.sites]
            found += [Anchor(f"{origin_of(self._web, child)}/", f"site {child}") for child in children]
            if self._has_calendar:
                found.append(Anchor("/calendar/2026/1", "calendar"))
        other = number(self._key, page.number, version, "other") % self._web.sites
        found.append(Anchor(f"{origin_of(self._web, other)}/", f"site {other}", nofollow=other % 4 == 0))
        return found

    def _calendar(self, path: str, latency: float) -> Answered:
        """A trap: months without end, each with almost nothing on it."""
        found = _CALENDAR.fullmatch(path) if self._has_calendar else None
        if found is None:
            return _plain(latency, 404, "no such page")
        year, month = int(found[1]), int(found[2])
        following = f"/calendar/{year + month // 12}/{month % 12 + 1}"
        anchors = [Anchor("/", "home"), Anchor(following, "next month")]
        body = html_page(f"Calendar {year}-{month}", ["No events in this month."], anchors)
        return _typed(latency, "text/html; charset=utf-8", body)


def has_twin(web: WebPlan, index: int) -> bool:
    """The site has a second origin, plain HTTP without www, that only leads to the first."""
    return share(web.seed, index, "twin") < 0.1


def origin_of(web: WebPlan, index: int) -> str:
    """The site's own origin."""
    if has_twin(web, index):
        return f"https://www.site{index:04d}.test"
    if index % 10 == 7:
        return f"https://blog.site{index - 1:04d}.test"
    return f"{pick(('https', 'https', 'http'), web.seed, index, 'scheme')}://site{index:04d}.test"


def twin_of(index: int) -> str:
    """The origin of a site's twin."""
    return f"http://site{index:04d}.test"


def http_date(at_s: float) -> str:
    """A moment of the simulation in the form of HTTP headers."""
    return format_datetime(EPOCH + timedelta(seconds=int(at_s)), usegmt=True)


def _is_current(request: Request, validators: dict[str, str]) -> bool:
    """RFC 9110 section 13.2.2: If-None-Match counts before If-Modified-Since."""
    if request.etag is not None and "ETag" in validators:
        return request.etag == validators["ETag"]
    return request.last_modified is not None and request.last_modified == validators.get("Last-Modified")


def _typed(after_s: float, media_type: str, body: bytes, *headers: tuple[str, str]) -> Answered:
    return Answered(after_s, 200, (("Content-Type", media_type), *headers), body)


def _plain(
    after_s: float, status: int, text: str, *headers: tuple[str, str], retry_s: int | None = None
) -> Answered:
    return Answered(after_s, status, (("Content-Type", "text/plain"), *headers), text.encode(), retry_s)
