"""An archive file without some of its records: a new file that has the others byte for byte.

Records are gzip members of their own, so nothing is packed anew, and a record's place in the new file is its
old place minus what went before it.
"""

from __future__ import annotations

import mmap
import os
from bisect import bisect_right
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from evercrawl.adapters.warc.gzip_members import compress_record, decompress_at
from evercrawl.adapters.warc.reader import parse_record
from evercrawl.adapters.warc.records import WarcInfo, record_urn, warcinfo_record

COPY_BYTES = 1 << 20


class _Member(NamedTuple):
    start: int
    end: int
    kind: str
    own_id: str
    of: str
    """The answer that it belongs to: of a revisit its original, of a request its answer."""


class RewritePlan(NamedTuple):
    """Which bytes of a file stay, as spans in order; the warcinfo record is written anew."""

    path: Path
    spans: tuple[tuple[int, int], ...]
    dropped_bytes: int


class RewriteResult(NamedTuple):
    """A file that was written anew, and where its records lie now."""

    old: str
    new: str
    size: int
    starts: tuple[int, ...]
    shifts: tuple[int, ...]

    def place(self, offset: int) -> int:
        """The new offset of a record that stayed."""
        return offset + self.shifts[bisect_right(self.starts, offset) - 1]


def plan_rewrite(path: Path, doomed: Collection[bytes]) -> RewritePlan | None:
    """What stays of a file without the records of these ids, revisits of them, and their requests.

    None: nothing in it is concerned. ValueError: the file is damaged.
    """
    if path.stat().st_size == 0:
        return None
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        members = list(_members(data))
    gone = {record_urn(record_id).decode() for record_id in doomed}
    gone |= {member.own_id for member in members if member.kind == "revisit" and member.of in gone}
    stays = [member for member in members if member.own_id not in gone and not _is_request_for(member, gone)]
    if len(stays) == len(members):
        return None
    lost = sum(member.end - member.start for member in members)
    lost -= sum(member.end - member.start for member in stays)
    return RewritePlan(path, _spans(stays), lost)


def _members(data: mmap.mmap) -> Iterator[_Member]:
    """Every member; ValueError where one is damaged."""
    start = 0
    while start < len(data):
        unpacked, end = decompress_at(data, start)
        record, _ = parse_record(unpacked, 0, offset=start)
        headers = record.headers
        of = headers.get("warc-refers-to") or headers.get("warc-concurrent-to", "")
        yield _Member(start, end, record.kind, headers.get("warc-record-id", ""), of)
        start = end


def _is_request_for(member: _Member, gone: set[str]) -> bool:
    return member.kind == "request" and member.of in gone


def _spans(members: list[_Member]) -> tuple[tuple[int, int], ...]:
    spans: list[tuple[int, int]] = []
    for member in members:
        if member.kind == "warcinfo":
            continue
        if spans and spans[-1][1] == member.start:
            spans[-1] = spans[-1][0], member.end
        else:
            spans.append((member.start, member.end))
    return tuple(spans)


def rewrite_file(plan: RewritePlan, name: str, info: WarcInfo, *, now: datetime, level: int) -> RewriteResult:
    """Write the file under its new name and make it durable, for what it replaces will be deleted."""
    new = plan.path.with_name(name)
    starts: list[int] = [0]
    shifts: list[int] = [0]
    with plan.path.open("rb") as source, new.open("xb") as target:
        target.write(compress_record(warcinfo_record(name, info, now=now), level))
        for start, end in plan.spans:
            starts.append(start)
            shifts.append(target.tell() - start)
            source.seek(start)
            left = end - start
            while left:
                chunk = source.read(min(left, COPY_BYTES))
                if not chunk:
                    raise ValueError(f"{plan.path.name} became shorter while it was copied")
                target.write(chunk)
                left -= len(chunk)
        size = target.tell()
        target.flush()
        os.fsync(target.fileno())
    return RewriteResult(plan.path.name, name, size, tuple(starts), tuple(shifts))
