"""Which outpost a site belongs to, and who may fetch from it."""

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
def test_routes_are_normalised(written: str, stored: str) -> None:
    assert normalise_route(written) == stored


@pytest.mark.parametrize("written", ["", ".", "*.org", "a b", "http://", ".org:80", "example.org?x", "user@host"])
def test_an_invalid_route_is_rejected(written: str) -> None:
    with pytest.raises(ValueError, match="suffix"):
        normalise_route(written)


def test_the_most_precise_route_wins_then_the_first() -> None:
    router = SiteRouter(
        {
            "edu": [".edu"],
            "org": ["example.org"],
            "docs": ["docs.example.org", "https://example.org:8443"],
            "late": [".edu", "example.org"],
        }
    )
    assert router.outpost_of("https://www.mit.edu") == "edu"
    assert router.outpost_of("https://example.org") == "org"
    assert router.outpost_of("http://a.b.example.org:81") == "org"
    assert router.outpost_of("https://docs.example.org") == "docs"
    assert router.outpost_of("https://example.org:8443") == "docs"
    assert router.outpost_of("https://notexample.org") is None
    assert router.outpost_of("https://edu") is None


def test_an_empty_list_allows_no_site() -> None:
    assert not is_allowed("https://example.org", ())
    assert is_allowed("https://www.example.org", ("example.org",))
    assert not is_allowed("https://example.org.evil.test", ("example.org",))


@given(
    delays=st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500)), min_size=1, max_size=20),
    pauses=st.lists(st.integers(1, 400), min_size=20, max_size=20),
    offset=st.integers(10**6, 10**12),
    gap=st.integers(0, 300),
)
def test_the_outpost_always_stops_before_the_coordinator_starts(
    delays: list[tuple[int, int]], pauses: list[int], offset: int, gap: int
) -> None:
    """The outpost's last request and the delay after it end before the coordinator may fetch, whatever the clocks and
    the network do.
    """
    lease_us = 600
    granted, held = GrantedLease(lease_us), HeldLease()
    now = 0
    for (there, back), pause in zip(delays, pauses, strict=False):
        number = held.heartbeat(now + offset)
        granted.renew(now + there)
        held.renew_from(number, lease_us)
        now += there + back + pause
        free = granted.free_at_us(handover_us(lease_us, gap))
        last_request_ends = held.until_us - offset - min(gap, lease_us // 2)
        assert free >= last_request_ends + gap


def test_a_reply_to_an_unknown_heartbeat_grants_no_lease() -> None:
    lease = HeldLease()
    lease.renew_from(7, 1000)
    assert lease.remaining_us(0, 0) == 0
    number = lease.heartbeat(100)
    lease.renew_from(number, 1000)
    lease.renew_from(number, 10**9)
    assert lease.remaining_us(100, 0) == 1000
    assert lease.remaining_us(100, 300) == 700
