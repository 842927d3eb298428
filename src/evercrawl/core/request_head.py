"""What bytes do we send for a request?

A GET after RFC 9112 with nothing that could identify a person: no cookies, no credentials, no referrer.
Whatever a page or a server put into the URL or the validators cannot add a line of its own.
"""

from __future__ import annotations

import re

from evercrawl.core.url import path_of, site_of
from evercrawl.model.fetch import Request

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
ACCEPT_ENCODING = "gzip, deflate, br, zstd"
VALIDATOR_CHARS = 1024
"""A longer ETag is not worth sending back."""

_VALIDATOR = re.compile(r"[\t\x20-\x7e\x80-\xff]+")
_PRINTABLE = re.compile(r"[!-~]+", re.ASCII)


def is_sendable(url: str) -> bool:
    """The URL is printable ASCII without spaces, as every canonical URL is."""
    return _PRINTABLE.fullmatch(url) is not None


def constant_lines(user_agent: str, accept_language: str | None, *, accept_encoding: str = ACCEPT_ENCODING) -> str:
    """The header lines that are the same in every request."""
    lines = f"User-Agent: {user_agent}\r\nAccept: {ACCEPT}\r\nAccept-Encoding: {accept_encoding}\r\n"
    return lines + (f"Accept-Language: {accept_language}\r\n" if accept_language else "")


def request_head(request: Request, constant: str) -> bytes:
    """The head of the request; the URL must be sendable."""
    url = request.url
    host = site_of(url).partition("//")[2]
    path = path_of(url).partition("#")[0]
    head = f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{constant}{_conditions(request)}\r\n"
    return head.encode("latin-1")


def is_conditional(request: Request) -> bool:
    """A validator is sent, so that 304 is an answer to our question."""
    return bool(_conditions(request))


def _conditions(request: Request) -> str:
    lines = ""
    if request.etag and _is_harmless(request.etag):
        lines = f"If-None-Match: {request.etag}\r\n"
    if request.last_modified and _is_harmless(request.last_modified):
        lines += f"If-Modified-Since: {request.last_modified}\r\n"
    return lines


def _is_harmless(validator: str) -> bool:
    return len(validator) <= VALIDATOR_CHARS and _VALIDATOR.fullmatch(validator) is not None
