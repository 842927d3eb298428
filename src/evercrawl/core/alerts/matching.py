"""Decides whether an alert matches an event: by kind, size, URL, query and sentiment.
Queries use the search syntax and are evaluated on a single page without an index."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from evercrawl.core.fields.conditions import condition_holds, parse_condition
from evercrawl.core.search.query_parser import parse_query, primary_language
from evercrawl.core.search.tokenizer import url_words
from evercrawl.core.url import matches_glob, path_of, site_of, site_parts
from evercrawl.errors import ConfigError
from evercrawl.model.alerts import CHANGES, AlertFilter, Event, EventKind, SentimentShift
from evercrawl.model.document import FieldValue
from evercrawl.model.search import Query, QueryField, Term

DEFAULT_LANGUAGE = "en"
_NO_MOMENT = datetime(1970, 1, 1, tzinfo=UTC)  # Operators that need the current time are refused.

CutWords = Callable[[str], list[str]]  # Text -> its words, as the search index has them.
StemWords = Callable[[Sequence[str], str], list[str]]  # Words and their language -> the stem of each.


class PageText(NamedTuple):
    """The text of a page."""

    url: str
    title: str
    text: str
    lang: str | None


@lru_cache(maxsize=256)
def parse_alert_query(query: str) -> Query:
    """Parse a query; raises ConfigError if it cannot be read, or uses time or sentiment."""
    found = parse_query(query, now=_NO_MOMENT)
    if found.changed_from or found.changed_until or found.as_of or found.tone:
        raise ConfigError(f"the query {query!r} of an alert cannot use changed:, as-of: or sentiment:")
    return found


def page_matches(query: str, page: PageText, *, cut: CutWords, stem: StemWords) -> bool:
    """Return whether the page has everything that the query asks for and nothing that it excludes."""
    parsed = parse_alert_query(query)
    lang = primary_language(page.lang) if page.lang else None
    if parsed.sites and not any(_is_on_site(page.url, site) for site in parsed.sites):
        return False
    if any(_is_on_site(page.url, site) for site in parsed.not_sites) or (parsed.langs and lang not in parsed.langs):
        return False
    words = _page_words(page, cut, stem, lang or DEFAULT_LANGUAGE)
    has_all = all(any(words.has(term) for term in group) for group in parsed.groups)
    return has_all and not any(words.has(term._replace(is_literal=True)) for term in parsed.without)


def _is_on_site(url: str, site: str) -> bool:
    """Return whether the URL is on this host, a subdomain of it, or in this folder of it."""
    host, slash, folder = site.partition("/")
    own, path = site_parts(site_of(url)).host, path_of(url)
    return (own == host or own.endswith(f".{host}")) and (not slash or f"{path}/".startswith(f"/{folder}/"))


class _PageWords:
    """The words of a page; stems are computed on demand."""

    def __init__(self, page: PageText, cut: CutWords, stem: StemWords, lang: str) -> None:
        title, address, text = cut(page.title), cut(url_words(page.url)), cut(page.text)
        self._parts = {QueryField.TITLE: (title,), QueryField.URL: (address,), QueryField.ANYWHERE: (text, title)}
        self._cut = cut
        self._stem = stem
        self._lang = lang
        self._stems: dict[QueryField, frozenset[str]] = {}

    def has(self, term: Term) -> bool:
        words = self._cut(term.text)
        if not words:
            return False
        parts = self._parts[term.place]
        if term.is_literal or len(words) > 1:
            run = f" {' '.join(words)} "
            return any(run in f" {' '.join(piece)} " for piece in parts)
        (stem,) = self._stem(words, self._lang)
        return stem in self._stems_at(term.place)

    def _stems_at(self, place: QueryField) -> frozenset[str]:
        if place not in self._stems:
            words = [word for piece in self._parts[place] for word in piece]
            self._stems[place] = frozenset(self._stem(words, self._lang))
        return self._stems[place]


_page_words = lru_cache(maxsize=4)(_PageWords)  # Many alerts check the same page.

CLEAR_SENTIMENT = 0.1  # A sentiment nearer to 0 is neutral.

MatchesQuery = Callable[[str, PageText], bool]  # Query and page -> whether the page matches.
ScoreText = Callable[[str], float | None]  # Text -> its sentiment, -1 to 1; None if it cannot be scored.


class EventTexts(NamedTuple):
    """The page after the event and its text before, read on demand."""

    after: Callable[[], PageText]
    before: Callable[[], str]
    fields: Callable[[], Mapping[str, FieldValue]] = dict  # The fields of the page after the event.


def match_event(
    subject: AlertFilter, event: Event, texts: EventTexts, *, matches: MatchesQuery, score: ScoreText
) -> Event | None:
    """Return the event to report, with its sentiment shift if requested; None if it does not match."""
    is_small = event.size < subject.min_size and event.kind in CHANGES
    if not _wants_kind(subject, event) or is_small or not _matches_url(subject, event.url):
        return None
    if subject.field is not None and not condition_holds(parse_condition(subject.field), texts.fields()):
        return None
    if subject.query is not None and not matches(subject.query, texts.after()):
        return None
    if not subject.sentiment_shift:
        return event
    shift = sentiment_shift(score(texts.before()), score(texts.after().text))
    return None if shift is None else event._replace(shift=shift)


def _wants_kind(subject: AlertFilter, event: Event) -> bool:
    """Return whether an alert reports this kind; whoever hears that a page is gone also hears that it is back."""
    if event.kind is not EventKind.BACK:
        return event.kind in subject.kinds
    has_changed = bool(event.edits) and EventKind.CONTENT in subject.kinds
    return has_changed or not subject.kinds.isdisjoint((EventKind.GONE, EventKind.BACK))


def _matches_url(subject: AlertFilter, url: str) -> bool:
    if not subject.pages and not subject.patterns:
        return True
    return url in subject.pages or any(matches_glob(pattern, url) for pattern in subject.patterns)


def sentiment_shift(before: float | None, after: float | None) -> SentimentShift | None:
    """Return the shift from clearly positive to clearly negative or back; None if there is none."""
    if before is None or after is None:
        return None
    is_clear = abs(before) >= CLEAR_SENTIMENT and abs(after) >= CLEAR_SENTIMENT
    return SentimentShift(before, after) if is_clear and (before > 0) != (after > 0) else None
