"""Open the small SQLite files in which coordinator and agents keep their state."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from evercrawl.adapters.sqlite.hardened_file import connect, require_schema, statements_of, transaction
from evercrawl.errors import StoreUnavailable

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
