"""Read HTTP/1.1 responses (RFC 9112): strict where framing could be attacked, lenient where servers are careless.
Bytes arrive in any pieces. Nothing here waits, and nothing grows beyond the limits."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from evercrawl.model.fetch import Fault, Headers

MAX_CHUNK_LINE_BYTES = 4096  # Longest line with a chunk's size and extensions.
MAX_TRAILER_BYTES = 16 * 1024  # Maximum bytes of fields after the last chunk.
MAX_INTERIM_RESPONSES = 16  # Maximum number of 1xx answers before the final one.
DETAIL_CHARS = 80

_STATUS_LINE = re.compile(r"HTTP/1\.([0-9])[ \t]+([1-9][0-9]{2})(?:[ \t].*)?", re.ASCII)
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", re.ASCII)
_LENGTH = re.compile(r"[0-9]{1,18}", re.ASCII)
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?", re.DOTALL)
_FRAMING_FIELDS = frozenset(("content-length", "transfer-encoding", "connection", "content-encoding"))
_BODILESS = frozenset((204, 304))


class BadResponse(Exception):
    """The bytes are not a valid response or exceed a limit; blames the server."""

    def __init__(self, fault: Fault, detail: str) -> None:
        super().__init__(detail)
        self.fault = fault
        self.detail = detail


class ReadLimits(NamedTuple):
    """How much of one response is read."""

    header_bytes: int
    header_count: int
    body_bytes: int


class ResponseHead(NamedTuple):
    """Status line and fields. No value contains CR, LF or NUL."""

    status: int
    minor: int  # 0 for HTTP/1.0, 1 for HTTP/1.1.
    headers: Headers
    framing_fields: dict[str, list[str]]  # Fields that decide framing and coding, by lower-case name, in order.
    raw: bytes


class BodyFraming(NamedTuple):
    """How the body ends: by length, by the last chunk, or with the connection."""

    length: int | None
    chunked: bool
    reusable: bool


class ResponseReader:
    """Reads one response piece by piece. Once `done`, it takes nothing more; memory stays within the limits."""

    __slots__ = (
        "_body", "_consume", "_framing", "_held", "_interim", "_left", "_limits", "_line", "_overhead",
        "_searched", "_trailers", "_wants_body", "done", "head", "reusable", "truncated",
    )  # fmt: skip

    def __init__(self, limits: ReadLimits, *, wants_body: Callable[[ResponseHead], bool] | None = None) -> None:
        """`wants_body` returns whether to read on after the header; None: always."""
        self.head: ResponseHead | None = None
        self.done = False
        self.truncated = False
        """True if the body was cut at the limit."""
        self.reusable = False
        """True if the connection can carry another request."""
        self._limits = limits
        self._wants_body = wants_body
        self._framing = BodyFraming(None, chunked=False, reusable=False)
        self._held = bytearray()
        self._searched = 0
        self._interim = 0
        self._body: bytes | bytearray = b""
        self._left = 0
        self._overhead = 0
        self._trailers = 0
        self._consume: Callable[[bytes], None] = self._take_head
        self._line: Callable[[bytes], None] = self._take_size

    @property
    def body(self) -> bytes:
        """The body so far, without transfer coding."""
        return bytes(self._body)

    def feed(self, data: bytes) -> bool:
        """Add the next bytes; return True once the response is complete or cut at the limit."""
        if self.done:
            self.reusable = self.reusable and not data  # unexpected bytes
        elif data:
            self._consume(data)
        return self.done

    def end(self) -> None:
        """Handle a closed connection: a body without length is complete, anything else is cut short."""
        if self.done:
            return
        if self.head is None:
            if self._held or self._interim:
                raise BadResponse(Fault.INCOMPLETE, "the connection was closed inside the header")
            raise BadResponse(Fault.EMPTY_REPLY, "the connection was closed without an answer")
        if self._framing.chunked:
            raise BadResponse(
                Fault.INCOMPLETE, f"the connection was closed inside a chunked body, after {len(self._body)} bytes"
            )
        if self._framing.length is not None:
            said = self._framing.length
            raise BadResponse(Fault.INCOMPLETE, f"the connection was closed after {len(self._body)} of {said} bytes")
        self.done = True

    def _take_head(self, data: bytes) -> None:
        buffer: bytes | bytearray = data
        if self._held:
            self._held += data
            buffer = self._held
        end = _end_of_head(buffer, self._searched)
        if end < 0 or end > self._limits.header_bytes:
            self._hold_head(buffer)
            return
        raw, rest = bytes(buffer[:end]), bytes(buffer[end:])
        self._held = bytearray()
        self._searched = 0
        head = parse_response_head(raw, self._limits)
        if head.status < 200:
            self._skip_interim(head, rest)
        else:
            self._begin_body(head, rest)

    def _hold_head(self, buffer: bytes | bytearray) -> None:
        if not b"HTTP/".startswith(buffer[:5]):
            raise BadResponse(Fault.INVALID_HTTP, f"the answer is not HTTP: {bytes(buffer[:DETAIL_CHARS])!r}")
        if len(buffer) > self._limits.header_bytes:
            limit = self._limits.header_bytes
            raise BadResponse(Fault.HEADERS_TOO_LARGE, f"status line and headers exceed {limit} bytes")
        if buffer is not self._held:
            self._held = bytearray(buffer)
        self._searched = max(0, len(buffer) - 2)

    def _skip_interim(self, head: ResponseHead, rest: bytes) -> None:
        self._interim += 1
        if head.status == 101:
            raise BadResponse(Fault.INVALID_HTTP, "the server switched protocols without being asked")
        if self._interim > MAX_INTERIM_RESPONSES:
            raise BadResponse(Fault.INVALID_HTTP, f"more than {MAX_INTERIM_RESPONSES} interim answers")
        if rest:
            self._take_head(rest)

    def _begin_body(self, head: ResponseHead, rest: bytes) -> None:
        self.head = head
        framing = self._framing = response_framing(head)
        self.reusable = framing.reusable
        if self._wants_body is not None and not self._wants_body(head):
            # What was not read would be taken for the next response.
            self.reusable = framing.reusable and framing.length is not None and framing.length == len(rest)
            self.done = True
            return
        if framing.chunked:
            self._body = bytearray()
            self._consume = self._take_chunks
        elif framing.length is None:
            self._body = bytearray()
            self._consume = self._keep
        else:
            self._left = framing.length
            self._consume = self._take_length
            if self._left <= len(rest) and self._left <= self._limits.body_bytes:
                self._body = rest[: self._left]  # the usual small page: one copy
                self._finish(len(rest) - self._left)
                return
            self._body = bytearray()
        if rest:
            self._consume(rest)

    def _finish(self, extra_bytes: int) -> None:
        self.done = True
        if extra_bytes:
            self.reusable = False

    def _keep(self, piece: bytes) -> None:
        room = self._limits.body_bytes - len(self._body)
        if len(piece) > room:
            piece = piece[:room]
            self.truncated = self.done = True
            self.reusable = False
        self._body += piece

    def _take_length(self, data: bytes) -> None:
        taken = min(self._left, len(data))
        self._left -= taken
        self._keep(data[:taken])
        if not self._left and not self.done:
            self._finish(len(data) - taken)

    def _take_chunks(self, data: bytes) -> None:
        if self._held:
            data = bytes(self._held) + data
            self._held.clear()
        at = 0
        while not self.done:
            if self._left:
                piece = data[at : at + self._left]
                if not piece:
                    return
                at += len(piece)
                self._left -= len(piece)
                self._keep(piece)
                continue
            end = data.find(b"\n", at)
            if end < 0:
                if len(data) - at > MAX_CHUNK_LINE_BYTES:
                    raise BadResponse(Fault.INVALID_HTTP, f"a chunk's line exceeds {MAX_CHUNK_LINE_BYTES} bytes")
                self._held += data[at:]
                return
            self._line(data[at:end].removesuffix(b"\r"))
            self._overhead += end + 1 - at
            at = end + 1
        if at < len(data):
            self.reusable = False

    def _take_size(self, line: bytes) -> None:
        match = _CHUNK_SIZE.fullmatch(line)
        if match is None or len(line) > MAX_CHUNK_LINE_BYTES:
            raise BadResponse(Fault.INVALID_HTTP, f"not a chunk size: {line[:DETAIL_CHARS]!r}")
        # Tiny chunks with long extensions would cost far more than the body's limit allows.
        if self._overhead > max(self._limits.body_bytes, self._limits.header_bytes):
            raise BadResponse(Fault.INVALID_HTTP, "more bytes of chunk framing than the limit for a body")
        self._left = int(match[1], 16)
        self._line = self._take_chunk_end if self._left else self._take_trailer

    def _take_chunk_end(self, line: bytes) -> None:
        if line:
            raise BadResponse(Fault.INVALID_HTTP, "a chunk is longer than its size says")
        self._line = self._take_size

    def _take_trailer(self, line: bytes) -> None:
        self._trailers += len(line) + 2
        if self._trailers > MAX_TRAILER_BYTES:
            raise BadResponse(Fault.HEADERS_TOO_LARGE, f"the trailer exceeds {MAX_TRAILER_BYTES} bytes")
        self.done = not line


def _end_of_head(buffer: bytes | bytearray, start: int) -> int:
    """Return the index after the empty line, or -1. A bare LF ends a line too (RFC 9112 section 2.2)."""
    crlf = buffer.find(b"\n\r\n", start)
    bare = buffer.find(b"\n\n", start, len(buffer) if crlf < 0 else crlf)
    if bare >= 0:
        return bare + 2
    return crlf + 3 if crlf >= 0 else -1


def parse_response_head(raw: bytes, limits: ReadLimits) -> ResponseHead:
    """Parse a response head: refuse NUL, drop lines that are no field, join folded values."""
    if b"\0" in raw:
        raise BadResponse(Fault.INVALID_HTTP, "the header contains a NUL byte")
    lines = raw.decode("latin-1").replace("\r\n", "\n").rstrip("\n").split("\n")
    match = _STATUS_LINE.fullmatch(lines[0].rstrip("\r"))
    if match is None:
        raise BadResponse(Fault.INVALID_HTTP, f"not a status line: {lines[0][:DETAIL_CHARS]!r}")
    if len(lines) - 1 > limits.header_count:
        raise BadResponse(Fault.HEADERS_TOO_LARGE, f"more than {limits.header_count} header fields")
    if "\n " in (text := "\n".join(lines)) or "\n\t" in text:
        lines = _unfold(lines)
    headers, framing_fields = _fields(lines)
    return ResponseHead(int(match[2]), int(match[1]), headers, framing_fields, raw)


def _unfold(lines: list[str]) -> list[str]:
    """Join continuation lines (RFC 9112 section 5.2); drop those without a line before."""
    joined: list[list[str]] = [[lines[0]]]
    for line in lines[1:]:
        if not line.startswith((" ", "\t")):
            joined.append([line.rstrip(" \t\r")])
        elif len(joined) > 1:
            joined[-1].append(line.strip(" \t\r"))
    return [" ".join(parts) for parts in joined]


def _fields(lines: list[str]) -> tuple[Headers, dict[str, list[str]]]:
    headers: list[tuple[str, str]] = []
    framing_fields: dict[str, list[str]] = {}
    for line in lines[1:]:
        raw_name, colon, value = line.partition(":")
        name, lowered = _field_name(raw_name)
        if not colon or not name:
            continue
        value = value.strip(" \t\r")
        if "\r" in value:
            value = value.replace("\r", " ")  # RFC 9112 section 2.2: a bare CR counts as a space
        headers.append((name, value))
        if lowered in _FRAMING_FIELDS:
            framing_fields.setdefault(lowered, []).append(value)
    return tuple(headers), framing_fields


@lru_cache(maxsize=2048)
def _field_name(raw: str) -> tuple[str, str]:
    """Return a field's name and its lower-case form; empty if it is not a token."""
    name = raw.rstrip(" \t")
    return (name, name.lower()) if _TOKEN.fullmatch(name) else ("", "")


