from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from evercrawl.collection.alerts.alert_outbox import AlertOutbox, LogPosition, MatchedEvent
from evercrawl.collection.alerts.sender import retry_policy
from evercrawl.config.load import OUTBOX_FILE
from evercrawl.core.alerts.delivery import DeliveryAttempt, MessageState, RetryPolicy, begin_attempt, finish_attempt
from evercrawl.errors import StoreUnavailable
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination, Event, EventKind
from evercrawl.model.settings import AlertSettings
from evercrawl.model.time import from_us

ALERT = Alert("a", AlertFilter(), Destination(Channel.WEBHOOK, "https://example.org/"), max_changes=2)
PATIENCE: RetryPolicy = retry_policy(AlertSettings())


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[AlertOutbox]:
    with closing(AlertOutbox(tmp_path)) as opened:
        yield opened


def event(line: int) -> Event:
    return Event(0, line, line, f"https://example.org/{line}", EventKind.CONTENT, 0.5, line, 2)


def told(outbox: AlertOutbox, *lines: int, name: str = "a") -> list[MatchedEvent]:
    known = outbox.find(name)
    assert known is not None
    return [MatchedEvent(known.id, event(line)) for line in lines]


def test_events_and_position_are_stored_together_and_once(outbox: AlertOutbox) -> None:
    outbox.put(ALERT, now_us=0, ends={})
    assert outbox.add_events(0, before=LogPosition(), after=LogPosition(3), matched=told(outbox, 1, 3), now_us=9)
    assert not outbox.add_events(0, before=LogPosition(), after=LogPosition(3), matched=told(outbox, 1, 3), now_us=9), (
        "somebody else was first"
    )
    assert outbox.cursors() == {0: (3, 0)}
    (known,) = outbox.alerts()
    assert outbox.counts(known.id).pending == 2


def test_the_first_alert_begins_at_the_end_of_the_logs(outbox: AlertOutbox) -> None:
    outbox.put(ALERT, now_us=5, ends={0: LogPosition(7, 2), 3: LogPosition(9)})
    outbox.put(replace(ALERT, name="b"), now_us=6, ends={0: LogPosition(100)})
    assert outbox.cursors() == {0: (7, 2), 3: (9, 0)}
    assert [known.since_us for known in outbox.alerts()] == [5, 6]


def test_a_replaced_alert_keeps_its_pending_events(outbox: AlertOutbox) -> None:
    assert outbox.put(ALERT, now_us=0, ends={})
    outbox.add_events(0, before=LogPosition(), after=LogPosition(1), matched=told(outbox, 1), now_us=1)
    assert not outbox.put(replace(ALERT, max_changes=7), now_us=2, ends={})
    (known,) = outbox.alerts()
    assert (known.alert.max_changes, outbox.counts(known.id).pending) == (7, 1)


def test_a_message_does_not_change_after_its_creation(outbox: AlertOutbox) -> None:
    outbox.put(ALERT, now_us=0, ends={})
    outbox.add_events(0, before=LogPosition(), after=LogPosition(3), matched=told(outbox, 1, 2, 3), now_us=1)
    (known,) = outbox.alerts()
    first = outbox.compose(known, upto_us=1, now_us=2)
    assert first is not None
    assert [notice.event.visit for notice in outbox.message_events(first.id)] == [1, 2]
    second = outbox.compose(known, upto_us=1, now_us=2)
    assert second is not None
    assert second.id != first.id
    assert outbox.compose(known, upto_us=1, now_us=2) is None
    assert outbox.queue(known.id).head == first
    outbox.update_message(finish_attempt(begin_attempt(first), DeliveryAttempt(True), PATIENCE, now=from_us(3)))
    assert outbox.queue(known.id).head == second
    assert outbox.busy_alerts() == {known.id}
    assert [message.id for message, *_ in outbox.messages(limit=9)] == [second.id, first.id]
    assert [count for _, count, _ in outbox.messages("a", state=MessageState.SENT, limit=9)] == [2]


def test_pending_messages_are_never_deleted(outbox: AlertOutbox) -> None:
    outbox.put(ALERT, now_us=0, ends={})
    outbox.add_events(0, before=LogPosition(), after=LogPosition(3), matched=told(outbox, 1, 2, 3), now_us=1)
    (known,) = outbox.alerts()
    first = outbox.compose(known, upto_us=1, now_us=2)
    assert first is not None
    outbox.update_message(finish_attempt(begin_attempt(first), DeliveryAttempt(True), PATIENCE, now=from_us(10)))
    assert outbox.delete_sent(before_us=10) == 0
    assert outbox.delete_sent(before_us=11) == 1
    assert outbox.counts(known.id)[:3] == (1, 0, 0)


def test_removing_an_alert_removes_its_pending_events(outbox: AlertOutbox) -> None:
    outbox.put(ALERT, now_us=0, ends={})
    late = told(outbox, 4)
    outbox.add_events(0, before=LogPosition(), after=LogPosition(3), matched=told(outbox, 1, 2, 3), now_us=1)
    assert outbox.remove("a") == 3
    assert outbox.remove("a") is None
    assert outbox.add_events(0, before=LogPosition(3), after=LogPosition(4), matched=late, now_us=1)
    assert outbox.busy_alerts() == set()


def test_a_newer_file_is_kept_and_a_damaged_one_is_reported(tmp_path: Path) -> None:
    AlertOutbox(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / OUTBOX_FILE)) as db:
        db.execute("pragma user_version = 99")
    with pytest.raises(StoreUnavailable, match="newer evercrawl"):
        AlertOutbox(tmp_path)
    (tmp_path / OUTBOX_FILE).write_bytes(b"nonsense" * 1000)
    with pytest.raises(StoreUnavailable, match=OUTBOX_FILE):
        AlertOutbox(tmp_path)


def test_message_ids_differ_between_collections(tmp_path: Path) -> None:
    ids = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with closing(AlertOutbox(tmp_path / name)) as outbox:
            outbox.put(ALERT, now_us=0, ends={})
            outbox.add_events(0, before=LogPosition(), after=LogPosition(1), matched=told(outbox, 1), now_us=1)
            message = outbox.compose(outbox.alerts()[0], upto_us=1, now_us=1)
            assert message is not None
            assert "." not in message.id, "a dot would make the signed words ambiguous"
            ids.add(message.id)
    assert len(ids) == 2
