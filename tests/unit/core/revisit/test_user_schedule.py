"""Schedules that people write."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.revisit.user_schedule import describe_schedule, in_zone, next_time, parse_schedule
from evercrawl.errors import ConfigError


def after(text: str, moment: str, *, zone: str = "UTC", times: int = 1) -> list[str]:
    """Return the next times of a schedule, in a time zone."""
    at, found = datetime.fromisoformat(moment).replace(tzinfo=UTC), []
    for _ in range(times):
        at = next_time(parse_schedule(text), after=at)
        found.append(at.astimezone(ZoneInfo(zone)).isoformat()[:22])
    return found


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("every 10 minutes", 10), ("Every minute", 1), ("every 2 hours", 120), ("hourly", 60), ("daily", 1440),
     ("every 3 days", 4320), ("weekly", 10080), ("every  90 min", 90)],
)  # fmt: skip
def test_intervals(text: str, minutes: int) -> None:
    assert parse_schedule(text).every == timedelta(minutes=minutes)


def test_days_and_times() -> None:
    # 2026-11-13 is a Friday.
    assert after("weekdays at 9", "2026-11-13T09:00", times=2) == ["2026-11-16T09:00:00+00", "2026-11-17T09:00:00+00"]
    assert after("weekends at 7:15, 19", "2026-11-13T12:00", times=3) == [
        "2026-11-14T07:15:00+00", "2026-11-14T19:00:00+00", "2026-11-15T07:15:00+00",
    ]  # fmt: skip
    assert after("mondays at 8", "2026-11-16T08:00") == ["2026-11-23T08:00:00+00"]
    assert after("mon, Thursday at 8", "2026-11-16T08:00") == ["2026-11-19T08:00:00+00"]
    assert after("daily at 00:30 Pacific/Auckland", "2026-11-13T12:00") == ["2026-11-14T11:30:00+00"]


def test_the_clock_changes() -> None:
    berlin = "Europe/Berlin"
    assert after(f"daily at 06:30 {berlin}", "2026-03-28T00:00", zone=berlin, times=2) == [
        "2026-03-28T06:30:00+01", "2026-03-29T06:30:00+02",
    ]  # fmt: skip
    # 02:30 does not exist on 29 March, and occurs twice on 25 October.
    assert after(f"daily at 02:30 {berlin}", "2026-03-28T12:00", zone=berlin) == ["2026-03-29T03:30:00+02"]
    assert after(f"daily at 02:30 {berlin}", "2026-10-24T12:00", zone=berlin, times=2) == [
        "2026-10-25T02:30:00+02", "2026-10-26T02:30:00+01",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "not a schedule"), ("now and then", "not a schedule"), ("every 0 minutes", "every minute"),
     ("every 400 days", "366 days"), ("daily at 25", "25 is no time"), ("daily at 9:75", "9:75 is no time"),
     ("daily at 9 Europe/Atlantis", "Europe/Atlantis is no time zone"), ("daily at 9 ../x", "not a schedule"),
     ("daily at 9 " + "Europe/" * 2000 + "Berlin", "no time zone"),
     ("someday at 9", "not a schedule"), ("every fortnight", "not a schedule")],
)  # fmt: skip
def test_what_is_no_schedule_is_refused_with_a_reason(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        parse_schedule(text)


@given(st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)), st.integers(0, 23))
def test_the_next_time_is_later_and_never_more_than_a_day_and_an_hour_away(moment: datetime, hour: int) -> None:
    found = next_time(parse_schedule(f"daily at {hour} America/New_York"), after=moment)
    assert timedelta(0) < found - moment <= timedelta(hours=25)


@pytest.mark.parametrize(
    ("text", "zone", "written", "meaning"),
    [("weekdays at 9", "Europe/Berlin", "weekdays at 9 Europe/Berlin", "weekdays at 09:00 Europe/Berlin"),
     ("weekdays at 9 Asia/Tokyo", "Europe/Berlin", "weekdays at 9 Asia/Tokyo", "weekdays at 09:00 Asia/Tokyo"),
     ("thu, mon at 7:15, 6", "", "thu, mon at 7:15, 6", "Mon, Thu at 06:00, 07:15 UTC"),
     ("Every  10 minutes", "Europe/Berlin", "Every 10 minutes", "every 10 minutes"),
     ("daily at 6", "UTC", "daily at 6", "daily at 06:00 UTC")],
)  # fmt: skip
def test_the_time_zone_is_clear(text: str, zone: str, written: str, meaning: str) -> None:
    assert in_zone(text, zone) == written
    assert describe_schedule(written) == meaning
