"""Every policy can be driven from outside, and the default pays off."""

from __future__ import annotations

import pytest
from bench.freshness import gap_closed, requests_for

from evercrawl.errors import ConfigError
from evercrawl.lab import POLICIES, policy
from evercrawl.lab.policy_score import score
from evercrawl.lab.trace_replay import PolicyDriver, replay, true_lastmod
from tests.unit.lab.synthetic import synthetic_trace


def _drain(driven: PolicyDriver, t: float) -> list[int]:
    """Ask until refused."""
    out = []
    while (page := driven.next(t)) is not None:
        out.append(page)
        assert len(out) <= 10_000
    return out


def test_unknown_policy_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="stormcrawler"):
        policy("best")


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_runs_over_a_trace(name: str) -> None:
    result = replay(synthetic_trace(), policy(name), per_page_day=0.3)
    assert 0.4 < result.freshness <= 1.0
    assert result.requests_per_page_day <= 0.31


@pytest.mark.parametrize("name", POLICIES)
def test_a_caller_that_asks_until_refused_gets_no_more_than_the_budget(name: str) -> None:
    driven = policy(name, budget_per_day=5.0)
    for page in range(50):
        driven.add(page, page % 3, 0.0, page % 2 == 0)
    count = 0
    for step in range(400):
        t = step * 0.25
        for page in _drain(driven, t):
            driven.observe(page, t, page % 7 == 0, False)
            count += 1
        assert count <= 5.0 * (t + 1.0) + 1.0
    if name in ("optimal", "uniform"):
        assert count >= 5.0 * 99.0


@pytest.mark.parametrize("name", POLICIES)
def test_page_with_the_caller_is_not_returned_again(name: str) -> None:
    driven = policy(name)
    for page in range(20):
        driven.add(page, 0, 0.0, page < 10)
    out = _drain(driven, 40.0)
    assert sorted(out) == sorted(set(out))
    if name != "optimal":
        return
    assert sorted(out) == list(range(20))


def test_unreported_visit_is_repeated() -> None:
    driven = policy()
    driven.add(1, 0, 0.0, True)
    assert driven.next(1.0) == 1
    assert driven.next(1.25) is None
    assert driven.next(4.0) == 1


@pytest.mark.parametrize("name", POLICIES)
def test_removed_pages_are_never_returned_and_late_reports_are_ignored(name: str) -> None:
    driven = policy(name)
    driven.add(1, 0, 0.0, False)
    driven.add(2, 0, 0.0, False)
    first = driven.next(0.0)
    driven.remove(1, 0.1)
    driven.remove(1, 0.1)
    driven.observe(1, 0.1, False, True)
    assert first == 1
    assert _drain(driven, 0.2) == [2]
    driven.add(1, 0, 0.3, False)
    assert _drain(driven, 0.3) == [1]


def test_new_pages_come_first() -> None:
    driven = policy()
    for page in range(10):
        driven.add(page, 0, 0.0, True)
    driven.add(99, 0, 5.0, False)
    assert driven.next(5.0) == 99


def test_an_announced_page_comes_before_the_others_at_the_same_moment() -> None:
    driven = policy()
    for page in range(40):
        driven.add(page, 0, 0.0, True)
    for step in range(1, 160):
        t = step * 0.25
        if driven.poll_due(t):
            driven.signal(step % 40, t - 0.1, t)
        page = driven.next(t)
        assert page is not None
        driven.observe(page, t, page == step % 40, False)
    while not driven.poll_due(t := t + 0.25):
        page = driven.next(t)
        assert page is not None
        driven.observe(page, t, False, False)
    driven.signal(7, t - 0.1, t)
    assert driven.next(t) == 7


@pytest.mark.regression_pin
@pytest.mark.slow
def test_with_a_true_lastmod_and_few_requests_only_announced_pages_are_visited() -> None:
    trace = synthetic_trace(pages=200, days=500.0)
    result = replay(trace, policy(), per_page_day=0.03, notices=true_lastmod(trace))
    assert result.useful_share > 0.95
    assert result.polls > 20


def test_polls_of_a_silent_source_become_rare() -> None:
    driven = policy()
    for page in range(100):
        driven.add(page, 0, 0.0, True)
    polls = 0
    for step in range(4000):
        t = step * 0.25
        if driven.poll_due(t):
            polls += 1
            continue
        page = driven.next(t)
        assert page is not None
        driven.observe(page, t, False, False)
    assert 1 <= polls <= 10


