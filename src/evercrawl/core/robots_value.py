"""Values of robots.txt records outside RFC 9309 that sites use: Crawl-delay, Request-rate, Visit-time."""

from __future__ import annotations

import re
from datetime import time
from math import isfinite
from typing import NamedTuple

_NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)", re.ASCII)
_RATE = re.compile(r"(\d{1,9})\s*/\s*(\d{1,9})\s*([smhd]?)(?:\s+(\S.*))?", re.ASCII | re.IGNORECASE)
_PERIOD = re.compile(r"(\d{1,2}):?(\d\d)\s*[-\s]\s*(\d{1,2}):?(\d\d)", re.ASCII)
_UNIT_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_LAST_MOMENT = time(23, 59, 59)


class VisitTime(NamedTuple):
    """The hours (UTC) in which visits are welcome; the end may lie before the start, past midnight."""

    start: time
    end: time


class RequestRate(NamedTuple):
    """At most so many requests in so many seconds, at all times or between two moments of the day."""

    requests: int
    seconds: int
    start: time | None = None
    end: time | None = None


def delay_seconds(value: str) -> float | None:
    """Seconds of a Crawl-delay; None where the value is no finite number of at least zero."""
    number = float(value) if _NUMBER.fullmatch(value) else None
    return number if number is not None and isfinite(number) else None


def request_rate(value: str) -> RequestRate | None:
    """The rate in `n/m`, `n/ms`, `n/mm` or `n/mh`, with an optional period of the day."""
    match = _RATE.fullmatch(value)
    if match is None:
        return None
    requests, seconds = int(match[1]), int(match[2]) * _UNIT_SECONDS[match[3].lower()]
    period = visit_time(match[4]) if match[4] else None
    if requests == 0 or seconds == 0 or (match[4] and period is None):
        return None
    return RequestRate(requests, seconds, *(period or ()))


def visit_time(value: str) -> VisitTime | None:
    """The period in `HHMM-HHMM`, also with a space between."""
    match = _PERIOD.fullmatch(value)
    if match is None:
        return None
    start, end = _time_of_day(match[1], match[2]), _time_of_day(match[3], match[4])
    return None if start is None or end is None else VisitTime(start, end)


def _time_of_day(hours: str, minutes: str) -> time | None:
    if (int(hours), int(minutes)) == (24, 0):
        return _LAST_MOMENT
    return time(int(hours), int(minutes)) if int(hours) < 24 and int(minutes) < 60 else None
