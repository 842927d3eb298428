"""Read WARC records: one by its location, or all of a file that may be damaged.
Lengths in files are not trusted: headers, blocks and members have limits."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from evercrawl.adapters.warc.gzip_members import GZIP_MAGIC, MAX_RECORD_BYTES, Buffer, decompress_at, decompress_member
from evercrawl.errors import StoreUnavailable
from evercrawl.model.fetch import Headers

_BETWEEN = b"\r\n \t"
_STRAY = "bytes outside of any record"


DERIVED_KINDS = frozenset(("conversion", "resource"))  # Records whose block is the content itself.
MAX_HEADER_BYTES = 256 * 1024  # Size limit of a record's header.
_MARK = b"WARC/"
_VERSION = re.compile(rb"WARC/[01]\.\d+[ \t]*\r?\Z")
_HEAD_END = re.compile(rb"\n\r?\n")
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})")
_FRACTION = re.compile(r"\.(\d+)")


class WarcDamage(NamedTuple):
    """A damaged place in a file."""

    offset: int
    message: str


@dataclass(frozen=True, slots=True)
class ArchivedResponse:
    """A response in the archive. A revisit record has no body; `refers_to` names the record with the body."""

    url: str
    date: datetime
    status: int
    headers: Headers
    head: bytes
    wire_body: bytes
    ip: str | None
    truncated: str | None
    refers_to: str | None  # WARC-Refers-To of a revisit record.


def read_record(folder: Path, file: str, offset: int, length: int) -> ArchivedResponse:
    """Read the response or revisit record at a location."""
    packed = read_archive_bytes(folder, file, offset, min(length, MAX_RECORD_BYTES))
    try:
        return _archived_response(decompress_member(packed))
    except (ValueError, KeyError) as error:
        raise StoreUnavailable(f"the archive record in {file} at {offset} is damaged: {error}") from error


def _archived_response(data: bytes) -> ArchivedResponse:
    record, _ = parse_record(data, 0, offset=0)
    http = http_parts(record)
    return ArchivedResponse(
        url=record.headers["warc-target-uri"],
        date=parse_warc_date(record.headers["warc-date"]),
        status=http.status,
        headers=http.headers,
        head=http.head,
        wire_body=http.body,
        ip=record.headers.get("warc-ip-address"),
        truncated=record.headers.get("warc-truncated"),
        refers_to=record.headers.get("warc-refers-to") if record.kind == "revisit" else None,
    )


def iterate_records(path: Path) -> Iterator[WarcRecord | WarcDamage]:
    """Return every intact record of a WARC file, compressed or not, and a note for each damaged place."""
    if path.stat().st_size == 0:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:2] == GZIP_MAGIC[:2]:
            yield from _gzip_records(data)
        else:
            yield from _records_in(data, member=None)


def _gzip_records(data: mmap.mmap) -> Iterator[WarcRecord | WarcDamage]:
    position = 0
    while position < len(data):
        try:
            unpacked, following = decompress_at(data, position)
        except ValueError as error:
            yield WarcDamage(position, str(error))
            following = data.find(GZIP_MAGIC, position + 1)
            if following < 0:
                return
        else:
            yield from _records_in(unpacked, member=position)
        position = following


def _records_in(data: Buffer, *, member: int | None) -> Iterator[WarcRecord | WarcDamage]:
    """Return the records of a plain file or of one gzip member, which should hold only one."""
    start, reported = 0, False
    while (at := find_record(data, start)) is not None:
        offset = at if member is None else member
        if not reported and data[start:at].strip(_BETWEEN):
            yield WarcDamage(start if member is None else member, _STRAY)
        try:
            record, start = parse_record(data, at, offset=offset)
            yield record
            reported = False
        except BadRecord as error:
            yield WarcDamage(offset, str(error))
            start, reported = error.following, True
    if not reported and data[start:].strip(_BETWEEN):
        yield WarcDamage(start if member is None else member, _STRAY)


class BadRecord(ValueError):
    """A damaged record; the search for the next one goes on at `following`, so that no byte is parsed twice."""

    def __init__(self, message: str, following: int) -> None:
        super().__init__(message)
        self.following = following


class WarcRecord(NamedTuple):
    """A record in a file; header names are lower-case."""

    offset: int
    kind: str
    headers: dict[str, str]
    block: bytes


class HttpBlock(NamedTuple):
    """The parts of a response block."""

    status: int
    headers: Headers
    head: bytes
    body: bytes


def find_record(data: Buffer, start: int) -> int | None:
    """Return the next position where a record may start: a version mark at the start of a line."""
    at = data.find(_MARK, start)
    while at > start and data[at - 1 : at] != b"\n":
        at = data.find(_MARK, at + 1)
    return at if at >= 0 else None


def parse_record(data: Buffer, at: int, *, offset: int) -> tuple[WarcRecord, int]:
    """Parse the record at `at`; return it and the end of its block, or raise BadRecord."""
    header_end, block_start = _header_end(data, at)
    inner = data.rfind(b"\n" + _MARK, at, header_end)
    if inner >= 0:
        raise BadRecord("the record ends within its header", inner + 1)
    first, *lines = data[at:header_end].split(b"\n")
    if not _VERSION.match(first):
        raise BadRecord(f"unknown version {first[:20]!r}", header_end)
    headers = _fields(lines)
    try:
        block_end = block_start + _length(headers)
    except ValueError as error:
        raise BadRecord(str(error), header_end) from None
    if block_end > len(data):
        raise BadRecord(f"the record is truncated: {block_end - len(data)} bytes are missing", header_end)
    kind = headers.get("warc-type")
    if not kind:
        raise BadRecord("the record has no WARC-Type", header_end)
    return WarcRecord(offset, kind, headers, bytes(data[block_start:block_end])), block_end


def _header_end(data: Buffer, at: int) -> tuple[int, int]:
    """Return the ends of the header's last line and of the empty line after it."""
    end = _HEAD_END.search(data, at, at + MAX_HEADER_BYTES)
    if end is not None:
        return end.start(), end.end()
    later = _HEAD_END.search(data, at + MAX_HEADER_BYTES)
    following = max(at + 1, later.end() - MAX_HEADER_BYTES) if later else len(data)
    raise BadRecord(f"no end of the record's header within {MAX_HEADER_BYTES} bytes", following)


