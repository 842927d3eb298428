"""Cache-Control and Age as hints (RFC 9111)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from evercrawl.core.visit.outcome import MOST_FRESH, fresh_for


@pytest.mark.parametrize(
    ("control", "age", "seconds"),
    [
        ("max-age=600", None, 600),
        ("public, MAX-AGE = 600", "200", 400),
        ('max-age="60"', None, 60),
        ("max-age=60", "90", 0),
        ("max-age=600, no-cache", None, 0),
        ("no-store", None, 0),
        ("s-maxage=600", None, 0),
        ("max-age=600", "soon", 600),
        ("max-age=99999999", None, MOST_FRESH.total_seconds()),
        ("", None, 0),
    ],
)
def test_how_long_an_answer_is_fresh(control: str, age: str | None, seconds: float):
    headers = (("Cache-Control", control),) + ((("Age", age),) if age is not None else ())
    assert fresh_for(headers) == timedelta(seconds=seconds)
