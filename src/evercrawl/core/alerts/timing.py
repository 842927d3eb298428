"""When may a message go? Digests, quiet hours, and the wait after a failure."""

from __future__ import annotations

from datetime import datetime, timedelta
from zlib import crc32

from evercrawl.core.quiet_hours import parse_hours, quiet_until
from evercrawl.model.alerts import Alert, Frequency

SPREAD = 0.2
"""Each wait is longer by up to this share, so that many messages do not come back at one moment."""
MOST_DOUBLINGS = 20


def ready_at(alert: Alert, noted: datetime) -> datetime:
    """When something that was noted may be put into a message."""
    if alert.rhythm is Frequency.AT_ONCE:
        return noted
    if alert.rhythm is Frequency.HOURLY:
        return noted.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    today = datetime.combine(noted.date(), alert.daily_at, noted.tzinfo)
    return today if today > noted else today + timedelta(days=1)


def rest_until(alert: Alert, *, now: datetime) -> datetime | None:
    """The end of the quiet hours in which `now` lies; None: it lies in none."""
    return quiet_until(map(parse_hours, alert.quiet), now=now)


def wait_after(
    tries: int, *, first: timedelta, longest: timedelta, seed: str, asked: timedelta | None = None
) -> timedelta:
    """How long to wait after so many failures: twice as long each time, at least as long as was asked for,
    and never longer than `longest` and its spread.
    """
    doubled = min(first * (1 << min(tries - 1, MOST_DOUBLINGS)), longest)
    spread = SPREAD * (crc32(f"{seed}/{tries}".encode()) / 2**32)
    return min(max(doubled, asked or timedelta(0)), longest) * (1 + spread)
