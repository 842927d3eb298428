"""When a site's sources are asked, and what is remembered of them."""

from __future__ import annotations

from evercrawl.core.revisit.announcements import FIRST_BETWEEN_POLLS, MAX_BETWEEN_POLLS, MIN_BETWEEN_POLLS
from evercrawl.core.revisit.rate_estimate import SiteEstimate
from evercrawl.core.sitemap.sitemap_discovery import (
    ABSENT_DAYS,
    MAX_POLL_DAYS,
    MAX_SOURCES,
    MIN_POLL_DAYS,
    SitemapState,
    SourceState,
    is_poll_due,
    poll_interval,
    should_request,
    sitemap_state_bytes,
    sitemap_state_of,
)

MUTE = SiteEstimate()
SPEAKING = SiteEstimate(has_signal=True, polled=1.0, recall=0.9, mean_rate=0.01, false_rate=0.001)


def _is_due(state: SitemapState, belief: SiteEstimate = SPEAKING, *, threshold: float = 0.0) -> bool:
    return is_poll_due(state, belief, pages=100, per_day=10.0, threshold=threshold)


def test_polls_are_paid_from_the_requests_that_a_site_gets():
    state = SitemapState(requests=MIN_BETWEEN_POLLS - 1)
    assert not _is_due(state)
    assert _is_due(state._replace(requests=MIN_BETWEEN_POLLS))
    busy = SitemapState(requests=50, announced_pages=80)
    assert not _is_due(busy)
    assert _is_due(busy._replace(requests=80))
    assert _is_due(busy._replace(requests=MAX_BETWEEN_POLLS, announced_pages=10_000))


def test_polls_are_as_rare_as_the_visits_that_they_replace_are_worth():
    assert _is_due(SitemapState(requests=9), threshold=0.1)
    assert not _is_due(SitemapState(requests=9), threshold=1.0)
    assert _is_due(SitemapState(requests=MAX_BETWEEN_POLLS), threshold=1e6)
    doubtful = SPEAKING._replace(false_rate=0.1)
    assert not _is_due(SitemapState(requests=9), doubtful, threshold=0.1)


def test_a_source_that_never_announces_is_asked_ever_less():
    assert _is_due(SitemapState(requests=2 * FIRST_BETWEEN_POLLS, silent_polls=1), MUTE)
    assert not _is_due(SitemapState(requests=2 * FIRST_BETWEEN_POLLS, silent_polls=2), MUTE)


def test_an_absent_source_is_left_alone_for_a_while():
    absent = SourceState("well-known", read=None, requested=10.0)
    assert should_request(None, now=0.0)
    assert not should_request(absent, now=11.0)
    assert should_request(absent, now=10.0 + ABSENT_DAYS)
    assert should_request(absent._replace(read=10.0), now=10.1)


def test_a_poll_is_made_when_what_it_would_announce_is_worth_it():
    large = poll_interval(SPEAKING._replace(mean_rate=0.1), pages=10_000, threshold=0.25)
    small = poll_interval(SPEAKING, pages=10, threshold=0.25)
    assert MIN_POLL_DAYS <= large < small <= MAX_POLL_DAYS
    assert poll_interval(SPEAKING._replace(recall=0.0), pages=10, threshold=0.25) == MAX_POLL_DAYS


def test_the_state_is_read_back_and_bounded():
    state = SitemapState(feeds=("http://site.test/feed",), polled=3.5, requests=4, silent_polls=1, announced_pages=2)
    for number in range(MAX_SOURCES + 50):
        state = state.with_source(f"http://site.test/{number}.xml", SourceState("robots.txt", 1.0, 1.0, '"e"'))
    assert len(state.sources) == MAX_SOURCES
    assert sitemap_state_of(sitemap_state_bytes(state)) == state
    assert state.has_source
    assert sitemap_state_of(None) == sitemap_state_of(b"broken") == SitemapState()
