"""Is this an hour in which a site owner, or we, want rest? Hours are UTC and may reach over midnight."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, time, timedelta
from typing import NamedTuple

_HOURS = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-3]):([0-5]\d)")
MEANING = "hours like 22:00-06:00"


class Hours(NamedTuple):
    """From one time of day to another; the same time twice means the whole day."""

    begin: time
    end: time


def parse_hours(text: str) -> Hours:
    """The hours that a text names; ValueError where it names none."""
    found = _HOURS.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not {MEANING}")
    first, second, third, fourth = map(int, found.groups())
    return Hours(time(first, second), time(third, fourth))


def quiet_until(hours: Iterable[Hours], *, now: datetime) -> datetime | None:
    """The end of the rest in which `now` lies; None: it lies in none."""
    ends = [end for span in hours if (end := _end_of(span, now)) is not None]
    return max(ends, default=None)


def _end_of(span: Hours, now: datetime) -> datetime | None:
    today = datetime.combine(now.date(), span.begin, now.tzinfo)
    for begin in (today - timedelta(days=1), today):
        end = datetime.combine(begin.date(), span.end, now.tzinfo)
        end += timedelta(days=1) if end <= begin else timedelta(0)
        if begin <= now < end:
            return end
    return None
