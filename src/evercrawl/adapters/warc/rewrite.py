"""Rewrite an archive file without some of its records.
Each record is a gzip member, so the others are copied byte for byte and only their offsets shift."""

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
from evercrawl.adapters.warc.warc_records import WarcInfo, record_urn, warcinfo_record

COPY_BYTES = 1 << 20


class _Member(NamedTuple):
    start: int
    end: int
    kind: str
    own_id: str
    of: str  # The record it belongs to: a revisit's original, or a request's response.


class RewritePlan(NamedTuple):
    """The byte ranges of a file to keep; the warcinfo record is replaced."""

    path: Path
    spans: tuple[tuple[int, int], ...]
    dropped_bytes: int


class RewriteResult(NamedTuple):
    """A rewritten file and the new offsets of its records."""

    old: str
    new: str
    size: int
    starts: tuple[int, ...]
    shifts: tuple[int, ...]

    def place(self, offset: int) -> int:
        """Return the new offset of a kept record."""
        return offset + self.shifts[bisect_right(self.starts, offset) - 1]


def plan_rewrite(path: Path, record_ids: Collection[bytes]) -> RewritePlan | None:
    """Plan to drop the records with these ids, their revisits and their requests.
    Return None if nothing changes; raise ValueError if the file is damaged."""
    if path.stat().st_size == 0:
        return None
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        members = list(_members(data))
    dropped_ids = {record_urn(record_id).decode() for record_id in record_ids}
    dropped_ids |= {member.own_id for member in members if member.kind == "revisit" and member.of in dropped_ids}
    kept = [one for one in members if one.own_id not in dropped_ids and not _is_request_for(one, dropped_ids)]
    if len(kept) == len(members):
        return None
    dropped_bytes = sum(member.end - member.start for member in members)
    dropped_bytes -= sum(member.end - member.start for member in kept)
    return RewritePlan(path, _spans(kept), dropped_bytes)


def _members(data: mmap.mmap) -> Iterator[_Member]:
    """Return all members; raise ValueError if one is damaged."""
    start = 0
    while start < len(data):
        unpacked, end = decompress_at(data, start)
        record, _ = parse_record(unpacked, 0, offset=start)
        headers = record.headers
        of = headers.get("warc-refers-to") or headers.get("warc-concurrent-to", "")
        yield _Member(start, end, record.kind, headers.get("warc-record-id", ""), of)
        start = end


def _is_request_for(member: _Member, dropped_ids: set[str]) -> bool:
    return member.kind == "request" and member.of in dropped_ids


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
    """Write the file under its new name and sync it, because the old one will be deleted."""
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
                    raise ValueError(f"{plan.path.name} became shorter during the copy")
                target.write(chunk)
                left -= len(chunk)
        size = target.tell()
        target.flush()
        os.fsync(target.fileno())
    return RewriteResult(plan.path.name, name, size, tuple(starts), tuple(shifts))