def split_list(values: list[str] | None) -> list[str]:
    """Return the non-empty members of a comma-separated field in lower case."""
    if not values:
        return []
    return [item for value in values for part in value.split(",") if (item := part.strip(" \t").lower())]


def response_framing(head: ResponseHead) -> BodyFraming:
    """Return how the body ends (RFC 9112 section 6.3) and whether the connection is reusable."""
    framing_fields = head.framing_fields
    options = split_list(framing_fields.get("connection"))
    reusable = "close" not in options and (head.minor > 0 or "keep-alive" in options)
    length = _content_length(framing_fields["content-length"]) if "content-length" in framing_fields else None
    chunked = "transfer-encoding" in framing_fields and _is_chunked(framing_fields["transfer-encoding"])
    if head.status in _BODILESS:
        # A body sent anyway would be taken for the next response.
        return BodyFraming(0, chunked=False, reusable=reusable and not length and not chunked)
    if chunked:
        return BodyFraming(None, chunked=True, reusable=reusable and length is None and head.minor > 0)
    return BodyFraming(length, chunked=False, reusable=reusable and length is not None)


def _content_length(values: list[str]) -> int:
    """Return the one length that every copy of the field states; refuse contradictions."""
    lengths = {part.strip(" \t") for value in values for part in value.split(",")}
    if not all(_LENGTH.fullmatch(text) for text in lengths):
        raise BadResponse(Fault.INVALID_HTTP, f"Content-Length is not a length: {', '.join(values)[:DETAIL_CHARS]!r}")
    numbers = {int(text) for text in lengths}
    if len(numbers) > 1:
        raise BadResponse(Fault.INVALID_HTTP, "the Content-Length fields contradict each other")
    return numbers.pop()


def _is_chunked(values: list[str]) -> bool:
    codings = set(split_list(values)) - {"identity"}
    if unknown := codings - {"chunked"}:
        raise BadResponse(Fault.INVALID_HTTP, f"unknown transfer coding {min(unknown)[:DETAIL_CHARS]!r}")
    return bool(codings)
