"""Version names and retention rules."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.change.version_rules import (
    RetentionPart,
    VersionMissing,
    choose_version,
    is_version_name,
    parse_retention,
    versions_to_keep,
)
from evercrawl.errors import ConfigError

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
VERSIONS = [
    (1, datetime(2026, 10, 1, 8, tzinfo=UTC)),
    (4, datetime(2026, 11, 1, 15, 30, 20, 123456, tzinfo=UTC)),
    (5, NOW - timedelta(hours=3)),
]


@pytest.mark.parametrize(
    ("which", "place"),
    [
        ("-1", 1), ("@-1", 1), ("-2", 0), ("-0", 2), ("0", 2), ("@0", 2), ("v4", 1), ("@4", 1), ("@v1", 0),
        ("7d", 1), ("1h", 2), ("now", 2), ("yesterday", 1), ("2026-11-01", 1), ("2026-10-31", 0),
        ("2026-11-01T15:30:20Z", 1), ("2026-11-01T15:30:19Z", 0), ("2026-10", 0),
    ],
)  # fmt: skip
def test_version_names(which: str, place: int) -> None:
    assert choose_version(VERSIONS, which, now=NOW) == place


@pytest.mark.parametrize("which", ["-3", "v2", "9", "2026-09-30", "1y"])
def test_missing_versions(which: str) -> None:
    with pytest.raises(VersionMissing):
        choose_version(VERSIONS, which, now=NOW)
    assert is_version_name(which, now=NOW)


@pytest.mark.parametrize("which", ["", "user", "example.org/x", "v", "--1", "2026-13-01"])
def test_invalid_version_names(which: str) -> None:
    assert not is_version_name(which, now=NOW)
    with pytest.raises(ConfigError):
        choose_version(VERSIONS, which, now=NOW)


START = datetime(2026, 1, 1, tzinfo=UTC)


def days(count: int, *, a_day: int = 1) -> list[datetime]:
    return [START + timedelta(days=day, hours=hour * 3) for day in range(count) for hour in range(a_day)]


def test_retention_rules_are_parsed() -> None:
    rule = parse_retention("daily:30 weekly:12, monthly:*")
    assert rule == (RetentionPart("daily", 30), RetentionPart("weekly", 12), RetentionPart("monthly", None))
    assert parse_retention(" all ") == ()


@pytest.mark.parametrize("text", ["", "daily", "daily:", "daily:0", "daily:-1", "daily:x", "dayly:3", "daily:3;"])
def test_invalid_retention_rules(text: str) -> None:
    with pytest.raises(ConfigError, match="retention rule"):
        parse_retention(text)


def test_without_a_rule_everything_is_kept() -> None:
    assert versions_to_keep(days(5), ()) == set(range(5))
    assert versions_to_keep([], parse_retention("daily:1")) == set()


def test_the_last_of_each_day_stays() -> None:
    moments = days(3, a_day=4)
    assert versions_to_keep(moments, parse_retention("daily:*")) == {3, 7, 11}
    assert versions_to_keep(moments, parse_retention("daily:2")) == {7, 11}
    assert versions_to_keep(moments, parse_retention("latest:5")) == {7, 8, 9, 10, 11}


def test_days_without_a_version_do_not_count() -> None:
    moments = [START, START + timedelta(days=100), START + timedelta(days=101)]
    assert versions_to_keep(moments, parse_retention("daily:3")) == {0, 1, 2}


def test_parts_of_a_rule_add_up() -> None:
    moments = days(365)
    kept = versions_to_keep(moments, parse_retention("daily:30 weekly:12 monthly:*"))
    assert set(range(335, 365)) <= kept
    by_month = {(moment.year, moment.month) for moment in moments}
    assert {(moments[place].year, moments[place].month) for place in kept} == by_month
    assert len(kept) < 60


@given(
    st.lists(st.integers(0, 10**8), unique=True, min_size=1, max_size=60),
    st.lists(
        st.tuples(st.sampled_from(["hourly", "daily", "weekly", "monthly", "yearly", "latest"]), st.integers(1, 9)),
        min_size=1,
        max_size=3,
    ),
)
def test_the_newest_is_kept_and_pruning_is_idempotent(seconds: list[int], parts: list[tuple[str, int]]) -> None:
    moments = [START + timedelta(seconds=second) for second in sorted(seconds)]
    rule = [RetentionPart(*part) for part in parts]
    kept = sorted(versions_to_keep(moments, rule))
    assert kept[-1] == len(moments) - 1
    again = [moments[place] for place in kept]
    assert versions_to_keep(again, rule) == set(range(len(again)))
