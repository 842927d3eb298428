"""Hours of rest, over midnight too."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from evercrawl.core.politeness import parse_hours, quiet_until


def at(hour: int, minute: int = 0, day: int = 10) -> datetime:
    return datetime(2026, 5, day, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "until"),
    [(at(21, 59), None), (at(22), at(6, day=11)), (at(3), at(6)), (at(6), None), (at(12, 30), at(13)), (at(13), None)],
)
def test_when_the_rest_ends(now: datetime, until: datetime | None):
    hours = [parse_hours("22:00-06:00"), parse_hours(" 12:30 - 13:00 ")]
    assert quiet_until(hours, now=now) == until


@pytest.mark.parametrize("text", ["", "22-6", "25:00-06:00", "22:00", "22:60-06:00", "always"])
def test_what_names_no_hours(text: str):
    with pytest.raises(ValueError, match="hours like"):
        parse_hours(text)
