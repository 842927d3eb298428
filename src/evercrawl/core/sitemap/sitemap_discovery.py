"""Where does a site say what changed, which of it is worth reading, and what of it is news?

The extended sitemap is asked for first (paper C, section 4.2); an ordinary one does instead (C4). Feeds are
read beside either, since they are small and name new pages first. An index's dates let sitemaps that did not
change be left alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import NamedTuple

import orjson

from evercrawl.core import url as urls
from evercrawl.core.revisit.announcements import days_between_polls, requests_between_polls
from evercrawl.core.revisit.rate_estimate import SiteEstimate
from evercrawl.model.sitemap import Sitemap, SitemapEntry, SitemapType

EXTENDED_PARAMETER = "XTND"
WELL_KNOWN = ("/sitemap.xml",)
"""Where sitemaps are when robots.txt names none; each guess costs a request."""
MOST_FEEDS = 10
"""Of one site; large sites have one for every page."""
MOST_FILES = 5_000
"""Sitemaps read in one round, whatever indexes say."""
MOST_INDEX_DEPTH = 3
"""Indexes inside each other; the protocol allows one."""

_A_DAY = timedelta(days=1)


class SourceKind(StrEnum):
    """How we know of a source of signals."""

    EXTENDED = "extended"
    NAMED = "robots.txt"
    GUESSED = "well-known"
    FEED = "feed"


class SitemapSource(NamedTuple):
    """A place that may say which pages of a site changed."""

    url: str
    kind: SourceKind


# A kind is not asked for any more once one of these was found.
_SETTLED_BY: dict[SourceKind, frozenset[SourceKind]] = {
    SourceKind.EXTENDED: frozenset(),
    SourceKind.NAMED: frozenset({SourceKind.EXTENDED}),
    SourceKind.GUESSED: frozenset({SourceKind.EXTENDED, SourceKind.NAMED, SourceKind.GUESSED}),
    SourceKind.FEED: frozenset(),
}


def extended_url(sitemap_url: str) -> str:
    """The same sitemap, asked for with the parameter XTND."""
    return sitemap_url + ("&" if "?" in sitemap_url else "?") + EXTENDED_PARAMETER


def sources_of(site: str, *, named: Iterable[str] = (), feeds: Iterable[str] = ()) -> tuple[SitemapSource, ...]:
    """Every source that a site may have, in the order to ask; `named` are robots.txt's Sitemap lines, `feeds`
    what its pages link as alternates.
    """
    found = [SitemapSource(extended_url(site + WELL_KNOWN[0]), SourceKind.EXTENDED)]
    found += [SitemapSource(url, SourceKind.NAMED) for url in named]
    if len(found) == 1:
        found += [SitemapSource(site + path, SourceKind.GUESSED) for path in WELL_KNOWN]
    found += [SitemapSource(url, SourceKind.FEED) for url in list(feeds)[:MOST_FEEDS]]
    return tuple({source.url: source for source in reversed(found)}.values())[::-1]


def is_superseded(kind: SourceKind, found: Collection[SourceKind]) -> bool:
    """What was found already makes a source of this kind superfluous."""
    return not _SETTLED_BY[kind].isdisjoint(found)


def found_kind(source: SitemapSource, answer: Sitemap) -> SourceKind | None:
    """What an answer turned out to be; None: no sitemap. A server that does not know XTND sends its ordinary
    one, which then need not be asked for again.
    """
    if answer.type is SitemapType.UNKNOWN:
        return None
    if source.kind is SourceKind.EXTENDED and answer.type is not SitemapType.EXTENDED:
        return SourceKind.GUESSED
    return source.kind


class SitemapWalk:
    """Which sitemap to read next: each once, none that did not change, never more or deeper than the limits.

    `last_read` says when a sitemap was last read to its end. Children are followed within the registrable
    domain of their index only.
    """

    def __init__(
        self,
        starts: Iterable[str],
        *,
        last_read: Mapping[str, datetime] | None = None,
        most_files: int = MOST_FILES,
        most_depth: int = MOST_INDEX_DEPTH,
    ) -> None:
        self.unchanged: list[str] = []
        self._last_read = last_read or {}
        self._most_files = most_files
        self._most_depth = most_depth
        self._depths: dict[str, int] = {}
        self._waiting: deque[str] = deque()
        for url in starts:
            self._add(url, 0)

    def next(self) -> str | None:
        """The next sitemap to read; None when all were read."""
        return self._waiting.popleft() if self._waiting else None

    def add_result(self, url: str, answer: Sitemap) -> None:
        """A sitemap was read: an index gives more to read."""
        depth = self._depths.get(url, 0) + 1
        if answer.type is not SitemapType.INDEX or depth > self._most_depth:
            return
        for child in answer.entries:
            if child.url in self._depths or not _is_related(url, child.url):
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


def _is_related(index_url: str, child_url: str) -> bool:
    return _domain(index_url) == _domain(child_url) is not None


def _domain(url: str) -> str | None:
    page = urls.canonical(url)
    return None if page is None else urls.registrable_domain(urls.site_parts(urls.site_of(page)).host)


def may_have_changed(child: SitemapEntry, last_read: datetime | None) -> bool:
    """An index's child is worth a request: never read, without date, or changed since.

    A date alone means any moment of its day.
    """
    if last_read is None or child.lastmod is None:
        return True
    is_date = child.lastmod.time() == time.min
    return child.lastmod + (_A_DAY if is_date else timedelta(0)) > last_read


class ChangeAnnouncement(NamedTuple):
    """The site's word that a page changed at a moment."""

    url: str
    announced_at: datetime


