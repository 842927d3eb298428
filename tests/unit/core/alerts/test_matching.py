from __future__ import annotations

from typing import NoReturn

import pytest

from evercrawl.adapters.tantivy.text_query import index_words, stem_words
from evercrawl.core.alerts.matching import (
    EventTexts,
    PageText,
    match_event,
    page_matches,
    parse_alert_query,
    sentiment_shift,
)
from evercrawl.core.url import matches_glob
from evercrawl.errors import ConfigError
from evercrawl.model.alerts import AlertFilter, Event, EventKind, SentimentShift
from evercrawl.model.document import FieldValue

URL = "https://example.org/news/1?a=b"
EVENT = Event(0, 1, 1, URL, EventKind.CONTENT, 0.2, 0, 2, "News")


def never() -> NoReturn:
    raise AssertionError("the text is not needed")


def by_words(query: str, page: PageText) -> bool:
    return page_matches(query, page, cut=index_words, stem=stem_words)


def is_wanted(subject: AlertFilter, event: Event = EVENT, after: str = "", before: str = "") -> Event | None:
    texts = EventTexts(lambda: PageText(event.url, "", after, "en"), lambda: before)
    return match_event(subject, event, texts, matches=by_words, score=lambda text: {"good": 0.5, "bad": -0.5}.get(text))


def test_every_condition_must_hold() -> None:
    assert is_wanted(AlertFilter()) == EVENT
    assert is_wanted(AlertFilter(pages=(URL,), min_size=0.2, query="ferry"), after="The Ferry") == EVENT
    assert is_wanted(AlertFilter(pages=("https://example.org/",))) is None
    assert is_wanted(AlertFilter(min_size=0.21)) is None
    assert is_wanted(AlertFilter(kinds=frozenset({EventKind.METADATA}))) is None
    assert is_wanted(AlertFilter(query="tram"), after="The Ferry") is None


def test_pages_and_patterns_are_alternatives() -> None:
    subject = AlertFilter(pages=("https://example.org/x",), patterns=("https://example.org/news/*",))
    assert is_wanted(subject) == EVENT
    assert is_wanted(subject, EVENT._replace(url="https://example.org/x")) is not None
    assert is_wanted(subject, EVENT._replace(url="https://example.org/y")) is None


def test_only_changes_have_a_size() -> None:
    subject = AlertFilter(kinds=frozenset(EventKind), min_size=0.9)
    assert is_wanted(subject, EVENT._replace(kind=EventKind.NEW)) is not None
    assert is_wanted(subject, EVENT._replace(kind=EventKind.GONE)) is not None
    assert is_wanted(subject) is None


def test_texts_are_read_last() -> None:
    texts = EventTexts(never, never)
    subject = AlertFilter(patterns=("*/other/*",), query="ferry", sentiment_shift=True)
    assert match_event(subject, EVENT, texts, matches=by_words, score=lambda _: None) is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [({"price": 45, "price_before": 60}, True), ({"price": 55, "price_before": 60}, False), ({"price": 45}, False)],
)
def test_a_condition_on_a_field_reads_the_fields(values: dict[str, FieldValue], expected: bool) -> None:
    texts = EventTexts(never, never, lambda: values)
    found = match_event(AlertFilter(field="price below 50"), EVENT, texts, matches=by_words, score=lambda _: None)
    assert (found is not None) is expected


def test_a_sentiment_shift_has_two_sides() -> None:
    subject = AlertFilter(sentiment_shift=True)
    found = is_wanted(subject, after="bad", before="good")
    assert found is not None
    assert found.shift == SentimentShift(0.5, -0.5)
    assert is_wanted(subject, after="good", before="good") is None
    assert is_wanted(subject, after="unknown", before="good") is None


@pytest.mark.parametrize(
    ("before", "after", "turns"),
    [(0.3, -0.3, True), (-0.1, 0.1, True), (0.05, -0.9, False), (0.9, -0.05, False), (None, 0.5, False)],
)
def test_a_sentiment_shift_is_clear_on_both_sides(before: float | None, after: float, turns: bool) -> None:
    assert (sentiment_shift(before, after) is not None) is turns


@pytest.mark.parametrize(
    ("pattern", "url", "fits"),
    [
        ("https://example.org/news/*", URL, True),
        ("*news*a=b", URL, True),
        ("*/news/1?a=b", URL, True),
        ("*/news/1.a=b", URL, False),
        ("https://example.org/news/", URL, False),
        ("*1*1*", URL, False),
        ("https://example.org/news/1?a=b*b", URL, False),
        ("https://*", URL, True),
        ("*" + "a*" * 30 + "x", "https://example.org/" + "a" * 5000, False),
    ],
)
def test_patterns_match_the_whole_url(pattern: str, url: str, fits: bool) -> None:
    assert matches_glob(pattern, url) is fits


@pytest.mark.parametrize(
    ("query", "text", "fits"),
    [
        ("ferry harbour", "In the HARBOUR lies a ferry.", True),
        ("ferries", "The ferry waits.", True),
        ('"ferries"', "The ferry waits.", False),
        ("ferry", "The fairy waits.", False),
        ('"new ferry"', "a new, ferry", True),
        ('"new ferry"', "ferry new", False),
        ("ferry -tram", "ferry and tram", False),
        ("tram OR ferry", "ferry", True),
        ("tram OR ferry harbour", "ferry", False),
        ("cafe", "Café", True),
        ("price-list", "the price list", True),
        ("ferry site:example.org", "ferry", True),
        ("ferry site:example.org/news", "ferry", True),
        ("ferry site:example.org/new", "ferry", False),
        ("ferry site:ample.org", "ferry", False),
        ("ferry -site:org", "ferry", False),
        ("ferry lang:en", "ferry", True),
        ("ferry lang:de", "ferry", False),
        ("title:morning ferry", "ferry", True),
        ("title:ferry", "ferry", False),
        ("url:news", "ferry", True),
        ("京都", "昨日京都に行った", True),
    ],
)
def test_alert_queries_match_like_search(query: str, text: str, fits: bool) -> None:
    page = PageText("https://www.example.org:8443/news/1", "Good Morning", text, "en-GB")
    assert by_words(query, page) is fits


@pytest.mark.parametrize("query", ["", "  ", "-tram", "a " * 65, "a" * 2001, "x changed:7d", "x sentiment:neg"])
def test_alert_queries_cannot_use_time_or_sentiment(query: str) -> None:
    with pytest.raises(ConfigError):
        parse_alert_query(query)
