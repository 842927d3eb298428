"""What follows from a fault: how long to wait, how often to retry, and who is to blame.
One table for all faults; a test checks that it is complete. Waits double with each failure in a row."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_tz
from functools import lru_cache
from typing import NamedTuple

from evercrawl.model.fetch import Failed, Fault
from evercrawl.model.reason import Outcome, Reason


class FaultRule(NamedTuple):
    """`wait` before the first retry, most `tries` in a row, and whether the whole site is to blame."""

    wait: timedelta
    tries: int
    blames_site: bool
    outcome: Outcome
    reason: Reason


_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)

FAULT_RULES: dict[Fault, FaultRule] = {
    Fault.DNS: FaultRule(_HOUR, 3, True, Outcome.ERROR, Reason.DNS),
    Fault.CONNECT: FaultRule(5 * _MINUTE, 4, True, Outcome.ERROR, Reason.CONNECT),
    Fault.TLS: FaultRule(_HOUR, 3, True, Outcome.ERROR, Reason.TLS),
    Fault.TIMEOUT: FaultRule(2 * _MINUTE, 3, True, Outcome.ERROR, Reason.TIMEOUT),
    Fault.RESET: FaultRule(_MINUTE, 3, True, Outcome.ERROR, Reason.RESET),
    Fault.EMPTY_REPLY: FaultRule(_MINUTE, 3, True, Outcome.ERROR, Reason.EMPTY_REPLY),
    Fault.INCOMPLETE: FaultRule(_MINUTE, 3, False, Outcome.ERROR, Reason.INCOMPLETE),
    Fault.INVALID_HTTP: FaultRule(_HOUR, 2, False, Outcome.ERROR, Reason.INVALID_HTTP),
    Fault.HEADERS_TOO_LARGE: FaultRule(_DAY, 1, False, Outcome.ERROR, Reason.HEADERS_TOO_LARGE),
    Fault.BAD_CONTENT_ENCODING: FaultRule(_HOUR, 2, False, Outcome.ERROR, Reason.BAD_CONTENT_ENCODING),
    Fault.UNEXPECTED_206: FaultRule(_DAY, 2, False, Outcome.ERROR, Reason.UNEXPECTED_206),
    Fault.UNEXPECTED_304: FaultRule(_DAY, 2, False, Outcome.ERROR, Reason.UNEXPECTED_304),
    Fault.THROTTLED: FaultRule(_MINUTE, 8, True, Outcome.DEFERRED, Reason.SITE_PAUSED),
    Fault.DENIED: FaultRule(_HOUR, 3, True, Outcome.ERROR, Reason.HTTP_ERROR),
    Fault.SERVER_ERROR: FaultRule(2 * _MINUTE, 4, True, Outcome.ERROR, Reason.SERVER_ERROR),
    Fault.NOT_FOUND: FaultRule(_DAY, 3, False, Outcome.ERROR, Reason.NOT_FOUND),
    Fault.GONE: FaultRule(_DAY, 1, False, Outcome.ERROR, Reason.GONE),
    Fault.HTTP_ERROR: FaultRule(_DAY, 2, False, Outcome.ERROR, Reason.HTTP_ERROR),
    Fault.BAD_REDIRECT: FaultRule(_DAY, 2, False, Outcome.ERROR, Reason.BAD_REDIRECT),
    Fault.PRIVATE_ADDRESS: FaultRule(_DAY, 3, False, Outcome.REJECTED, Reason.PRIVATE_ADDRESS),
    Fault.WITHHELD: FaultRule(6 * _HOUR, 8, False, Outcome.DEFERRED, Reason.WITHHELD),
    Fault.INTERNAL: FaultRule(_HOUR, 2, False, Outcome.ERROR, Reason.INTERNAL),
}

MAX_WAIT = timedelta(days=7)
SITE_FAILURES_BEFORE_REST = 5
"""After this many failures in a row a site is closed for `SITE_REST`, then for longer and longer."""
SITE_REST = timedelta(days=1)


def retry_wait(fault: Fault, *, tries: int) -> timedelta | None:
    """Return how long to wait before the next try, after `tries` failures in a row; None: do not retry."""
    rule = FAULT_RULES[fault]
    return None if tries >= rule.tries else _doubled(rule.wait, tries - 1, longest=MAX_WAIT)


def _doubled(wait: timedelta, times: int, *, longest: timedelta) -> timedelta:
    return min(wait * float(1 << min(times, 30)), longest)


def site_wait(failed: Failed, *, failures: int, asked: timedelta | None) -> timedelta | None:
    """Return how long a site is closed after its `failures`-th failure in a row; None: it is not to blame.
    A Retry-After counts even if the table does not blame the site."""
    rule = FAULT_RULES[failed.fault]
    if not rule.blames_site:
        return asked
    if failures >= SITE_FAILURES_BEFORE_REST:
        rest = _doubled(SITE_REST, failures - SITE_FAILURES_BEFORE_REST, longest=MAX_WAIT)
        return max(rest, asked or rest)
    waited = _doubled(_first_site_wait(failed.fault), failures - 1, longest=SITE_REST)
    return max(waited, asked) if asked is not None else waited


def _first_site_wait(fault: Fault) -> timedelta:
    """One slow or broken answer closes a site briefly; a name that does not resolve closes it for longer."""
    if fault in (Fault.DNS, Fault.CONNECT, Fault.TLS):
        return FAULT_RULES[fault].wait
    if fault in (Fault.THROTTLED, Fault.DENIED):
        return _MINUTE
    return timedelta(seconds=10)


MAX_RETRY_AFTER = timedelta(days=7)
MAX_DATE_CHARS = 64  # No valid date or number has more characters.
CACHED_DATES = 1024  # Parsed dates in memory: an answer's date is read more than once.
_SECONDS = re.compile(r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)", re.ASCII)


def retry_after(value: str | None, *, now: datetime) -> timedelta | None:
    """Return the wait of a Retry-After field, at most `MAX_RETRY_AFTER`; None: it is absent or unreadable."""
    if value is None or len(text := value.strip()) > MAX_DATE_CHARS:
        return None
    if match := _SECONDS.fullmatch(text):
        seconds = min(float(match[2]), MAX_RETRY_AFTER.total_seconds())
        return timedelta(0) if match[1] == "-" else timedelta(seconds=seconds)
    moment = http_date(text)
    return None if moment is None else min(max(moment - now, timedelta(0)), MAX_RETRY_AFTER)


def http_date(text: str) -> datetime | None:
    """Parse an HTTP date; dates without a zone are in UTC, as in the form of asctime."""
    return _moment_of(text) if len(text) <= MAX_DATE_CHARS else None


@lru_cache(maxsize=CACHED_DATES)
def _moment_of(text: str) -> datetime | None:
    try:
        parts = parsedate_tz(text)
        if parts is None:
            return None
        naive = datetime(*parts[:6], tzinfo=UTC)
        return naive - timedelta(seconds=parts[9] or 0)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
