"""Requests, and the meaning of each status."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.http.content_coding import DecodeLimits
from evercrawl.core.http.http1 import ReadLimits, parse_response_head
from evercrawl.core.http.message import (
    MAX_VALIDATOR_CHARS,
    RawResponse,
    constant_headers,
    fetch_result,
    is_conditional,
    is_sendable,
    request_bytes,
    trusted_last_modified,
)
from evercrawl.core.url import canonical
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
def test_everything_else_is_a_fault_with_its_response(status: int, fields: str, fault: Fault) -> None:
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


def test_not_modified_needs_a_condition() -> None:
    assert isinstance(result(304, etag='"v"'), NotModified)
    assert isinstance(result(304, etag='"v\r\n"'), Failed)


def test_truncation_is_named() -> None:
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


SEEN_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("value", ["Sun, 01 Mar 2026 12:00:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"])
def test_past_date_is_sent_back_unchanged(value: str):
    assert trusted_last_modified((("Last-Modified", value),), seen_at=SEEN_AT) == value


@pytest.mark.parametrize("value", ["Sun, 01 Mar 2026 12:00:01 GMT", "Fri, 01 Jan 2100 00:00:00 GMT", "soon", ""])
def test_future_and_invalid_dates_are_not_sent_back(value: str):
    assert trusted_last_modified((("last-modified", value),), seen_at=SEEN_AT) is None


def test_missing_last_modified():
    assert trusted_last_modified((), seen_at=SEEN_AT) is None


CONSTANT = constant_headers("bot/1", None)


def test_a_plain_request() -> None:
    head = request_bytes(Request("https://example.org:8443/a?b=c"), constant_headers("bot/1", "de"))
    assert head == (
        b"GET /a?b=c HTTP/1.1\r\nHost: example.org:8443\r\nUser-Agent: bot/1\r\n"
        b"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
        b"Accept-Encoding: gzip, deflate, br\r\nAccept-Language: de\r\n\r\n"
    )


def test_more_header_fields_replace_ours() -> None:
    fields = (("accept", "application/json"), ("X-Part", "1"), ("X: y", "2"), ("X-Bad", "a\r\nb: c"), ("Host", ""))
    head = request_bytes(Request("http://example.org/", headers=fields), constant_headers("bot/1", None))
    assert head == (
        b"GET / HTTP/1.1\r\nHost: example.org\r\nUser-Agent: bot/1\r\nAccept-Encoding: gzip, deflate, br\r\n"
        b"accept: application/json\r\nX-Part: 1\r\n\r\n"
    )


def test_user_information_and_fragment_are_not_sent() -> None:
    head = request_bytes(Request("http://user:secret@example.org/a#part"), CONSTANT)
    assert head.startswith(b"GET /a HTTP/1.1\r\nHost: example.org\r\n")


def test_validators_are_sent_byte_for_byte() -> None:
    request = Request("http://example.org/", etag='W/"\xe9"', last_modified="yesterday")
    head = request_bytes(request, CONSTANT)
    assert head.endswith(b'If-None-Match: W/"\xe9"\r\nIf-Modified-Since: yesterday\r\n\r\n')
    assert is_conditional(request)


def test_unsafe_validators_are_dropped() -> None:
    for etag in ('"a\r\nX: y"', '"a\0"', '"\u20ac"', '"' + "x" * MAX_VALIDATOR_CHARS + '"', ""):
        assert not is_conditional(Request("http://example.org/", etag=etag)), etag


@given(st.text(max_size=60), st.text(max_size=30), st.text(max_size=30))
def test_no_value_adds_a_header_line(path: str, etag: str, date: str) -> None:
    url = canonical(f"http://example.org/{path}")
    if url is None:
        return
    assert is_sendable(url)
    request = Request(url, etag=etag, last_modified=date)
    head = request_bytes(request, CONSTANT)
    lines = head.split(b"\r\n")
    names = [line.partition(b":")[0] for line in lines[1:-2]]
    assert names[:4] == [b"Host", b"User-Agent", b"Accept", b"Accept-Encoding"]
    assert set(names[4:]) <= {b"If-None-Match", b"If-Modified-Since"}
    assert head.count(b"\n") == head.count(b"\r") == len(lines) - 1
