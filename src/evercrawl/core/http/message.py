"""Build requests and interpret responses.
A request is a GET (RFC 9112), or a POST of a login form or a script. URLs, validators and credentials add no line. The
status code decides what a response means (RFC 9110 section 15); anything unusual is an error, never a page."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatchcase
from functools import lru_cache

from evercrawl.core.document.media_type import named_media_type
from evercrawl.core.faults import http_date
from evercrawl.core.http.content_coding import BadCoding, DecodeLimits, decode
from evercrawl.core.http.http1 import ResponseHead, split_list
from evercrawl.core.url import MAX_URL_CHARS, PAGE_SCHEMES, canonical_of_href, join, path_of, site_of, without_user
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
from evercrawl.model.sanitize import MASK

REDIRECTS = frozenset((300, 301, 302, 303, 307, 308))
DETAIL_CHARS = 100

_FAULTS = {
    206: (Fault.UNEXPECTED_206, REASON_TEXT[Reason.UNEXPECTED_206]),
    304: (Fault.UNEXPECTED_304, REASON_TEXT[Reason.UNEXPECTED_304]),
    407: (Fault.PROXY, "the proxy asks for a user name and password (407)"),
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
    target = canonical_of_href(without_user(href))
    if target is None and len(href) > MAX_URL_CHARS:
        return _failed(request, answer, Fault.BAD_REDIRECT, f"a redirect to a URL of {len(href)} characters")
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
ACCEPT_ENCODING = "gzip, deflate, br"  # Without zstd, which replay tools such as pywb cannot read.
MAX_VALIDATOR_CHARS = 1024  # A longer ETag is not sent back.

_VALIDATOR = re.compile(r"[\t\x20-\x7e\x80-\xff]+")
_PRINTABLE = re.compile(r"[!-~]+", re.ASCII)
_FIELD_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
MAX_FIELD_CHARS = 8192  # A longer header field of a script is not sent.


def is_sendable(url: str) -> bool:
    """True if the URL is printable ASCII without spaces, like every canonical URL."""
    return _PRINTABLE.fullmatch(url) is not None


def constant_headers(user_agent: str, accept_language: str | None, *, accept_encoding: str = ACCEPT_ENCODING) -> str:
    """Return the header lines that every request shares."""
    lines = f"User-Agent: {user_agent}\r\nAccept: {ACCEPT}\r\nAccept-Encoding: {accept_encoding}\r\n"
    return lines + (f"Accept-Language: {accept_language}\r\n" if accept_language else "")


def request_bytes(request: Request, constant: str, *, masked: bool = False, via: str | None = None) -> bytes:
    """Return the request. The URL must be sendable. `masked`: as it is recorded, without secrets.
    `via`: the header lines for a proxy that forwards it (RFC 9112 section 3.2.2); None: it goes to the server."""
    url = request.url
    site = site_of(url)
    path = path_of(url).partition("#")[0]
    target = path if via is None else site + path
    form = b"" if request.form is None or masked else request.form
    if request.headers:
        headers = (
            (name, MASK if masked and name.lower() in SENT_SECRETS else value) for name, value in request.headers
        )
        constant = _with_headers(constant, tuple(headers))
    method, own = "GET", constant + _conditions(request) + (via or "")
    if request.secrets:
        own += "".join(f"{name}: {MASK if masked else value}\r\n" for name, value in request.secrets)
    if request.form is not None:
        method = "POST"
        own += f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(request.form)}\r\n"
    if request.post is not None:
        method, form = "POST", request.post
        own += f"Content-Length: {len(request.post)}\r\n"
    head = f"{method} {target} HTTP/1.1\r\nHost: {site.partition('//')[2]}\r\n{own}\r\n"
    return head.encode("latin-1") + form


SENT_SECRETS = frozenset(("authorization", "cookie", "proxy-authorization"))
SECRET_FIELDS = frozenset(("set-cookie", "set-cookie2", "authentication-info", "proxy-authentication-info"))
_SECRET_LINE = re.compile(
    rb"(?im)^(?:" + b"|".join(sorted(name.encode() for name in SECRET_FIELDS)) + rb")[ \t]*:[^\n]*\n(?:[ \t][^\n]*\n)*"
)


def without_secrets(answer: FetchResult) -> FetchResult:
    """Return an answer without the header fields that open a session, as it may be stored."""
    exchange = answer.exchange
    if exchange is None or not any(name.lower() in SECRET_FIELDS for name, _ in answer.headers):
        return answer
    headers = tuple(field for field in answer.headers if field[0].lower() not in SECRET_FIELDS)
    exchange = replace(exchange, response_head=_SECRET_LINE.sub(b"", exchange.response_head))
    return replace(answer, headers=headers, exchange=exchange)


def _with_headers(constant: str, headers: Headers) -> str:
    """Return the shared lines with more fields, which replace those of the same name; invalid fields are left out."""
    valid = [(name, value) for name, value in headers if _is_valid_field(name, value)]
    names = {name.lower() for name, _ in valid}
    kept = [line for line in constant.splitlines(keepends=True) if line.partition(":")[0].lower() not in names]
    return "".join(kept) + "".join(f"{name}: {value}\r\n" for name, value in valid)


def _is_valid_field(name: str, value: str) -> bool:
    is_short = len(name) + len(value) <= MAX_FIELD_CHARS
    return is_short and _FIELD_NAME.fullmatch(name) is not None and _VALIDATOR.fullmatch(value) is not None


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
