"""Times as people write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from evercrawl.errors import ConfigError
from evercrawl.model.time import VersionNumber, parse_time, parse_which

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
def test_a_moment_is_read(text: str, moment: datetime) -> None:
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
def test_an_end_takes_in_its_whole_day_or_month(text: str, moment: datetime) -> None:
    assert parse_time(text, now=NOW, at_end=True) == moment


def test_a_text_without_a_zone_is_in_that_of_now() -> None:
    east = NOW.astimezone(timezone(timedelta(hours=9)))
    assert parse_time("2026-11-01", now=east) == datetime(2026, 10, 31, 15, tzinfo=UTC)
    assert parse_time("2026-11-01T12:00Z", now=east) == datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["", "soon", "7", "7x", "2026-13-01", "2026-02-30", "999999999y", "1e9d", "-3d", "@-1", "٧d", "2026-00"]
)
def test_what_is_no_time_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ConfigError, match="2026-11-01T12:00"):
        parse_time(text, now=NOW)


def test_a_version_is_named_by_its_number_or_from_the_newest_back() -> None:
    assert parse_which("@-1", now=NOW) == VersionNumber(-1)
    assert parse_which("@3", now=NOW) == VersionNumber(3)
    assert parse_which("24h", now=NOW) == NOW - timedelta(hours=24)
    assert [VersionNumber(number).among(5) for number in (-1, 0, 2)] == [4, 5, 2]
