"""One synthetic site: its responses are a function of its number, the path and the time."""

from __future__ import annotations

import re
from datetime import timedelta
from email.utils import format_datetime
from functools import lru_cache
from typing import NamedTuple

from isal import isal_zlib

from evercrawl.model.fetch import Fault, Headers, Request
from evercrawl.model.settings import HttpSettings
from evercrawl.testing.site_plan import (
    ChangeTimes,
    Outages,
    PageKind,
    PlannedPage,
    RobotsKind,
    SiteFaults,
    SitePlan,
    choose,
    hash_number,
    random_stream,
    robots_plan,
    robots_tag,
    uniform,
)
from evercrawl.testing.virtual_time import EPOCH

WORDS = 1500
SENTENCES_PER_SITE = 96
SENTENCES_PER_PARAGRAPH = 4
_SYLLABLES = tuple(first + second for first in "bdfgklmnrst" for second in "aeio")


class Anchor(NamedTuple):
    """A link of a page."""

    href: str
    text: str
    nofollow: bool = False


@lru_cache(maxsize=8)
def words(seed: int) -> tuple[str, ...]:
    """Return the vocabulary of a whole web, common words first."""
    chance = random_stream(seed, "words")
    return tuple("".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(WORDS))


def sentences(seed: int, site: int) -> tuple[str, ...]:
    """Return the sentences that a site's pages use."""
    chance, vocabulary = random_stream(seed, "sentences", site), words(seed)
    own = chance.sample(vocabulary, 60)
    drawn = []
    for _ in range(SENTENCES_PER_SITE):
        chosen = chance.choices(vocabulary[:200], k=6) + chance.choices(own, k=5)
        chance.shuffle(chosen)
        drawn.append(" ".join(chosen).capitalize() + ".")
    return tuple(drawn)


def paragraphs(pool: tuple[str, ...], key: str, *, version: int, count: int) -> list[str]:
    """Return the text of one version. Each change rewrites one paragraph, in turn."""
    written = []
    for place in range(count):
        rewritten_at = version - (version - place) % count
        bits = hash_number(key, place, max(rewritten_at, 0))
        chosen = [pool[(bits >> 16 * n) % len(pool)] for n in range(SENTENCES_PER_PARAGRAPH)]
        written.append(" ".join(chosen))
    return written


def html_page(title: str, body: list[str], anchors: list[Anchor], *, note: str = "") -> bytes:
    """Return a page: navigation, title, paragraphs and a list of links."""
    links = [_anchor_html(anchor) for anchor in anchors]
    items = "\n".join([f"<li>{link}</li>" for link in links[2:]])
    text = "\n".join([f"<p>{paragraph}</p>" for paragraph in body])
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{title}</title></head>\n"
        f"<body><nav>{' '.join(links[:2])}</nav>\n<main><h1>{title}</h1>\n{text}\n"
        f"<ul>\n{items}\n</ul></main>\n{note}</body></html>\n"
    ).encode()


def _anchor_html(anchor: Anchor) -> str:
    rel = ' rel="nofollow"' if anchor.nofollow else ""
    return f'<a href="{anchor.href}"{rel}>{anchor.text}</a>'


STATIC_SHARE = 0.25  # Pages that never change.
RAREST, MOST_OFTEN = -2.5, 0.8  # Powers of ten: the others change between once in 300 days and six times a day.
NOISY_SHARE = 0.1  # Sites whose every response differs in a meaningless line.
BIG_REPEATS = 100  # How often a big page repeats its text.
ALIAS_SHARE = 0.1
BLOG_EVERY = 10  # One site in this many shares another's registrable domain.


class WebPlan(NamedTuple):
    """Parameters of a whole synthetic web."""

    seed: int
    sites: int
    pages_per_site: int
    faults: SiteFaults
    agent: str  # The product token in robots.txt files.


