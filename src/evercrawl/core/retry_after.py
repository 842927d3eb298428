"""How long does a Retry-After field ask us to wait?

RFC 9110 section 10.2.3: whole seconds or an HTTP date (all three forms of section 5.6.7). Fractions are taken
too, since servers send them; the past means now; nobody can make us wait longer than the limit.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_tz
from functools import lru_cache

LONGEST_WAIT = timedelta(days=7)
LONGEST_VALUE = 64
"""Characters; no date or number that means something is longer."""

MOST_DATES = 1024
"""Dates that are at hand: that of an answer is asked for more than once, and a site has few of them."""

_SECONDS = re.compile(r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)", re.ASCII)


def retry_after(value: str | None, *, now: datetime) -> timedelta | None:
    """The wait asked for, between zero and `LONGEST_WAIT`; None where the field is absent or unreadable."""
    if value is None or len(text := value.strip()) > LONGEST_VALUE:
        return None
    if match := _SECONDS.fullmatch(text):
        seconds = min(float(match[2]), LONGEST_WAIT.total_seconds())
        return timedelta(0) if match[1] == "-" else timedelta(seconds=seconds)
    moment = http_date(text)
    return None if moment is None else min(max(moment - now, timedelta(0)), LONGEST_WAIT)


def http_date(text: str) -> datetime | None:
    """The moment that a date names; dates without a zone are in UTC, as asctime's form is."""
    return _moment_of(text) if len(text) <= LONGEST_VALUE else None


@lru_cache(maxsize=MOST_DATES)
def _moment_of(text: str) -> datetime | None:
    try:
        parts = parsedate_tz(text)
        if parts is None:
            return None
        naive = datetime(*parts[:6], tzinfo=UTC)
        return naive - timedelta(seconds=parts[9] or 0)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
