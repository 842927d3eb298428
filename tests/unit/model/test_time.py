"""Times and rates as people write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from evercrawl.errors import ConfigError
from evercrawl.model.time import format_days, format_interval, is_total_rate, parse_rate, parse_time

NOW = datetime(2026, 11, 15, 9, 30, 15, 250, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("now", NOW),
        ("7d", NOW - timedelta(days=7)),
        ("7 days ago", NOW - timedelta(days=7)),
        ("1 day", NOW - timedelta(days=1)),
        ("24h", NOW - timedelta(hours=24)),
        ("90 min", NOW - timedelta(minutes=90)),
        ("90m", NOW - timedelta(minutes=90)),
        ("30s", NOW - timedelta(seconds=30)),
        ("1.5h", NOW - timedelta(minutes=90)),
        ("2w", NOW - timedelta(days=14)),
        ("1y", NOW - timedelta(days=365)),
        ("today", datetime(2026, 11, 15, tzinfo=UTC)),
        ("Yesterday", datetime(2026, 11, 14, tzinfo=UTC)),
        ("2026-11-01", datetime(2026, 11, 1, tzinfo=UTC)),
        ("2026-11", datetime(2026, 11, 1, tzinfo=UTC)),
        (" 2026-11-01T12:00 ", datetime(2026, 11, 1, 12, tzinfo=UTC)),
        ("2026-11-01 12:00:05", datetime(2026, 11, 1, 12, 0, 5, tzinfo=UTC)),
        ("2026-11-01t12:00:00z", datetime(2026, 11, 1, 12, tzinfo=UTC)),
        ("2026-11-01T12:00+02:00", datetime(2026, 11, 1, 10, tzinfo=UTC)),
        ("20261101120000", datetime(2026, 11, 1, 12, tzinfo=UTC)),
    ],
)
def test_times_are_parsed(text: str, moment: datetime) -> None:
    assert parse_time(text, now=NOW) == moment


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-01", datetime(2026, 11, 1, 23, 59, 59, 999999, tzinfo=UTC)),
        ("2026-12", datetime(2026, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)),
        ("yesterday", datetime(2026, 11, 14, 23, 59, 59, 999999, tzinfo=UTC)),
        ("2026-11-01T12:00", datetime(2026, 11, 1, 12, tzinfo=UTC)),
        ("7d", NOW - timedelta(days=7)),
    ],
)
def test_at_end_includes_the_whole_day_or_month(text: str, moment: datetime) -> None:
    assert parse_time(text, now=NOW, at_end=True) == moment


def test_times_without_zone_use_that_of_now() -> None:
    east = NOW.astimezone(timezone(timedelta(hours=9)))
    assert parse_time("2026-11-01", now=east) == datetime(2026, 10, 31, 15, tzinfo=UTC)
    assert parse_time("2026-11-01T12:00Z", now=east) == datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "", "soon", "7", "7x", "2026-13-01", "2026-02-30", "999999999y", "1e9d", "-3d", "@-1", "٧d", "2026-00",
        "0001-01-01T00:00+23:59", "9999-12-31T23:59-23:59", "9999-12-31", "0001-01", "1050y",
    ],
)  # fmt: skip
def test_invalid_times_are_refused_with_examples(text: str) -> None:
    with pytest.raises(ConfigError, match="2026-11-01T12:00"):
        parse_time(text, now=NOW)


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
def test_spans_are_formatted(days: float, words: str) -> None:
    assert format_days(days) == words


def test_intervals_are_formatted() -> None:
    assert format_interval(9.0) == "every 9 days"
    assert format_interval(1.02) == "every day"
    assert format_interval(1 / 24) == "every hour"


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
def test_rates_are_requests_per_day(text: str, per_day: float) -> None:
    assert parse_rate(text) == pytest.approx(per_day)


@pytest.mark.parametrize(
    "text", ["", "many", "-5", "0", "0/day", "1e9999", "10/fortnight", "5/", "/day", "1/day/h", "nan", "١٢/day"]
)
def test_invalid_rates_are_explained(text: str) -> None:
    with pytest.raises(ValueError, match="must be a number of requests such as 1000/day"):
        parse_rate(text)


def test_a_rate_with_a_time_unit_is_a_total() -> None:
    assert is_total_rate("1000/day")
    assert is_total_rate("5 per hour")
    assert not is_total_rate("0.05")