class SiteContent:
    """The pages of one site at any moment. Reading does not change it."""

    def __init__(self, web: WebPlan, index: int) -> None:
        self.plan = SitePlan(web.seed, index, pages=web.pages_per_site, broken=web.faults.broken_pages)
        self.has_calendar = uniform(web.seed, index, "calendar") < 0.2
        self._web = web
        self._index = index
        self._key = f"{web.seed}/{index}"
        self._is_noisy = uniform(self._key, "noisy") < NOISY_SHARE
        self._sentences = sentences(web.seed, index)
        self._changes: dict[int, ChangeTimes] = {}

    def source(self, page: PlannedPage) -> PlannedPage:
        """Return the page whose content this one shows: another page if it is a copy."""
        return self.plan.original(page) if page.kind is PageKind.COPY else page

    def version(self, page: PlannedPage, at_s: float) -> int:
        """Return how often the content has changed by this moment."""
        return self._changes_of(self.source(page)).count(at_s)

    def changed_at(self, page: PlannedPage, at_s: float) -> float:
        """Return when the content last changed; 0 if it never did."""
        return self._changes_of(self.source(page)).last(at_s)

    def _changes_of(self, page: PlannedPage) -> ChangeTimes:
        if page.number not in self._changes:
            chance = random_stream(self._key, page.number, "changes")
            per_day = 0.0 if chance.random() < STATIC_SHARE else 10 ** chance.uniform(RAREST, MOST_OFTEN)
            self._changes[page.number] = ChangeTimes(chance, per_day=per_day)
        return self._changes[page.number]

    def body(self, page: PlannedPage, at_s: float) -> tuple[bytes, str]:
        """Return the decoded body at this moment, and its media type."""
        shown, version = self.source(page), self.version(page, at_s)
        key = f"{self._key}/{shown.number}"
        written = paragraphs(self._sentences, key, version=version, count=3 + hash_number(key, "size") % 6)
        if shown.kind is PageKind.TEXT:
            return "\n\n".join(written).encode(), "text/plain; charset=utf-8"
        title = f"{written[0].partition('.')[0][:50]} ({shown.number})"
        if shown.kind is PageKind.BIG:
            written *= BIG_REPEATS
        note = f"<footer>served at {at_s:.6f}</footer>\n" if self._is_noisy else ""
        return html_page(title, written, self._anchors(shown, version), note=note), "text/html; charset=utf-8"

    def _anchors(self, page: PlannedPage, version: int) -> list[Anchor]:
        """Return the links of a page: navigation, pages of the site, and other sites."""
        found = [Anchor("/", "home"), Anchor(self.plan.ordinary[-1].path, "newest")]
        found += [
            Anchor(own.path, f"{own.kind} {own.number}", own.kind is PageKind.UNFOLLOWED)
            for own in self.plan.linked(page)
        ]
        if page.number == 0:
            found += self._home_anchors()
        other = hash_number(self._key, page.number, version, "other") % self._web.sites
        found.append(self._to_site(other, nofollow=other % 4 == 0))
        return found

    def _home_anchors(self) -> list[Anchor]:
        """Return links to two more sites, so that all are reachable from the first, and to the calendar trap."""
        first = 2 * self._index + 1
        found = [self._to_site(child) for child in (first, first + 1) if child < self._web.sites]
        return [*found, Anchor("/calendar/2026/1", "calendar")] if self.has_calendar else found

    def _to_site(self, index: int, *, nofollow: bool = False) -> Anchor:
        return Anchor(f"{origin_of(self._web, index)}/", f"site {index}", nofollow)


def has_alias(web: WebPlan, index: int) -> bool:
    """Return whether the site has a second origin, plain HTTP without www, that redirects to the first."""
    return uniform(web.seed, index, "twin") < ALIAS_SHARE


def origin_of(web: WebPlan, index: int) -> str:
    """Return the site's own origin."""
    if has_alias(web, index):
        return f"https://www.site{index:04d}.test"
    if index % BLOG_EVERY == BLOG_EVERY - 1:
        return f"https://blog.site{index - 1:04d}.test"
    return f"{choose(('https', 'https', 'http'), web.seed, index, 'scheme')}://site{index:04d}.test"


def alias_of(index: int) -> str:
    """Return the origin that redirects to a site."""
    return f"http://site{index:04d}.test"


LONGEST_RETRY_S = 7200
RESET_SHARE = 0.1
ERROR_SHARE = 0.05

_CALENDAR = re.compile(r"/calendar/(\d{1,6})/(\d{1,2})")
_GZIP = 31
_HOUR = 3600.0


class IncomingRequest(NamedTuple):
    """A request as it arrives at a site."""

    path: str
    request: Request
    at_s: float  # Seconds since the beginning of the simulation.
    http: HttpSettings  # The crawler's timeouts.


class SimResponse(NamedTuple):
    """A site's response, complete after `after_s` seconds."""

    after_s: float
    status: int
    headers: Headers
    wire_body: bytes = b""
    retry_s: int | None = None


