"""Build requests and interpret responses.
A request is a GET (RFC 9112) without anything that identifies a person; URLs and validators cannot add a line. The
status code decides what a response means (RFC 9110 section 15); anything unusual is an error, never a page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from functools import lru_cache

from evercrawl.core.document.media_type import named_media_type
from evercrawl.core.faults import http_date
from evercrawl.core.http.content_coding import BadCoding, DecodeLimits, decode
from evercrawl.core.http.http1 import ResponseHead, split_list
from evercrawl.core.url import PAGE_SCHEMES, canonical_of_href, join, path_of, site_of
from evercrawl.model.fetch import (
    Exchange,
    Failed,
    Fault,
    Fetched,
    FetchResult,
    Headers,
    Moved,
    NotModified,
    Request,
    ResponseConditions,
    Truncation,
    header,
)  # fmt: skip
from evercrawl.model.reason import REASON_TEXT, Reason

REDIRECTS = frozenset((300, 301, 302, 303, 307, 308))
DETAIL_CHARS = 100

_FAULTS = {
    206: (Fault.UNEXPECTED_206, REASON_TEXT[Reason.UNEXPECTED_206]),
    304: (Fault.UNEXPECTED_304, REASON_TEXT[Reason.UNEXPECTED_304]),
    404: (Fault.NOT_FOUND, REASON_TEXT[Reason.NOT_FOUND]),
    410: (Fault.GONE, REASON_TEXT[Reason.GONE]),
    429: (Fault.THROTTLED, "the server asks us to slow down (429)"),
    999: (Fault.DENIED, "the server denies requests (999)"),
}


@dataclass(frozen=True, slots=True)
class RawResponse:
    """A response as far as it was read."""

    head: ResponseHead
    exchange: Exchange
    is_cut: bool = False  # True if the body was cut at the wire limit.


def fetch_result(request: Request, answer: RawResponse, *, limits: DecodeLimits) -> FetchResult:
    """Return how the request ended, by the response's status."""
    head = answer.head
    status = head.status
    if 200 <= status < 300 and status != 206:
        return _fetched(request, answer, limits)
    if status == 304 and is_conditional(request):
        return NotModified(request.url, head.headers, answer.exchange)
    if status in REDIRECTS and (status != 300 or header(head.headers, "location")):
        return _redirect(request, answer)
    fault, detail = _status_fault(status, head.headers)
    return _failed(request, answer, fault, detail)


def header_refusal(conditions: ResponseConditions, head: ResponseHead) -> tuple[Fault, str] | None:
    """Return why the body of a page is not read, by its header alone; None: it is."""
    if not 200 <= head.status < 300:
        return None
    named = named_media_type(head.headers)
    refused = None if named is None else type_refusal(conditions, named)
    if refused is not None and named not in conditions.for_links:
        return Fault.MEDIA_TYPE, refused
    sizes = head.framing_fields.get("content-length", [])
    size = int(sizes[0]) if sizes and sizes[0].isascii() and sizes[0].isdigit() else 0
    if conditions.max_bytes is not None and size > conditions.max_bytes:
        return Fault.SIZE, f"{size} bytes: {conditions.size_text}"
    return None


@lru_cache(maxsize=1024)
def type_refusal(conditions: ResponseConditions, media_type: str) -> str | None:
    """Return why pages of a media type are not kept; None: they are."""
    is_kept = not conditions.media_types or any(fnmatchcase(media_type, kept) for kept in conditions.media_types)
    if is_kept and not any(fnmatchcase(media_type, other) for other in conditions.excluded):
        return None
    return f"{media_type}: {conditions.types_text}"


def _fetched(request: Request, answer: RawResponse, limits: DecodeLimits) -> FetchResult:
    head, exchange = answer.head, answer.exchange
    if (refused := header_refusal(request.conditions, head)) is not None:
        return _failed(request, answer, *refused)
    codings = split_list(head.framing_fields.get("content-encoding"))
    try:
        body, truncated = decode(exchange.wire_body, codings, limits=limits, complete=not answer.is_cut)
    except BadCoding as error:
        return _failed(request, answer, Fault.BAD_CONTENT_ENCODING, str(error))
    most = request.conditions.max_bytes
    if most is not None and len(body) > most:
        return _failed(request, answer, Fault.SIZE, f"more than {most} bytes: {request.conditions.size_text}")
    if answer.is_cut:
        truncated = Truncation.WIRE
    return Fetched(request.url, head.status, head.headers, body, exchange, truncated)


