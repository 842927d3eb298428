"""One process at a time writes to a collection; when it ends, however, the system lets its lock go."""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import gc
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import IO

from evercrawl.errors import CollectionBusy, StoreUnavailable

_MONOTONIC_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""On Linux the clock that goes on while the machine sleeps."""
RETAINED_BYTES = 32 * 1024 * 1024
"""So much free memory at the end of the heap is kept; what goes beyond returns to the system."""
MAX_RETAINED_BLOCK = 4 * 1024 * 1024
"""Larger blocks are asked for one by one and returned at once."""
GC_THRESHOLD = 20_000
"""Python looks for cycles after so many new objects (its own default: 700)."""
# Constants from malloc.h.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
_PAD_BYTES = 4 * 1024 * 1024


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
            # Open for appending, so that trying a held lock does not empty the file.
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
                " wait until it ends, or stop it, and try again"
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


def sync_folder(folder: Path) -> None:
    """The names in a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_atomically(path: Path, data: bytes) -> bool:
    """The file holds exactly `data`; False: it did before, and was not touched, so its time stays true.

    The new file is on the disk before it takes the old one's place. What a killed run left behind has a fixed
    name and is overwritten by the next.
    """
    try:
        if _has_content(path, data):
            return False
        temporary = path.with_name(f".{path.name}.partial")
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be written: {error.strerror or error}") from error
    return True


def _has_content(path: Path, data: bytes) -> bool:
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except FileNotFoundError:
        return False


@contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Nobody else holds this lock file until the block ends; CollectionBusy where somebody does."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be written: {error.strerror or error}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise CollectionBusy(f"another build is running (it holds {path}); wait until it ends") from None
    try:
        yield
    finally:
        os.close(handle)


class SystemClock:
    """Wall time at the start plus time that passed since, suspension included; never goes backwards."""

    def __init__(self) -> None:
        self._start = datetime.now(UTC)
        self._start_ns = time.clock_gettime_ns(_MONOTONIC_CLOCK)

    def now(self) -> datetime:
        """The present moment."""
        passed_ns = time.clock_gettime_ns(_MONOTONIC_CLOCK) - self._start_ns
        return self._start + timedelta(microseconds=passed_ns // 1000)

    async def sleep_until(self, moment: datetime) -> None:
        """Return at `moment`."""
        await asyncio.sleep(max(0.0, (moment - self.now()).total_seconds()))


def reduce_gc_frequency() -> None:
    """Have Python look for cycles of dead objects less often.

    A page makes thousands of objects and hardly a cycle. For processes of our own only: a library does not
    decide this for its user.
    """
    gc.set_threshold(GC_THRESHOLD)


def retain_freed_memory() -> bool:
    """Have memory that was given back kept for later; False: this C library does not listen."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    options = ((_MMAP_THRESHOLD, MAX_RETAINED_BLOCK), (_TRIM_THRESHOLD, RETAINED_BYTES), (_TOP_PAD, _PAD_BYTES))
    return all(mallopt(option, value) == 1 for option, value in options)
