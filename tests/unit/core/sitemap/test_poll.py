"""When a site's sources are asked, and what is remembered of them."""

from __future__ import annotations

from evercrawl.core.sitemap.poll import (
    ABSENT_DAYS,
    FEWEST_REQUESTS,
    LONGEST_DAYS,
    MOST_REQUESTS,
    MOST_SOURCES,
    SHORTEST_DAYS,
    SignalState,
    SourceState,
    is_poll_due,
    is_worth_asking,
    poll_interval,
    state_bytes,
    state_of,
)


def test_polls_are_paid_from_the_requests_that_a_site_gets():
    state = SignalState(requests=FEWEST_REQUESTS - 1)
    assert not is_poll_due(state, has_signal=True)
    assert is_poll_due(state._replace(requests=FEWEST_REQUESTS), has_signal=True)
    busy = SignalState(requests=50, waiting=80)
    assert not is_poll_due(busy, has_signal=True)
    assert is_poll_due(busy._replace(requests=80), has_signal=True)
    assert is_poll_due(busy._replace(requests=MOST_REQUESTS, waiting=10_000), has_signal=True)


def test_a_source_that_never_announces_is_asked_ever_less():
    assert is_poll_due(SignalState(requests=20, silent=1), has_signal=False)
    assert not is_poll_due(SignalState(requests=20, silent=2), has_signal=False)


def test_an_absent_source_is_left_alone_for_a_while():
    absent = SourceState("well-known", read=None, asked=10.0)
    assert is_worth_asking(None, now=0.0)
    assert not is_worth_asking(absent, now=11.0)
    assert is_worth_asking(absent, now=10.0 + ABSENT_DAYS)
    assert is_worth_asking(absent._replace(read=10.0), now=10.1)


def test_a_poll_is_made_when_what_it_would_announce_is_worth_it():
    large = poll_interval(pages=10_000, recall=0.9, rate=0.1, threshold=0.25)
    small = poll_interval(pages=10, recall=0.9, rate=0.01, threshold=0.25)
    assert SHORTEST_DAYS <= large < small <= LONGEST_DAYS
    assert poll_interval(pages=10, recall=0.0, rate=0.01, threshold=0.25) == LONGEST_DAYS


def test_the_state_is_read_back_and_bounded():
    state = SignalState(feeds=("http://site.test/feed",), polled=3.5, requests=4, silent=1, waiting=2)
    for number in range(MOST_SOURCES + 50):
        state = state.with_source(
            f"http://site.test/{number}.xml", SourceState("robots.txt", 1.0, 1.0, '"e"')
        )
    assert len(state.sources) == MOST_SOURCES
    assert state_of(state_bytes(state)) == state
    assert state.has_source
    assert state_of(None) == state_of(b"broken") == SignalState()
