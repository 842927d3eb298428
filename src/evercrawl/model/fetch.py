"""One request and every way in which it can end."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

Headers = tuple[tuple[str, str], ...]
"""Header fields in the order received; names as received, values without surrounding space (latin-1)."""


def header(headers: Headers, name: str) -> str | None:
    """The first value of a field, whatever the case of its name."""
    wanted = name.lower()
    for name_sent, value in headers:
        if name_sent.lower() == wanted:
            return value
    return None


class Fault(StrEnum):
    """What went wrong, in terms of who is to blame and what to do; `core/faults.py` has the rules."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    RESET = "reset"
    EMPTY_REPLY = "empty_reply"
    INCOMPLETE = "incomplete"
    INVALID_HTTP = "invalid_http"
    HEADERS_TOO_LARGE = "headers_too_large"
    BAD_CONTENT_ENCODING = "bad_content_encoding"
    UNEXPECTED_206 = "unexpected_206"
    UNEXPECTED_304 = "unexpected_304"
    THROTTLED = "throttled"
    DENIED = "denied"
    SERVER_ERROR = "server_error"
    NOT_FOUND = "not_found"
    GONE = "gone"
    HTTP_ERROR = "http_error"
    BAD_REDIRECT = "bad_redirect"
    PRIVATE_ADDRESS = "private_address"
    WITHHELD = "withheld"
    INTERNAL = "internal"


class Truncation(StrEnum):
    """Why a body was cut off; the value is what WARC-Truncated says."""

    WIRE = "length"
    DECODED = "length-decoded"
    RATIO = "length-ratio"


@dataclass(frozen=True, slots=True)
class Request:
    """One conditional GET. `url` is canonical; the validators are byte-exact copies of the server's own."""

    url: str
    etag: str | None = None
    last_modified: str | None = None
    body_limit: int | None = None
    """Bytes on the wire and decoded after which to stop; None: the fetcher's own limits."""
    gap_s: float = 0.0
    """Seconds to leave where the request has to be sent again, because a kept connection had been closed."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What went over the wire, exactly, for the archive and for pace."""

    request_head: bytes
    response_head: bytes
    wire_body: bytes = field(repr=False)
    """The body as sent, with the transfer coding removed and the content coding kept."""
    ip: str | None
    began: datetime
    took: timedelta


@dataclass(frozen=True, slots=True)
class Fetched:
    """A complete answer with a body (or one cut at a limit), whatever its status of 200 to 299."""

    url: str
    status: int
    headers: Headers
    body: bytes = field(repr=False)
    """The decoded body."""
    exchange: Exchange
    truncated: Truncation | None = None


@dataclass(frozen=True, slots=True)
class NotModified:
    """304 to a conditional request."""

    url: str
    headers: Headers
    exchange: Exchange


@dataclass(frozen=True, slots=True)
class Moved:
    """A redirect: `target` is the joined, canonical URL."""

    url: str
    status: int
    target: str
    headers: Headers
    exchange: Exchange


@dataclass(frozen=True, slots=True)
class Failed:
    """No usable content. `status` and `exchange` are there when the server did answer."""

    url: str
    fault: Fault
    detail: str
    took: timedelta
    status: int | None = None
    headers: Headers = ()
    exchange: Exchange | None = None


FetchResult = Fetched | NotModified | Moved | Failed
