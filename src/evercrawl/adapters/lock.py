"""One process at a time writes to a collection; when it ends, however, the system lets its lock go."""

from __future__ import annotations

import fcntl
import os
import socket
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO

from evercrawl.errors import CollectionBusy, StoreUnavailable


class CollectionLock:
    """Held between `acquire` and `release`, or inside `with`; the file says by whom. Another name than `lock`
    is about a part of the collection.
    """

    def __init__(self, collection: Path, name: str = "lock") -> None:
        self._path = collection / name
        self._file: IO[str] | None = None

    def acquire(self) -> None:
        """Take the lock, or raise CollectionBusy with the owner's process number."""
        try:
            # Opened for appending, so that a look at a lock that is held does not empty it.
            file = self._path.open("a+", encoding="utf-8")
        except OSError as error:
            raise StoreUnavailable(f"the lock {self._path} cannot be opened: {error.strerror}") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = _owner(file)
            file.close()
            raise CollectionBusy(
                f"the collection {self._path.parent} is in use by {owner};"
                " wait until that has ended, or stop it, and try again"
            ) from None
        self._file = file
        _write_owner(file)

    def fileno(self) -> int:
        """The descriptor that holds the lock; a process that inherits it holds the lock as well."""
        assert self._file is not None
        return self._file.fileno()

    def release(self) -> None:
        """Let the lock go; without effect when it is not held."""
        if self._file is not None:
            self._file.truncate(0)
            self._file.close()
            self._file = None

    def __enter__(self) -> CollectionLock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _write_owner(file: IO[str]) -> None:
    file.truncate(0)
    file.write(f"process {os.getpid()} on {socket.gethostname()} since {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\n")
    file.flush()


def _owner(file: IO[str]) -> str:
    file.seek(0)
    return file.read().strip() or "another process"
