"""The bytes of a request."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.http.message import (
    MAX_VALIDATOR_CHARS,
    constant_headers,
    is_conditional,
    is_sendable,
    request_bytes,
)
from evercrawl.core.url import canonical
from evercrawl.model.fetch import Request

CONSTANT = constant_headers("bot/1", None)


def test_a_plain_request() -> None:
    head = request_bytes(Request("https://example.org:8443/a?b=c"), constant_headers("bot/1", "de"))
    assert head == (
        b"GET /a?b=c HTTP/1.1\r\nHost: example.org:8443\r\nUser-Agent: bot/1\r\n"
        b"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
        b"Accept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: de\r\n\r\n"
    )


def test_user_information_and_fragment_stay_at_home() -> None:
    head = request_bytes(Request("http://user:secret@example.org/a#part"), CONSTANT)
    assert head.startswith(b"GET /a HTTP/1.1\r\nHost: example.org\r\n")


def test_validators_are_sent_byte_for_byte() -> None:
    request = Request("http://example.org/", etag='W/"\xe9"', last_modified="yesterday")
    head = request_bytes(request, CONSTANT)
    assert head.endswith(b'If-None-Match: W/"\xe9"\r\nIf-Modified-Since: yesterday\r\n\r\n')
    assert is_conditional(request)


def test_validators_that_could_do_harm_are_dropped() -> None:
    for etag in ('"a\r\nX: y"', '"a\0"', '"\u20ac"', '"' + "x" * MAX_VALIDATOR_CHARS + '"', ""):
        assert not is_conditional(Request("http://example.org/", etag=etag)), etag


@given(st.text(max_size=60), st.text(max_size=30), st.text(max_size=30))
def test_nothing_adds_a_line(path: str, etag: str, date: str) -> None:
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
