"""Open SQLite files that somebody else may have written, and files on a file system that cannot be written."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from evercrawl.errors import StoreUnavailable

MAX_COPY_BYTES = 4 * 1024**3  # Size limit of a file that is copied to be read with its log.
_OWN_TABLES = frozenset(("sqlite_sequence", "sqlite_stat1", "sqlite_stat4"))  # SQLite itself creates them.
_COMMENT = re.compile(r"--[^\n]*")


def connect(path: Path, *, mode: str = "rwc", **options: Any) -> sqlite3.Connection:
    """Open a file whose schema may be hostile. `mode`: ro, rw or rwc, as in SQLite's URIs.
    With `ro`, the file may be on a file system that cannot be written."""
    if mode == "ro":
        return _connect_for_reading(path, options)
    return _harden(sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, **options))


def mode_for(path: Path) -> str:
    """Return `rwc`, or `ro` where nothing can be written."""
    return "rwc" if os.access(path.parent, os.W_OK) else "ro"


def statements_of(script: str) -> tuple[str, ...]:
    """Split a script; `executescript` would end the transaction."""
    found: list[str] = []
    part = ""
    for line in script.splitlines():
        part += f"{line}\n"
        if sqlite3.complete_statement(part):
            found.append(part)
            part = ""
    return (*found, part) if part.strip() else tuple(found)


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Commit the whole block or nothing of it."""
    db.execute("begin immediate")
    try:
        yield
        db.execute("commit")
    except BaseException:
        if db.in_transaction:
            db.execute("rollback")
        raise


def require_schema(db: sqlite3.Connection, path: Path, schema: Iterable[str]) -> None:
    """Raise StoreUnavailable if the file has other tables, indexes, views or triggers than the statements create."""
    found = {_form(row) for row in db.execute("select type, name, sql from sqlite_schema") if row[1] not in _OWN_TABLES}
    strange = found ^ _expected(tuple(schema))
    if strange:
        names = ", ".join(sorted({name for _, name, _ in strange})[:5])
        raise StoreUnavailable(
            f"{path} does not have the tables of this evercrawl ({names}); use the program that wrote it"
        )


def _harden(db: sqlite3.Connection) -> sqlite3.Connection:
    """Let the schema call no function that could have effects, and check the structure of pages that are read."""
    db.execute("pragma trusted_schema = off")
    db.execute("pragma cell_size_check = on")
    return db


def _connect_for_reading(path: Path, options: dict[str, Any]) -> sqlite3.Connection:
    """Open a file for reading. Where nothing can be written, SQLite cannot create the files beside it: without a log
    the file is complete; with a log and its index SQLite can read it; with only a log, a copy is read."""
    query = "mode=ro"
    log = path.with_name(f"{path.name}-wal")
    if not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-shm").exists():
        if not _size(log):
            query += "&immutable=1"
        else:
            return _harden(_connect_to_copy(path, log, options))
    return _harden(sqlite3.connect(f"{path.absolute().as_uri()}?{query}", uri=True, **options))


def _connect_to_copy(path: Path, log: Path, options: dict[str, Any]) -> sqlite3.Connection:
    size = _size(path) + _size(log)
    folder = tempfile.TemporaryDirectory(prefix="evercrawl-")
    if size > min(MAX_COPY_BYTES, shutil.disk_usage(folder.name).free // 2):
        raise StoreUnavailable(f"{path} has a log but cannot be written, and is too large to copy; make it writable")
    for source in (path, log):
        shutil.copyfile(source, Path(folder.name) / source.name)
    db = sqlite3.connect(Path(folder.name) / path.name, factory=_CopyConnection, **options)
    weakref.finalize(db, folder.cleanup)
    return db


class _CopyConnection(sqlite3.Connection):
    """A connection that can have a finalizer."""


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


@lru_cache(maxsize=16)
def _expected(schema: tuple[str, ...]) -> frozenset[tuple[str, str, str]]:
    db = sqlite3.connect(":memory:")
    try:
        for statement in schema:
            db.execute(statement)
        rows = db.execute("select type, name, sql from sqlite_schema").fetchall()
    finally:
        db.close()
    return frozenset(_form(row) for row in rows if row[1] not in _OWN_TABLES)


@lru_cache(maxsize=256)  # All shards have the same schema.
def _form(row: tuple[str, str, str | None]) -> tuple[str, str, str]:
    """Return a line of the schema without comments and white space, which may differ."""
    kind, name, text = row
    return kind, name, "".join(_COMMENT.sub("", text or "").split())


PAGE_BYTES = 4096
BUSY_TIMEOUT_S = 10.0


def open_state_file(path: Path, schema: str, *, version: int, max_bytes: int | None = None) -> sqlite3.Connection:
    """Open or create a private file whose committed data survives `kill -9`."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    try:
        db = connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        db.execute("pragma journal_mode = wal")
        db.execute("pragma synchronous = normal")
        db.execute("pragma cache_size = -2048")
        if max_bytes is not None:
            db.execute(f"pragma max_page_count = {max(64, max_bytes // PAGE_BYTES)}")
            db.execute("pragma journal_size_limit = 1048576")
        _create_tables(db, path, schema, version)
        require_schema(db, path, statements_of(schema))
    except sqlite3.Error as error:
        raise StoreUnavailable(f"{path} cannot be used: {error}") from error
    return db


def _create_tables(db: sqlite3.Connection, path: Path, schema: str, version: int) -> None:
    (found,) = db.execute("pragma user_version").fetchone()
    if found > version:
        raise StoreUnavailable(f"{path} was written by a newer evercrawl; upgrade to use it")
    if found < version:
        with transaction(db):
            for statement in statements_of(schema):
                db.execute(statement)
            db.execute(f"pragma user_version = {version}")
