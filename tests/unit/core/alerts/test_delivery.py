from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.alerts.delivery import (
    JITTER,
    AlertMessage,
    AlertQueue,
    ComposeMessage,
    DeliveryAttempt,
    MessageState,
    RetryPolicy,
    SendMessage,
    WaitUntil,
    begin_attempt,
    finish_attempt,
    next_delivery_step,
    ready_at,
    retry_delay,
    retry_message,
)
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination, Frequency
from evercrawl.model.time import from_us, to_us

NOW = datetime(2026, 11, 15, 10, 20, tzinfo=UTC)
ALERT = Alert("a", AlertFilter(), Destination(Channel.WEBHOOK, "https://example.org/"))
POLICY = RetryPolicy(timedelta(seconds=10), timedelta(hours=1), timedelta(days=7))
MESSAGE = AlertMessage("msg_1", "a", to_us(NOW))


def test_an_empty_queue_waits() -> None:
    assert next_delivery_step(ALERT, AlertQueue(None, None), now=NOW) == WaitUntil(None)


def test_immediate_alerts_are_sent_now() -> None:
    assert next_delivery_step(ALERT, AlertQueue(None, to_us(NOW)), now=NOW) == ComposeMessage(to_us(NOW))
    assert next_delivery_step(ALERT, AlertQueue(MESSAGE, to_us(NOW)), now=NOW) == SendMessage(MESSAGE)


def test_messages_are_sent_in_order() -> None:
    later = NOW + timedelta(minutes=1)
    waiting = MESSAGE._replace(next_us=to_us(later))
    assert next_delivery_step(ALERT, AlertQueue(waiting, to_us(NOW)), now=NOW) == WaitUntil(later)


def test_a_message_with_unknown_outcome_is_sent_again() -> None:
    unknown = begin_attempt(MESSAGE)
    assert unknown.state is MessageState.SENDING
    assert next_delivery_step(ALERT, AlertQueue(unknown, None), now=NOW) == SendMessage(unknown)


def test_digests_wait_for_their_time() -> None:
    hourly, daily = replace(ALERT, frequency=Frequency.HOURLY), replace(ALERT, frequency=Frequency.DAILY)
    assert ready_at(hourly, NOW) == NOW.replace(hour=11, minute=0)
    assert ready_at(hourly, NOW.replace(minute=0)) == NOW.replace(hour=11, minute=0)
    assert ready_at(daily, NOW) == NOW.replace(day=16, hour=7, minute=0)
    assert ready_at(replace(daily, daily_at=time(22)), NOW) == NOW.replace(hour=22, minute=0)
    assert next_delivery_step(hourly, AlertQueue(None, to_us(NOW)), now=NOW) == WaitUntil(
        NOW.replace(hour=11, minute=0)
    )


def test_quiet_hours_delay_everything() -> None:
    quiet = replace(ALERT, quiet_hours=("10:00-11:30",))
    end = NOW.replace(hour=11, minute=30)
    assert next_delivery_step(quiet, AlertQueue(MESSAGE, None), now=NOW) == WaitUntil(end)
    assert next_delivery_step(quiet, AlertQueue(None, to_us(NOW)), now=NOW) == WaitUntil(end)
    assert next_delivery_step(quiet, AlertQueue(MESSAGE, None), now=end) == SendMessage(MESSAGE)


def test_delivered_messages_are_finished() -> None:
    done = finish_attempt(begin_attempt(MESSAGE), DeliveryAttempt(True, "HTTP 204"), POLICY, now=NOW)
    assert (done.state, done.tries, done.ended_us) == (MessageState.SENT, 1, to_us(NOW))


def test_failures_back_off_and_end_after_the_total() -> None:
    message, now, waits = MESSAGE, NOW, []
    while message.state is MessageState.PENDING:
        message = finish_attempt(begin_attempt(message), DeliveryAttempt(False, "away"), POLICY, now=now)
        if message.state is MessageState.PENDING:
            waits.append(from_us(message.next_us) - now)
            now = from_us(message.next_us)
    assert message.state is MessageState.FAILED
    assert now - NOW >= POLICY.total
    assert waits[0] < timedelta(seconds=12.1)
    assert max(waits) <= POLICY.longest * (1 + JITTER)
    assert waits[:8] == sorted(waits[:8])
    assert retry_message(message, now=now)._replace(created_us=0) == MESSAGE._replace(created_us=0)


def test_a_receiver_may_request_a_longer_wait() -> None:
    attempt = DeliveryAttempt(False, "HTTP 429", timedelta(minutes=10))
    after = finish_attempt(begin_attempt(MESSAGE), attempt, POLICY, now=NOW)
    assert from_us(after.next_us) - NOW >= timedelta(minutes=10)


@given(
    tries=st.integers(1, 10_000),
    first=st.timedeltas(timedelta(milliseconds=1), timedelta(days=7)),
    requested=st.none() | st.timedeltas(timedelta(0), timedelta(days=30)),
)
def test_retry_delays_are_limited(tries: int, first: timedelta, requested: timedelta | None) -> None:
    longest = timedelta(days=7)
    wait = retry_delay(tries, first=first, longest=longest, seed="m", requested=requested)
    assert min(first, longest) <= wait <= longest * (1 + JITTER)
