"""What is to be done next for an alert, and what comes of an attempt. Messages of one alert go one after the
other; that one is on its way is written down before it is sent, and that it arrived right after.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple
from zlib import crc32

from evercrawl.core.politeness import parse_hours, quiet_until
from evercrawl.model.alerts import Alert, Frequency
from evercrawl.model.time import from_us, to_us


class MessageState(StrEnum):
    """Where a message stands."""

    PENDING = "pending"
    SENDING = "sending"
    """On its way; after a crash: nobody knows whether it arrived, so it is sent again by the same id."""
    SENT = "sent"
    FAILED = "failed"
    """Given up after the patience; kept, and can be sent again."""


class AlertMessage(NamedTuple):
    """One message; its content was fixed when it was made, so that every attempt says the same."""

    id: str
    alert: str
    made_us: int
    state: MessageState = MessageState.PENDING
    tries: int = 0
    next_us: int = 0
    """No attempt before this moment."""
    ended_us: int | None = None
    detail: str = ""


class AlertQueue(NamedTuple):
    """What waits for one alert."""

    head: AlertMessage | None
    """The oldest message that is neither delivered nor given up."""
    noted_us: int | None
    """When the oldest notice came that is in no message yet; None: there is none."""


class ComposeMessage(NamedTuple):
    """Put the oldest notices into a message, those that were noted by this moment."""

    upto_us: int


class SendMessage(NamedTuple):
    """Send this message now."""

    message: AlertMessage


class WaitUntil(NamedTuple):
    """Nothing can be done before this moment; None: before something new comes."""

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
    total: timedelta
    """A message that has not arrived for so long is given up, so that those behind it get their turn."""


def next_delivery_step(alert: Alert, queue: AlertQueue, *, now: datetime) -> DeliveryStep:
    """What to do for an alert."""
    if queue.head is None and queue.noted_us is None:
        return WaitUntil(None)
    rest = quiet_hours_end(alert, now=now)
    if rest is not None:
        return WaitUntil(rest)
    if queue.head is not None:
        moment = from_us(queue.head.next_us)
        return SendMessage(queue.head) if moment <= now else WaitUntil(moment)
    assert queue.noted_us is not None
    ready = ready_at(alert, from_us(queue.noted_us))
    return ComposeMessage(to_us(now)) if ready <= now else WaitUntil(ready)


def begin_attempt(message: AlertMessage) -> AlertMessage:
    """The message as it is written down before an attempt."""
    return message._replace(state=MessageState.SENDING, tries=message.tries + 1)


def finish_attempt(
    message: AlertMessage, attempt: DeliveryAttempt, patience: RetryPolicy, *, now: datetime
) -> AlertMessage:
    """The message after an attempt that was begun."""
    if attempt.is_delivered:
        return message._replace(state=MessageState.SENT, ended_us=to_us(now), detail=attempt.detail, next_us=0)
    if now - from_us(message.made_us) >= patience.total:
        return message._replace(state=MessageState.FAILED, ended_us=to_us(now), detail=attempt.detail)
    wait = retry_delay(
        message.tries, first=patience.first, longest=patience.longest, seed=message.id, asked=attempt.retry_after
    )
    return message._replace(state=MessageState.PENDING, next_us=to_us(now + wait), detail=attempt.detail)


def retry_message(message: AlertMessage, *, now: datetime) -> AlertMessage:
    """A message that was given up, on its way once more; its id stays, so that no receiver takes it twice."""
    return AlertMessage(message.id, message.alert, made_us=to_us(now))


SPREAD = 0.2
"""Each wait is longer by up to this share, so that many messages do not come back at one moment."""
MAX_DOUBLINGS = 20


def ready_at(alert: Alert, noted: datetime) -> datetime:
    """When something that was noted may be put into a message."""
    if alert.frequency is Frequency.AT_ONCE:
        return noted
    if alert.frequency is Frequency.HOURLY:
        return noted.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    today = datetime.combine(noted.date(), alert.daily_at, noted.tzinfo)
    return today if today > noted else today + timedelta(days=1)


def quiet_hours_end(alert: Alert, *, now: datetime) -> datetime | None:
    """The end of the quiet hours in which `now` lies; None: it lies in none."""
    return quiet_until(map(parse_hours, alert.quiet_hours), now=now)


def retry_delay(
    tries: int, *, first: timedelta, longest: timedelta, seed: str, asked: timedelta | None = None
) -> timedelta:
    """How long to wait after so many failures: twice as long each time, at least as long as was asked for,
    and never longer than `longest` and its spread.
    """
    doubled = min(first * (1 << min(tries - 1, MAX_DOUBLINGS)), longest)
    spread = SPREAD * (crc32(f"{seed}/{tries}".encode()) / 2**32)
    return min(max(doubled, asked or timedelta(0)), longest) * (1 + spread)
