"""The archive files of a shard: their names, and where to resume after a crash.
A name is `s07-000001.warc.gz`: shard 7, first file. Bytes after the acknowledged end are removed. An archive that is
shorter (after a power cut without `durability = "power"`) keeps its complete records and is never appended to, because
the store still refers to offsets beyond its end."""

from __future__ import annotations

import mmap
import os
import re
from pathlib import Path
from typing import NamedTuple

from evercrawl.adapters.warc.gzip_members import member_end
from evercrawl.errors import BugFound
from evercrawl.model.page import ArchiveEnd

QUARANTINE_SUFFIX = ".unacknowledged"


_NAME = re.compile(r"s(\d{2,})-(\d{6,})\.warc\.gz")
_NAME_OF_MEMBER = re.compile(r"s(\d{2,})-[0-9a-z]+-\d{6,}\.warc\.gz")


class ResumePoint(NamedTuple):
    """Where to continue: in a complete file, or (None) in a new one with the next number."""

    file: Path | None
    next_number: int
    missing_bytes: int  # Acknowledged bytes that are lost.


def truncate_archive(folder: Path, shard: int, end: ArchiveEnd | None) -> ResumePoint:
    """Remove everything after the acknowledged end of a shard's archive.
    Files with a worker's id are never truncated: nobody writes to them again, and extra bytes do no harm."""
    files = shard_files(folder, shard)
    if end is None:
        return _quarantine(files)
    if shard_of_worker_file(end.file) == shard:
        return ResumePoint(None, max(files, default=0) + 1, 0)
    last = file_number(end.file, shard)
    if last is None:
        raise BugFound(f"shard {shard} cannot end in {end.file}: that file belongs to another shard")
    for number, path in files.items():
        if number > last:
            path.unlink()
    return _truncate_last(files.get(last), last, end.size)


def _quarantine(files: dict[int, Path]) -> ResumePoint:
    """Rename files without any acknowledgement: the state itself may be lost, so nothing is deleted."""
    for path in files.values():
        os.replace(path, _free_name(path))
    return ResumePoint(None, max(files, default=0) + 1, 0)


def _free_name(path: Path) -> Path:
    aside = path.with_name(path.name + QUARANTINE_SUFFIX)
    count = 1
    while aside.exists():
        count += 1
        aside = path.with_name(f"{path.name}{QUARANTINE_SUFFIX}-{count}")
    return aside


def _truncate_last(path: Path | None, number: int, acknowledged: int) -> ResumePoint:
    if path is None:
        return ResumePoint(None, number + 1, acknowledged)
    size = path.stat().st_size
    if size >= acknowledged:
        os.truncate(path, acknowledged)
        return ResumePoint(path, number + 1, 0)
    whole = intact_length(path)
    os.truncate(path, whole)
    return ResumePoint(None, number + 1, acknowledged - whole)


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
