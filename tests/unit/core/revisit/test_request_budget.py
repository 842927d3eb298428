"""A budget is used up and not exceeded, also over restarts, and the threshold follows it."""

from __future__ import annotations

from math import inf

import pytest

from evercrawl.core.revisit.request_budget import RUN_BURST_DAYS, WATCH_BURST_DAYS, RequestBudget, initial_threshold

PER_DAY = 240.0


def spend_greedily(budget: RequestBudget, *, days: float, step: float = 0.001) -> int:
    spent, now = 0, 0.0
    while now < days:
        while budget.may_spend(now):
            budget.spend(now)
            spent += 1
        now += step
    return spent


def test_budget_holds_over_days():
    spent = spend_greedily(RequestBudget(PER_DAY, 0.1), days=5)
    assert 5 * PER_DAY <= spent <= 5 * PER_DAY + PER_DAY * WATCH_BURST_DAYS + 1


def test_a_single_run_may_spend_what_a_day_allows():
    assert spend_greedily(RequestBudget(PER_DAY, 0.1, burst_days=RUN_BURST_DAYS), days=0.001) == PER_DAY


def test_a_clock_that_was_set_back_does_not_stop_the_budget():
    budget = RequestBudget(PER_DAY, 0.1)
    while budget.may_spend(365.0):
        budget.spend(365.0)
    assert not budget.may_spend(1.0)
    assert budget.may_spend(1.0 + 2 / PER_DAY)


def test_restart_does_not_refill_the_budget():
    budget = RequestBudget(PER_DAY, 0.1)
    spend_greedily(budget, days=1)
    again = RequestBudget(PER_DAY, 0.5)
    again.restore(budget.to_bytes())
    assert again.threshold == budget.threshold
    again.spend(1.0)
    assert not again.may_spend(1.0)
    assert again.may_spend(again.next_token_at(1.0))


@pytest.mark.parametrize("stored", [None, b"", b"no", b"[1]", b"{}"])
def test_unreadable_state_is_ignored(stored: bytes | None):
    budget = RequestBudget(PER_DAY, 0.1)
    budget.restore(stored)
    assert budget.threshold == 0.1
    assert budget.may_spend(0.0)


def test_run_without_a_budget_stores_no_tokens():
    endless = RequestBudget(None, 0.25)
    endless.spend(1.0)
    limited = RequestBudget(PER_DAY, 0.1)
    limited.restore(endless.to_bytes())
    assert limited.threshold == 0.1
    assert endless.may_spend(1.0)
    assert endless.next_token_at(1.0) == 1.0


def test_a_debt_is_paid_before_anything_else():
    budget = RequestBudget(24.0, 0.1)
    for _ in range(3):
        budget.spend(0.0)
    assert budget.next_token_at(0.0) == pytest.approx(3 / 24)
    assert budget.full_at(0.0) == pytest.approx(3 / 24)


def test_threshold_rises_with_valuable_visits_and_falls_with_unused_tokens():
    budget = RequestBudget(PER_DAY, 0.1)
    budget.record_value(1.0)
    risen = budget.threshold
    assert risen > 0.1
    budget.lower_threshold()
    assert budget.threshold < risen
    budget.record_value(inf)
    assert budget.threshold < risen, "a visit that had to be made does not count"


def test_the_first_threshold_fits_the_budget():
    few = initial_threshold(per_day=1.0, pages=100, default=0.25)
    many = initial_threshold(per_day=100.0, pages=100, default=0.25)
    assert few > many > 0
    assert initial_threshold(per_day=None, pages=100, default=0.25) == 0.25
