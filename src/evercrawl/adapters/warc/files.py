"""Which files of the archive's folder belong to a shard, and in which order.

A name is `s07-000001.warc.gz`: shard 7, first file. Numbers have a fixed width, so that names sort in the
order of writing.
"""

from __future__ import annotations

import re
from pathlib import Path

_NAME = re.compile(r"s(\d{2,})-(\d{6,})\.warc\.gz")
_NAME_OF_MEMBER = re.compile(r"s(\d{2,})-[0-9a-z]+-\d{6,}\.warc\.gz")


def file_name(shard: int, number: int, member: str = "") -> str:
    """The name of a shard's nth file; numbers begin at 1. `member`: of the worker that alone writes it."""
    own = f"-{member}" if member else ""
    return f"s{shard:02d}{own}-{number:06d}.warc.gz"


def number_in(name: str, shard: int) -> int | None:
    """The number of a file of this shard; None: the name is not one of this shard's."""
    match = _NAME.fullmatch(name)
    return int(match[2]) if match and int(match[1]) == shard else None


def shard_of_member_file(name: str) -> int | None:
    """The shard of a file that a worker wrote under a name of its own; None: it is no such file."""
    match = _NAME_OF_MEMBER.fullmatch(name)
    return int(match[1]) if match else None


def shard_files(folder: Path, shard: int) -> dict[int, Path]:
    """The shard's files by number, oldest first."""
    if not folder.is_dir():
        return {}
    numbered = ((number_in(path.name, shard), path) for path in folder.iterdir())
    return dict(sorted((number, path) for number, path in numbered if number is not None))
