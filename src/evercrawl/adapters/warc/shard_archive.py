"""What of a shard's archive may stay after a crash, and where does writing go on?

The store knows how far the archive was acknowledged; everything behind that was never promised to anybody
and goes. An archive that is *shorter* (a power cut without `durability = "power"`) keeps its whole records,
and is never appended to again: the store still points behind its end, and those places must not come to
hold something else.
"""

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
    """Where writing goes on: in a file that is whole, or (None) in a new one with the next number."""

    file: Path | None
    next_number: int
    missing_bytes: int
    """Acknowledged bytes that are not there any more."""


def truncate_archive(folder: Path, shard: int, end: ArchiveEnd | None) -> ResumePoint:
    """Remove what lies behind the acknowledged end of a shard's archive.

    Files of workers with names of their own (a database's, or those that are uploaded) are never cut: nobody
    writes into them again, and what lies behind their acknowledged end is only room.
    """
    files = shard_files(folder, shard)
    if end is None:
        return _quarantine(files)
    if shard_of_worker_file(end.file) == shard:
        return ResumePoint(None, max(files, default=0) + 1, 0)
    last = file_number(end.file, shard)
    if last is None:
        raise BugFound(f"shard {shard} cannot end in {end.file}: that is a file of another shard")
    for number, path in files.items():
        if number > last:
            path.unlink()
    return _truncate_last(files.get(last), last, end.size)


def _quarantine(files: dict[int, Path]) -> ResumePoint:
    """Without any acknowledgement the state itself may be what is lost, so nothing is deleted."""
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
    """Length of the longest beginning of a file that consists of whole, sound gzip members."""
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


def file_name(shard: int, number: int, member: str = "") -> str:
    """The name of a shard's nth file; numbers begin at 1. `member`: of the worker that alone writes it."""
    own = f"-{member}" if member else ""
    return f"s{shard:02d}{own}-{number:06d}.warc.gz"


def file_number(name: str, shard: int) -> int | None:
    """The number of a file of this shard; None: the name is not one of this shard's."""
    match = _NAME.fullmatch(name)
    return int(match[2]) if match and int(match[1]) == shard else None


def shard_of_worker_file(name: str) -> int | None:
    """The shard of a file that a worker wrote under a name of its own; None: it is no such file."""
    match = _NAME_OF_MEMBER.fullmatch(name)
    return int(match[1]) if match else None


def shard_files(folder: Path, shard: int) -> dict[int, Path]:
    """The shard's files by number, oldest first."""
    if not folder.is_dir():
        return {}
    numbered = ((file_number(path.name, shard), path) for path in folder.iterdir())
    return dict(sorted((number, path) for number, path in numbered if number is not None))
