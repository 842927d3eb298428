"""Times: microseconds for stores and queues, times and rates that people write, and spans as text."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from evercrawl.errors import ConfigError

DAY_US = 86_400_000_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_us(moment: datetime) -> int:
    """Return microseconds since the epoch."""
    return (moment - _EPOCH) // _MICROSECOND


def from_us(moment_us: int) -> datetime:
    """Return the time of a number of microseconds since the epoch."""
    return _EPOCH + timedelta(microseconds=moment_us)


def iso_time(moment_us: int) -> str:
    """Return a moment as in ISO 8601, to the second."""
    return from_us(moment_us).strftime("%Y-%m-%dT%H:%M:%SZ")


def span_us(span: timedelta) -> int:
    """Return a span in microseconds."""
    return span // _MICROSECOND


KNOWN_FORMS = "7d, 24h, yesterday, 2026-11-01, 2026-11-01T12:00"
_UNITS = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
    "y": timedelta(days=365),
}
_LONG_UNITS = {
    "sec": "s", "second": "s", "min": "m", "minute": "m", "hour": "h", "day": "d", "week": "w", "year": "y",
}  # fmt: skip
_SPAN = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*([a-z]+?)s?(?:\s+ago)?", re.ASCII)
_DAYS_BACK = {"today": 0, "yesterday": 1}
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MONTH = re.compile(r"(\d{4})-(\d{2})", re.ASCII)
_TIMESTAMP = re.compile(r"\d{14}", re.ASCII)
_VERSION = re.compile(r"@(-?\d{1,9})", re.ASCII)
_LAST_MOMENT = timedelta(microseconds=1)
_YEARS = range(1000, 9001)  # Days can be added to all of them, in every zone.


def parse_time(text: str, *, now: datetime, at_end: bool = False) -> datetime:
    """Parse a time such as 7d, yesterday or 2026-11-01 and return it in UTC; raises ConfigError.
    Without a zone it is in that of `now`. A date means its first moment, or with `at_end` its last."""
    words = " ".join(text.split()).lower()
    try:
        moment = _parse_moment(words, now=now, at_end=at_end)
    except (ValueError, OverflowError) as error:
        raise _time_error(text) from error
    if moment is None or moment.year not in _YEARS:
        raise _time_error(text)
    return moment.astimezone(UTC)


def _parse_moment(words: str, *, now: datetime, at_end: bool) -> datetime | None:
    if words == "now":
        return now
    if words in _DAYS_BACK:
        return _day(now - timedelta(days=_DAYS_BACK[words]), at_end=at_end)
    if found := _SPAN.fullmatch(words):
        unit = _UNITS.get(_LONG_UNITS.get(found[2], found[2]))
        return None if unit is None else now - float(found[1]) * unit
    if found := _MONTH.fullmatch(words):
        return _month(int(found[1]), int(found[2]), now=now, at_end=at_end)
    return _parse_timestamp(words, now=now, at_end=at_end)


def _parse_timestamp(words: str, *, now: datetime, at_end: bool) -> datetime:
    if _TIMESTAMP.fullmatch(words):
        return datetime.strptime(words, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    moment = datetime.fromisoformat(words.upper())
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=now.tzinfo)
    return _day(moment, at_end=at_end) if _DATE.fullmatch(words) else moment


def _day(moment: datetime, *, at_end: bool) -> datetime:
    first = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return first + timedelta(days=1) - _LAST_MOMENT if at_end else first


def _month(year: int, month: int, *, now: datetime, at_end: bool) -> datetime:
    first = datetime(year, month, 1, tzinfo=now.tzinfo)
    if not at_end:
        return first
    following = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=now.tzinfo)
    return following - _LAST_MOMENT


def _time_error(text: str) -> ConfigError:
    if _VERSION.fullmatch(text.strip()):
        return ConfigError(f"{text!r} is a version, but a time is needed; write it like {KNOWN_FORMS}")
    return ConfigError(f"{text!r} is not a time; write it like {KNOWN_FORMS}")


_DAY_UNITS = ((365.25, "year"), (30.44, "month"), (1.0, "day"), (1.0 / 24.0, "hour"), (1.0 / 1440.0, "minute"))
_SMALLEST_COUNT = 2.0  # Smaller counts use a smaller unit, so that little is lost by rounding.


def format_days(days: float) -> str:
    """Return a span of days as text: 40 minutes, 5 hours, 9 days, 7 months."""
    for size, name in _DAY_UNITS:
        if days >= _SMALLEST_COUNT * size:
            return f"{round(days / size)} {name}s"
    seconds = days * 86_400.0
    return "2 minutes" if seconds >= 90.0 else f"{seconds:.0f} seconds"


def format_interval(days: float) -> str:
    """Return an interval as text: `every 9 days`, `every day`, `every hour`."""
    for size, name in _DAY_UNITS:
        if abs(days - size) < 0.1 * size:
            return f"every {name}"
    return f"every {format_days(days)}"


RATE_SYNTAX = "a number of requests such as 1000/day, 50/hour or 1000 (per day)"
"""Follows "must be" in messages."""
MAX_PER_DAY = 1e12  # A larger rate is a typing error.
_PER_DAY = {
    "week": 1.0 / 7.0, "w": 1.0 / 7.0,
    "day": 1.0, "d": 1.0,
    "hour": 24.0, "h": 24.0,
    "minute": 1440.0, "min": 1440.0, "m": 1440.0,
    "second": 86_400.0, "s": 86_400.0,
}  # fmt: skip
_RATE = re.compile(r"(\d[\d_,]*(?:\.\d+)?|\.\d+)\s*(?:(?:/|per\s)\s*([a-z]+))?", re.IGNORECASE | re.ASCII)


def parse_rate(text: str) -> float:
    """Return requests per day, more than 0; raises ValueError."""
    found = _RATE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"must be {RATE_SYNTAX}")
    unit = (found[2] or "day").lower()
    if unit not in _PER_DAY:
        raise ValueError(f"must be {RATE_SYNTAX}; {unit!r} is not one of second, minute, hour, day and week")
    per_day = float(re.sub("[_,]", "", found[1])) * _PER_DAY[unit]
    if not 0.0 < per_day <= MAX_PER_DAY:
        raise ValueError(f"must be {RATE_SYNTAX}, more than 0")
    return per_day


def is_total_rate(text: str) -> bool:
    """Return whether the text names a time unit: requests in total, not per page."""
    return "/" in text or "per" in text.lower()