class SitemapNews(NamedTuple):
    """What a sitemap or feed says that we did not know."""

    announcements: tuple[ChangeAnnouncement, ...]
    new_pages: tuple[SitemapEntry, ...]


def sitemap_news(
    entries: Iterable[SitemapEntry], known: Mapping[str, datetime | None], *, now: datetime
) -> SitemapNews:
    """Changes of known pages, and pages that are not known; each page once, in canonical form.

    `known` has for each page the newest lastmod that we took notice of or, as paper C has it, the moment of
    the last visit; None: there is neither, and no date is news. A date that lies ahead counts as now.
    """
    notices: dict[str, datetime] = {}
    new: dict[str, SitemapEntry] = {}
    for entry in entries:
        page = urls.canonical(entry.url)
        if page is None:
            continue
        if page not in known:
            new[page] = _newer(entry._replace(url=page), new.get(page))
        elif (since := known[page]) is not None and entry.lastmod is not None and entry.lastmod > since:
            moment = min(entry.lastmod, now)
            notices[page] = max(moment, notices.get(page, moment))
    return SitemapNews(tuple(ChangeAnnouncement(page, moment) for page, moment in notices.items()), tuple(new.values()))


def _newer(entry: SitemapEntry, other: SitemapEntry | None) -> SitemapEntry:
    if other is None or other.lastmod is None:
        return entry
    return entry if entry.lastmod is not None and entry.lastmod > other.lastmod else other


SHORTEST_DAYS, LONGEST_DAYS = 1.0 / 24.0, 7.0
ABSENT_DAYS = 30.0
"""A source that was not there is asked for again after this time."""
MAX_SOURCES = 500
_FORM = 1


class SourceState(NamedTuple):
    """A sitemap or feed that was asked for."""

    kind: str
    read: float | None = None
    """When it was last read, in days; None: it was not there."""
    requested: float = 0.0
    etag: str | None = None
    last_modified: str | None = None


class SitemapState(NamedTuple):
    """The sources of one site."""

    sources: dict[str, SourceState] = {}  # noqa: RUF012 - a value; every change makes a new one
    feeds: tuple[str, ...] = ()
    polled: float | None = None
    requests: int = 0
    """To the site's pages since the last poll."""
    silent_polls: int = 0
    """Polls in a row that announced nothing."""
    announced_pages: int = 0
    """Announced pages that the last poll left to be visited."""

    def with_source(self, url: str, source: SourceState) -> SitemapState:
        """The state after a source was asked."""
        sources = self.sources | {url: source}
        if len(sources) > MAX_SOURCES:
            sources = dict(list(sources.items())[-MAX_SOURCES:])
        return self._replace(sources=sources)

    @property
    def has_source(self) -> bool:
        """Some source was found."""
        return any(source.read is not None for source in self.sources.values())


def should_request(source: SourceState | None, *, now: float) -> bool:
    """A source that was not there is left alone for a while."""
    return source is None or source.read is not None or now - source.requested >= ABSENT_DAYS


def is_poll_due(state: SitemapState, estimate: SiteEstimate, *, pages: int, per_day: float, threshold: float) -> bool:
    """Enough of the site's requests went to pages since the last poll: the rule that the lab measures."""
    gap = requests_between_polls(
        estimate, waiting=state.announced_pages, silent_polls=state.silent_polls, pages=pages, per_day=per_day, threshold=threshold
    )
    return state.requests >= gap


def poll_interval(estimate: SiteEstimate, *, pages: int, threshold: float) -> float:
    """Days to the next poll where requests are not scarce, within bounds that are fair to any site."""
    return min(max(days_between_polls(estimate, pages=pages, threshold=threshold), SHORTEST_DAYS), LONGEST_DAYS)


def sitemap_state_bytes(state: SitemapState) -> bytes:
    """The stored form."""
    sources = [[url, *source] for url, source in state.sources.items()]
    return orjson.dumps([_FORM, sources, *state[1:]])


def sitemap_state_of(stored: bytes | None) -> SitemapState:
    """What was stored; nothing known where that cannot be read."""
    try:
        form, sources, feeds, *rest = orjson.loads(stored or b"")
        if form != _FORM:
            return SitemapState()
        known = {url: SourceState(*fields) for url, *fields in sources}
        return SitemapState(known, tuple(feeds), *rest)
    except (ValueError, TypeError):
        return SitemapState()