class SimFailure(NamedTuple):
    """No response: the fault that the crawler sees after `after_s` seconds."""

    after_s: float
    fault: Fault
    detail: str


class SimSite:
    """A site and everything that will ever happen to it. Requests do not change it."""

    def __init__(self, web: WebPlan, index: int, origin: str) -> None:
        self.origin = origin
        self.content = SiteContent(web, index)
        self._key = f"{web.seed}/{index}"
        faults = web.faults
        bad_robots = self._has("bad robots", faults.bad_robots)
        self.robots = robots_plan(web.seed, index, agent=web.agent, bad=bad_robots)
        self.is_unresolvable = self._has("nameless", faults.unresolvable)
        self.is_refusing = self._has("refusing", faults.refusing)
        self._resets = RESET_SHARE if self._has("resets", faults.resets) else 0.0
        self._errors = ERROR_SHARE if self._has("server errors", faults.server_errors) else 0.0
        self._outages = self._series("outages", faults.outages, up_s=48 * _HOUR, down_s=4 * _HOUR)
        self._throttling = self._series("throttling", faults.throttling, up_s=6 * _HOUR, down_s=_HOUR / 3)
        pace = uniform(self._key, "pace")
        self._latency_s = 1.5 + 3 * pace if self._has("slow", faults.slow) else 0.03 + 0.3 * pace**2
        self._validators = choose(("", "etag", "date", "etag date"), self._key, "validators")
        self._is_compressed = self._has("packed", 0.25)

    def _has(self, trait: str, likely: float) -> bool:
        return uniform(self._key, "has", trait) < likely

    def _series(self, trait: str, likely: float, *, up_s: float, down_s: float) -> Outages | None:
        if not self._has(trait, likely):
            return None
        return Outages(random_stream(self._key, trait), up_s=up_s, down_s=down_s)

    def respond(self, incoming: IncomingRequest) -> SimResponse | SimFailure:
        """Return what happens to this request at this moment."""
        luck = uniform(self._key, incoming.path, incoming.at_s)
        latency = self._latency_s * (0.5 + luck + (8 if luck > 0.99 else 0))
        latency = min(latency, incoming.http.first_byte_timeout.total_seconds() / 2)
        failure = self._unreachable(incoming, luck) or self._unreliable(incoming, luck, latency)
        if failure is not None:
            return failure
        return self._robots_txt(incoming, latency) if incoming.path == "/robots.txt" else self._page(incoming, latency)

    def _unreachable(self, incoming: IncomingRequest, luck: float) -> SimFailure | None:
        if self.is_unresolvable:
            return SimFailure(0.05, Fault.DNS, "no such host")
        is_out = self._outages is not None and self._outages.at(incoming.at_s) is not None
        if self.is_refusing or (is_out and luck < 0.5):
            return SimFailure(self._latency_s, Fault.CONNECT, "connection refused")
        if is_out:
            return SimFailure(incoming.http.connect_timeout.total_seconds(), Fault.CONNECT, "no connection in time")
        return None

    def _unreliable(self, incoming: IncomingRequest, luck: float, latency: float) -> SimResponse | SimFailure | None:
        window = self._throttling.at(incoming.at_s) if self._throttling else None
        if window is not None:
            return self._throttled(latency, incoming.at_s, window.end - incoming.at_s)
        chance = luck * 7919 % 1
        if chance < self._resets:
            fault = Fault.RESET if chance < self._resets / 2 else Fault.EMPTY_REPLY
            return SimFailure(latency, fault, "the connection broke")
        if chance < self._resets + self._errors:
            return _plain(latency, 500, "something broke")
        return None

    def _throttled(self, latency: float, at_s: float, left_s: float) -> SimResponse:
        """Return 429 or 503 until the window ends, with Retry-After in seconds or as a date."""
        wait_s = min(int(left_s) + 1, LONGEST_RETRY_S)
        status = 429 if self._has("429", 0.5) else 503
        if not self._has("dates", 0.3):
            return _plain(latency, status, "slow down", ("Retry-After", str(wait_s)), retry_s=wait_s)
        until_s = int(at_s + latency) + wait_s
        counted_s = max(0, int(until_s - at_s - latency))
        return _plain(latency, status, "slow down", ("Retry-After", http_date(until_s)), retry_s=counted_s)

    def _robots_txt(self, incoming: IncomingRequest, latency: float) -> SimResponse | SimFailure:
        plan = self.robots
        if plan.kind is RobotsKind.SILENT:
            return _timeout(incoming)
        if incoming.at_s < plan.broken_until_s:
            return _plain(latency, 500, "something broke")
        if plan.kind in (RobotsKind.MISSING, RobotsKind.FORBIDDEN):
            return _plain(latency, 404 if plan.kind is RobotsKind.MISSING else 403, "no")
        tag = robots_tag(plan)
        if incoming.request.etag == tag:
            return SimResponse(latency, 304, (("ETag", tag),))
        return _typed(latency, "text/plain", plan.text.encode(), ("ETag", tag))

    def _page(self, incoming: IncomingRequest, latency: float) -> SimResponse | SimFailure:
        page = self.content.plan.by_path.get(incoming.path)
        if page is None:
            return self._calendar(incoming.path, latency)
        match page.kind:
            case PageKind.STUCK:
                return _timeout(incoming)
            case PageKind.ERROR:
                return _plain(latency, 500, "something broke")
            case PageKind.MISSING | PageKind.GONE:
                return _plain(latency, 404 if page.kind is PageKind.MISSING else 410, "no such page")
            case PageKind.MOVED | PageKind.LOOP:
                status = choose((301, 302, 303, 307, 308), self._key, page.path)
                return _plain(latency, status, "moved", ("Location", self.content.plan.target(page)))
            case _:
                return self._content_response(page, incoming, latency)

    def _content_response(self, page: PlannedPage, incoming: IncomingRequest, latency: float) -> SimResponse:
        validators = self._validators_of(page, incoming.at_s)
        if validators and _is_current(incoming.request, dict(validators)):
            return SimResponse(latency, 304, validators)
        body, media_type = self.content.body(page, incoming.at_s)
        if not self._is_compressed:
            return _typed(latency, media_type, body, *validators)
        compressed = isal_zlib.compress(body, 1, _GZIP)
        return _typed(latency, media_type, compressed, ("Content-Encoding", "gzip"), *validators)

    def _validators_of(self, page: PlannedPage, at_s: float) -> Headers:
        headers: Headers = ()
        if "etag" in self._validators:
            headers += (("ETag", f'"{page.number}-{self.content.version(page, at_s)}"'),)
        if "date" in self._validators:
            headers += (("Last-Modified", http_date(self.content.changed_at(page, at_s))),)
        return headers

    def _calendar(self, path: str, latency: float) -> SimResponse:
        """Return a month of an endless calendar: a trap."""
        found = _CALENDAR.fullmatch(path) if self.content.has_calendar else None
        if found is None:
            return _plain(latency, 404, "no such page")
        year, month = int(found[1]), int(found[2])
        following = f"/calendar/{year + month // 12}/{month % 12 + 1}"
        anchors = [Anchor("/", "home"), Anchor(following, "next month")]
        body = html_page(f"Calendar {year}-{month}", ["No events in this month."], anchors)
        return _typed(latency, "text/html; charset=utf-8", body)