@pytest.mark.regression_pin
@pytest.mark.slow
@pytest.mark.parametrize("bulk", [False, True])
@pytest.mark.parametrize("budget", [0.05, 0.2])
def test_optimal_is_not_below_uniform(budget: float, bulk: bool) -> None:
    trace = synthetic_trace(pages=150, days=400.0, bulk=bulk)
    optimal, uniform, oracle = (
        score(trace, name, per_page_day=budget).freshness for name in ("optimal", "uniform", "oracle")
    )
    assert gap_closed(freshness=optimal, uniform=uniform, oracle=oracle) > 0.25


@pytest.mark.regression_pin
@pytest.mark.slow
def test_a_true_lastmod_saves_most_of_the_requests() -> None:
    trace = synthetic_trace(pages=100, days=300.0)
    goal = score(trace, "uniform", per_page_day=0.2)
    curve = {b: score(trace, "optimal", per_page_day=b, signal="true").freshness for b in (0.05, 0.1, 0.2)}
    assert requests_for(goal.freshness, curve) <= 0.1


@pytest.mark.regression_pin
@pytest.mark.slow
@pytest.mark.parametrize(("budget", "bulk"), [(0.05, True), (0.2, False)])
def test_a_poor_signal_is_not_worse_than_none(budget: float, bulk: bool) -> None:
    trace = synthetic_trace(pages=100, days=200.0, bulk=bulk)
    with_it, without = (score(trace, "optimal", per_page_day=budget, signal=signal) for signal in ("poor", "none"))
    assert with_it.freshness > without.freshness
    assert with_it.polls < 0.2 * budget * len(trace.pages) * trace.days


def test_a_lastmod_list_that_is_repeated_at_every_poll_does_no_harm() -> None:
    trace = synthetic_trace(days=120.0)
    plain = replay(trace, policy(), per_page_day=0.2, notices=true_lastmod(trace))
    driven = _Repeating(policy(), trace.pages)
    repeated = replay(trace, driven, per_page_day=0.2, notices=true_lastmod(trace))
    assert repeated.freshness > plain.freshness - 0.02


class _Repeating:
    """Passes every call on and repeats each announcement."""

    def __init__(self, driven: PolicyDriver, pages: object) -> None:
        self.driven = driven
        self.add, self.remove, self.next = driven.add, driven.remove, driven.next
        self.observe, self.poll_due = driven.observe, driven.poll_due

    def signal(self, page: int, announced_at: float, t: float) -> None:
        self.driven.signal(page, announced_at, t)
        self.driven.signal(page, announced_at, t)


def test_caller_with_its_own_budget_is_not_limited() -> None:
    driven = policy(budget_per_day=1.0)
    for page in range(100):
        driven.add(page, 0, 0.0, True)
    count = 0
    for step in range(1, 200):
        t = step * 0.25
        for _ in range((step % 4 == 0) if step < 60 else 5):
            page = driven.next(t)
            count += page is not None
            if page is not None:
                driven.observe(page, t, False, False)
    assert count > 650


def test_the_tree_is_descended_only_below_unchanged_pages() -> None:
    driven = policy("paper-tree")
    for page in range(3):
        driven.add(page, 0, 0.0, True)
    assert driven.next(1.0) == 0
    assert driven.next(1.0) is None, "the pages below wait for the one above"
    driven.observe(0, 1.0, False, False)
    assert {driven.next(1.1), driven.next(1.1)} == {1, 2}
    for page in (1, 2):
        driven.observe(page, 1.1, False, False)
    assert driven.next(2.2) == 0
    driven.observe(0, 2.2, True, False)
    assert driven.next(2.3) is None, "below a changed page nothing is examined"


def test_paper_selective_needs_fewer_requests_than_its_rival() -> None:
    trace = synthetic_trace()
    selective, tree = (score(trace, name, per_page_day=5.0) for name in ("paper-selective", "paper-tree"))
    assert selective.requests_per_page_day < tree.requests_per_page_day


def test_paper_sitemap_visits_what_the_sitemap_dates() -> None:
    trace = synthetic_trace()
    dated = score(trace, "paper-sitemap", per_page_day=5.0, signal="true")
    undated = score(trace, "paper-sitemap", per_page_day=5.0)
    assert dated.useful_share > 0.95, "only changed pages are downloaded"
    assert dated.requests_per_page_day < 0.5 * undated.requests_per_page_day
    assert undated.requests_per_page_day > 0.9, "without a sitemap everything is downloaded in each round"
