"""The durable outbox of a collection: alerts, log positions, pending events and messages.
It is a file of its own (`alerts.sqlite`), readable only by its owner because it holds secrets. Every method is one
transaction; several processes may use it."""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from evercrawl.adapters.sqlite.hardened_file import connect, mode_for, require_schema, statements_of, transaction
from evercrawl.adapters.sqlite.state_file import TranslateErrors
from evercrawl.config.load import outbox_path
from evercrawl.core.alerts.definition import alert_from_json, alert_to_json, event_from_json, event_to_json
from evercrawl.core.alerts.delivery import AlertMessage, AlertQueue, MessageState
from evercrawl.errors import StoreUnavailable
from evercrawl.model.alerts import Alert, Event, PendingEvent

VERSION = 1
BUSY_WAIT_S = 10.0
OWNER_ONLY = 0o600
LINK_KEY_BYTES = 32
_MESSAGE = "m.id, a.name, m.created_us, m.state, m.tries, m.next_us, m.ended_us, m.detail"
_OPEN = "('pending', 'sending')"


class StoredAlert(NamedTuple):
    """An alert as it is stored; events before `since_us` are not reported, and none while it is paused."""

    id: int
    since_us: int
    alert: Alert
    is_paused: bool = False


class LogPosition(NamedTuple):
    """How far the log of a shard was read: the last line, and the last verdict that came after its visit."""

    line: int = 0
    late: int = 0


class MatchedEvent(NamedTuple):
    """An event that matches an alert."""

    alert_id: int
    event: Event


class MessageCounts(NamedTuple):
    """How many changes of an alert are pending, sent or failed, and the last error."""

    pending: int
    sent: int
    failed: int
    last_error: str


