"""Operating system services: locks, durable files, the clock and memory settings."""

from __future__ import annotations

import asyncio
import atexit
import ctypes
import fcntl
import os
import resource
import shutil
import socket
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple, Protocol, TypeVar

from evercrawl.errors import CollectionBusy, ConfigError, StoreUnavailable

_MONOTONIC_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""On Linux, a clock that also counts while the machine is suspended."""
RETAINED_BYTES = 32 * 1024 * 1024  # Free memory to keep at the top of the heap.
MAX_RETAINED_BLOCK = 4 * 1024 * 1024  # Larger blocks are returned to the system immediately.
# Constants from malloc.h.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
_PAD_BYTES = 4 * 1024 * 1024


class CollectionLock:
    """Exclusive write lock on a collection. The OS releases it however the process ends.
    The file names its owner. Other names than `lock` protect a part of the collection."""

    def __init__(self, collection: Path, name: str = "lock") -> None:
        self._path = collection / name
        self._file: IO[str] | None = None

    def acquire(self) -> None:
        """Acquire the lock, or raise CollectionBusy with its owner."""
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
        """Return the descriptor of the lock; a process that inherits it holds the lock as well."""
        assert self._file is not None
        return self._file.fileno()

    def release(self) -> None:
        """Release the lock if it is held."""
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


def is_writable(folder: Path) -> bool:
    """Return whether files can be created in the folder; False on a file system mounted for reading."""
    return os.access(folder, os.W_OK)


def usable_folder(collection: Path, name: str) -> Path:
    """Return a folder of the collection for data that can be computed again. If the collection cannot be written, it is
    a temporary folder of this process with links to the files."""
    if is_writable(collection) or not collection.exists():
        return collection / name
    return _linked_copy(collection.resolve() / name)


@lru_cache(maxsize=256)
def _linked_copy(folder: Path) -> Path:
    copy = Path(tempfile.mkdtemp(prefix="evercrawl-")) / folder.name
    atexit.register(shutil.rmtree, copy.parent, ignore_errors=True)
    copy.mkdir()
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        target = copy / path.relative_to(folder)
        if path.is_dir():
            target.mkdir()
        elif not path.name.endswith(".lock"):
            target.symlink_to(path)
    return copy


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path, *, is_durable: bool) -> None:
    """Create a folder, unless it exists; `is_durable`: it survives a power cut."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True, mode=0o750)
        if is_durable:
            sync_folder(folder.parent)


def sync_data(descriptor: int) -> None:
    """Wait until the content of a file is on the disk.
    macOS has no fdatasync, and its fsync leaves the content in the disk's own cache (man 2 fsync)."""
    full_sync = getattr(fcntl, "F_FULLFSYNC", None)
    if full_sync is not None:
        fcntl.fcntl(descriptor, full_sync)
    else:
        getattr(os, "fdatasync", os.fsync)(descriptor)


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return how event loops are made: by uvloop if the extra `speed` is installed, else as Python does."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def open_shared_memory(size: int, name: str) -> int:
    """Return a descriptor of zeroed memory that child processes can inherit: a file without a name where the
    system has no memfd."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create(name)
    else:
        with tempfile.TemporaryFile(prefix=name) as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, size)
    return descriptor


async def sync_file(descriptor: int) -> None:
    """Wait until the content of a file is on the disk, without stopping the event loop; close the descriptor."""

    def sync() -> None:
        try:
            sync_data(descriptor)
        finally:
            os.close(descriptor)

    await asyncio.to_thread(sync)


def write_atomically(path: Path, data: bytes) -> bool:
    """Replace the file with `data`; return False and leave it untouched if it already has this content.
    The new file is on disk before it replaces the old one. Leftovers of a crash have a fixed name and are overwritten.
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
    """Hold a lock file while the block runs; raise CollectionBusy if another process holds it."""
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


RESERVED_FILES = 32  # Descriptors for the event loop, the resolver, locks, logs and libraries.
SHARD_FILES = 4  # Descriptors of an open shard: its state (three files) and its archive.
SOCKETS_PER_REQUEST = 5  # One in use, and idle ones that wait for the next request.
MIN_SOCKETS = 6