def http_date(at_s: float) -> str:
    """Format a moment of the simulation for HTTP headers."""
    return _http_date(int(at_s))


@lru_cache(maxsize=1024)
def _http_date(second: int) -> str:
    return format_datetime(EPOCH + timedelta(seconds=second), usegmt=True)


def _is_current(request: Request, validators: dict[str, str]) -> bool:
    """Compare validators: If-None-Match takes precedence over If-Modified-Since (RFC 9110 section 13.2.2)."""
    if request.etag is not None and "ETag" in validators:
        return request.etag == validators["ETag"]
    return request.last_modified is not None and request.last_modified == validators.get("Last-Modified")


def _timeout(incoming: IncomingRequest) -> SimFailure:
    return SimFailure(incoming.http.first_byte_timeout.total_seconds(), Fault.TIMEOUT, "no response in time")


def _typed(after_s: float, media_type: str, body: bytes, *headers: tuple[str, str]) -> SimResponse:
    return SimResponse(after_s, 200, (("Content-Type", media_type), *headers), body)


def _plain(
    after_s: float, status: int, text: str, *headers: tuple[str, str], retry_s: int | None = None
) -> SimResponse:
    return SimResponse(after_s, status, (("Content-Type", "text/plain"), *headers), text.encode(), retry_s)
