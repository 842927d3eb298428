"""Spans of time as sentences have them."""

from __future__ import annotations

import pytest

from evercrawl.model.time import format_days, format_interval


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (9.2, "9 days"),
        (0.25, "6 hours"),
        (1.5, "36 hours"),
        (40 / 1440, "40 minutes"),
        (100 / 86_400, "2 minutes"),
        (12 / 86_400, "12 seconds"),
        (214, "7 months"),
        (1100, "3 years"),
    ],
)
def test_a_span_in_words(days: float, words: str) -> None:
    assert format_days(days) == words


def test_how_often() -> None:
    assert format_interval(9.0) == "every 9 days"
    assert format_interval(1.02) == "every day"
    assert format_interval(1 / 24) == "every hour"
