"""Is a page among what a query asks for? The language of queries is that of search; each page is asked by
itself, without an index, and all of the query must hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from evercrawl.core.search.query_parser import parse_query, primary_language
from evercrawl.core.search.tokenizer import url_words
from evercrawl.core.url import path_of, site_of, site_parts
from evercrawl.errors import ConfigError
from evercrawl.model.alerts import AlertFilter, Event, EventKind, SentimentShift
from evercrawl.model.search import Query, QueryField, Term

DEFAULT_LANGUAGE = "en"
_NO_MOMENT = datetime(1970, 1, 1, tzinfo=UTC)
"""Operators that need the present moment are refused."""

CutWords = Callable[[str], list[str]]
"""Text -> its words, as the search index has them."""
StemWords = Callable[[Sequence[str], str], list[str]]
"""Words and their language -> the stem of each."""


class PageText(NamedTuple):
    """What a page says."""

    url: str
    title: str
    text: str
    lang: str | None


@lru_cache(maxsize=256)
def parse_alert_query(query: str) -> Query:
    """The query; ConfigError where it cannot be read, or asks for a moment or a sentiment."""
    found = parse_query(query, now=_NO_MOMENT)
    if found.changed_from or found.changed_until or found.as_of or found.tone:
        raise ConfigError(f"the query {query!r} of an alert cannot have changed:, as-of: or sentiment:")
    return found


def page_matches(query: str, page: PageText, *, cut: CutWords, stem: StemWords) -> bool:
    """The page says all that the query asks for, and nothing of what it excludes."""
    asked = parse_alert_query(query)
    lang = primary_language(page.lang) if page.lang else None
    if asked.sites and not any(_is_of(page.url, site) for site in asked.sites):
        return False
    if any(_is_of(page.url, site) for site in asked.not_sites) or (asked.langs and lang not in asked.langs):
        return False
    words = _words(page, cut, stem, lang or DEFAULT_LANGUAGE)
    has_all = all(any(words.have(term) for term in group) for group in asked.groups)
    return has_all and not any(words.have(term._replace(is_literal=True)) for term in asked.without)


def _is_of(url: str, site: str) -> bool:
    """The URL is of this host, of a sub-domain of it, or in this folder of it."""
    host, slash, folder = site.partition("/")
    own, path = site_parts(site_of(url)).host, path_of(url)
    return (own == host or own.endswith(f".{host}")) and (not slash or f"{path}/".startswith(f"/{folder}/"))


@lru_cache(maxsize=4)
def _words(page: PageText, cut: CutWords, stem: StemWords, lang: str) -> _Words:
    """A page is asked by many alerts in a row."""
    return _Words(page, cut, stem, lang)


class _Words:
    """The words of a page, cut once; their stems when they are needed."""

    def __init__(self, page: PageText, cut: CutWords, stem: StemWords, lang: str) -> None:
        title, address, text = cut(page.title), cut(url_words(page.url)), cut(page.text)
        self._parts = {QueryField.TITLE: (title,), QueryField.URL: (address,), QueryField.ANYWHERE: (text, title)}
        self._cut = cut
        self._stem = stem
        self._lang = lang
        self._stems: dict[QueryField, frozenset[str]] = {}

    def have(self, term: Term) -> bool:
        words = self._cut(term.text)
        if not words:
            return False
        parts = self._parts[term.place]
        if term.is_literal or len(words) > 1:
            run = f" {' '.join(words)} "
            return any(run in f" {' '.join(part)} " for part in parts)
        (stem,) = self._stem(words, self._lang)
        return stem in self._stems_at(term.place)

    def _stems_at(self, place: QueryField) -> frozenset[str]:
        if place not in self._stems:
            words = [word for part in self._parts[place] for word in part]
            self._stems[place] = frozenset(self._stem(words, self._lang))
        return self._stems[place]


CLEAR_SENTIMENT = 0.1
"""A sentiment nearer to 0 is none, so that a page in the middle does not turn at every word."""

MatchesQuery = Callable[[str, PageText], bool]
"""Query and page -> the page is among what the query asks for."""
ScoreText = Callable[[str], float | None]
"""Text -> its sentiment, -1 to 1; None: it cannot be judged."""


class EventTexts(NamedTuple):
    """What the page says after the event, and its text before it; read when they are needed."""

    after: Callable[[], PageText]
    before: Callable[[], str]


def match_event(
    subject: AlertFilter, event: Event, texts: EventTexts, *, matches: MatchesQuery, score: ScoreText
) -> Event | None:
    """The event as it is told, with the turn of sentiment where that was asked for; None: not wanted."""
    if event.kind not in subject.kinds or not _is_large(subject, event) or not _is_about(subject, event.url):
        return None
    if subject.query is not None and not matches(subject.query, texts.after()):
        return None
    if not subject.sentiment_shift:
        return event
    shift = sentiment_shift(score(texts.before()), score(texts.after().text))
    return None if shift is None else event._replace(shift=shift)


def _is_large(subject: AlertFilter, event: Event) -> bool:
    """Only changes have a size."""
    return event.kind in (EventKind.NEW, EventKind.GONE) or event.size >= subject.min_size


def _is_about(subject: AlertFilter, url: str) -> bool:
    if not subject.pages and not subject.patterns:
        return True
    return url in subject.pages or any(url_matches(pattern, url) for pattern in subject.patterns)


def url_matches(pattern: str, url: str) -> bool:
    """The whole URL is of this form; `*` stands for anything. Takes time in proportion to the URL."""
    first, *others = pattern.split("*")
    if not others:
        return url == pattern
    *middle, last = others
    if not url.startswith(first) or len(url) < len(first) + len(last) or not url.endswith(last):
        return False
    at, end = len(first), len(url) - len(last)
    for part in middle:
        found = url.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def sentiment_shift(before: float | None, after: float | None) -> SentimentShift | None:
    """The turn from clearly friendly to clearly unfriendly, or back; None: there is none."""
    if before is None or after is None:
        return None
    is_clear = abs(before) >= CLEAR_SENTIMENT and abs(after) >= CLEAR_SENTIMENT
    return SentimentShift(before, after) if is_clear and (before > 0) != (after > 0) else None
