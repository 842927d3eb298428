"""Schedules that people write: "every 10 minutes", "weekdays at 9", "daily at 06:30, 18:00 Europe/Berlin".
They replace the learned time of the next visit; politeness and limits still decide when exactly a request is sent."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from evercrawl.errors import ConfigError

SYNTAX = (
    "a schedule such as “every 10 minutes”, “hourly”, “daily at 06:30 Europe/Berlin”, “weekdays at 9” or "
    "“mon, thu at 7:15, 19”"
)
MAX_ZONE_CHARS = 60  # The longest name of a time zone has half as many.
MIN_SPAN, MAX_SPAN = timedelta(minutes=1), timedelta(days=366)
_UNITS = {"minute": 1, "min": 1, "hour": 60, "day": 24 * 60, "week": 7 * 24 * 60}
_WORDS = {"hourly": "every hour", "daily": "every day", "weekly": "every week"}
_DAY_NAMES = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY_SETS = {"daily": range(7), "weekdays": range(5), "weekends": range(5, 7)}
_EVERY = re.compile(r"every (?:(\d{1,6}) ?)?([a-z]+?)s?")
_AT = re.compile(r"(.+) at (\d{1,2}(?::\d\d)?(?:, ?\d{1,2}(?::\d\d)?)*)(?: ([A-Za-z]\S*))?")
_DAY = re.compile(r"([a-z]{3})[a-z]*")


class UserSchedule(NamedTuple):
    """Visits at a fixed interval, or at times of some days (Monday is 0) in a time zone."""

    every: timedelta | None
    days: frozenset[int] = frozenset()
    times: tuple[time, ...] = ()
    zone: tzinfo = UTC


@lru_cache(maxsize=256)
def parse_schedule(text: str) -> UserSchedule:
    """Parse a schedule; raise ConfigError if it is none."""
    words = " ".join(text.split())
    if found := _AT.fullmatch(words):
        return UserSchedule(
            None, _days(found[1].lower()), tuple(sorted(map(_time, found[2].split(",")))), _zone(found[3])
        )
    found = _EVERY.fullmatch(_WORDS.get(words.lower(), words.lower()))
    if found is None or found[2] not in _UNITS:
        raise ConfigError(f"{text!r} is not {SYNTAX}")
    span = timedelta(minutes=int(found[1] or 1) * _UNITS[found[2]])
    if not MIN_SPAN <= span <= MAX_SPAN:
        raise ConfigError(f"{text!r} is not between every minute and every 366 days")
    return UserSchedule(span)


def next_time(schedule: UserSchedule, *, after: datetime) -> datetime:
    """Return the first time of a schedule after a moment, in UTC. A time that the clock skips in spring is an hour
    later, and one that it repeats in autumn is the first."""
    if schedule.every is not None:
        return after + schedule.every
    first = after.astimezone(schedule.zone).date()
    moments = (
        datetime.combine(first + timedelta(days=day), at, schedule.zone).astimezone(UTC)
        for day in range(-1, 9)
        if (first + timedelta(days=day)).weekday() in schedule.days
        for at in schedule.times
    )
    return min(moment for moment in moments if moment > after)


def in_zone(text: str, zone: str) -> str:
    """Return a schedule with times of day in a time zone, unless it names one itself; others are as they were."""
    words = " ".join(text.split())
    found = _AT.fullmatch(words)
    return f"{words} {zone}" if found is not None and found[3] is None and zone not in ("", "UTC") else words


def describe_schedule(text: str) -> str:
    """Return a schedule in full: times with minutes, and their time zone."""
    schedule = parse_schedule(text)
    if schedule.every is not None:
        return " ".join(text.split()).lower()
    names = next((name for name, days in _DAY_SETS.items() if frozenset(days) == schedule.days), None)
    days = names or ", ".join(_DAY_NAMES[day].capitalize() for day in sorted(schedule.days))
    times = ", ".join(f"{at:%H:%M}" for at in schedule.times)
    return f"{days} at {times} {zone_name(schedule)}"


def zone_name(schedule: UserSchedule) -> str:
    """Return the name of the time zone of a schedule."""
    return schedule.zone.key if isinstance(schedule.zone, ZoneInfo) else "UTC"


def _days(text: str) -> frozenset[int]:
    if text in _DAY_SETS:
        return frozenset(_DAY_SETS[text])
    names = [_DAY.fullmatch(part.strip()) for part in text.split(",")]
    found = [_DAY_NAMES.index(name[1]) for name in names if name is not None and name[1] in _DAY_NAMES]
    if len(found) != len(names):
        raise ConfigError(f"{text!r} is not {SYNTAX}")
    return frozenset(found)


def _time(text: str) -> time:
    hours, _, minutes = text.strip().partition(":")
    if int(hours) > 23 or int(minutes or 0) > 59:
        raise ConfigError(f"{text.strip()} is no time of day; write it like 06:30")
    return time(int(hours), int(minutes or 0))


def _zone(name: str | None) -> tzinfo:
    try:
        return UTC if name is None else ZoneInfo(name[:MAX_ZONE_CHARS])
    except (ValueError, OSError, LookupError):
        raise ConfigError(f"{name} is no time zone; write one like Europe/Berlin or America/New_York") from None
