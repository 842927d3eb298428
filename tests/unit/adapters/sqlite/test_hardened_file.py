"""SQLite files of others: foreign tables, views and triggers are refused, and read-only file systems are readable."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from evercrawl.adapters.sqlite import hardened_file
from evercrawl.adapters.sqlite.hardened_file import connect, require_schema
from evercrawl.adapters.sqlite.state_file import open_for_reading, open_for_writing
from evercrawl.collection.alerts.alert_outbox import AlertOutbox
from evercrawl.collection.change_inbox import ChangeInbox
from evercrawl.errors import StoreUnavailable

TRICKS = (
    "create trigger steal after insert on site begin delete from site; end",
    "create view page_view as select load_extension('/tmp/evil.so')",
    "create table extra (x)",
    "create index by_delay on site (abs(delay_ms))",
    "drop table robots",
    "drop index site_waiting",
)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    path = tmp_path / "state" / "s00.sqlite"
    open_for_writing(path, durability="process").close()
    return path


@pytest.mark.parametrize("trick", TRICKS)
def test_other_schemas_are_refused(state: Path, trick: str) -> None:
    with sqlite3.connect(state) as db:
        db.execute(trick)
    with pytest.raises(StoreUnavailable, match="does not have the tables"):
        open_for_reading(state)
    with pytest.raises(StoreUnavailable, match="does not have the tables"):
        open_for_writing(state, durability="process")


def test_a_table_replaced_by_a_view_is_refused(state: Path) -> None:
    with sqlite3.connect(state) as db:
        db.execute("alter table robots rename to hidden")
        db.execute("create view robots as select * from hidden")
    with pytest.raises(StoreUnavailable):
        open_for_reading(state)


def test_the_other_files_are_checked_too(tmp_path: Path) -> None:
    AlertOutbox(tmp_path).close()
    inbox = ChangeInbox(tmp_path)
    inbox.review([], who="me", text="", now_us=0)
    for name in ("alerts.sqlite", "inbox.sqlite"):
        with sqlite3.connect(tmp_path / name) as db:
            db.execute("create view strange as select 1")
    with pytest.raises(StoreUnavailable):
        AlertOutbox(tmp_path)
    with pytest.raises(StoreUnavailable):
        inbox.mutes()


def test_functions_in_a_schema_do_not_run(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("create view v as select fire()")
    calls: list[int] = []
    db = connect(path, mode="ro")
    db.create_function("fire", 0, lambda: calls.append(1))
    with pytest.raises(sqlite3.OperationalError, match="unsafe use"):
        db.execute("select * from v").fetchall()
    assert calls == []
    with pytest.raises(StoreUnavailable):
        require_schema(db, path, ())
    db.close()


def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let folders look as if they could not be written."""
    monkeypatch.setattr(hardened_file.os, "access", lambda *_: False)


def test_a_file_without_log_is_read_where_nothing_can_be_written(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_only(monkeypatch)
    open_for_reading(state).close()
    assert [path.name for path in state.parent.iterdir()] == ["s00.sqlite"]


def test_a_log_without_its_index_is_read_from_a_copy(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = open_for_writing(state, durability="process")
    db.execute("update shard set epoch = 77")
    snapshot = tmp_path / "snapshot"
    snapshot.mkdir()
    for name in ("s00.sqlite", "s00.sqlite-wal"):
        shutil.copy(state.with_name(name), snapshot / name)
    db.close()
    read_only(monkeypatch)
    found = open_for_reading(snapshot / "s00.sqlite")
    assert found.execute("select epoch from shard").fetchone() == (77,)
    found.close()
    assert sorted(path.name for path in snapshot.iterdir()) == ["s00.sqlite", "s00.sqlite-wal"]
