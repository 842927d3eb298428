"""Whose site is it, and who may ask it now?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.outpost.routing import GrantedLease, HeldLease, SiteRouter, handover_us, is_allowed, normalise_route


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        (".edu", ".edu"),
        (".AC.uk", ".ac.uk"),
        ("Example.ORG", "example.org"),
        ("example.org/", "example.org"),
        ("example.org:8443", "example.org:8443"),
        ("https://Example.org:443/", "https://example.org"),
        ("127.0.0.1:8000", "127.0.0.1:8000"),
        ("bücher.example", "xn--bcher-kva.example"),
    ],
)
def test_routes_have_one_form(written: str, stored: str) -> None:
    assert normalise_route(written) == stored


@pytest.mark.parametrize("written", ["", ".", "*.org", "a b", "http://", ".org:80", "example.org?x", "user@host"])
def test_what_is_no_route_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="suffix"):
        normalise_route(written)


def test_the_most_exact_route_wins_and_of_equal_ones_the_first() -> None:
    director = SiteRouter(
        {
            "edu": [".edu"],
            "org": ["example.org"],
            "docs": ["docs.example.org", "https://example.org:8443"],
            "late": [".edu", "example.org"],
        }
    )
    assert director.outpost_of("https://www.mit.edu") == "edu"
    assert director.outpost_of("https://example.org") == "org"
    assert director.outpost_of("http://a.b.example.org:81") == "org"
    assert director.outpost_of("https://docs.example.org") == "docs"
    assert director.outpost_of("https://example.org:8443") == "docs"
    assert director.outpost_of("https://notexample.org") is None
    assert director.outpost_of("https://edu") is None


def test_an_owner_who_allows_nothing_allows_nothing() -> None:
    assert not is_allowed("https://example.org", ())
    assert is_allowed("https://www.example.org", ("example.org",))
    assert not is_allowed("https://example.org.evil.test", ("example.org",))


@given(
    delays=st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500)), min_size=1, max_size=20),
    pauses=st.lists(st.integers(1, 400), min_size=20, max_size=20),
    offset=st.integers(10**6, 10**12),
    gap=st.integers(0, 300),
)
def test_the_outpost_always_stops_before_home_begins(
    delays: list[tuple[int, int]], pauses: list[int], offset: int, gap: int
) -> None:
    """Whatever the clocks show and however long messages take: at home's first moment the outpost, and the
    gap behind its last, are over.
    """
    lease = 600
    grant, lease = GrantedLease(lease), HeldLease()
    now = 0
    for (there, back), pause in zip(delays, pauses, strict=False):
        number = lease.beat(now + offset)
        grant.renew(now + there)
        lease.answered(number, lease)
        now += there + back + pause
        free = grant.free_at_us(handover_us(lease, gap))
        last_request_ends = lease.until_us - offset - min(gap, lease // 2)
        assert free >= last_request_ends + gap


def test_a_lease_for_a_beat_that_was_not_sent_is_nothing() -> None:
    lease = HeldLease()
    lease.answered(7, 1000)
    assert lease.remaining_us(0, 0) == 0
    number = lease.beat(100)
    lease.answered(number, 1000)
    lease.answered(number, 10**9)
    assert lease.remaining_us(100, 0) == 1000
    assert lease.remaining_us(100, 300) == 700
