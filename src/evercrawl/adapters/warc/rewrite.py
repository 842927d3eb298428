"""Rewrite archive files without some of their records.
Each record is a gzip member, so the others are copied byte for byte and only their offsets shift. The body of a removed
record that others refer to moves to the first of them, and the rest refer to that one."""

from __future__ import annotations

import mmap
import os
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from evercrawl.adapters.warc.gzip_members import compress_record, decompress_at
from evercrawl.adapters.warc.reader import WarcRecord, http_parts, parse_record
from evercrawl.adapters.warc.warc_records import (
    PROFILE_IDENTICAL,
    WarcInfo,
    record_urn,
    repointed_revisit,
    resolved_response,
    warcinfo_record,
)

COPY_BYTES = 1 << 20


class _Span(NamedTuple):
    """A byte range to keep, or a member that another record replaces, which is made when it is written."""

    start: int
    end: int
    replacement: Callable[[], bytes] | None = None


class RewritePlan(NamedTuple):
    """The byte ranges of a file to keep, and a record to add; the warcinfo record is replaced."""

    path: Path
    spans: tuple[_Span, ...]
    dropped_bytes: int
    added: bytes


class RewriteResult(NamedTuple):
    """A rewritten file and the new offsets of its records."""

    new: str
    size: int
    starts: tuple[int, ...]
    shifts: tuple[int, ...]
    lengths: Mapping[int, int]  # The new lengths of replaced records, by their old offsets.

    def place(self, offset: int) -> int:
        """Return the new offset of a kept record."""
        return offset + self.shifts[bisect_right(self.starts, offset) - 1]


class _Place(NamedTuple):
    path: Path
    start: int
    own_id: str
    refers_to: tuple[str, ...] = ()  # Id, URL and date of the record that holds the body of a revisit.


@dataclass(slots=True)
class RemovalPlan:
    """The files to rewrite without the selected records."""

    files: list[RewritePlan] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    dropped: dict[str, _Place] = field(default_factory=dict)  # Selected records by id.
    holders: dict[str, _Place] = field(default_factory=dict)  # Removed record -> the record that gets its body.


def plan_removal(
    paths: Sequence[Path],
    selects: Callable[[WarcRecord], bool],
    *,
    preferred: Collection[bytes] = (),
    added: bytes = b"",
) -> RemovalPlan:
    """Plan to drop the selected records; `preferred` ids take over bodies first, and `added` is appended to each file
    that loses records. Damaged files are listed and stay as they are."""
    plan = RemovalPlan()
    known = {record_urn(record_id).decode() for record_id in preferred}
    sound = [path for path in paths if path.stat().st_size and _select(plan, path, selects)]
    for path in sound if plan.dropped else ():
        spans: list[_Span] = []
        lost, is_changed = 0, False
        for record, end in _records(path):
            place = _Place(path, record.offset, record.headers.get("warc-record-id", ""))
            if place.own_id in plan.dropped:
                lost += end - place.start
            elif record.kind == "revisit" and record.headers.get("warc-refers-to") in plan.dropped:
                _offer(plan, record, place, known)
                spans.append(_Span(place.start, end, _replacement(plan, place)))
                is_changed = True
            elif spans and spans[-1].end == place.start and spans[-1].replacement is None:
                spans[-1] = spans[-1]._replace(end=end)
            elif record.kind != "warcinfo":
                spans.append(_Span(place.start, end))
        if lost or is_changed:
            plan.files.append(RewritePlan(path, tuple(spans), lost, added if lost else b""))
    return plan


def _records(path: Path) -> Iterator[tuple[WarcRecord, int]]:
    """Return every record and the end of its member; raise ValueError if one is damaged."""
    start = 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        while start < len(data):
            unpacked, end = decompress_at(data, start)
            yield parse_record(unpacked, 0, offset=start)[0], end
            start = end


