"""Conditions on fields."""

from __future__ import annotations

import pytest

from evercrawl.core.fields.conditions import condition_holds, parse_condition, with_last_values
from evercrawl.errors import ConfigError
from evercrawl.model.document import FieldValue


@pytest.mark.parametrize(
    ("text", "before", "after", "expected"),
    [
        ("price", 12, 15, True),
        ("price changes", 12, None, True),
        ("price appears", None, 15, True),
        ("price appears", 12, 15, False),
        ("price disappears", 12, None, True),
        ("price above 14", 12, 15, True),
        ("price above 15", 12, 15, False),
        ("price below 15", 16, 15, False),
        ("price below 15.5", 16, 15, True),
        ("price below 10", 16, None, False),
        ("price changes by 3", 12, 15, True),
        ("price changes by 4", 12, 15, False),
        ("price changes by 25%", 12, 15, True),
        ("price changes by 26 %", 12, 15, False),
        ("title matches (?i)sale", "Shop", "Big Sale", True),
        ("title matches sale", "Shop", "Big Sale", False),
        ("title matches Sale", "Sale", "Big Sale", False),
        ("price below 50", 45, 44, False),
        ("price above 50", 51, 60, False),
        ("price below 50", None, 44, True),
    ],
)
def test_conditions(text: str, before: FieldValue, after: FieldValue, expected: bool):
    name = text.split()[0]
    assert condition_holds(parse_condition(text), {name: after, f"{name}_before": before}) is expected


def test_a_field_that_has_not_changed_fulfils_nothing():
    assert not condition_holds(parse_condition("price above 1"), {"price": 15})


@pytest.mark.parametrize("text", ["", "price over 5", "price above", "1x", "price matches (", "price above x"])
def test_bad_conditions_are_refused(text: str):
    with pytest.raises(ConfigError):
        parse_condition(text)


def test_a_limit_is_crossed_once_even_if_the_value_was_missing_meanwhile():
    prices: list[FieldValue] = [60, 45, None, 44, 55, 40, 39]
    analyses = {
        version: {"price": price} | ({"price_before": prices[version - 1]} if version else {})
        for version, price in enumerate(prices)
    }
    below = parse_condition("price below 50")
    assert [n for n in analyses if condition_holds(below, with_last_values(analyses, n))] == [1, 5]
    step = parse_condition("price changes by 10")
    assert [n for n in analyses if condition_holds(step, with_last_values(analyses, n))] == [1, 4, 5]
