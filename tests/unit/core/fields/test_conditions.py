"""Conditions on fields."""

from __future__ import annotations

import pytest

from evercrawl.core.fields.conditions import condition_holds, parse_condition
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
