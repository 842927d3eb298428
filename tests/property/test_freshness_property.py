"""Learning never loses a page, due times are finite, and estimates stay within their bounds."""

from __future__ import annotations

from math import isfinite

from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.core.revisit.change_announcements import after_announcement, after_poll
from evercrawl.core.revisit.rate_estimate import (
    MAX_SHAPE,
    BulkChange,
    SiteEstimate,
    change_rate,
    time_to_reach,
    update_prior,
)
from evercrawl.core.revisit.visit_update import after_visit, new_page_estimate
from evercrawl.core.revisit.visit_value import due_at, value_now
from evercrawl.lab import policy
from tests.worlds.marginal_value import marginal_value

EVENTS = st.lists(
    st.tuples(st.sampled_from(["visit", "notice", "poll", "prior"]), st.booleans(), st.floats(0.01, 60.0)), max_size=60
)
SHAPES = st.floats(0.05, 30.0)
SCALES = st.floats(0.02, 2000.0)


@given(a=SHAPES, b=SCALES, tau=st.floats(0.0, 1000.0), more=st.floats(0.0, 1000.0), escape=st.floats(0.05, 1.0))
def test_value_never_falls_with_time(a: float, b: float, tau: float, more: float, escape: float) -> None:
    later, now = (marginal_value(a, b, at, escape=escape) for at in (tau + more, tau))
    assert later >= now - 1e-9 * (1.0 + b)
    assert now >= -1e-9 * (1.0 + b)


@given(a=SHAPES, b=SCALES, value=st.floats(1e-6, 1e4), escape=st.floats(0.05, 1.0))
def test_a_time_that_exists_reaches_the_value(a: float, b: float, value: float, escape: float) -> None:
    tau = time_to_reach(a, b, value, escape=escape)
    if isfinite(tau) and tau < 1e15:
        assert marginal_value(a, b, tau, escape=escape) >= value * (1.0 - 1e-3) - 1e-9


@given(events=EVENTS)
def test_every_page_stays_schedulable(events: list[tuple[str, bool, float]]) -> None:
    now, site, hub = 0.0, SiteEstimate(), BulkChange()
    page = new_page_estimate(site, now=now, has_copy=True)
    for kind, flag, wait in events:
        now += wait
        if kind == "visit":
            page, site, hub = after_visit(page, site, hub, now=now, changed=flag)
        elif kind == "notice":
            page, site = after_announcement(page, site, announced_at=now - (wait if flag else 0.0))
        elif kind == "poll":
            site = after_poll(site, now=now)
        else:
            site = update_prior(site, [page])
        a, b = change_rate(page, site)
        assert 0.0 < a <= 2.0 * MAX_SHAPE + 5.0
        assert b > 0.0
        assert isfinite(value_now(page, site, now=now, span=10.0))
        due = due_at(page, site, threshold=1.0, span=10.0, longest=120.0)
        assert page.visited is not None
        assert page.visited <= due <= page.visited + 120.0
        assert 0.0 < site.recall < 1.0
        assert site.false_rate > 0.0
        assert 0.0 <= site.hub_trust <= 1.0


@settings(max_examples=15, deadline=None)
@given(fast=st.sets(st.integers(0, 19), max_size=20), budget=st.integers(1, 6), bulk_day=st.integers(0, 300))
def test_every_page_is_visited_again(fast: set[int], budget: int, bulk_day: int) -> None:
    """Every page is visited again within a bounded time, whatever was learned."""
    driven = policy(budget_per_day=float(budget))
    for page in range(20):
        driven.add(page, page % 3, 0.0, True)
    seen = dict.fromkeys(range(20), 0.0)
    longest = 20.0 * 20.0 / budget + 20.0
    for day in range(400):
        while (page := driven.next(float(day))) is not None:
            driven.observe(page, float(day), page in fast or day == bulk_day, False)
            seen[page] = float(day)
        assert min(seen.values()) >= day - longest
