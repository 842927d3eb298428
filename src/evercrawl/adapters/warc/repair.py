"""What of a shard's archive may stay after a crash, and where does writing go on?

The store knows how far the archive was acknowledged; everything behind that was never promised to anybody
and goes. An archive that is *shorter* (a power cut without `durability = "power"`) keeps its whole records,
and is never appended to again: the store still points behind its end, and those places must not come to
hold something else.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import NamedTuple

from evercrawl.adapters.warc.files import number_in, shard_files, shard_of_member_file
from evercrawl.adapters.warc.member import member_end
from evercrawl.errors import BugFound
from evercrawl.model.page import ArchiveEnd

SET_ASIDE = ".unacknowledged"


class Resumption(NamedTuple):
    """Where writing goes on: in a file that is whole, or (None) in a new one with the next number."""

    file: Path | None
    next_number: int
    missing_bytes: int
    """Acknowledged bytes that are not there any more."""


def cut_back(folder: Path, shard: int, end: ArchiveEnd | None) -> Resumption:
    """Remove what lies behind the acknowledged end of a shard's archive.

    Files of workers with names of their own (a database's, or those that are uploaded) are never cut: nobody
    writes into them again, and what lies behind their acknowledged end is only room.
    """
    files = shard_files(folder, shard)
    if end is None:
        return _set_all_aside(files)
    if shard_of_member_file(end.file) == shard:
        return Resumption(None, max(files, default=0) + 1, 0)
    last = number_in(end.file, shard)
    if last is None:
        raise BugFound(f"shard {shard} cannot end in {end.file}: that is a file of another shard")
    for number, path in files.items():
        if number > last:
            path.unlink()
    return _cut_last(files.get(last), last, end.size)


def _set_all_aside(files: dict[int, Path]) -> Resumption:
    """Without any acknowledgement the state itself may be what is lost, so nothing is deleted."""
    for path in files.values():
        os.replace(path, _free_name(path))
    return Resumption(None, max(files, default=0) + 1, 0)


def _free_name(path: Path) -> Path:
    aside = path.with_name(path.name + SET_ASIDE)
    count = 1
    while aside.exists():
        count += 1
        aside = path.with_name(f"{path.name}{SET_ASIDE}-{count}")
    return aside


def _cut_last(path: Path | None, number: int, acknowledged: int) -> Resumption:
    if path is None:
        return Resumption(None, number + 1, acknowledged)
    size = path.stat().st_size
    if size >= acknowledged:
        os.truncate(path, acknowledged)
        return Resumption(path, number + 1, 0)
    whole = whole_length(path)
    os.truncate(path, whole)
    return Resumption(None, number + 1, acknowledged - whole)


def whole_length(path: Path) -> int:
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
