"""A request and its possible results."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

Headers = tuple[tuple[str, str], ...]
"""Header fields in the order received; names as received, values without surrounding space (latin-1)."""


def header(headers: Headers, name: str) -> str | None:
    """Return the first value of a header field; the name is case-insensitive."""
    values = _values(headers).get(name.lower())
    return None if values is None else values[0]


def header_values(headers: Headers, name: str) -> list[str]:
    """Return every value of a header field whose name is given in lower case."""
    return _values(headers).get(name, [])


_last_read: list[tuple[Headers, dict[str, list[str]]]] = [((), {})]


def _values(headers: Headers) -> dict[str, list[str]]:
    """Return the values by name in lower case; a visit asks for about twenty fields of its answer in a row."""
    last, values = _last_read[0]
    if last is not headers:
        values = {}
        for name, value in headers:
            values.setdefault(name.lower(), []).append(value)
        _last_read[0] = headers, values
    return values


class Fault(StrEnum):
    """The kind of a failure; `core/faults.py` has the rules for each."""

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
    PROXY = "proxy"
    LOGOUT = "logout"
    SIGNED_OUT = "signed_out"
    MEDIA_TYPE = "media_type"
    SIZE = "size"
    EXCLUDED_HOST = "excluded_host"
    LOCAL = "local"
    WITHHELD = "withheld"
    ROBOTS = "robots"
    RENDERING = "rendering"
    INTERNAL = "internal"


class Truncation(StrEnum):
    """Why a body was cut off; the value of WARC-Truncated."""

    WIRE = "length"
    DECODED = "length-decoded"
    RATIO = "length-ratio"


class ResponseConditions(NamedTuple):
    """What a response must be like to be read beyond its header. Types are patterns such as `image/*`."""

    media_types: tuple[str, ...] = ()  # Types to keep; empty: all that are not excluded.
    excluded: tuple[str, ...] = ()
    for_links: tuple[str, ...] = ()  # Types that are read for their links even if they are not kept.
    max_bytes: int | None = None
    types_text: str = ""  # The condition on types in words.
    size_text: str = ""


NO_CONDITIONS = ResponseConditions()


@dataclass(frozen=True, slots=True)
class Request:
    """A GET request, conditional if it has validators. `url` is canonical. With a `form` or `post` it is a POST."""

    url: str
    etag: str | None = None
    last_modified: str | None = None
    body_limit: int | None = None  # Maximum bytes on the wire and decoded; None: the limits of the settings.
    conditions: ResponseConditions = NO_CONDITIONS
    is_asset: bool = False  # For a page to look right: robots.txt counts, and the answer is stored as a resource.
    delay_s: float = 0.0  # Delay in seconds before the request is repeated after a closed keep-alive connection.
    obeys_robots: bool = False  # As a side request: it is sent only if robots.txt of its site allows it.
    headers: Headers = ()  # More header fields, such as those that a script set; they replace ours of the same name.
    secrets: Headers = field(default=(), repr=False)  # More header fields, whose values are not recorded.
    form: bytes | None = field(default=None, repr=False)  # A login form to send; never recorded.
    post: bytes | None = field(default=None, repr=False)  # The body of a POST that a script sends; it is recorded.


@dataclass(frozen=True, slots=True)
class Exchange:
    """The exact bytes of request and response, with timing."""

    request_head: bytes
    response_head: bytes
    wire_body: bytes = field(repr=False)  # The body without transfer coding, but with content coding.
    ip: str | None
    began: datetime
    took: timedelta


@dataclass(frozen=True, slots=True)
class RenderNote:
    """What came of rendering a page."""

    is_rendered: bool = False  # The body is the document after its scripts ran.
    detail: str = ""  # Why it was rendered or not, in words.
    links: tuple[str, ...] = ()  # URLs that scripts put into the history.
    screenshot: bytes | None = field(default=None, repr=False)
    lacks_browser: bool = False  # The page shows little without scripts, and there is no browser to run them.


@dataclass(frozen=True, slots=True)
class Fetched:
    """A response with a status of 200 to 299, complete or cut at a limit."""

    url: str
    status: int
    headers: Headers
    body: bytes = field(repr=False)  # The decoded body.
    exchange: Exchange
    truncated: Truncation | None = None
    rendering: RenderNote | None = None  # What came of rendering it; None: it was not considered.


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
    """No usable content. `status` and `exchange` are set if the server responded."""

    url: str
    fault: Fault
    detail: str
    took: timedelta
    status: int | None = None
    headers: Headers = ()
    exchange: Exchange | None = None


FetchResult = Fetched | NotModified | Moved | Failed


class RenderEnd(StrEnum):
    """Why waiting for a page ended."""

    QUIET = "quiet"  # No request open, no change of the document for `render.quiet`.
    BUDGET = "budget"  # The page's own clock reached `render.page_time` and the page still worked.
    TIMEOUT = "timeout"  # `render.max_time` was over; the document is what there was by then.


class RenderFault(StrEnum):
    """Why a page could not be rendered."""

    NO_BROWSER = "no_browser"  # There is no browser, or it does not start.
    NO_WALL = "no_wall"  # The network of the browser cannot be cut off, so it is not started.
    CRASHED = "crashed"  # The page ended the browser, twice.
    HUNG = "hung"  # The page did not let the browser answer, and was ended.
    MEMORY = "memory"  # The page needed more than `render.max_memory`.
    NOT_SHOWN = "not_shown"  # The browser does not show this kind of page.
    TOO_LARGE = "too_large"  # The document is larger than `render.max_dom_bytes`.


@dataclass(frozen=True, slots=True)
class RenderedRequest:
    """A request that the page made, and what became of it."""

    url: str
    method: str
    kind: str  # In lower case as DevTools says it: script, stylesheet, xhr, fetch, image, document, ...
    status: int | None  # None: it was refused or failed.
    refused: str = ""  # Why it was not sent, in words; empty: it was.


@dataclass(frozen=True, slots=True)
class Rendered:
    """The document after the scripts ran."""

    url: str  # The address the page shows: scripts may have changed it.
    dom: bytes = field(repr=False)  # The document as HTML, in UTF-8.
    links: tuple[str, ...]  # Absolute URLs that scripts put into the history, or opened windows with.
    requests: tuple[RenderedRequest, ...]
    took: timedelta
    ended: RenderEnd
    behaviours: tuple[str, ...] = ()  # What was done to see more, such as `scroll 3` or `load_more 2`.
    screenshot: bytes | None = field(default=None, repr=False)  # WebP.


@dataclass(frozen=True, slots=True)
class RenderFailed:
    """No rendered document; the page as fetched is all there is."""

    fault: RenderFault
    detail: str
    requests: tuple[RenderedRequest, ...] = ()
    took: timedelta = timedelta(0)


RenderResult = Rendered | RenderFailed
