"""Reading back: one record by its place, or a whole file that may be damaged.

Nothing here trusts a length that it reads: headers, blocks and unpacked members each have a named limit.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from evercrawl.adapters.warc.member import MAGIC, RECORD_LIMIT, Buffer, unpack, unpack_at
from evercrawl.adapters.warc.parse import Record, find_record, http_parts, parse_record, warc_moment
from evercrawl.adapters.warc.place import read_bytes
from evercrawl.errors import StoreUnavailable
from evercrawl.model.fetch import Headers

_BETWEEN = b"\r\n \t"
_STRAY = "bytes that belong to no record"


class Damage(NamedTuple):
    """A place where the file is not what it should be, and in which way."""

    offset: int
    message: str


@dataclass(frozen=True, slots=True)
class ArchivedResponse:
    """An answer as the archive holds it; a revisit record has no body, `refers_to` says whose it shares."""

    url: str
    date: datetime
    status: int
    headers: Headers
    head: bytes
    wire_body: bytes
    ip: str | None
    truncated: str | None
    refers_to: str | None
    """WARC-Refers-To of a revisit record."""


def read_record(folder: Path, file: str, offset: int, length: int) -> ArchivedResponse:
    """The response (or revisit) record that lies at this place of the archive."""
    packed = read_bytes(folder, file, offset, min(length, RECORD_LIMIT))
    try:
        return _archived_response(unpack(packed))
    except (ValueError, KeyError) as error:
        raise StoreUnavailable(f"the archive's record in {file} at {offset} is damaged: {error}") from error


def _archived_response(data: bytes) -> ArchivedResponse:
    record, _ = parse_record(data, 0, offset=0)
    http = http_parts(record.block)
    return ArchivedResponse(
        url=record.headers["warc-target-uri"],
        date=warc_moment(record.headers["warc-date"]),
        status=http.status,
        headers=http.headers,
        head=http.head,
        wire_body=http.body,
        ip=record.headers.get("warc-ip-address"),
        truncated=record.headers.get("warc-truncated"),
        refers_to=record.headers.get("warc-refers-to"),
    )


def iterate(path: Path) -> Iterator[Record | Damage]:
    """Every sound record of a WARC file, packed or not, with a word about each damaged place between them."""
    if path.stat().st_size == 0:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:2] == MAGIC[:2]:
            yield from _packed_records(data)
        else:
            yield from _records_of(data, member=None)


def _packed_records(data: mmap.mmap) -> Iterator[Record | Damage]:
    position = 0
    while position < len(data):
        try:
            unpacked, following = unpack_at(data, position)
        except ValueError as error:
            yield Damage(position, str(error))
            following = data.find(MAGIC, position + 1)
            if following < 0:
                return
        else:
            yield from _records_of(unpacked, member=position)
        position = following


def _records_of(data: Buffer, *, member: int | None) -> Iterator[Record | Damage]:
    """The records of a plain file or of one gzip member, which should hold one record and may hold more."""
    start, reported = 0, False
    while (at := find_record(data, start)) is not None:
        offset = at if member is None else member
        if not reported and data[start:at].strip(_BETWEEN):
            yield Damage(start if member is None else member, _STRAY)
        try:
            record, start = parse_record(data, at, offset=offset)
            yield record
            reported = False
        except ValueError as error:
            yield Damage(offset, str(error))
            start, reported = at + 1, True
    if not reported and data[start:].strip(_BETWEEN):
        yield Damage(start if member is None else member, _STRAY)