def _redirect(request: Request, answer: RawResponse) -> FetchResult:
    location = header(answer.head.headers, "location")
    if not location:
        return _failed(request, answer, Fault.BAD_REDIRECT, "a redirect without a Location")
    href = join(request.url, _decode_location(location))
    if href is None:
        return _failed(request, answer, Fault.BAD_REDIRECT, f"a redirect to an invalid URL: {_quote(location)}")
    if not href.startswith(PAGE_SCHEMES):
        scheme = href.partition(":")[0]
        return _failed(request, answer, Fault.BAD_REDIRECT, f"a redirect to scheme {scheme}: {_quote(location)}")
    target = canonical_of_href(href)
    if target is None:
        return _failed(request, answer, Fault.BAD_REDIRECT, f"a redirect to an unusable host: {_quote(location)}")
    return Moved(request.url, answer.head.status, target, answer.head.headers, answer.exchange)


def _decode_location(location: str) -> str:
    """Decode a Location as UTF-8, as browsers do; otherwise it stays latin-1."""
    try:
        return location.encode("latin-1").decode()
    except UnicodeError:
        return location


def _quote(location: str) -> str:
    return repr(location[:DETAIL_CHARS])


def _status_fault(status: int, headers: Headers) -> tuple[Fault, str]:
    if status in _FAULTS:
        return _FAULTS[status]
    if status == 503 and header(headers, "retry-after"):
        return Fault.THROTTLED, "the server asks us to come back later (503)"
    if 500 <= status < 600:
        return Fault.SERVER_ERROR, f"the server failed ({status})"
    return Fault.HTTP_ERROR, f"the server refused the request ({status})"


def _failed(request: Request, answer: RawResponse, fault: Fault, detail: str) -> Failed:
    head, exchange = answer.head, answer.exchange
    return Failed(request.url, fault, detail, exchange.took, head.status, head.headers, exchange)


ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
ACCEPT_ENCODING = "gzip, deflate, br, zstd"
MAX_VALIDATOR_CHARS = 1024  # A longer ETag is not sent back.

_VALIDATOR = re.compile(r"[\t\x20-\x7e\x80-\xff]+")
_PRINTABLE = re.compile(r"[!-~]+", re.ASCII)


def is_sendable(url: str) -> bool:
    """True if the URL is printable ASCII without spaces, like every canonical URL."""
    return _PRINTABLE.fullmatch(url) is not None


def constant_headers(user_agent: str, accept_language: str | None, *, accept_encoding: str = ACCEPT_ENCODING) -> str:
    """Return the header lines that every request shares."""
    lines = f"User-Agent: {user_agent}\r\nAccept: {ACCEPT}\r\nAccept-Encoding: {accept_encoding}\r\n"
    return lines + (f"Accept-Language: {accept_language}\r\n" if accept_language else "")


def request_bytes(request: Request, constant: str) -> bytes:
    """Return the head of the request. The URL must be sendable."""
    url = request.url
    host = site_of(url).partition("//")[2]
    path = path_of(url).partition("#")[0]
    head = f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{constant}{_conditions(request)}\r\n"
    return head.encode("latin-1")


def is_conditional(request: Request) -> bool:
    """True if a validator is sent, so 304 is a valid response."""
    return bool(_conditions(request))


def _conditions(request: Request) -> str:
    lines = ""
    if request.etag and _is_valid_validator(request.etag):
        lines = f"If-None-Match: {request.etag}\r\n"
    if request.last_modified and _is_valid_validator(request.last_modified):
        lines += f"If-Modified-Since: {request.last_modified}\r\n"
    return lines


def _is_valid_validator(validator: str) -> bool:
    return len(validator) <= MAX_VALIDATOR_CHARS and _VALIDATOR.fullmatch(validator) is not None


def trusted_last_modified(headers: Headers, *, seen_at: datetime) -> str | None:
    """Return the Last-Modified field, unless it lies in the future.
    RFC 9110 section 8.8.2.1 forbids such dates: a server would call every change before it not modified."""
    value = header(headers, "last-modified")
    moment = http_date(value) if value is not None else None
    return None if moment is None or moment > seen_at else value
