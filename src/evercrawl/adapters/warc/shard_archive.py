"""The archive files of a shard: their names, and where to resume after a crash.
A name is `s07-000001.warc.gz`: shard 7, first file. Beside the files lies a mark of the end that some state has
acknowledged. Bytes beyond the state's end are removed if they are beyond the mark too: nothing ever referred to them.
Otherwise the state is older than the archive, as after restoring a backup, and they are kept apart. An archive that
is shorter or ends with zeros (after a power cut without `durability = "power"`) keeps its complete records and is never
appended to, because the store still refers to offsets beyond its end."""

from __future__ import annotations

import mmap
import os
import re
import shutil
from pathlib import Path
from typing import NamedTuple

from evercrawl.adapters.system import sync_folder
from evercrawl.adapters.warc.gzip_members import member_end
from evercrawl.errors import BugFound
from evercrawl.model.page import ArchiveEnd

QUARANTINE_SUFFIX = ".unacknowledged"
ZERO_TAIL_BYTES = 32  # Zeros at the end that a disk wrote instead of records; a gzip member has no such run.


_NAME = re.compile(r"s(\d{2,})-(\d{6,})\.warc\.gz")
_NAME_OF_MEMBER = re.compile(r"s(\d{2,})-[0-9a-z]+-\d{6,}\.warc\.gz")


class ResumePoint(NamedTuple):
    """Where to continue: in a complete file, or (None) in a new one with the next number."""

    file: Path | None
    next_number: int
    missing_bytes: int  # Acknowledged bytes that are lost.
    set_aside: tuple[Path, ...] = ()  # Files with records that this state does not know.


def truncate_archive(folder: Path, shard: int, end: ArchiveEnd | None) -> ResumePoint:
    """Remove everything after the acknowledged end of a shard's archive, or set it aside if a state knew it.
    Files with a worker's id are never truncated: nobody writes to them again, and extra bytes do no harm."""
    files = shard_files(folder, shard)
    if end is None:
        return _quarantine(files)
    if shard_of_worker_file(end.file) == shard:
        return ResumePoint(None, max(files, default=0) + 1, 0)
    last = file_number(end.file, shard)
    if last is None:
        raise BugFound(f"shard {shard} cannot end in {end.file}: that file belongs to another shard")
    mark = read_mark(folder, shard)
    is_known = mark is None or (file_number(mark.file, shard) or 0, mark.size) > (last, end.size)
    aside: list[Path] = []
    for number, path in files.items():
        if number > last:
            aside += _set_aside(path) if is_known else _delete(path)
    resumed = _truncate_last(files.get(last), last, end.size, keeps_rest=is_known)
    set_aside = (*resumed.set_aside, *aside)
    next_number = max(resumed.next_number, max(files, default=0) + 1) if set_aside else resumed.next_number
    return resumed._replace(set_aside=set_aside, next_number=next_number)


def write_mark(folder: Path, shard: int, end: ArchiveEnd) -> None:
    """Note the end that a state has acknowledged."""
    file = os.open(_mark_path(folder, shard), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o640)
    try:
        os.pwrite(file, f"{end.file} {end.size:020d}\n".encode(), 0)
    finally:
        os.close(file)


def read_mark(folder: Path, shard: int) -> ArchiveEnd | None:
    """Return the end that some state has acknowledged; None if that is not known."""
    try:
        name, _, size = _mark_path(folder, shard).read_text("ascii").partition(" ")
        return ArchiveEnd(name, int(size)) if file_number(name, shard) is not None else None
    except (OSError, ValueError):
        return None


def _mark_path(folder: Path, shard: int) -> Path:
    return folder / f"s{shard:02d}.acknowledged"


def _quarantine(files: dict[int, Path]) -> ResumePoint:
    """Rename files without any acknowledgement: the state itself may be lost, so nothing is deleted."""
    aside = tuple(one for path in files.values() for one in _set_aside(path))
    return ResumePoint(None, max(files, default=0) + 1, 0, aside)


def _set_aside(path: Path) -> list[Path]:
    aside = _free_name(path)
    os.replace(path, aside)
    return [aside]


def _delete(path: Path) -> list[Path]:
    path.unlink()
    return []


def _free_name(path: Path) -> Path:
    aside = path.with_name(path.name + QUARANTINE_SUFFIX)
    count = 1
    while aside.exists():
        count += 1
        aside = path.with_name(f"{path.name}{QUARANTINE_SUFFIX}-{count}")
    return aside


def _truncate_last(path: Path | None, number: int, acknowledged: int, *, keeps_rest: bool) -> ResumePoint:
    if path is None:
        return ResumePoint(None, number + 1, acknowledged)
    size = path.stat().st_size
    if size >= acknowledged and ends_with_zeros(path, acknowledged):
        return ResumePoint(None, number + 1, max(ZERO_TAIL_BYTES, acknowledged - intact_length(path)))
    if size >= acknowledged:
        aside = _copy_rest(path, acknowledged) if keeps_rest and size > acknowledged else ()
        os.truncate(path, acknowledged)
        return ResumePoint(path, number + 1, 0, aside)
    whole = intact_length(path)
    os.truncate(path, whole)
    return ResumePoint(None, number + 1, acknowledged - whole)


def ends_with_zeros(path: Path, end: int) -> bool:
    """Return whether the bytes before the end are zeros, as after a power cut; the end of a record never is."""
    with path.open("rb") as file:
        file.seek(max(0, end - ZERO_TAIL_BYTES))
        tail = file.read(min(end, ZERO_TAIL_BYTES))
    return len(tail) == ZERO_TAIL_BYTES and not any(tail)


def _copy_rest(path: Path, start: int) -> tuple[Path, ...]:
    """Copy the bytes from `start` on to a file of their own, on the disk before anything is removed."""
    aside = _free_name(path)
    with path.open("rb") as source, aside.open("xb") as target:
        source.seek(start)
        shutil.copyfileobj(source, target)
        target.flush()
        os.fsync(target.fileno())
    sync_folder(path.parent)
    return (aside,)


def intact_length(path: Path) -> int:
    """Return the length of a file's longest prefix of intact gzip members."""
    size, whole = path.stat().st_size, 0
    if size == 0:
        return 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        while whole < size:
            try:
                whole = member_end(data, whole, len)
            except ValueError:
                break
    return whole


def file_name(shard: int, number: int, owner: str = "") -> str:
    """Return the name of a shard's file; numbers start at 1. `owner`: the id of the only process that writes it."""
    own = f"-{owner}" if owner else ""
    return f"s{shard:02d}{own}-{number:06d}.warc.gz"


def file_number(name: str, shard: int) -> int | None:
    """Return the number of a file of this shard, or None."""
    match = _NAME.fullmatch(name)
    return int(match[2]) if match and int(match[1]) == shard else None


def shard_of_worker_file(name: str) -> int | None:
    """Return the shard of a file with a worker's id, or None."""
    match = _NAME_OF_MEMBER.fullmatch(name)
    return int(match[1]) if match else None


def shard_files(folder: Path, shard: int) -> dict[int, Path]:
    """Return the shard's files by number, oldest first."""
    if not folder.is_dir():
        return {}
    numbered = ((file_number(path.name, shard), path) for path in folder.iterdir())
    return dict(sorted((number, path) for number, path in numbered if number is not None))