class AlertOutbox:
    """The outbox of one collection; created if it does not exist."""

    def __init__(self, collection: Path) -> None:
        self._path = outbox_path(collection)
        self._translating = TranslateErrors(self._path)
        self._lock = threading.RLock()
        with self._translating:
            self._db = self._open()
            self.uid: str
            self.link_key: bytes
            self.uid, self.link_key = self._db.execute("select uid, link_key from about").fetchone()

    def _open(self) -> sqlite3.Connection:
        mode = mode_for(self._path)
        if mode != "ro":
            _make_private(self._path)
        db = connect(self._path, mode=mode, isolation_level=None, timeout=BUSY_WAIT_S, check_same_thread=False)
        try:
            if mode != "ro":
                db.execute("pragma journal_mode = wal")
                # The rows are few, and none may be lost or duplicated.
                db.execute("pragma synchronous = full")
                _create_schema(db, self._path)
            require_schema(db, self._path, statements_of(_schema()))
        except BaseException:
            db.close()
            raise
        return db

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._translating, transaction(self._db):
            yield self._db

    def _rows(self, statement: str, *parameters: object) -> list[Any]:
        with self._lock, self._translating:
            return self._db.execute(statement, parameters).fetchall()

    # Alerts

    def alerts(self) -> list[StoredAlert]:
        """Return every alert, by name."""
        rows = self._rows("select id, since_us, definition, is_paused from alert order by name")
        return [StoredAlert(row[0], row[1], alert_from_json(row[2]), bool(row[3])) for row in rows]

    def find(self, name: str) -> StoredAlert | None:
        """Return the alert with this name."""
        return next((known for known in self.alerts() if known.alert.name == name), None)

    def put(self, alert: Alert, *, now_us: int, ends: Mapping[int, LogPosition]) -> bool:
        """Add an alert, or replace the one with its name and keep its pending events; return whether it is new.
        The first alert starts at the ends of the logs, because nothing was read before."""
        with self._transaction() as db:
            row = db.execute("select id from alert where name = ?", (alert.name,)).fetchone()
            if row is not None:
                db.execute("update alert set definition = ? where id = ?", (alert_to_json(alert), row[0]))
                return False
            if not db.execute("select 1 from alert limit 1").fetchone():
                rows = [(shard, *position) for shard, position in ends.items()]
                db.executemany("insert or replace into cursor (shard, line, late) values (?, ?, ?)", rows)
            db.execute(
                "insert into alert (name, definition, since_us) values (?, ?, ?)",
                (alert.name, alert_to_json(alert), now_us),
            )
            return True

    def remove(self, name: str) -> int | None:
        """Remove an alert and its pending events; return their number, or None if there is no such alert."""
        with self._transaction() as db:
            row = db.execute("select id from alert where name = ?", (name,)).fetchone()
            if row is None:
                return None
            pending = self.counts(row[0]).pending
            for table in ("event", "message"):
                db.execute(f"delete from {table} where alert_id = ?", row)
            db.execute("delete from alert where id = ?", row)
            return pending

    def pause(self, alert_id: int) -> None:
        """Report nothing more to an alert, and drop its pending events and messages."""
        with self._transaction() as db:
            db.execute("update alert set is_paused = 1 where id = ?", (alert_id,))
            open_messages = f"select id from message where alert_id = ? and state in {_OPEN}"
            pending = f"alert_id = ? and (message is null or message in ({open_messages}))"
            db.execute(f"delete from event where {pending}", (alert_id, alert_id))
            db.execute(f"delete from message where alert_id = ? and state in {_OPEN}", (alert_id,))

    def resume(self, alert_id: int, *, now_us: int) -> None:
        """Report events from now on."""
        with self._transaction() as db:
            db.execute("update alert set is_paused = 0, since_us = ? where id = ?", (now_us, alert_id))

    def counts(self, alert_id: int) -> MessageCounts:
        """Return the message counts of an alert."""
        states = dict(
            self._rows(
                "select coalesce(m.state, 'pending'), count(*) from event n"
                " left join message m on m.id = n.message where n.alert_id = ? group by 1",
                alert_id,
            )
        )
        error = self._rows(
            f"select detail from message where alert_id = ? and state in {_OPEN} and tries > 0 order by place limit 1",
            alert_id,
        )
        pending = states.get("pending", 0) + states.get("sending", 0)
        return MessageCounts(pending, states.get("sent", 0), states.get("failed", 0), error[0][0] if error else "")

    # Log positions

    def cursors(self) -> dict[int, LogPosition]:
        """Return how far each shard's log was read."""
        return {row[0]: LogPosition(*row[1:]) for row in self._rows("select shard, line, late from cursor")}

    def add_events(
        self, shard: int, *, before: LogPosition, after: LogPosition, matched: Sequence[MatchedEvent], now_us: int
    ) -> bool:
        """Store the events between two positions together with the new position.
        Return False, and store nothing, if another process has moved the position from `before`."""
        with self._transaction() as db:
            row = db.execute("select line, late from cursor where shard = ?", (shard,)).fetchone()
            if LogPosition(*(row or ())) != before:
                return False
            db.executemany(
                "insert or ignore into event (alert_id, shard, line, at_us, noted_us, event)"
                " select id, ?2, ?3, ?4, ?5, ?6 from alert where id = ?1",
                (_event_row(one, shard, now_us) for one in matched),
            )
            db.execute("insert or replace into cursor (shard, line, late) values (?, ?, ?)", (shard, *after))
            return True

    # Messages

    def queue(self, alert_id: int) -> AlertQueue:
        """Return the pending message and event of an alert."""
        head = self._rows(
            f"select {_MESSAGE} from message m join alert a on a.id = m.alert_id"
            f" where m.alert_id = ? and m.state in {_OPEN} order by m.place limit 1",
            alert_id,
        )
        noted = self._rows(
            "select noted_us from event where alert_id = ? and message is null order by number limit 1", alert_id
        )
        return AlertQueue(_message(head[0]) if head else None, noted[0][0] if noted else None)

    def busy_alerts(self) -> set[int]:
        """Return the alerts with pending events or messages."""
        rows = self._rows(
            "select distinct alert_id from event where message is null"
            f" union select distinct alert_id from message where state in {_OPEN}"
        )
        return {row[0] for row in rows}

    def compose(self, known: StoredAlert, *, upto_us: int, now_us: int) -> AlertMessage | None:
        """Put the oldest pending events into a message; return None if there are none."""
        with self._transaction() as db:
            rows = db.execute(
                "select number from event where alert_id = ? and message is null and noted_us <= ?"
                " order by number limit ?",
                (known.id, upto_us, known.alert.max_changes),
            ).fetchall()
            if not rows:
                return None
            message = AlertMessage(f"msg_{self.uid}_{known.id}_{rows[0][0]}", known.alert.name, now_us)
            db.execute(
                "insert into message (id, alert_id, created_us, state, tries, next_us, detail)"
                " values (?, ?, ?, ?, 0, 0, '')",
                (message.id, known.id, now_us, message.state.value),
            )
            db.executemany("update event set message = ? where number = ?", ((message.id, *row) for row in rows))
            return message

    def message_events(self, message_id: str) -> list[PendingEvent]:
        """Return the events of a message, in order."""
        rows = self._rows("select number, noted_us, event from event where message = ? order by number", message_id)
        return [_pending_event(row) for row in rows]

    def event(self, number: int) -> PendingEvent | None:
        """Return an event by its number; None if it is no longer stored."""
        rows = self._rows("select number, noted_us, event from event where number = ?", number)
        return _pending_event(rows[0]) if rows else None

    def newest_events(self, alert_id: int, *, upto: int, limit: int) -> list[PendingEvent]:
        """Return the newest events of an alert up to a number, newest first."""
        rows = self._rows(
            "select number, noted_us, event from event where alert_id = ? and number <= ?"
            " order by number desc limit ?",
            alert_id, upto, limit,
        )  # fmt: skip
        return [_pending_event(row) for row in rows]

    def update_message(self, message: AlertMessage) -> None:
        """Store the state of a message."""
        with self._transaction() as db:
            db.execute(
                "update message set created_us = ?, state = ?, tries = ?, next_us = ?, ended_us = ?, detail = ?"
                " where id = ?",
                (
                    message.created_us, message.state.value, message.tries, message.next_us, message.ended_us,
                    message.detail, message.id,
                ),
            )  # fmt: skip

    def messages(
        self, name: str | None = None, *, state: MessageState | None = None, limit: int, before: int | None = None
    ) -> list[tuple[AlertMessage, int, int]]:
        """Return the newest messages before a place, newest first, with the number of their changes and their place."""
        rows = self._rows(
            f"select {_MESSAGE}, (select count(*) from event n where n.message = m.id), m.place"
            " from message m join alert a on a.id = m.alert_id"
            " where (?1 is null or a.name = ?1) and (?2 is null or m.state = ?2)"
            " and (?4 is null or m.place < ?4) order by m.place desc limit ?3",
            name, None if state is None else state.value, limit, before,
        )  # fmt: skip
        return [(_message(row[:-2]), *row[-2:]) for row in rows]

    def delete_sent(self, *, before_us: int) -> int:
        """Delete messages that were sent before a time; return their number."""
        with self._transaction() as db:
            old = "select id from message where state = 'sent' and ended_us < ?"
            db.execute(f"delete from event where message in ({old})", (before_us,))
            return db.execute("delete from message where state = 'sent' and ended_us < ?", (before_us,)).rowcount

    # WebSub

    def subscriptions(self) -> dict[str, str]:
        """Return the subscriptions as JSON, by token."""
        return dict(self._rows("select token, state from subscription order by topic"))

    def put_subscription(self, token: str, topic: str, state: str) -> None:
        """Store a subscription; it replaces another one with the same topic."""
        with self._transaction() as db:
            db.execute("delete from subscription where topic = ? and token <> ?", (topic, token))
            db.execute(
                "insert or replace into subscription (token, topic, state) values (?, ?, ?)", (token, topic, state)
            )


