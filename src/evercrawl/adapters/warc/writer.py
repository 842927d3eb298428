"""Write the archive of one shard."""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from evercrawl.adapters.system import OpenFiles, make_folder, sync_data, sync_file, sync_folder
from evercrawl.adapters.warc.gzip_members import compress_head, compress_record
from evercrawl.adapters.warc.reader import read_record
from evercrawl.adapters.warc.shard_archive import file_name, shard_files, truncate_archive, write_mark
from evercrawl.adapters.warc.warc_records import WarcInfo, exchange_records, rendered_records, warcinfo_record
from evercrawl.engine.ports import Clock, RenderedRecord, Stored
from evercrawl.errors import StoreUnavailable
from evercrawl.model.fetch import Exchange, Headers
from evercrawl.model.page import ArchiveEnd, OriginalRecord
from evercrawl.model.settings import ArchiveSettings

log = logging.getLogger("evercrawl.storage")

BUFFER_BYTES = 256 * 1024  # Records are buffered up to this size or until `flush`.

ARCHIVE_MODE = 0o640  # Others cannot read it.
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
_OLD_FILE = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC


class FileOwner(NamedTuple):
    """A process that writes only its own files, numbered from `first_number`."""

    id: str
    first_number: int = 1


class WarcArchive:
    """WARC/1.1 files of one shard, one gzip member per record.
    Invariant: files hold only complete records; a failed write is undone. Its records stay in memory, so that `flush`
    can be repeated."""

    def __init__(
        self,
        folder: Path,
        shard: int,
        *,
        settings: ArchiveSettings,
        clock: Clock,
        info: WarcInfo,
        durable: bool = False,
        owner: FileOwner | None = None,
        on_finished: Callable[[], None] | None = None,
    ) -> None:
        """`durable`: flushed records survive a power cut. `owner`: write only files with this id. `on_finished`: called
        for each finished file, which is kept short for uploading."""
        self._on_finished = on_finished
        self._started_at: datetime | None = None
        self._owner = owner
        self._folder = folder
        self._shard = shard
        self._settings = settings
        self._info = WarcInfo(info.software, {"robots": "obey", **info.fields})
        self._clock = clock
        self._durable = durable
        self._max_bytes = settings.max_upload_bytes if on_finished is not None else settings.max_file_bytes
        self.open_files: OpenFiles | None = None
        """Limits the open files of all archives; not for files that are uploaded, since closing one finishes it."""
        self._file = -1
        self._is_released = False
        self._name = ""
        self._next_number: int | None = None
        self._written = 0
        self._buffer: list[bytes] = []
        self._buffered_bytes = 0

    def truncate_to(self, end: ArchiveEnd | None) -> int:
        """Remove everything after the acknowledged end; return the number of acknowledged bytes lost."""
        if self._owner is not None:
            return 0
        try:
            resumed = truncate_archive(self._folder, self._shard, end)
            self._next_number = resumed.next_number
            if resumed.file is not None:
                self._reopen(resumed.file)
        except OSError as error:
            raise self._unavailable(error, "be truncated") from error
        if resumed.set_aside:
            log.warning(
                "The archive of shard %d holds more than its state knows, as after the restore of an older backup. The "
                "rest is kept in %s; to add its pages again: evercrawl import warc FILE",
                self._shard,
                ", ".join(str(path) for path in resumed.set_aside),
            )
        if resumed.missing_bytes:
            log.warning(
                "The archive of shard %d lacks %d bytes that the state refers to, as after a power cut. "
                "evercrawl verify lists the pages; they are fetched again with: evercrawl crawl --refresh",
                self._shard,
                resumed.missing_bytes,
            )
        return resumed.missing_bytes

    def acknowledge(self, end: ArchiveEnd) -> None:
        """Note that the state refers to records up to this end."""
        if self._owner is not None:
            return
        try:
            write_mark(self._folder, self._shard, end)
        except OSError as error:
            raise self._unavailable(error, "note its end") from error

    def append(
        self,
        url: str,
        exchange: Exchange,
        *,
        truncated: str | None = None,
        payload_sha1: bytes | None = None,
        revisit: OriginalRecord | None = None,
        not_modified: bool = False,
        rendered: RenderedRecord | None = None,
    ) -> Stored:
        """Append the request and response of an exchange; if it raises, nothing was stored."""
        records = exchange_records(
            url, exchange, truncated=truncated, payload_sha1=payload_sha1, revisit=revisit, not_modified=not_modified
        )
        level, packed = self._settings.gzip_level, records.packed
        response = (
            compress_head(records.response, level, stored=packed)
            if packed
            else compress_record(records.response, level)
        )
        request = compress_record(records.request, level) if records.request else None
        derived = rendered_records(url, rendered, records.record_id, at=exchange.began) if rendered is not None else []
        members = [compress_record(record.block, level) for record in derived]
        self._ensure_file()
        offset = self._written + self._buffered_bytes
        for member in (*members, response, *([request] if request is not None else [])):
            self._add(member)
        # A version that was rendered begins with its document; the screenshot and the exchange follow.
        first, record_id = (members[0], derived[0].record_id) if derived else (response, records.record_id)
        return Stored(self._name, offset, len(first), record_id)

    def flush(self) -> ArchiveEnd | None:
        """Pass all records to the system; return the end of the archive."""
        if self._is_released:
            return ArchiveEnd(self._name, self._written)
        if self._file < 0:
            return None
        self._write_buffer()
        end = ArchiveEnd(self._name, self._written)
        if self._on_finished is not None and self._is_expired():
            self._close_file()
        return end

    async def sync(self) -> None:
        """Wait, if durable, until the flushed records are on the disk."""
        if self._durable and self._file >= 0:
            try:
                await sync_file(os.open(self._folder / self._name, os.O_RDONLY | os.O_CLOEXEC))
            except OSError as error:
                raise self._unavailable(error, f"sync {self._name}") from error

    def close(self) -> None:
        """Write buffered records and close the file."""
        if self._file >= 0:
            self.flush()
        if self._file >= 0:
            self._close_file()

    def release_files(self) -> None:
        """Write buffered records and close the file until the next record."""
        if self._file >= 0:
            self.flush()
            self._sync()
            os.close(self._file)
            self._file, self._is_released = -1, True

    def read(self, place: OriginalRecord) -> tuple[Headers, bytes] | None:
        """Return headers and body of a flushed record, or None if it cannot be read."""
        try:
            record = read_record(self._folder, place.file, place.offset, place.length)
        except StoreUnavailable:
            return None
        return record.headers, record.wire_body

    def _add(self, member: bytes) -> None:
        self._buffer.append(member)
        self._buffered_bytes += len(member)

    def _ensure_file(self) -> None:
        """Make sure that a file is open, and that neither it nor the buffer is full."""
        if self._is_released:
            self._is_released = False
            if self._written < self._max_bytes:
                self._reopen(self._folder / self._name)
        if self._file >= 0 and self._written + self._buffered_bytes >= self._max_bytes:
            self.close()
        if self._file < 0:
            self._start_file()
        elif self._buffered_bytes >= BUFFER_BYTES:
            self._write_buffer()

    def _start_file(self) -> None:
        number = self.next_number
        name = file_name(self._shard, number, self._owner.id if self._owner is not None else "")
        info = warcinfo_record(name, self._info, now=self._clock.now())
        self._use_file()
        try:
            make_folder(self._folder, is_durable=self._durable)
            self._file = os.open(self._folder / name, _NEW_FILE, ARCHIVE_MODE)
            if self._durable:
                sync_folder(self._folder)
        except OSError as error:
            raise self._unavailable(error, f"begin {name}") from error
        self._lock_shared()
        self._started_at = self._clock.now()
        self._name, self._written, self._next_number = name, 0, number + 1
        self._add(compress_record(info, self._settings.gzip_level))

    @property
    def next_number(self) -> int:
        """Return the number of the next file."""
        return self._next_number or self._first_number()

    def _first_number(self) -> int:
        if self._owner is not None:
            return self._owner.first_number
        return max(shard_files(self._folder, self._shard), default=0) + 1

    def _reopen(self, path: Path) -> None:
        self._use_file()
        self._file = os.open(path, _OLD_FILE)
        self._lock_shared()
        self._name, self._written = path.name, path.stat().st_size

    def _use_file(self) -> None:
        if self.open_files is not None:
            self.open_files.use(self)

    def _lock_shared(self) -> None:
        """Mark the file as unfinished for the uploader; the OS releases the lock however the process ends."""
        fcntl.flock(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def _write_buffer(self) -> None:
        """Write all buffered records, or none of them."""
        if not self._buffer:
            return
        rest = memoryview(b"".join(self._buffer))
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            self._undo_write(error)
            raise self._unavailable(error, f"write {self._name}") from error
        self._written += self._buffered_bytes
        self._buffer.clear()
        self._buffered_bytes = 0

    def _undo_write(self, cause: OSError) -> None:
        try:
            os.ftruncate(self._file, self._written)
        except OSError as error:
            error.add_note(f"while undoing a failed write: {cause}")
            raise self._unavailable(error, f"shorten {self._name}") from error

    def _sync(self) -> None:
        try:
            if self._durable:
                sync_data(self._file)
        except OSError as error:
            raise self._unavailable(error, f"sync {self._name}") from error

    def _close_file(self) -> None:
        self._sync()
        os.close(self._file)
        self._file = -1
        if self._on_finished is not None:
            self._on_finished()

    def _is_expired(self) -> bool:
        began, every = self._started_at, self._settings.upload_interval
        return began is not None and self._clock.now() - began >= every

    def _unavailable(self, error: OSError, doing: str) -> StoreUnavailable:
        reason = error.strerror or str(error)
        return StoreUnavailable(
            f"the archive in {self._folder} could not {doing}: {reason}; "
            "free some space or repair the disk, then run the same command again"
        )
