"""What follows from a fault: how long to wait, how often to retry, and who is to blame.
One table for all faults; a test checks that it is complete. A fault of one page delays that page. Only faults of
different pages in a row slow the site down, and only a site that gives no answers is closed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_tz
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from evercrawl.model.fetch import Fault
from evercrawl.model.reason import Outcome, Reason


class Blame(StrEnum):
    """What a fault says about the server."""

    PAGE = "page"  # It works; this page has a problem.
    ERROR = "error"  # It answers, but with an error of its own.
    SILENCE = "silence"  # It gives no answer.
    THROTTLE = "throttle"  # It asks us to slow down.
    NOBODY = "nobody"  # It was not asked.
    SESSION = "session"  # It wants a session that we do not have.


_SECOND = timedelta(seconds=1)
_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
_BROKEN = (_SECOND / 2, _SECOND * 3 / 2)  # Waits before the first retries, in the same run.
_SILENT = (5 * _SECOND,)


class FaultRule(NamedTuple):
    """Waits of the `quick` retries, then `wait`, doubled with each of at most `tries` further tries."""

    wait: timedelta
    tries: int
    blame: Blame
    outcome: Outcome
    reason: Reason
    quick: tuple[timedelta, ...] = ()

    @property
    def most_tries(self) -> int:
        """Most tries in a row."""
        return len(self.quick) + self.tries


FAULT_RULES: dict[Fault, FaultRule] = {
    Fault.DNS: FaultRule(_HOUR, 3, Blame.SILENCE, Outcome.ERROR, Reason.DNS),
    Fault.CONNECT: FaultRule(5 * _MINUTE, 4, Blame.SILENCE, Outcome.ERROR, Reason.CONNECT, _SILENT),
    Fault.TLS: FaultRule(_HOUR, 3, Blame.SILENCE, Outcome.ERROR, Reason.TLS),
    Fault.TIMEOUT: FaultRule(2 * _MINUTE, 3, Blame.SILENCE, Outcome.ERROR, Reason.TIMEOUT, _SILENT),
    Fault.RESET: FaultRule(_MINUTE, 3, Blame.SILENCE, Outcome.ERROR, Reason.RESET, _BROKEN),
    Fault.EMPTY_REPLY: FaultRule(_MINUTE, 3, Blame.SILENCE, Outcome.ERROR, Reason.EMPTY_REPLY, _BROKEN),
    Fault.INCOMPLETE: FaultRule(_MINUTE, 3, Blame.PAGE, Outcome.ERROR, Reason.INCOMPLETE, _BROKEN),
    Fault.INVALID_HTTP: FaultRule(_HOUR, 2, Blame.PAGE, Outcome.ERROR, Reason.INVALID_HTTP),
    Fault.HEADERS_TOO_LARGE: FaultRule(_DAY, 1, Blame.PAGE, Outcome.ERROR, Reason.HEADERS_TOO_LARGE),
    Fault.BAD_CONTENT_ENCODING: FaultRule(_HOUR, 2, Blame.PAGE, Outcome.ERROR, Reason.BAD_CONTENT_ENCODING),
    Fault.UNEXPECTED_206: FaultRule(_DAY, 2, Blame.PAGE, Outcome.ERROR, Reason.UNEXPECTED_206),
    Fault.UNEXPECTED_304: FaultRule(_DAY, 2, Blame.PAGE, Outcome.ERROR, Reason.UNEXPECTED_304),
    Fault.THROTTLED: FaultRule(_SECOND, 12, Blame.THROTTLE, Outcome.DEFERRED, Reason.SITE_PAUSED),
    Fault.DENIED: FaultRule(_HOUR, 3, Blame.THROTTLE, Outcome.ERROR, Reason.HTTP_ERROR),
    Fault.SERVER_ERROR: FaultRule(2 * _MINUTE, 4, Blame.ERROR, Outcome.ERROR, Reason.SERVER_ERROR, _BROKEN),
    Fault.NOT_FOUND: FaultRule(_DAY, 3, Blame.PAGE, Outcome.ERROR, Reason.NOT_FOUND),
    Fault.GONE: FaultRule(_DAY, 1, Blame.PAGE, Outcome.ERROR, Reason.GONE),
    Fault.HTTP_ERROR: FaultRule(_DAY, 2, Blame.PAGE, Outcome.ERROR, Reason.HTTP_ERROR),
    Fault.BAD_REDIRECT: FaultRule(_DAY, 2, Blame.PAGE, Outcome.ERROR, Reason.BAD_REDIRECT),
    Fault.PRIVATE_ADDRESS: FaultRule(_DAY, 3, Blame.NOBODY, Outcome.REJECTED, Reason.PRIVATE_ADDRESS),
    Fault.PROXY: FaultRule(5 * _MINUTE, 4, Blame.SILENCE, Outcome.ERROR, Reason.PROXY, _SILENT),
    Fault.LOGOUT: FaultRule(30 * _DAY, 1000, Blame.NOBODY, Outcome.REJECTED, Reason.LOGOUT),
    Fault.SIGNED_OUT: FaultRule(_SECOND, 1000, Blame.SESSION, Outcome.DEFERRED, Reason.SIGNED_OUT),
    Fault.MEDIA_TYPE: FaultRule(30 * _DAY, 1000, Blame.PAGE, Outcome.REJECTED, Reason.MEDIA_TYPE),
    Fault.SIZE: FaultRule(30 * _DAY, 1000, Blame.PAGE, Outcome.REJECTED, Reason.SIZE),
    Fault.EXCLUDED_HOST: FaultRule(30 * _DAY, 1000, Blame.NOBODY, Outcome.REJECTED, Reason.EXCLUDED_HOST),
    Fault.LOCAL: FaultRule(_MINUTE, 8, Blame.NOBODY, Outcome.DEFERRED, Reason.LOCAL, _SILENT),
    Fault.WITHHELD: FaultRule(6 * _HOUR, 8, Blame.NOBODY, Outcome.DEFERRED, Reason.WITHHELD),
    Fault.ROBOTS: FaultRule(_DAY, 3, Blame.NOBODY, Outcome.REJECTED, Reason.ROBOTS),
    Fault.RENDERING: FaultRule(10 * _MINUTE, 4, Blame.NOBODY, Outcome.ERROR, Reason.RENDERING),
    Fault.INTERNAL: FaultRule(_HOUR, 2, Blame.NOBODY, Outcome.ERROR, Reason.INTERNAL),
}

MAX_WAIT = timedelta(days=7)
FAILURES_BEFORE_CLOSING = {Blame.SILENCE: 5, Blame.ERROR: 20}
"""After this many pages in a row without a good answer a site is closed; errors are answers, so it takes more."""
FIRST_CLOSING = timedelta(minutes=1)
CLOSING_GROWTH = 3.0  # Each further failure closes the site this many times longer, up to `MAX_WAIT`.
MIN_THROTTLE_PAUSE = timedelta(milliseconds=500)
THROTTLE_DELAYS = 10  # A site that asks us to slow down without saying how long rests for this many of its delays.
MAX_THROTTLE_PAUSE = timedelta(hours=1)
SIGNED_OUT_PAUSE = timedelta(hours=1)  # How long a site without its session is left alone; a new run tries at once.


def retry_wait(fault: Fault, *, tries: int, asked: timedelta | None = None) -> timedelta | None:
    """Return how long to wait before the next try, after `tries` failures in a row; None: do not retry.
    `asked`: the wait of a Retry-After; a throttled page waits exactly as long."""
    rule = FAULT_RULES[fault]
    if tries >= rule.most_tries:
        return None
    if tries <= len(rule.quick):
        wait = rule.quick[tries - 1]
    else:
        wait = _grown(rule.wait, 2.0, tries - len(rule.quick) - 1, longest=max(MAX_WAIT, rule.wait))
    if asked is None:
        return wait
    return asked if rule.blame is Blame.THROTTLE else max(wait, asked)


def _grown(wait: timedelta, factor: float, times: int, *, longest: timedelta) -> timedelta:
    return min(wait * factor ** min(times, 20), longest)


def site_pause(
    fault: Fault, *, failures: int, asked: timedelta | None, delay: timedelta = timedelta(0)
) -> timedelta | None:
    """Return how long a site is left alone after its `failures`-th failure in a row; None: no longer than its delay.
    A Retry-After counts as given, whatever the fault."""
    blame = FAULT_RULES[fault].blame
    if asked is not None:
        return asked
    if blame is Blame.SESSION:
        return SIGNED_OUT_PAUSE
    if blame is Blame.THROTTLE:
        first = _MINUTE if fault is Fault.DENIED else max(MIN_THROTTLE_PAUSE, delay * THROTTLE_DELAYS)
        return _grown(first, 2.0, max(0, failures - 1), longest=max(first, MAX_THROTTLE_PAUSE))
    most = FAILURES_BEFORE_CLOSING.get(blame)
    if most is None or failures < most:
        return None
    return _grown(FIRST_CLOSING, CLOSING_GROWTH, failures - most, longest=MAX_WAIT)


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
