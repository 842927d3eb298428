"""Find a site's sitemaps and feeds, and decide when to poll them.
A named sitemap is requested with the parameter XTND first (paper C, section 4.2), else an ordinary one, then feeds.
Polls are a share of the requests that a site gets, so they never use up the budget of a small site."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import NamedTuple

import orjson

from evercrawl.core import url as urls
from evercrawl.core.revisit.change_announcements import days_between_polls, requests_between_polls
from evercrawl.core.revisit.rate_estimate import SiteEstimate
from evercrawl.model.sitemap import Sitemap, SitemapEntry, SitemapType

EXTENDED_PARAMETER = "XTND"
WELL_KNOWN = ("/sitemap.xml",)  # Tried if robots.txt names no sitemap. Each guess costs a request.
MAX_FEEDS = 10  # Feeds per site. Large sites have one for every page.
FIRST_FEEDS, REQUESTS_PER_FEED = 2, 20  # Feeds that are read at once, and requests to a site for each further one.
MAX_FILES = 5_000  # Sitemaps read in one round.
MAX_INDEX_DEPTH = 3  # Nested indexes. The protocol allows one.

_A_DAY = timedelta(days=1)


class SourceKind(StrEnum):
    """How a source was found."""

    EXTENDED = "extended"
    NAMED = "robots.txt"
    GUESSED = "well-known"
    FEED = "feed"


class SitemapSource(NamedTuple):
    """A sitemap or feed that may announce changes."""

    url: str
    kind: SourceKind


# A kind is not requested any more once one of these was found.
_SETTLED_BY: dict[SourceKind, frozenset[SourceKind]] = {
    SourceKind.EXTENDED: frozenset(),
    SourceKind.NAMED: frozenset({SourceKind.EXTENDED}),
    SourceKind.GUESSED: frozenset({SourceKind.EXTENDED, SourceKind.NAMED, SourceKind.GUESSED}),
    SourceKind.FEED: frozenset(),
}


def extended_url(sitemap_url: str) -> str:
    """Return the sitemap URL with the parameter XTND."""
    if sitemap_url.endswith(("?" + EXTENDED_PARAMETER, "&" + EXTENDED_PARAMETER)):
        return sitemap_url
    return sitemap_url + ("&" if "?" in sitemap_url else "?") + EXTENDED_PARAMETER


def sources_of(
    site: str, *, named: Iterable[str] = (), feeds: Iterable[str] = (), extended: str = "named"
) -> tuple[SitemapSource, ...]:
    """Return every possible source in request order: Sitemap lines of robots.txt (`named`), `feeds` from pages.
    `extended` says where the parameter XTND is tried first: on the first named sitemap, always, or never."""
    plain = [SitemapSource(url, SourceKind.NAMED) for url in named]
    is_tried = extended == "always" or (extended == "named" and bool(plain))
    if not plain and site.startswith(("http:", "https:")):
        plain = [SitemapSource(site + path, SourceKind.GUESSED) for path in WELL_KNOWN]
    found = [SitemapSource(extended_url(plain[0].url), SourceKind.EXTENDED)] if is_tried and plain else []
    found += plain
    found += [SitemapSource(url, SourceKind.FEED) for url in list(feeds)[:MAX_FEEDS]]
    return tuple({source.url: source for source in reversed(found)}.values())[::-1]


def is_superseded(kind: SourceKind, found: Collection[SourceKind]) -> bool:
    """True if a source of this kind is no longer needed."""
    return not _SETTLED_BY[kind].isdisjoint(found)


def found_kind(source: SitemapSource, answer: Sitemap) -> SourceKind | None:
    """Return what an answer turned out to be; None if it is no sitemap.
    A server that does not know XTND sends its ordinary sitemap, which then need not be requested again."""
    if answer.type is SitemapType.UNKNOWN:
        return None
    if source.kind is SourceKind.EXTENDED and answer.type is not SitemapType.EXTENDED:
        return SourceKind.GUESSED
    return source.kind


class SitemapWalk:
    """Chooses the next sitemap to read: each once, only changed since `last_read`, within the limits.
    Children must share the registrable domain of their index."""

    def __init__(
        self,
        starts: Iterable[str],
        *,
        last_read: Mapping[str, datetime] | None = None,
        max_files: int = MAX_FILES,
        max_depth: int = MAX_INDEX_DEPTH,
    ) -> None:
        self.unchanged: list[str] = []
        self._last_read = last_read or {}
        self._most_files = max_files
        self._most_depth = max_depth
        self._depths: dict[str, int] = {}
        self._waiting: deque[str] = deque()
        for url in starts:
            self._add(url, 0)

    def next(self) -> str | None:
        """Return the next sitemap to read, if any."""
        return self._waiting.popleft() if self._waiting else None

    def add_result(self, url: str, answer: Sitemap) -> None:
        """Add the result of a sitemap. An index adds its children."""
        depth = self._depths.get(url, 0) + 1
        if answer.type is not SitemapType.INDEX or depth > self._most_depth:
            return
        own = _domain(url)
        for child in answer.entries:
            if child.url in self._depths or own is None or _domain(child.url) != own:
                continue
            if may_have_changed(child, self._last_read.get(child.url)):
                self._add(child.url, depth)
            else:
                self._depths[child.url] = depth
                self.unchanged.append(child.url)

    def _add(self, url: str, depth: int) -> None:
        if url not in self._depths and len(self._depths) < self._most_files:
            self._depths[url] = depth
            self._waiting.append(url)


def _domain(url: str) -> str | None:
    page = urls.canonical(url)
    return None if page is None else urls.registrable_domain(urls.site_parts(urls.site_of(page)).host)


def may_have_changed(child: SitemapEntry, last_read: datetime | None) -> bool:
    """True if a child of an index is worth a request: never read, undated, or changed since.
    A date without time means any moment of that day."""
    if last_read is None or child.lastmod is None:
        return True
    is_date = child.lastmod.time() == time.min
    return child.lastmod + (_A_DAY if is_date else timedelta(0)) > last_read


MIN_POLL_DAYS, MAX_POLL_DAYS = 1.0 / 24.0, 7.0
ABSENT_DAYS = 30.0  # Days before a missing source is requested again.
MAX_SOURCES = 500
_FORM = 1


class SourceState(NamedTuple):
    """A requested sitemap or feed."""

    kind: str
    read: float | None = None  # When it was last read, in days; None if it was missing.
    requested: float = 0.0
    etag: str | None = None
    last_modified: str | None = None
    is_dated: bool = False  # It says when pages changed.


class SitemapState(NamedTuple):
    """The sources of one site."""

    sources: dict[str, SourceState] = {}  # noqa: RUF012 - a value; every change makes a new one
    feeds: tuple[str, ...] = ()
    polled: float | None = None
    requests: int = 0  # Requests to the site's pages since the last poll.
    silent_polls: int = 0  # Consecutive polls without announcements.
    announced_pages: int = 0  # Announced pages that still wait for a visit.
    tdmrep: str = ""  # The site's tdmrep.json; empty: there is none, or it was not requested.
    tdmrep_read: float | None = None  # When it was last requested, in days.

    def with_source(self, url: str, source: SourceState) -> SitemapState:
        """Return the state after a source was requested."""
        sources = self.sources | {url: source}
        if len(sources) > MAX_SOURCES:
            sources = dict(list(sources.items())[-MAX_SOURCES:])
        return self._replace(sources=sources)

    @property
    def has_source(self) -> bool:
        """True if some source was found."""
        return any(source.read is not None for source in self.sources.values())

    @property
    def has_dated_sitemap(self) -> bool:
        """True if a sitemap says when pages changed; a feed only names a few."""
        return any(
            source.read is not None and source.is_dated and source.kind != SourceKind.FEED
            for source in self.sources.values()
        )


def should_request(source: SourceState | None, *, now: float) -> bool:
    """False for a source that was recently missing."""
    return source is None or source.read is not None or _is_old(source.requested, now=now)


def needs_probe(state: SitemapState, *, now: float) -> bool:
    """True if a site has no known sitemap and was not asked for one lately."""
    is_old = state.polled is None or _is_old(state.polled, now=now)
    return not state.has_source and (is_old or not state.sources)


def _is_old(moment: float, *, now: float) -> bool:
    """Return whether something is long ago; what lies in the future is no evidence, since the clock was set back."""
    return not 0.0 <= now - moment < ABSENT_DAYS


def may_read_new_feed(state: SitemapState, *, requests: int) -> bool:
    """True if a page named a feed that was never requested, and the site has had enough requests since the last one:
    a blog has a feed for every tag, and its pages link to the same articles."""
    read = sum(feed in state.sources for feed in state.feeds)
    return read < min(len(state.feeds), FIRST_FEEDS + requests // REQUESTS_PER_FEED)


def is_poll_due(state: SitemapState, estimate: SiteEstimate, *, pages: int, per_day: float, threshold: float) -> bool:
    """True if enough requests went to the site's pages since the last poll."""
    gap = requests_between_polls(
        estimate,
        waiting=state.announced_pages,
        silent_polls=state.silent_polls,
        pages=pages,
        per_day=per_day,
        threshold=threshold,
    )
    return state.requests >= gap


def poll_interval(estimate: SiteEstimate, *, pages: int, threshold: float) -> float:
    """Return the days to the next poll if requests are not scarce."""
    return min(max(days_between_polls(estimate, pages=pages, threshold=threshold), MIN_POLL_DAYS), MAX_POLL_DAYS)


def sitemap_state_bytes(state: SitemapState) -> bytes:
    """Return the stored form."""
    sources = [[url, *source] for url, source in state.sources.items()]
    return orjson.dumps([_FORM, sources, *state[1:]])


def sitemap_state_of(stored: bytes | None) -> SitemapState:
    """Read the stored form; empty if it cannot be read."""
    try:
        form, sources, feeds, *rest = orjson.loads(stored or b"")
        if form != _FORM:
            return SitemapState()
        known = {url: SourceState(*fields) for url, *fields in sources}
        return SitemapState(known, tuple(feeds), *rest)
    except (ValueError, TypeError):
        return SitemapState()