def _event_row(matched: MatchedEvent, shard: int, now_us: int) -> tuple[object, ...]:
    event = matched.event
    return matched.alert_id, shard, event.visit, event.at_us, now_us, event_to_json(event)


def _message(row: Any) -> AlertMessage:
    message = AlertMessage._make(row)
    return message._replace(state=MessageState(message.state))


def _pending_event(row: Any) -> PendingEvent:
    number, noted_us, event = row
    return PendingEvent(number, noted_us, event_from_json(event))


def _make_private(path: Path) -> None:
    """Create the file with access only for its owner; SQLite gives its other files the same rights."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, OWNER_ONLY))
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be written: {error.strerror or error}") from error


def _create_schema(db: sqlite3.Connection, path: Path) -> None:
    """Create the schema if the file is new."""
    if _version(db, path) == VERSION:
        return
    with transaction(db):
        if _version(db, path) == VERSION:
            return
        for statement in statements_of(_schema()):
            db.execute(statement)
        db.execute("insert into about values (?, ?)", (secrets.token_hex(6), secrets.token_bytes(LINK_KEY_BYTES)))
        db.execute(f"pragma user_version = {VERSION}")


def _version(db: sqlite3.Connection, path: Path) -> int:
    version = int(db.execute("pragma user_version").fetchone()[0])
    if version > VERSION:
        raise StoreUnavailable(
            f"{path} was written by a newer evercrawl (schema {version}, this one knows {VERSION});"
            " install that version or a later one"
        )
    return version


def _schema() -> str:
    return files(__package__).joinpath("alert_outbox.sql").read_text(encoding="utf-8")
