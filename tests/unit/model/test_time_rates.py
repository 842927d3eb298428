"""Rates as users write them."""

from __future__ import annotations

import pytest

from evercrawl.model.time import is_total_rate, parse_rate


@pytest.mark.parametrize(
    ("text", "per_day"),
    [
        ("1000/day", 1000.0),
        ("1000", 1000.0),
        (" 1_000 / d ", 1000.0),
        ("1,000/day", 1000.0),
        ("50/hour", 1200.0),
        ("50/h", 1200.0),
        ("2.5 per minute", 3600.0),
        ("1/s", 86_400.0),
        ("7/Week", 1.0),
        (".5/day", 0.5),
    ],
)
def test_a_rate_is_requests_a_day(text: str, per_day: float) -> None:
    assert parse_rate(text) == pytest.approx(per_day)


@pytest.mark.parametrize(
    "text", ["", "many", "-5", "0", "0/day", "1e9999", "10/fortnight", "5/", "/day", "1/day/h", "nan", "١٢/day"]
)
def test_anything_else_says_what_it_must_be(text: str) -> None:
    with pytest.raises(ValueError, match="must be a number of requests such as 1000/day"):
        parse_rate(text)


def test_a_budget_with_a_span_of_time_is_one_in_all() -> None:
    assert is_total_rate("1000/day")
    assert is_total_rate("5 per hour")
    assert not is_total_rate("0.05")