class FileShares(NamedTuple):
    """How many sockets and shards one process may have open at the same time."""

    sockets: int
    shards: int


def file_shares(*, concurrency: int, shards: int) -> FileShares:
    """Divide the descriptors that the system allows this process; with enough of them, everything stays open."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    sockets = SOCKETS_PER_REQUEST * concurrency
    # A shard also has its index of near duplicates open, which maps several files.
    if limit == resource.RLIM_INFINITY or limit >= RESERVED_FILES + sockets + 2 * SHARD_FILES * shards:
        return FileShares(sockets, shards)
    spare = limit - RESERVED_FILES
    sockets = min(sockets, max(MIN_SOCKETS, spare // 3))
    return FileShares(sockets, max(2, (spare - sockets) // (SHARD_FILES + 1)))


def raise_file_limit() -> None:
    """Use as many descriptors as the system allows this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class FileUser(Protocol):
    """Something with open files that it can close for a while."""

    def release_files(self) -> None:
        """Close the files; they are opened again when they are needed."""


class OpenFiles:
    """Keeps the files of at most `most` users open; the user that was idle longest releases its files."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._users: dict[FileUser, None] = {}

    def use(self, user: FileUser) -> None:
        """Note that a user needs its files now."""
        self._users.pop(user, None)
        self._users[user] = None
        while len(self._users) > self._most:
            idle = next(iter(self._users))
            del self._users[idle]
            idle.release_files()

    def forget(self, user: FileUser) -> None:
        """Note that a user has closed its files."""
        self._users.pop(user, None)


class SystemClock:
    """Wall time at the start plus elapsed time including suspension, so that it never goes backwards."""

    def __init__(self) -> None:
        self._start = datetime.now(UTC)
        self._start_ns = time.clock_gettime_ns(_MONOTONIC_CLOCK)

    def now(self) -> datetime:
        """Return the current time."""
        passed_ns = time.clock_gettime_ns(_MONOTONIC_CLOCK) - self._start_ns
        return self._start + timedelta(microseconds=passed_ns // 1000)

    async def sleep_until(self, moment: datetime) -> None:
        """Sleep until `moment`."""
        await asyncio.sleep(max(0.0, (moment - self.now()).total_seconds()))


def modified_ns(path: str | Path) -> int:
    """Return when a file was written last; 0: there is none."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def retain_freed_memory() -> bool:
    """Let glibc keep freed memory; return False if the C library does not support it.
    Each page's tree frees blocks of many kilobytes. By default glibc returns them to the system and requests them again
    for the next page."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    options = ((_MMAP_THRESHOLD, MAX_RETAINED_BLOCK), (_TRIM_THRESHOLD, RETAINED_BYTES), (_TOP_PAD, _PAD_BYTES))
    return all(mallopt(option, value) == 1 for option, value in options)


async def wait_for_first(*events: asyncio.Event, within_s: float) -> None:
    """Return when one of the events is set, or after the time."""
    tasks = [asyncio.create_task(event.wait()) for event in events]
    await asyncio.wait(tasks, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


MAX_PRIVATE_BYTES = 4 * 1024 * 1024


def read_private_file(path: Path, *, what: str) -> str:
    """Return the text of a file with secrets; raise ConfigError if somebody else can read or write it."""
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            if found.st_uid not in (os.getuid(), 0):
                raise ConfigError(f"{path} belongs to another user, so its {what} {_verb(what)} not used")
            if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise ConfigError(f"{path} can be read by others, so it is not used; protect it: chmod 600 {path}")
            return file.read(MAX_PRIVATE_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from error


def _verb(what: str) -> str:
    return "are" if what.endswith("s") else "is"


T = TypeVar("T")


def outside_event_loop(work: Callable[[], T], *, on_interrupt: Callable[[], None] = lambda: None) -> T:
    """Run what starts an event loop of its own. Where one runs already, as in a notebook, that takes another thread.
    After an interrupt, `on_interrupt` is called, and the work may come to its end."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(1, thread_name_prefix="evercrawl") as thread:
        running = thread.submit(work)
        try:
            return running.result()
        except KeyboardInterrupt:
            on_interrupt()
            return running.result()
