"""The SQLite file of one shard: open it, tune it, create its tables, and explain its errors."""

from __future__ import annotations

import os
import re
import sqlite3
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Literal

from evercrawl.adapters.sqlite.hardened_file import connect, require_schema, statements_of, transaction
from evercrawl.adapters.system import make_folder, sync_file, sync_folder
from evercrawl.errors import BugFound, EvercrawlError, StoreUnavailable

SCHEMA = files(__package__).joinpath("schema.sql").read_text(encoding="utf-8")
_STATEMENTS = statements_of(SCHEMA)
SCHEMA_VERSION = 7
MIN_SQLITE = (3, 39)  # `is distinct from`
PAGE_BYTES = 4096
BUSY_TIMEOUT_S = 10.0  # How long a statement waits for a reader or a checkpoint of another process.
WAL_PAGES = 4000  # SQLite moves the write-ahead log into the file when the log has this many pages.
WAL_BYTES = 64 * 1024 * 1024  # SQLite truncates a longer log to this size after a checkpoint.
CACHED_STATEMENTS = 256
WAL_SUFFIX = "-wal"
DATABASE_FILE = "postgres"  # File in the state folder with the address of the database that holds the state.
_PRIVATE = 0o600  # The address may contain a password.
_SHARD_FILE = re.compile(r"s(\d{2,})\.sqlite")
_FIRST_ROW = """
insert into shard
       (shard, epoch, is_clean, next_id, next_seq, next_site_id, next_link_batch, refusals_kept, refusals_dropped)
values (?, 0, 1, 1, 1, 1, 1, 0, 0)
"""


# Where the files are


def state_folder(collection: Path) -> Path:
    """Return the folder with the state files of a collection."""
    return collection / "state"


def shard_path(collection: Path, shard: int) -> Path:
    """Return the state file of one shard."""
    return state_folder(collection) / f"s{shard:02}.sqlite"


def shards_in(collection: Path) -> list[int]:
    """Return the shards that have a state file."""
    folder = state_folder(collection)
    if not folder.is_dir():
        return []
    return sorted(int(match[1]) for path in folder.iterdir() if (match := _SHARD_FILE.fullmatch(path.name)))


def shard_of(path: Path) -> int:
    """Return the shard whose state file this is, by its name."""
    match = _SHARD_FILE.fullmatch(path.name)
    if match is None:
        raise BugFound(f"{path} is not the name of a state file")
    return int(match[1])


# Which database holds the state, if not the files


def database_of(collection: Path) -> str | None:
    """Return the address of the database with the collection's state; None: the state is in files."""
    path = state_folder(collection) / DATABASE_FILE
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be read: {error.strerror}; check its permissions") from error


def set_database(collection: Path, address: str) -> None:
    """Record that the state is in this database from now on."""
    folder = state_folder(collection)
    folder.mkdir(parents=True, exist_ok=True, mode=0o750)
    new = folder / f"{DATABASE_FILE}.new"
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE), "w") as file:
        file.write(address + "\n")
    new.replace(folder / DATABASE_FILE)


def unset_database(collection: Path) -> None:
    """Record that the state is in files from now on."""
    (state_folder(collection) / DATABASE_FILE).unlink(missing_ok=True)


# Open


def open_for_writing(path: Path, *, durability: str) -> sqlite3.Connection:
    """Open a shard's file and create it if needed. The connection autocommits; transactions begin explicitly."""
    with TranslateErrors(path):
        _make_folder(path.parent, is_durable=durability == "power")
        is_new = not path.exists()
        db = _connect(path, "rwc")
        try:
            _tune(db)
            _create_schema(db, path)
            require_schema(db, path, _STATEMENTS)
            if durability == "power":
                _sync_new(path, is_new=is_new)
        except BaseException:
            db.close()
            raise
        return db


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open a shard's file read-only; this does not disturb a crawl in another process."""
    with TranslateErrors(path):
        db = _connect(path, "ro")
        try:
            if _version(db, path) == 0:  # another process is creating it
                _create_beside(path)
            require_schema(db, path, _STATEMENTS)
        except BaseException:
            db.close()
            raise
        return db


def set_cache(db: sqlite3.Connection, size_bytes: int) -> None:
    """Limit the page cache; SQLite takes a negative number as KiB."""
    db.execute(f"pragma cache_size = {-(size_bytes // 1024)}")


def _sync_new(path: Path, *, is_new: bool) -> None:
    """Put the names of the file and its log on the disk, and the tables of a new file."""
    wal = path.with_name(path.name + WAL_SUFFIX)
    if is_new and wal.exists():
        file = os.open(wal, os.O_RDONLY)
        try:
            os.fdatasync(file)
        finally:
            os.close(file)
    sync_folder(path.parent)


