"""The next delivery step of an alert, and the result of an attempt.
Messages of one alert are sent in turn, each stored as sending before the attempt and as delivered after it."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple
from zlib import crc32

from evercrawl.core.politeness import parse_hours, quiet_until
from evercrawl.model.alerts import Alert, Frequency
from evercrawl.model.time import from_us, to_us


class MessageState(StrEnum):
    """The state of a message."""

    PENDING = "pending"
    SENDING = "sending"  # After a crash the outcome is unknown, so the message is sent again with the same id.
    SENT = "sent"
    FAILED = "failed"  # Given up; it is kept and can be sent again.


class AlertMessage(NamedTuple):
    """A message; its content is fixed, so that every attempt sends the same."""

    id: str
    alert: str
    created_us: int
    state: MessageState = MessageState.PENDING
    tries: int = 0
    next_us: int = 0  # No attempt before this time.
    ended_us: int | None = None
    detail: str = ""


class AlertQueue(NamedTuple):
    """What is pending for one alert."""

    head: AlertMessage | None  # The oldest message that is neither delivered nor failed.
    noted_us: int | None  # Time of the oldest notice that is in no message yet.


class ComposeMessage(NamedTuple):
    """Put the notices up to this time into a message."""

    upto_us: int


class SendMessage(NamedTuple):
    """Send this message now."""

    message: AlertMessage


class WaitUntil(NamedTuple):
    """Nothing to do before this time; None: before something new happens."""

    until: datetime | None


DeliveryStep = ComposeMessage | SendMessage | WaitUntil


class DeliveryAttempt(NamedTuple):
    """How an attempt ended."""

    is_delivered: bool
    detail: str = ""
    retry_after: timedelta | None = None


class RetryPolicy(NamedTuple):
    """How attempts are spread over time."""

    first: timedelta
    longest: timedelta
    total: timedelta  # A message undelivered for this long has failed, so that those after it get their turn.


def next_delivery_step(alert: Alert, queue: AlertQueue, *, now: datetime) -> DeliveryStep:
    """Return what to do next for an alert."""
    if queue.head is None and queue.noted_us is None:
        return WaitUntil(None)
    quiet_end = quiet_hours_end(alert, now=now)
    if quiet_end is not None:
        return WaitUntil(quiet_end)
    if queue.head is not None:
        moment = from_us(queue.head.next_us)
        return SendMessage(queue.head) if moment <= now else WaitUntil(moment)
    assert queue.noted_us is not None
    ready = ready_at(alert, from_us(queue.noted_us))
    return ComposeMessage(to_us(now)) if ready <= now else WaitUntil(ready)


def begin_attempt(message: AlertMessage) -> AlertMessage:
    """Return the message to store before an attempt."""
    return message._replace(state=MessageState.SENDING, tries=message.tries + 1)


def finish_attempt(
    message: AlertMessage, attempt: DeliveryAttempt, policy: RetryPolicy, *, now: datetime
) -> AlertMessage:
    """Return the message after an attempt."""
    if attempt.is_delivered:
        return message._replace(state=MessageState.SENT, ended_us=to_us(now), detail=attempt.detail, next_us=0)
    if now - from_us(message.created_us) >= policy.total:
        return message._replace(state=MessageState.FAILED, ended_us=to_us(now), detail=attempt.detail)
    wait = retry_delay(
        message.tries, first=policy.first, longest=policy.longest, seed=message.id, requested=attempt.retry_after
    )
    return message._replace(state=MessageState.PENDING, next_us=to_us(now + wait), detail=attempt.detail)


def retry_message(message: AlertMessage, *, now: datetime) -> AlertMessage:
    """Return a failed message to send again; the id stays, so that no receiver accepts it twice."""
    return AlertMessage(message.id, message.alert, created_us=to_us(now))


JITTER = 0.2  # Each wait is longer by up to this share, so that many messages are not retried at once.
MAX_DOUBLINGS = 20


def ready_at(alert: Alert, noted: datetime) -> datetime:
    """Return when a notice may be put into a message."""
    if alert.frequency is Frequency.AT_ONCE:
        return noted
    if alert.frequency is Frequency.HOURLY:
        return noted.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    today = datetime.combine(noted.date(), alert.daily_at, noted.tzinfo)
    return today if today > noted else today + timedelta(days=1)


def quiet_hours_end(alert: Alert, *, now: datetime) -> datetime | None:
    """Return the end of the quiet hours at `now`; None if there are none."""
    return quiet_until(map(parse_hours, alert.quiet_hours), now=now)


def retry_delay(
    tries: int, *, first: timedelta, longest: timedelta, seed: str, requested: timedelta | None = None
) -> timedelta:
    """Return the wait after `tries` failures: doubled each time, at least as requested, at most `longest`."""
    doubled = min(first * (1 << min(tries - 1, MAX_DOUBLINGS)), longest)
    jitter = JITTER * (crc32(f"{seed}/{tries}".encode()) / 2**32)
    return min(max(doubled, requested or timedelta(0)), longest) * (1 + jitter)