def _select(plan: RemovalPlan, path: Path, selects: Callable[[WarcRecord], bool]) -> bool:
    """Add the selected records of a file; return False if the file is damaged."""
    found: dict[str, _Place] = {}
    try:
        for record, _ in _records(path):
            if record.kind not in ("warcinfo", "metadata") and selects(record):
                own, parts = record.headers.get("warc-record-id", ""), ("", "-target-uri", "-date")
                of = tuple(record.headers.get(f"warc-refers-to{part}", "") for part in parts)
                found[own] = _Place(path, record.offset, own, of if record.kind == "revisit" and of[0] else ())
    except ValueError:
        plan.damaged.append(path.name)
        return False
    plan.dropped |= found
    return True


def _source(plan: RemovalPlan, record: WarcRecord) -> tuple[str, ...]:
    """Return the id of the record that holds the body of a revisit, and its URL and date if that one stays."""
    found: tuple[str, ...] = (record.headers.get("warc-refers-to", ""),)
    for _ in plan.dropped:  # A revisit may refer to another one.
        if found[0] not in plan.dropped or not plan.dropped[found[0]].refers_to:
            break
        found = plan.dropped[found[0]].refers_to
    return found


def _offer(plan: RemovalPlan, record: WarcRecord, place: _Place, known: Collection[str]) -> None:
    """Let a record get the body of a removed one, if it is the first, or the first of the preferred ones."""
    source = _source(plan, record)[0]
    first = plan.holders.get(source)
    is_same = record.headers.get("warc-profile") == PROFILE_IDENTICAL.decode()
    if is_same and (first is None or (place.own_id in known and first.own_id not in known)):
        plan.holders[source] = place


def _replacement(plan: RemovalPlan, place: _Place) -> Callable[[], bytes]:
    def make() -> bytes:
        unpacked, own = _read(place)
        source = _source(plan, own)
        if source[0] not in plan.dropped:
            return repointed_revisit(unpacked, source)
        holder = plan.holders.get(source[0])
        if holder is None:
            return repointed_revisit(unpacked, None)
        if holder != place:
            fields = _read(holder)[1].headers
            return repointed_revisit(unpacked, [fields[f"warc-{name}"] for name in ("record-id", "target-uri", "date")])
        head, body = http_parts(own).head, http_parts(_read(plan.dropped[source[0]])[1]).body
        concurrent = own.headers.get("warc-concurrent-to")
        return resolved_response(own, UUID(place.own_id[1:-1]).bytes, head=head, body=body, concurrent=concurrent)

    return make


def _read(place: _Place) -> tuple[bytes, WarcRecord]:
    with place.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        unpacked, _ = decompress_at(data, place.start)
    return unpacked, parse_record(unpacked, 0, offset=place.start)[0]


def rewrite_file(plan: RewritePlan, name: str, info: WarcInfo, *, now: datetime, level: int) -> RewriteResult:
    """Write the file under its new name and sync it, because the old one will be deleted."""
    new = plan.path.with_name(name)
    starts: list[int] = [0]
    shifts: list[int] = [0]
    lengths: dict[int, int] = {}
    with plan.path.open("rb") as source, new.open("xb") as target:
        target.write(compress_record(warcinfo_record(name, info, now=now), level))
        for start, end, replacement in plan.spans:
            starts.append(start)
            shifts.append(target.tell() - start)
            if replacement is not None:
                lengths[start] = target.write(compress_record(replacement(), level))
                continue
            source.seek(start)
            left = end - start
            while left:
                chunk = source.read(min(left, COPY_BYTES))
                if not chunk:
                    raise ValueError(f"{plan.path.name} became shorter during the copy")
                target.write(chunk)
                left -= len(chunk)
        if plan.added:
            target.write(compress_record(plan.added, level))
        size = target.tell()
        target.flush()
        os.fsync(target.fileno())
    return RewriteResult(name, size, tuple(starts), tuple(shifts), lengths)
