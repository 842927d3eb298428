"""Credit as queue priorities."""

from __future__ import annotations

import pytest

from evercrawl.core.credit.ledger import CreditLedger, credit_priority, mean_credit, raised_priority

MEAN = 1000


@pytest.mark.parametrize(
    ("credit", "priority"),
    [(1_000_000, 0), (8000, 0), (7999, 1), (4000, 1), (3999, 2), (1000, 3), (500, 4), (60, 7), (1, 7), (0, 7)],
)
def test_each_priority_has_twice_the_credit_of_the_next(credit: int, priority: int) -> None:
    assert credit_priority(credit, mean=MEAN, priorities=8) == priority


def test_more_credit_is_never_less_urgent() -> None:
    priorities = [credit_priority(credit, mean=MEAN, priorities=8) for credit in range(0, 20_000, 7)]
    assert priorities == sorted(priorities, reverse=True)


def test_a_single_priority_takes_everything() -> None:
    assert {credit_priority(credit, mean=MEAN, priorities=1) for credit in (0, 1, MEAN, 10**12)} == {0}


def test_mean_of_an_empty_ledger() -> None:
    assert credit_priority(0, mean=0, priorities=4) == 3
    assert mean_credit(CreditLedger()) == 0
    assert mean_credit(CreditLedger(held=10, pages=4)) == 2


def test_pages_rise_at_once() -> None:
    assert raised_priority(3, 4000, mean=MEAN, priorities=8) == 1
    assert raised_priority(3, 1500, mean=MEAN, priorities=8) is None
    assert raised_priority(3, 10, mean=MEAN, priorities=8) is None
