"""Conditions on pages: type, size, language, date, keywords; and settings of single sites."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from evercrawl.core.scope.scope import Scope
from evercrawl.core.scope.selection import (
    FetchedPage,
    Selection,
    Selections,
    count_accesses,
    is_dynamic,
    parse_keyword,
    parse_site_pattern,
)
from evercrawl.errors import ConfigError
from evercrawl.model.document import Document
from evercrawl.model.fetch import Headers
from evercrawl.model.reason import Reason
from evercrawl.model.settings import ScopeSettings, SiteSettings

NOW = datetime(2026, 6, 1, tzinfo=UTC)
HTML = (("Content-Type", "text/html"),)
URL = "http://example.org/a-page"


def reason(
    selection: Selection, *, headers: Headers = HTML, body: bytes = b"body", language: str | None = None, **fields: Any
) -> Reason | None:
    page = FetchedPage(fields.pop("url", URL), headers, body, is_seed=fields.pop("is_seed", False))
    document = Document("utf-8", page.url, **fields)
    refused = selection.content_refusal(page, document, language=language, now=NOW)
    if refused is None:
        return None
    assert refused[1].endswith(selection.text_of(refused[0]))
    return refused[0]


def types(name: str) -> Headers:
    return (("Content-Type", name),)


@pytest.mark.parametrize(
    ("selection", "name", "is_kept"),
    [
        (Selection(), "text/html; charset=utf-8", True),
        (Selection(), "application/json", True),
        (Selection(), "image/png", False),
        (Selection(), "application/pdf", False),
        (Selection(fetch_types=frozenset({"document"})), "application/pdf", True),
        (Selection(fetch_types=frozenset({"document"})), "application/epub+zip", True),
        (Selection(fetch_types=frozenset({"document"})), "application/zip", False),
        (Selection(media_types=("application/pdf",)), "application/pdf", True),
        (Selection(media_types=("application/pdf",)), "text/html", False),
        (Selection(media_types=("image/*",)), "image/svg+xml", True),
        (Selection(media_types=("*/*",), exclude_media_types=("video/*",)), "video/mp4", False),
        (Selection(exclude_media_types=("application/json",)), "application/json", False),
    ],
)
def test_media_types(selection: Selection, name: str, is_kept: bool) -> None:
    assert reason(selection, headers=types(name)) == (None if is_kept else Reason.MEDIA_TYPE)


def test_a_seed_may_be_a_file_of_any_type_unless_excluded_by_name() -> None:
    assert reason(Selection(), headers=types("image/png"), is_seed=True) is None
    assert reason(Selection(exclude_media_types=("image/*",)), headers=types("image/png"), is_seed=True) is not None


def test_sizes() -> None:
    between = Selection(min_bytes=10, max_bytes=20)
    assert [reason(between, body=b"x" * size) for size in (9, 10, 20, 21)] == [Reason.SIZE, None, None, Reason.SIZE]


@pytest.mark.parametrize(
    ("wanted", "language", "is_kept"),
    [
        (("en",), "en", True),
        (("en",), "en-GB", True),
        (("pt-BR",), "pt", True),
        (("pt-BR",), "pt-PT", False),
        (("en", "de"), "fr", False),
        (("en",), None, True),
        (("e",), "en", False),
    ],
)
def test_languages(wanted: tuple[str, ...], language: str | None, is_kept: bool) -> None:
    assert reason(Selection(languages=wanted), language=language) == (None if is_kept else Reason.LANGUAGE)


@pytest.mark.parametrize(
    ("newer", "older", "date", "is_kept"),
    [
        ("2026-01-01", None, "2026-05-01", True),
        ("2026-01-01", None, "2025-12-31T23:00:00+00:00", False),
        ("30d", None, "2026-05-20", True),
        ("30d", None, "2026-04-20", False),
        (None, "2020-12-31", "2020-12-31", True),
        (None, "2020-12-31", "2021-01-01", False),
        ("2026-01-01", None, "2025", False),
        ("2026-01-01", None, None, True),
        ("2026-01-01", None, "yesteryear", True),
    ],
)
def test_dates(newer: str | None, older: str | None, date: str | None, is_kept: bool) -> None:
    found = reason(Selection(newer_than=newer, older_than=older), published=date)
    assert found == (None if is_kept else Reason.DATE)


def test_the_date_of_a_page_is_its_last_change_then_its_header() -> None:
    new = Selection(newer_than="2026-01-01")
    assert reason(new, published="2020-01-01", modified="2026-02-01") is None
    old = (*HTML, ("Last-Modified", "Wed, 01 Jan 2020 00:00:00 GMT"))
    assert reason(new, headers=old) is Reason.DATE


@pytest.mark.parametrize(
    ("keyword", "text", "is_found"),
    [
        ("solar", "Solar power", True),
        ("solar", "the solarium", False),
        ("solar*", "the solarium", True),
        ("solar power", "SOLAR\n  power", True),
        ("c++", "we use C++ here", True),
        ("太阳", "我们的太阳能", True),
    ],
)
def test_keywords_are_whole_words_in_any_case(keyword: str, text: str, is_found: bool) -> None:
    assert parse_keyword(keyword).is_in(text) is is_found


def test_keywords_by_place() -> None:
    page = {"url": "http://example.org/wind_farms", "title": "About us", "text": "Solar cells"}
    kept = {word: reason(Selection(keywords=(word,)), **page) is None for word in ("wind", "us", "cells", "hydro")}
    assert kept == {"wind": True, "us": True, "cells": True, "hydro": False}
    assert reason(Selection(keywords=("title:solar",)), **page) is Reason.KEYWORDS
    assert reason(Selection(keywords=("title:solar", "url:wind")), **page) is None
    assert reason(Selection(exclude_keywords=("text:solar",)), **page) is Reason.KEYWORDS


def test_an_excluded_word_in_the_url_prevents_the_request() -> None:
    scope = Scope(ScopeSettings(seeds=("http://example.org/",), exclude_keywords=("url:casino", "poker")))
    refused = scope.verdict("http://example.org/casino/1", depth=1)
    assert refused is not None
    assert refused[0] is Reason.KEYWORDS
    assert scope.verdict("http://example.org/poker", depth=1) is None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://e.org/a?b=1", True),
        ("http://e.org/cgi-bin/x", True),
        ("http://e.org/a.php", True),
        ("http://e.org/a.cgi/extra", True),
        ("http://e.org/a.html", False),
        ("http://e.org/php/", False),
        ("http://e.org/a.pledge", False),
    ],
)
def test_dynamic_pages(url: str, expected: bool) -> None:
    assert is_dynamic(url) is expected
    scope = Scope(ScopeSettings(seeds=("http://e.org/",), dynamic_pages=False))
    refused = scope.verdict(url, depth=1)
    assert (refused is not None and refused[0] is Reason.DYNAMIC) is expected


def test_hosts_that_are_never_requested_not_even_as_seeds() -> None:
    settings = ScopeSettings(seeds=("http://e.org/",), kind="domain", exclude_hosts=("ads.e.org", "evil.org"))
    scope = Scope(settings)
    for url in ("http://ads.e.org/", "http://x.ads.e.org/", "http://evil.org/"):
        for is_seed in (False, True):
            refused = scope.verdict(url, depth=0, is_seed=is_seed)
            assert refused is not None
            assert refused[0] is Reason.EXCLUDED_HOST
    assert scope.verdict("http://bads.e.org/", depth=1) is None


def test_a_wanted_media_type_admits_its_file_extensions() -> None:
    scope = Scope(ScopeSettings(seeds=("http://e.org/",), media_types=("text/html", "application/pdf", "image/png")))
    refused = {kind: scope.verdict(f"http://e.org/a.{kind}", depth=1) is not None for kind in ("pdf", "png", "css")}
    assert refused == {"pdf": False, "png": False, "css": True}


# Sites


@pytest.mark.parametrize(
    ("pattern", "url", "is_match"),
    [
        ("example.org", "http://example.org/", True),
        ("example.org", "https://news.example.org:8443/x", True),
        ("example.org", "http://badexample.org/", False),
        ("*.example.org", "http://news.example.org/", True),
        ("Example.ORG/News/", "http://example.org/News/1", True),
        ("example.org/news/", "http://example.org/old/news/", False),
        ("example.org/*/news", "http://example.org/en/news/1", True),
        ("https://example.org/", "http://example.org/", False),
        ("example.org:8080", "http://example.org:8080/x", True),
        ("example.org:8080", "http://example.org/x", False),
        ("[::1]:80", "http://[::1]/", True),
        ("org", "http://example.org/", True),
    ],
)
def test_site_patterns(pattern: str, url: str, is_match: bool) -> None:
    selections = Selections(ScopeSettings(), (SiteSettings(pattern=pattern, priority=2),))
    assert selections.of(url).priority == (2 if is_match else 0)


@pytest.mark.parametrize("pattern", ["", "a b", "ex*ample.org", "/only/a/path"])
def test_bad_site_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(ConfigError, match="write a host"):
        parse_site_pattern(pattern)


def test_the_longer_pattern_wins_setting_by_setting() -> None:
    sites = (
        SiteSettings(pattern="example.org/news/", weight=4.0),
        SiteSettings(pattern="example.org", weight=2.0, languages=("de",)),
    )
    found = Selections(ScopeSettings(languages=("en",), max_depth=3), sites).of("http://example.org/news/1")
    assert (found.weight, found.languages, found.max_depth) == (4.0, ("de",), 3)
    assert Selections(ScopeSettings(languages=("en",)), sites).of("http://other.org/").languages == ("en",)


def test_limits_of_a_site() -> None:
    site = SiteSettings(pattern="deep.e.org", max_depth=1, exclude=("/private/",), dynamic_pages=False)
    scope = Scope(ScopeSettings(seeds=("http://e.org/",), kind="domain"), sites=(site,))
    assert scope.verdict("http://e.org/x?y", depth=5) is None
    found = [
        scope.verdict(url, depth=depth)
        for url, depth in (("http://deep.e.org/", 2), ("http://deep.e.org/private/", 1), ("http://deep.e.org/?q", 1))
    ]
    assert [one and one[0] for one in found] == [Reason.TOO_DEEP, Reason.EXCLUDED, Reason.DYNAMIC]


def test_pages_that_people_request_often_come_first() -> None:
    log = ['192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] "GET /top HTTP/1.1" 200 5 "-" "x"'] * 12
    log += ['e.org:80 192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] "GET /mid HTTP/1.1" 304 5'] * 6
    log += ['192.0.2.1 - - [x] "GET /rare HTTP/1.1" 200 5', '192.0.2.1 - - [x] "GET /gone HTTP/1.1" 404 5', "nonsense"]
    log += ["https://f.org/page 9"]
    counts = count_accesses(log)
    assert counts == {"/top": 12, "e.org/mid": 6, "/rare": 1, "f.org/page": 9}
    selections = Selections(ScopeSettings(), accesses=counts)
    urls = ("http://e.org/top", "http://other.org/top", "https://f.org/page", "http://e.org/mid", "http://e.org/rare")
    assert [selections.of(url).priority for url in urls] == [1, 1, 1, 0, 0]
    assert selections.of(urls[0]).weight == 2.0
    assert selections.has_priorities
    assert not Selections(ScopeSettings()).has_priorities


def test_pages_watched_one_by_one_count_more() -> None:
    seeds = ("https://a.example/", "https://a.example/price")
    site = Scope(ScopeSettings(seeds=seeds, pages=seeds[1:]))
    assert (site.weight("https://a.example/"), site.weight("https://a.example/other")) == (1, 1)
    assert site.weight("https://a.example/price") == 400
    watched = Scope(ScopeSettings(seeds=seeds, kind="list"))
    assert [watched.weight(seed) for seed in seeds] == [400, 400]
    many = tuple(f"https://a.example/{n}" for n in range(101))
    assert Scope(ScopeSettings(seeds=many, kind="list")).weight(many[0]) == 1


def test_a_page_of_its_own() -> None:
    """A pattern with `$` means one page, and the longest pattern with a schedule decides."""
    sites = (
        SiteSettings("https://a.example", schedule="daily"),
        SiteSettings("https://a.example/news$", schedule="hourly"),
        SiteSettings("https://a.example/$", priority=3),
    )
    found = Selections(ScopeSettings(), sites)
    assert found.schedule_rule("https://a.example/news") == ("https://a.example/news$", "hourly")
    assert found.schedule_rule("https://a.example/news/1") == ("https://a.example", "daily")
    assert found.schedule_rule("https://b.example/news") is None
    assert (found.of("https://a.example/").priority, found.of("https://a.example/x").priority) == (3, 0)
    other = found.with_schedules({"https://b.example/*": "weekly"})
    assert other.schedule_rule("https://a.example/news") is None
    assert other.schedule_rule("https://b.example/x") == ("https://b.example/*", "weekly")
    assert other.of("https://a.example/").priority == 3
    assert other.has_schedules
    assert not other.with_schedules({}).has_schedules
