"""One SQLite file: opened, tuned, and of a version that we know."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evercrawl.adapters.sqlite.analysis import has_table, make_table
from evercrawl.adapters.sqlite.fault import Translating
from evercrawl.adapters.sqlite.statements import OUTLINE_TABLE, REPEATS_INDEX, SCHEMA, UPGRADES
from evercrawl.errors import StoreUnavailable

SCHEMA_VERSION = 5
PAGE_BYTES = 4096
BUSY_WAIT_S = 10.0
"""How long a statement waits for a reader or a checkpoint of another process."""
WAL_PAGES = 4000
"""The write-ahead log is moved into the file when it has grown to this many pages."""
WAL_BYTES = 64 * 1024 * 1024
"""The log's file is cut back to this size after a checkpoint that found it longer."""
STATEMENTS_KEPT = 128
_SYNCHRONOUS = {"process": "normal", "power": "full"}


def open_for_writing(path: Path, *, durability: str) -> sqlite3.Connection:
    """The shard's file, made if it is not there; autocommit, transactions are begun by hand."""
    with Translating(path):
        _make_folder(path.parent)
        db = _connect(f"{path.absolute().as_uri()}?mode=rwc")
        try:
            _tune(db, durability)
            _bring_up(db, path)
            db.execute(OUTLINE_TABLE)
            make_table(db)
            db.execute(REPEATS_INDEX)
        except BaseException:
            db.close()
            raise
        return db


def open_for_reading(path: Path) -> sqlite3.Connection:
    """The shard's file, read-only; a crawl in another process is not disturbed."""
    with Translating(path):
        db = _connect(f"{path.absolute().as_uri()}?mode=ro")
        try:
            if _version(db, path) < SCHEMA_VERSION or not has_table(db):
                _bring_up_beside(path)
        except BaseException:
            db.close()
            raise
        return db


def set_cache(db: sqlite3.Connection, size_bytes: int) -> None:
    """Bound the page cache; SQLite takes a negative number as KiB."""
    db.execute(f"pragma cache_size = {-(size_bytes // 1024)}")


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All of the block or nothing."""
    db.execute("begin immediate")
    try:
        yield
        db.execute("commit")
    except BaseException:
        if db.in_transaction:
            db.execute("rollback")
        raise


@contextmanager
def snapshot(db: sqlite3.Connection) -> Iterator[None]:
    """Several look-ups in one read transaction: alone, each would pay for the locks of its own."""
    db.execute("begin")
    try:
        yield
    finally:
        db.execute("commit")


def first_rows(db: sqlite3.Connection, statement: str, values: Sequence[object]) -> list[Any]:
    """The first row for each value, None where there is none; a connection to a server asks at once."""
    at_once = getattr(db, "each", None)
    if at_once is not None:
        found: list[Any] = at_once(statement, values)
        return found
    return [db.execute(statement, (value,)).fetchone() for value in values]


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(
            f"the folder {folder} cannot be made: {error.strerror}; check its place and your permissions"
        ) from error


def _connect(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(
        uri,
        uri=True,
        isolation_level=None,
        timeout=BUSY_WAIT_S,
        cached_statements=STATEMENTS_KEPT,
        check_same_thread=False,
    )


def _tune(db: sqlite3.Connection, durability: str) -> None:
    db.execute(f"pragma page_size = {PAGE_BYTES}")
    db.execute("pragma journal_mode = wal")
    db.execute(f"pragma synchronous = {_SYNCHRONOUS[durability]}")
    db.execute(f"pragma wal_autocheckpoint = {WAL_PAGES}")
    db.execute(f"pragma journal_size_limit = {WAL_BYTES}")
    # Pages are public: nothing that is deleted needs to be overwritten with zeros.
    db.execute("pragma secure_delete = off")
    db.execute("pragma temp_store = memory")


def _version(db: sqlite3.Connection, path: Path) -> int:
    version = int(db.execute("pragma user_version").fetchone()[0])
    if version > SCHEMA_VERSION:
        raise StoreUnavailable(
            f"the state file {path} was written by a newer evercrawl (schema {version}, this one knows"
            f" {SCHEMA_VERSION}); install that version or a later one"
        )
    return version


def _bring_up(db: sqlite3.Connection, path: Path) -> None:
    """The file has the newest schema afterwards, in one transaction: a crash leaves the older one whole."""
    if _version(db, path) == SCHEMA_VERSION:
        return
    with transaction(db):
        version = _version(db, path)
        scripts = [UPGRADES[f"from_{older}"] for older in range(version, SCHEMA_VERSION)] if version else [SCHEMA]
        for statement in _statements(scripts):
            db.execute(statement)
        db.execute(f"pragma user_version = {SCHEMA_VERSION}")


def _statements(scripts: Iterable[str]) -> Iterator[str]:
    """One by one, for `executescript` would end the transaction."""
    part = ""
    for line in "\n".join(scripts).splitlines():
        part += f"{line}\n"
        if sqlite3.complete_statement(part):
            yield part
            part = ""


def _bring_up_beside(path: Path) -> None:
    """A reader met an older file: bring it up through a connection that may write."""
    db = _connect(f"{path.absolute().as_uri()}?mode=rw")
    try:
        _bring_up(db, path)
        make_table(db)
    finally:
        db.close()
