"""SQLite's errors in our terms: what happened, to which file, and what to do."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from types import TracebackType
from typing import Literal

from evercrawl.errors import BugFound, EvercrawlError, StoreUnavailable

_DAMAGED = ("is damaged", "restore it from a backup, or put in its place what `sqlite3 FILE .recover` can still read")
_NOT_WRITABLE = ("cannot be written", "check the permissions of the file and of its folder")
_IN_USE = ("is locked by another program", "close the program that has the file open and try again")

REMEDIES: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: (
        "cannot grow because the disk is full",
        "free some space and crawl again; everything up to the last commit is kept",
    ),
    sqlite3.SQLITE_BUSY: _IN_USE,
    sqlite3.SQLITE_LOCKED: _IN_USE,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_READONLY: _NOT_WRITABLE,
    sqlite3.SQLITE_PERM: _NOT_WRITABLE,
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "check that the folder exists and that you may read and write it"),
    sqlite3.SQLITE_IOERR: ("could not be read or written", "check the disk; the system's log may say more"),
}
_PRIMARY = 0xFF
"""The low byte of SQLite's extended result codes is the general one."""


def translated(error: sqlite3.Error, path: Path) -> EvercrawlError:
    """The environment's faults as StoreUnavailable; a statement that we got wrong is a bug."""
    code = getattr(error, "sqlite_errorcode", None)
    remedy = REMEDIES.get(code & _PRIMARY) if code is not None else None
    if remedy is None:
        return BugFound(f"the state file {path} refused a statement of ours: {error}")
    happened, advice = remedy
    return StoreUnavailable(f"the state file {path} {happened} ({error}); {advice}")


class Translating:
    """Inside `with`, no exception of SQLite leaves untranslated."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        if isinstance(error, sqlite3.Error):
            raise translated(error, self._path) from error
        return False