async def sync_log(path: Path) -> None:
    """Wait until everything committed survives a power cut. Without a log, SQLite itself has synced the file."""
    try:
        await sync_file(os.open(path.with_name(path.name + WAL_SUFFIX), os.O_RDONLY))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise StoreUnavailable(
            f"the state file {path} could not be synced: {error.strerror}; check the disk"
        ) from error


def _make_folder(folder: Path, *, is_durable: bool) -> None:
    try:
        make_folder(folder, is_durable=is_durable)
    except OSError as error:
        raise StoreUnavailable(
            f"the folder {folder} cannot be created: {error.strerror}; check the path and your permissions"
        ) from error


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    if sqlite3.sqlite_version_info < MIN_SQLITE:
        needed = ".".join(map(str, MIN_SQLITE))
        raise StoreUnavailable(
            f"this Python has SQLite {sqlite3.sqlite_version}; use one with SQLite {needed} or newer"
        )
    db = connect(
        path,
        mode=mode,
        isolation_level=None,
        timeout=BUSY_TIMEOUT_S,
        cached_statements=CACHED_STATEMENTS,
        check_same_thread=False,
    )
    db.create_function("greatest", -1, _greatest, deterministic=True)
    return db


def _greatest(*values: int | None) -> int | None:
    """The largest value; null only if all are, as in PostgreSQL."""
    return max((value for value in values if value is not None), default=None)


def _tune(db: sqlite3.Connection) -> None:
    db.execute(f"pragma page_size = {PAGE_BYTES}")
    db.execute("pragma journal_mode = wal")
    # The log is synced before it is moved into the file, and for `durability = "power"` after each commit (`sync_log`).
    db.execute("pragma synchronous = normal")
    db.execute(f"pragma wal_autocheckpoint = {WAL_PAGES}")
    db.execute(f"pragma journal_size_limit = {WAL_BYTES}")
    # Pages are public: deleted content need not be overwritten with zeros.
    db.execute("pragma secure_delete = off")
    db.execute("pragma temp_store = memory")


def _version(db: sqlite3.Connection, path: Path) -> int:
    """Return the version of the schema; 0: the file has none yet."""
    version = int(db.execute("pragma user_version").fetchone()[0])
    if version not in (0, SCHEMA_VERSION):
        raise StoreUnavailable(
            f"the state file {path} was written by another version of evercrawl (schema {version}, this one uses"
            f" {SCHEMA_VERSION}); install that version, or start a new collection"
        )
    return version


def _create_schema(db: sqlite3.Connection, path: Path) -> None:
    """Create the tables in one transaction if they do not exist."""
    if _version(db, path) == SCHEMA_VERSION:
        return
    with transaction(db):
        if _version(db, path) == 0:
            for statement in _STATEMENTS:
                db.execute(statement)
            db.execute(_FIRST_ROW, (shard_of(path),))
            db.execute(f"pragma user_version = {SCHEMA_VERSION}")


def _create_beside(path: Path) -> None:
    db = _connect(path, "rw")
    try:
        _create_schema(db, path)
    finally:
        db.close()


# Errors

_DAMAGED = ("is damaged", "restore it from a backup, or replace it by what `sqlite3 FILE .recover` can still read")
_NOT_WRITABLE = ("cannot be written", "check the permissions of the file and of its folder")
_IN_USE = ("is locked by another program", "close the program that has the file open and try again")
_REMEDIES: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: (
        "cannot grow because the disk is full",
        "free some space and crawl again; everything up to the last commit is stored",
    ),
    sqlite3.SQLITE_BUSY: _IN_USE,
    sqlite3.SQLITE_LOCKED: _IN_USE,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_READONLY: _NOT_WRITABLE,
    sqlite3.SQLITE_PERM: _NOT_WRITABLE,
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "check that the folder exists and that you may read and write it"),
    sqlite3.SQLITE_IOERR: ("could not be read or written", "check the disk; the system log may say more"),
}
_PRIMARY = 0xFF  # The low byte of SQLite's extended result codes is the general code.


def translate_error(error: sqlite3.Error, path: Path) -> EvercrawlError:
    """Return StoreUnavailable for faults of the environment, and BugFound for a wrong statement."""
    code = getattr(error, "sqlite_errorcode", None)
    remedy = _REMEDIES.get(code & _PRIMARY) if code is not None else None
    if remedy is None:
        return BugFound(f"the state file {path} rejected one of our statements: {error}")
    problem, advice = remedy
    return StoreUnavailable(f"the state file {path} {problem} ({error}); {advice}")


class TranslateErrors:
    """A context in which SQLite's exceptions become ours."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        if isinstance(error, sqlite3.Error):
            raise translate_error(error, self._path) from error
        return False
