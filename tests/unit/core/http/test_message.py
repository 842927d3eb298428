"""What each status means."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from evercrawl.core.http.content_coding import DecodeLimits
from evercrawl.core.http.http1 import ReadLimits, parse_response_head
from evercrawl.core.http.message import RawResponse, fetch_result
from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, FetchResult, Moved, NotModified, Request, Truncation

LIMITS = DecodeLimits(1000, 100.0)
READ = ReadLimits(10_000, 100, 10_000)
URL = "http://example.org/folder/page"


def result(
    status: int, fields: str = "", *, body: bytes = b"", etag: str | None = None, cut: bool = False
) -> FetchResult:
    raw = f"HTTP/1.1 {status} X\r\n{fields}\r\n".encode("latin-1")
    exchange = Exchange(b"", raw, body, "203.0.113.5", datetime(2026, 1, 1, tzinfo=UTC), timedelta(seconds=1))
    answer = RawResponse(parse_response_head(raw, READ), exchange, is_cut=cut)
    return fetch_result(Request(URL, etag=etag), answer, limits=LIMITS)


@pytest.mark.parametrize("status", [200, 201, 203, 204, 205, 226])
def test_success_is_a_page(status: int) -> None:
    got = result(status, body=b"x")
    assert isinstance(got, Fetched)
    assert (got.status, got.body) == (status, b"x")


@pytest.mark.parametrize(
    ("status", "fields", "fault"),
    [
        (206, "", Fault.UNEXPECTED_206),
        (300, "", Fault.HTTP_ERROR),
        (301, "", Fault.BAD_REDIRECT),
        (302, "Location:\r\n", Fault.BAD_REDIRECT),
        (302, "Location: http://[::bad\r\n", Fault.BAD_REDIRECT),
        (302, "Location: javascript:1\r\n", Fault.BAD_REDIRECT),
        (302, "Location: http://a..b/\r\n", Fault.BAD_REDIRECT),
        (304, "", Fault.UNEXPECTED_304),
        (305, "Location: /x\r\n", Fault.HTTP_ERROR),
        (400, "", Fault.HTTP_ERROR),
        (403, "", Fault.HTTP_ERROR),
        (404, "", Fault.NOT_FOUND),
        (410, "", Fault.GONE),
        (429, "", Fault.THROTTLED),
        (500, "", Fault.SERVER_ERROR),
        (503, "", Fault.SERVER_ERROR),
        (503, "Retry-After: 3\r\n", Fault.THROTTLED),
        (700, "", Fault.HTTP_ERROR),
        (999, "", Fault.DENIED),
    ],
)
def test_everything_else_is_a_fault_that_keeps_its_answer(status: int, fields: str, fault: Fault) -> None:
    got = result(status, fields, body=b"sorry")
    assert isinstance(got, Failed)
    assert (got.fault, got.status) == (fault, status)
    assert got.detail
    assert got.exchange is not None
    assert got.exchange.wire_body == b"sorry"


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/x", "http://example.org/x"),
        ("../%7eu/y?z#part", "http://example.org/~u/y?z"),
        ("//other.example:80", "http://other.example/"),
        ("HTTPS://Other.example/A", "https://other.example/A"),
        ("/caf\xc3\xa9", "http://example.org/caf%C3%A9"),
        ("/caf\xe9", "http://example.org/caf%C3%A9"),
    ],
)
def test_a_redirect_names_a_canonical_target(location: str, target: str) -> None:
    for status in (300, 301, 302, 303, 307, 308):
        got = result(status, f"Location: {location}\r\nLocation: /second\r\n")
        assert isinstance(got, Moved)
        assert (got.target, got.status) == (target, status)


def test_not_modified_answers_a_condition() -> None:
    assert isinstance(result(304, etag='"v"'), NotModified)
    assert isinstance(result(304, etag='"v\r\n"'), Failed)


def test_cuts_are_named() -> None:
    cut_on_the_wire = result(200, body=b"x", cut=True)
    assert isinstance(cut_on_the_wire, Fetched)
    assert cut_on_the_wire.truncated is Truncation.WIRE
    too_long = result(200, body=b"x" * 2000)
    assert isinstance(too_long, Fetched)
    assert (too_long.truncated, len(too_long.body)) == (Truncation.DECODED, 1000)


def test_a_broken_coding_is_a_fault() -> None:
    got = result(200, "Content-Encoding: gzip\r\n", body=b"\x1f\x8b\0\0\0")
    assert isinstance(got, Failed)
    assert got.fault is Fault.BAD_CONTENT_ENCODING