def _length(headers: dict[str, str]) -> int:
    text = headers.get("content-length", "")
    if (
        not (text.isascii() and text.isdigit())
        or len(text) > len(str(MAX_RECORD_BYTES))
        or int(text) > MAX_RECORD_BYTES
    ):
        raise ValueError(f"Content-Length {text[:40]!r} is missing, not a number, or more than {MAX_RECORD_BYTES}")
    return int(text)


def _fields(lines: list[bytes]) -> dict[str, str]:
    """Parse header fields; continuation lines are appended and repeated fields joined."""
    fields: dict[str, str] = {}
    name = ""
    for line in lines:
        text = line.decode("utf-8", "replace")
        if text[:1] in (" ", "\t") and name:
            fields[name] = f"{fields[name]} {text.strip()}".strip()
            continue
        name, colon, value = text.partition(":")
        name = name.strip().lower()
        if colon:
            fields[name] = f"{fields[name]}, {value.strip()}" if name in fields else value.strip()
        else:
            name = ""
    if (uri := fields.get("warc-target-uri")) is not None:
        # wget adds angle brackets, other tools leave spaces.
        fields["warc-target-uri"] = uri.removeprefix("<").removesuffix(">").replace(" ", "%20")
    return fields


def http_parts(record: WarcRecord) -> HttpBlock:
    """Return the response in a record; a rendered document gets a head of its own."""
    if record.kind not in DERIVED_KINDS:
        return parse_http_block(record.block)
    kind = record.headers.get("content-type", "application/octet-stream")
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode("latin-1", "replace")
    return HttpBlock(200, (("Content-Type", kind),), head, record.block)


def parse_http_block(block: bytes) -> HttpBlock:
    """Parse a response block."""
    status = _STATUS.match(block)
    if status is None:
        raise ValueError("the block does not begin with an HTTP status line")
    end = _HEAD_END.search(block)
    split = end.end() if end else len(block)
    lines = block[:split].decode("latin-1").split("\n")[1:]
    return HttpBlock(int(status[1]), _http_fields(lines), block[:split], block[split:])


def _http_fields(lines: list[str]) -> Headers:
    fields: list[tuple[str, str]] = []
    for line in lines:
        if line[:1] in (" ", "\t") and fields:
            name, value = fields[-1]
            fields[-1] = name, f"{value} {line.strip()}"
        elif ":" in line:
            name, _, value = line.partition(":")
            fields.append((name.strip(), value.strip()))
    return tuple(fields)


def parse_warc_date(text: str) -> datetime:
    """Parse a WARC-Date with any number of fractional digits."""
    moment = datetime.fromisoformat(_FRACTION.sub(lambda found: "." + found[1][:6].ljust(6, "0"), text))
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def archive_path(folder: Path, file: str) -> Path:
    """Return the path of an archive file that the state names; raise StoreUnavailable if it is not in the folder."""
    if Path(file).name != file or "\0" in file or file == "..":
        raise StoreUnavailable(
            f"the state names {file!r}, which is not an archive file; it was not written by evercrawl"
        )
    return folder / file


def read_archive_bytes(folder: Path, file: str, offset: int, length: int) -> bytes:
    """Read up to `length` bytes from the local file or the bucket; raise StoreUnavailable if neither has it."""
    where = f"{file} at {offset}"
    if offset < 0 or length < 0:
        raise StoreUnavailable(f"the archive file {where} cannot be read: there is no such place")
    try:
        with archive_path(folder, file).open("rb") as opened:
            opened.seek(offset)
            return opened.read(length)
    except FileNotFoundError as error:
        found = _read_from_bucket(folder, file, offset, length)
        if found is None:
            raise StoreUnavailable(f"the archive file {where} cannot be read: {error.strerror}") from error
        return found
    except OSError as error:
        raise StoreUnavailable(f"the archive file {where} cannot be read: {error.strerror}") from error


def _read_from_bucket(folder: Path, file: str, offset: int, length: int) -> bytes | None:
    from evercrawl.adapters.objectstore.uploader import archive_address  # only if a file is missing

    address = archive_address(folder)
    if address is None:
        return None
    from evercrawl.adapters.objectstore.bucket import open_bucket

    try:
        return open_bucket(address).read(file, offset, length)
    except FileNotFoundError:
        return None
