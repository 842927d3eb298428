"""What do these bytes say? WARC headers and the HTTP heads inside blocks, read with tolerance and limits."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

from evercrawl.adapters.warc.member import RECORD_LIMIT, Buffer
from evercrawl.model.fetch import Headers

HEADER_LIMIT = 256 * 1024
"""Most bytes of one record's header."""

_MARK = b"WARC/"
_VERSION = re.compile(rb"WARC/[01]\.\d+[ \t]*\r?\Z")
_HEADER_END = (b"\r\n\r\n", b"\n\n")
_HEAD_END = re.compile(rb"\n\r?\n")
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})")
_FRACTION = re.compile(r"\.(\d+)")


class Record(NamedTuple):
    """A record as it lies in a file; header names are in lower case."""

    offset: int
    kind: str
    headers: dict[str, str]
    block: bytes


class HttpParts(NamedTuple):
    """A response block, taken apart."""

    status: int
    headers: Headers
    head: bytes
    body: bytes


def find_record(data: Buffer, start: int) -> int | None:
    """The next place from `start` on where a record may begin: a version mark at the beginning of a line."""
    at = data.find(_MARK, start)
    while at > start and data[at - 1 : at] != b"\n":
        at = data.find(_MARK, at + 1)
    return at if at >= 0 else None


def parse_record(data: Buffer, at: int, *, offset: int) -> tuple[Record, int]:
    """The record that begins at `at` and where its block ends; ValueError says what is wrong with it."""
    header_end, block_start = _header_end(data, at)
    first, *lines = data[at:header_end].split(b"\n")
    if not _VERSION.match(first):
        raise ValueError(f"unknown version {first[:20]!r}")
    headers = _fields(lines)
    block_end = block_start + _length(headers)
    if block_end > len(data):
        raise ValueError(f"the record is cut off: {block_end - len(data)} bytes are missing")
    kind = headers.get("warc-type")
    if not kind:
        raise ValueError("the record has no WARC-Type")
    return Record(offset, kind, headers, bytes(data[block_start:block_end])), block_end


def _header_end(data: Buffer, at: int) -> tuple[int, int]:
    found = ((data.find(mark, at, at + HEADER_LIMIT), len(mark)) for mark in _HEADER_END)
    ends = [(end, end + size) for end, size in found if end >= 0]
    if not ends:
        raise ValueError(f"no end of the record's header within {HEADER_LIMIT} bytes")
    return min(ends)


def _length(headers: dict[str, str]) -> int:
    text = headers.get("content-length", "")
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(RECORD_LIMIT)) or int(text) > RECORD_LIMIT:
        raise ValueError(f"Content-Length {text[:40]!r} is missing, no number, or more than {RECORD_LIMIT}")
    return int(text)


def _fields(lines: list[bytes]) -> dict[str, str]:
    """Header fields by name; a line that begins with space continues the last, repeated ones are joined."""
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
        # wget put angle brackets around it, others leave spaces in.
        fields["warc-target-uri"] = uri.removeprefix("<").removesuffix(">").replace(" ", "%20")
    return fields


def http_parts(block: bytes) -> HttpParts:
    """Status, header fields, head and body of a response block."""
    status = _STATUS.match(block)
    if status is None:
        raise ValueError("the block does not begin with an HTTP status line")
    end = _HEAD_END.search(block)
    split = end.end() if end else len(block)
    lines = block[:split].decode("latin-1").split("\n")[1:]
    return HttpParts(int(status[1]), _http_fields(lines), block[:split], block[split:])


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


def warc_moment(text: str) -> datetime:
    """The moment of a WARC-Date, whatever number of digits its fraction has."""
    moment = datetime.fromisoformat(_FRACTION.sub(lambda found: "." + found[1][:6].ljust(6, "0"), text))
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
