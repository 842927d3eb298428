"""Upload finished WARC files to object storage during the crawl and after a crash.
A file is finished when its writer's lock is gone, which the OS releases however the writer ends. The local file stays
until the storage has confirmed the upload. Files missing in the journal are still to be uploaded."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from evercrawl.adapters.objectstore.bucket import Bucket
from evercrawl.adapters.system import sync_folder
from evercrawl.adapters.warc.shard_archive import intact_length, shard_of_worker_file
from evercrawl.errors import StoreUnavailable

FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0
FINISH_TIMEOUT_S = 120.0  # How long the end of a run waits for uploads; the next run or a command uploads the rest.

log = logging.getLogger(__name__)


ADDRESS_FILE = "objects"  # File with the address of the storage, for everything that reads the archive.
JOURNAL_FILE = "uploaded"  # File with a line `name size` for each confirmed upload.


@dataclass(slots=True)
class UploadStats:
    """What was uploaded."""

    files: int = 0
    bytes: int = 0
    busy: int = 0  # Files that are still being written.


def upload_pending(
    folder: Path,
    bucket: Bucket,
    *,
    keep_local: bool,
    owner: str = "",
    shard: int | None = None,
    on_file: Callable[[UploadStats], None] | None = None,
) -> UploadStats:
    """Upload all finished files that are not stored yet; raise if the storage fails.
    `owner`: the id in the names of this process's files, which are always complete. `shard`: only the files of this
    shard."""
    done = UploadStats()
    for path in pending_files(folder, "*.warc.gz" if shard is None else f"s{shard:02d}-{owner}-*.warc.gz"):
        with _lock_finished(path) as is_finished:
            if not is_finished:
                done.busy += 1
                continue
            if shard_of_worker_file(path.name) is not None and f"-{owner}-" not in path.name:
                _truncate_partial_record(path)
            size = path.stat().st_size
            bucket.put(path, path.name)
            record_upload(path, size)
            if not keep_local:
                path.unlink(missing_ok=True)
            done.files, done.bytes = done.files + 1, done.bytes + size
        if on_file is not None:
            on_file(done)
    return done


def _truncate_partial_record(path: Path) -> None:
    """Remove the partial record at the end of a dead worker's file."""
    whole = intact_length(path)
    if whole < path.stat().st_size:
        os.truncate(path, whole)


@contextmanager
def _lock_finished(path: Path) -> Iterator[bool]:
    """Lock a file against other uploaders; yield whether it is finished."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        yield False
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield path.exists()


class Uploader:
    """A thread that uploads finished files, now and after each notification."""

    def __init__(self, folder: Path, bucket: Bucket, *, keep_local: bool, owner: str) -> None:
        self._folder = folder
        self._bucket = bucket
        self._keep_local = keep_local
        self._owner = owner
        self._work_available = threading.Event()
        self._finishing = threading.Event()
        self._failed = False
        self._upload_lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="upload", daemon=True)

    def start(self) -> None:
        """Start with the files of earlier runs, unless the thread is running."""
        if not self._thread.is_alive() and not self._finishing.is_set():
            self._work_available.set()
            self._thread.start()

    def notify(self) -> None:
        """Report a finished file."""
        self._work_available.set()

    async def upload_shard(self, shard: int) -> None:
        """Upload the finished files of a shard; raise StoreUnavailable if that fails."""
        await asyncio.to_thread(self._upload, shard)

    async def finish(self) -> None:
        """Upload the last files; after a timeout or failure, the next run will do it."""
        self._finishing.set()
        self._work_available.set()
        if self._thread.is_alive():
            await asyncio.to_thread(self._thread.join, FINISH_TIMEOUT_S)
        if self._failed or self._thread.is_alive():
            left = len(pending_files(self._folder))
            log.warning("%d archive files are not uploaded yet; the next run or `store upload` will do it", left)

    def _run(self) -> None:
        wait_s = FIRST_WAIT_S
        while True:
            self._work_available.wait()
            self._work_available.clear()
            is_last = self._finishing.is_set()
            self._failed = not self._try(wait_s)
            if is_last:
                return
            if self._failed:
                self._work_available.set()
            self._finishing.wait(wait_s)
            wait_s = min(2 * wait_s, LONGEST_WAIT_S) if self._failed else FIRST_WAIT_S

    def _try(self, wait_s: float) -> bool:
        try:
            self._upload()
        except (StoreUnavailable, OSError) as error:
            log.warning("upload failed, retrying in %.0f s: %s", wait_s, error)
            return False
        return True

    def _upload(self, shard: int | None = None) -> None:
        with self._upload_lock:
            upload_pending(self._folder, self._bucket, keep_local=self._keep_local, owner=self._owner, shard=shard)


def archive_address(folder: Path) -> str | None:
    """Return the storage address of an archive, or None if it is local only."""
    try:
        return (folder / ADDRESS_FILE).read_text(encoding="utf-8").strip() or None
    except (FileNotFoundError, NotADirectoryError):
        return None


def set_archive_address(folder: Path, address: str) -> None:
    """Store the storage address of an archive."""
    if archive_address(folder) == address:
        return
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / f"{ADDRESS_FILE}.new"
    new.write_text(address + "\n", encoding="utf-8")
    new.replace(folder / ADDRESS_FILE)
    sync_folder(folder)


def uploaded_files(folder: Path) -> dict[str, int]:
    """Return the confirmed uploads with their sizes, ignoring a truncated line."""
    try:
        text = (folder / JOURNAL_FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    lines = (line.split() for line in text.splitlines())
    return {parts[0]: int(parts[1]) for parts in lines if len(parts) == 2 and parts[1].isdigit()}


def record_upload(path: Path, size: int) -> None:
    """Append a confirmed upload to the journal."""
    descriptor = os.open(path.parent / JOURNAL_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o640)
    try:
        # The leading newline ends a line that a crash may have truncated.
        os.write(descriptor, f"\n{path.name} {size}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def pending_files(folder: Path, names: str = "*.warc.gz") -> list[Path]:
    """Return the files that are not uploaded yet, including those still being written.
    Empty files are skipped: they were just created, or their writer died before the first record."""
    done = uploaded_files(folder)
    sizes = {path: _size(path) for path in sorted(folder.glob(names))}
    return [path for path, size in sizes.items() if size not in (0, done.get(path.name))]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # another process has uploaded it
        return 0
