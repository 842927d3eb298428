from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from evercrawl.core.revisit.change_announcements import FIRST_BETWEEN_POLLS, MAX_BETWEEN_POLLS, MIN_BETWEEN_POLLS
from evercrawl.core.revisit.rate_estimate import SiteEstimate
from evercrawl.core.sitemap.sitemap_discovery import (
    ABSENT_DAYS,
    MAX_FEEDS,
    MAX_INDEX_DEPTH,
    MAX_POLL_DAYS,
    MAX_SOURCES,
    MIN_POLL_DAYS,
    SitemapSource,
    SitemapState,
    SitemapWalk,
    SourceKind,
    SourceState,
    extended_url,
    found_kind,
    is_poll_due,
    is_superseded,
    may_read_new_feed,
    needs_probe,
    poll_interval,
    should_request,
    sitemap_state_bytes,
    sitemap_state_of,
    sources_of,
)
from evercrawl.core.sitemap.sitemap_reader import read_sitemap
from evercrawl.core.sitemap.sitemap_writer import extended_sitemap
from evercrawl.model.sitemap import Sitemap, SitemapEntry, SitemapPage, SitemapType
from evercrawl.model.time import to_us

SITE = "http://site.test"
NOW = datetime(2024, 5, 6, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def index(*children: str | SitemapEntry) -> Sitemap:
    entries = (child if isinstance(child, SitemapEntry) else SitemapEntry(child) for child in children)
    return Sitemap(SitemapType.INDEX, tuple(entries))


# Sources


def test_one_question_where_robots_txt_names_nothing():
    assert sources_of(SITE) == (SitemapSource("http://site.test/sitemap.xml", SourceKind.GUESSED),)


def test_a_named_sitemap_is_requested_in_its_extended_form_first():
    found = sources_of(
        SITE, named=["http://site.test/s.xml", "http://site.test/t.xml"], feeds=["http://site.test/feed"]
    )
    assert found == (
        SitemapSource("http://site.test/s.xml?XTND", SourceKind.EXTENDED),
        SitemapSource("http://site.test/s.xml", SourceKind.NAMED),
        SitemapSource("http://site.test/t.xml", SourceKind.NAMED),
        SitemapSource("http://site.test/feed", SourceKind.FEED),
    )


def test_a_site_that_names_the_extended_form_is_asked_for_it_once():
    assert sources_of(SITE, named=["http://site.test/s.xml?XTND"]) == (
        SitemapSource("http://site.test/s.xml?XTND", SourceKind.EXTENDED),
    )


def test_the_extended_form_always_or_never():
    assert sources_of(SITE, extended="always")[0].url == "http://site.test/sitemap.xml?XTND"
    assert sources_of(SITE, named=["http://site.test/s.xml"], extended="never")[0].url == "http://site.test/s.xml"


def test_a_missing_sitemap_is_asked_for_again_after_a_month():
    missing = SitemapState({"http://site.test/sitemap.xml": SourceState("well-known", requested=1.0)}, polled=1.0)
    assert needs_probe(SitemapState(), now=1.0)
    assert not needs_probe(missing, now=1.0 + ABSENT_DAYS - 1.0)
    assert needs_probe(missing, now=1.0 + ABSENT_DAYS)
    assert not needs_probe(SitemapState({"s": SourceState("robots.txt", read=1.0)}, polled=1.0), now=99.0)


def test_a_feed_that_was_never_requested_is_new():
    known = SitemapState({"http://site.test/feed": SourceState("feed", requested=1.0)}, ("http://site.test/feed",))
    assert not may_read_new_feed(known, requests=1000)
    more = known._replace(feeds=(*known.feeds, *(f"http://site.test/{number}" for number in range(3))))
    assert may_read_new_feed(more, requests=20 * len(known.feeds))
    assert not may_read_new_feed(more._replace(sources=dict.fromkeys(more.feeds[:-1], SourceState("feed"))), requests=1)


def test_only_a_sitemap_with_dates_counts_as_dated():
    def state(kind: SourceKind, *, is_dated: bool) -> SitemapState:
        return SitemapState({"s": SourceState(kind.value, read=1.0, is_dated=is_dated)})

    assert state(SourceKind.GUESSED, is_dated=True).has_dated_sitemap
    assert not state(SourceKind.GUESSED, is_dated=False).has_dated_sitemap
    assert not state(SourceKind.FEED, is_dated=True).has_dated_sitemap


def test_a_source_is_named_once_and_feeds_are_few():
    feeds = [f"http://site.test/feed/{number}" for number in range(99)]
    found = sources_of(SITE, named=["http://site.test/feed/0"], feeds=feeds)
    assert len(found) == 1 + 1 + MAX_FEEDS - 1
    assert found[1] == SitemapSource("http://site.test/feed/0", SourceKind.NAMED)


def test_the_parameter_is_added():
    assert extended_url("http://site.test/s?a=1") == "http://site.test/s?a=1&XTND"


@pytest.mark.parametrize(
    ("kind", "found", "expected"),
    [
        (SourceKind.EXTENDED, {SourceKind.NAMED}, False),
        (SourceKind.NAMED, {SourceKind.EXTENDED}, True),
        (SourceKind.NAMED, {SourceKind.NAMED}, False),
        (SourceKind.GUESSED, {SourceKind.GUESSED}, True),
        (SourceKind.FEED, {SourceKind.EXTENDED, SourceKind.NAMED}, False),
    ],
)
def test_superseded_sources(kind: SourceKind, found: set[SourceKind], expected: bool):
    assert is_superseded(kind, found) is expected


def test_a_server_that_does_not_know_the_parameter():
    asked = sources_of(SITE, extended="always")[0]
    assert found_kind(asked, Sitemap(SitemapType.EXTENDED)) is SourceKind.EXTENDED
    assert found_kind(asked, Sitemap(SitemapType.URLSET)) is SourceKind.GUESSED
    assert found_kind(asked, Sitemap(SitemapType.UNKNOWN)) is None


# Indexes


def test_an_index_is_walked_and_loops_end():
    walk = SitemapWalk(["http://site.test/i.xml"])
    assert walk.next() == "http://site.test/i.xml"
    walk.add_result(
        "http://site.test/i.xml", index("http://site.test/i.xml", "http://site.test/1", "http://site.test/1")
    )
    assert (walk.next(), walk.next()) == ("http://site.test/1", None)


def test_an_endless_chain_of_indexes_ends():
    walk, read = SitemapWalk(["http://site.test/0"]), 0
    while (url := walk.next()) is not None:
        read += 1
        walk.add_result(url, index(f"http://site.test/{read}"))
    assert read == MAX_INDEX_DEPTH + 1


def test_an_endless_index_ends():
    walk = SitemapWalk(["http://site.test/0"], max_files=50)
    walk.next()
    walk.add_result("http://site.test/0", index(*(f"http://site.test/{number}" for number in range(1, 1000))))
    assert len(list(iter(walk.next, None))) == 49


def test_children_elsewhere_are_not_followed():
    walk = SitemapWalk(["http://www.site.co.uk/i"])
    walk.next()
    walk.add_result("http://www.site.co.uk/i", index("http://cdn.site.co.uk/1", "http://other.co.uk/2", "mailto:x"))
    assert (walk.next(), walk.next()) == ("http://cdn.site.co.uk/1", None)


def test_unchanged_children_are_skipped():
    children = {
        "http://site.test/older": NOW - HOUR,
        "http://site.test/newer": NOW + HOUR,
        "http://site.test/undated": None,
        "http://site.test/today": NOW.replace(hour=0),
        "http://site.test/yesterday": NOW.replace(hour=0) - timedelta(days=1),
    }
    walk = SitemapWalk(["http://site.test/i"], last_read=dict.fromkeys(children, NOW))
    walk.next()
    new = SitemapEntry("http://site.test/new", NOW - HOUR)
    walk.add_result("http://site.test/i", index(*(SitemapEntry(url, date) for url, date in children.items()), new))
    assert list(iter(walk.next, None)) == [
        "http://site.test/newer",
        "http://site.test/undated",
        "http://site.test/today",
        "http://site.test/new",
    ]
    assert walk.unchanged == ["http://site.test/older", "http://site.test/yesterday"]


# Paper C


PAPER_SITEMAP = {
    "index": 1272964276000, "about": 1272964523000, "courses": 1272964705000, "courses/btech": 1272964720000,
    "courses/pharmacy": 1272964736000, "facilities": 1276682653000, "photo_gallery": 1276683322000,
    "faculty": 1273576124000, "faculty/teaching": 1308473192000, "faculty/nonteaching": 1273576523000,
    "results": 1308473495000, "placement": 1308473616000, "alumni": 1309334004000, "contact": 1272964754000,
}  # fmt: skip
"""Paper C, table 2."""
FIRST_VISIT_MS = 1308111730_000


def test_the_example_of_paper_c():
    def page(name: str) -> str:
        return f"http://www.xyz.com/{name}.html"

    listed = [
        SitemapPage(page(name), datetime.fromtimestamp(updated / 1000, UTC), name)
        for name, updated in PAPER_SITEMAP.items()
    ]
    found = read_sitemap(extended_sitemap(listed), "http://www.xyz.com/sitemap.xml?XTND")
    assert (found.type, len(found.entries)) == (SitemapType.EXTENDED, 14)
    times = {entry.url: to_us(entry.lastmod) // 1000 for entry in found.entries if entry.lastmod}
    wanted = ("faculty/teaching", "results", "placement", "alumni")
    assert [url for url, time in times.items() if url == page("alumni") or time > FIRST_VISIT_MS] == [
        page(name) for name in wanted
    ]


MUTE = SiteEstimate()
SPEAKING = SiteEstimate(has_signal=True, polled=1.0, recall=0.9, mean_rate=0.01, false_rate=0.001)


def _is_due(state: SitemapState, estimate: SiteEstimate = SPEAKING, *, threshold: float = 0.0) -> bool:
    return is_poll_due(state, estimate, pages=100, per_day=10.0, threshold=threshold)


def test_polls_are_paid_from_the_requests_that_a_site_gets():
    state = SitemapState(requests=MIN_BETWEEN_POLLS - 1)
    assert not _is_due(state)
    assert _is_due(state._replace(requests=MIN_BETWEEN_POLLS))
    busy = SitemapState(requests=50, announced_pages=80)
    assert not _is_due(busy)
    assert _is_due(busy._replace(requests=80))
    assert _is_due(busy._replace(requests=MAX_BETWEEN_POLLS, announced_pages=10_000))


def test_poll_interval_follows_the_threshold():
    assert _is_due(SitemapState(requests=9), threshold=0.1)
    assert not _is_due(SitemapState(requests=9), threshold=1.0)
    assert _is_due(SitemapState(requests=MAX_BETWEEN_POLLS), threshold=1e6)
    doubtful = SPEAKING._replace(false_rate=0.1)
    assert not _is_due(SitemapState(requests=9), doubtful, threshold=0.1)


def test_silent_source_is_polled_less_and_less():
    assert _is_due(SitemapState(requests=2 * FIRST_BETWEEN_POLLS, silent_polls=1), MUTE)
    assert not _is_due(SitemapState(requests=2 * FIRST_BETWEEN_POLLS, silent_polls=2), MUTE)


def test_missing_source_is_skipped_for_a_while():
    absent = SourceState("well-known", read=None, requested=10.0)
    assert should_request(None, now=0.0)
    assert not should_request(absent, now=11.0)
    assert should_request(absent, now=10.0 + ABSENT_DAYS)
    assert should_request(absent, now=9.0), "the clock was set back since"
    assert should_request(absent._replace(read=10.0), now=10.1)


def test_poll_interval_follows_expected_announcements():
    large = poll_interval(SPEAKING._replace(mean_rate=0.1), pages=10_000, threshold=0.25)
    small = poll_interval(SPEAKING, pages=10, threshold=0.25)
    assert MIN_POLL_DAYS <= large < small <= MAX_POLL_DAYS
    assert poll_interval(SPEAKING._replace(recall=0.0), pages=10, threshold=0.25) == MAX_POLL_DAYS


def test_sitemap_state_round_trips_and_is_bounded():
    state = SitemapState(feeds=("http://site.test/feed",), polled=3.5, requests=4, silent_polls=1, announced_pages=2)
    for number in range(MAX_SOURCES + 50):
        state = state.with_source(f"http://site.test/{number}.xml", SourceState("robots.txt", 1.0, 1.0, '"e"'))
    assert len(state.sources) == MAX_SOURCES
    assert sitemap_state_of(sitemap_state_bytes(state)) == state
    assert state.has_source
    assert sitemap_state_of(None) == sitemap_state_of(b"broken") == SitemapState()
