"""Framing of responses, without a network."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.http.http1 import (
    MAX_CHUNK_LINE_BYTES,
    MAX_INTERIM_RESPONSES,
    MAX_TRAILER_BYTES,
    BadResponse,
    ReadLimits,
    ResponseReader,
    split_list,
)
from evercrawl.model.fetch import Fault

LIMITS = ReadLimits(header_bytes=4096, header_count=50, body_bytes=10_000)
OK = b"HTTP/1.1 200 OK\r\n"


def read(data: bytes, limits: ReadLimits = LIMITS) -> ResponseReader:
    """Return the reader after all bytes and, unless it was done before, the end of the connection."""
    reader = ResponseReader(limits)
    reader.feed(data)
    reader.end()
    return reader


def refusal(data: bytes, limits: ReadLimits = LIMITS) -> Fault:
    with pytest.raises(BadResponse) as caught:
        read(data, limits)
    return caught.value.fault


def test_a_length_frames_the_body() -> None:
    reader = read(OK + b"Content-Length: 5\r\n\r\nhello")
    assert (reader.body, reader.done, reader.reusable) == (b"hello", True, True)
    assert reader.head is not None
    assert reader.head.raw == OK + b"Content-Length: 5\r\n\r\n"


def test_extra_bytes_make_the_connection_unusable() -> None:
    reader = read(OK + b"Content-Length: 5\r\n\r\nhelloHTTP/1.1")
    assert (reader.body, reader.reusable) == (b"hello", False)
    late = read(OK + b"Content-Length: 0\r\n\r\n")
    assert late.reusable
    late.feed(b"x")
    assert not late.reusable


def test_chunks_are_joined_and_extensions_and_trailers_dropped() -> None:
    reader = read(OK + b"Transfer-Encoding: Chunked\r\n\r\n3;a=b\r\nabc\r\n0002\r\nde\r\n0\r\nX: y\r\n\r\n")
    assert (reader.body, reader.reusable) == (b"abcde", True)


def test_the_connection_ends_a_body_without_framing() -> None:
    reader = read(OK + b"\r\nto the end")
    assert (reader.body, reader.done, reader.reusable) == (b"to the end", True, False)


@pytest.mark.parametrize("status", [b"204", b"304"])
def test_some_responses_have_no_body(status: bytes) -> None:
    assert read(b"HTTP/1.1 " + status + b" X\r\n\r\n").reusable
    with_length = read(b"HTTP/1.1 " + status + b" X\r\nContent-Length: 5\r\n\r\nhello")
    assert (with_length.body, with_length.reusable) == (b"", False)


def test_interim_responses_are_skipped() -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    reader = read(interim + b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nok")
    assert reader.body == b"ok"
    assert refusal(interim * (MAX_INTERIM_RESPONSES + 1)) is Fault.INVALID_HTTP
    assert refusal(b"HTTP/1.1 101 Switching\r\n\r\n") is Fault.INVALID_HTTP


def test_bare_line_feeds_end_lines() -> None:
    assert read(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok").body == b"ok"
    mixed = read(b"HTTP/1.1 200 OK\nA: b\r\nTransfer-Encoding: chunked\n\r\n2\nok\n0\n\n")
    assert mixed.body == b"ok"


def test_chunked_wins_over_length_and_closes_the_connection() -> None:
    reader = read(OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
    assert (reader.body, reader.reusable) == (b"hello", False)


def test_equal_lengths_agree() -> None:
    assert read(OK + b"Content-Length: 5\r\nContent-Length: 5, 5\r\n\r\nhello").body == b"hello"


@pytest.mark.parametrize(
    "fields",
    [
        b"Content-Length: 5\r\nContent-Length: 6",
        b"Content-Length: ten",
        b"Content-Length: -1",
        b"Content-Length: +1",
        b"Content-Length:",
        b"Content-Length: 9999999999999999999",
        b"Transfer-Encoding: xyz",
        b"Transfer-Encoding: gzip, chunked",
        b"X: a\0b",
    ],
)
def test_contradicting_fields_are_refused(fields: bytes) -> None:
    assert refusal(OK + fields + b"\r\n\r\nhello") is Fault.INVALID_HTTP


@pytest.mark.parametrize(
    "chunks",
    [
        b"ZZ\r\n",
        b"-1\r\n",
        b"0x5\r\n",
        b"\r\n",
        b"1_0\r\n",
        b"ffffffffffffffffff\r\n",
        b"3\r\nabcdef\r\n",
        b" 5\r\nhello",
    ],
)
def test_invalid_chunks_are_refused(chunks: bytes) -> None:
    assert refusal(OK + b"Transfer-Encoding: chunked\r\n\r\n" + chunks) is Fault.INVALID_HTTP


@pytest.mark.parametrize(
    "line", [b"HTTP/1.1 abc", b"HTTP/1.1 000 x", b"HTTP/1.1 20 x", b"HTTP/2 200", b"ICY 200 OK", b"", b"HTTP/1.1 2000"]
)
def test_invalid_status_lines(line: bytes) -> None:
    assert refusal(line + b"\r\nA: b\r\n\r\n") is Fault.INVALID_HTTP


def test_what_is_not_http_is_refused_before_it_ends() -> None:
    with pytest.raises(BadResponse):
        ResponseReader(LIMITS).feed(b"220 mail.example.org ESMTP")


def test_limits_of_the_head() -> None:
    assert refusal(OK + b"X: y\r\n" * 51 + b"\r\n") is Fault.HEADERS_TOO_LARGE
    assert refusal(OK + b"X: " + b"y" * 5000 + b"\r\n\r\n") is Fault.HEADERS_TOO_LARGE
    endless = ResponseReader(LIMITS)
    for _ in range(4096 // 16):
        endless.feed(b"HTTP/1.1 200 OOO")
    with pytest.raises(BadResponse, match="exceed 4096"):
        endless.feed(b"O")


def test_limits_of_chunk_lines_and_trailers() -> None:
    chunked = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    assert refusal(chunked + b"5;" + b"x" * MAX_CHUNK_LINE_BYTES + b"\r\nhello") is Fault.INVALID_HTTP
    assert refusal(chunked + b"5;" + b"x" * MAX_CHUNK_LINE_BYTES) is Fault.INVALID_HTTP
    assert refusal(chunked + b"0\r\n" + b"T: v\r\n" * MAX_TRAILER_BYTES) is Fault.HEADERS_TOO_LARGE
    assert refusal(chunked + (b"1;" + b"x" * 1000 + b"\r\na\r\n") * 20) is Fault.INVALID_HTTP


@pytest.mark.parametrize(
    "answer",
    [
        b"\r\n" + b"x" * 20_000,
        b"Content-Length: 99999999999\r\n\r\n" + b"x" * 20_000,
        b"Transfer-Encoding: chunked\r\n\r\n" + b"ff\r\n" + b"x" * 255 + b"\r\n" + b"4e20\r\n" + b"x" * 20_000,
    ],
)
def test_a_body_is_cut_at_the_limit(answer: bytes) -> None:
    reader = ResponseReader(LIMITS)
    assert reader.feed(OK + answer)
    assert (len(reader.body), reader.truncated, reader.reusable) == (10_000, True, False)


def test_a_body_as_long_as_the_limit_is_whole() -> None:
    reader = read(OK + b"Content-Length: 10000\r\n\r\n" + b"x" * 10_000)
    assert (len(reader.body), reader.truncated) == (10_000, False)


def test_fields_are_cleaned() -> None:
    reader = read(OK + b"A:\t b\t\r\n c\r\n\td \r\nX A: no\r\nno colon\r\n: none\r\nB : x\ry\r\nE:\r\n\r\n")
    assert reader.head is not None
    assert reader.head.headers == (("A", "b c d"), ("B", "x y"), ("E", ""))
    folded = read(b"HTTP/1.1 200 OK\r\n folded\r\nA: b\r\n\r\n")
    assert folded.head is not None
    assert folded.head.headers == (("A", "b"),)


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", Fault.EMPTY_REPLY),
        (b"HTTP/1.1 2", Fault.INCOMPLETE),
        (b"HTTP/1.1 100 Continue\r\n\r\n", Fault.INCOMPLETE),
        (OK + b"Content-Length: 5\r\n\r\nhel", Fault.INCOMPLETE),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel", Fault.INCOMPLETE),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", Fault.INCOMPLETE),
    ],
)
def test_response_that_ends_too_early(data: bytes, fault: Fault) -> None:
    assert refusal(data) is fault


@pytest.mark.parametrize(
    ("head", "reusable"),
    [
        (b"HTTP/1.1 200 OK\r\nConnection: Close\r\n", False),
        (b"HTTP/1.0 200 OK\r\n", False),
        (b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n", True),
        (b"HTTP/1.1 200 OK\r\nConnection: x, close\r\n", False),
    ],
)
def test_connection_reuse(head: bytes, reusable: bool) -> None:
    assert read(head + b"Content-Length: 0\r\n\r\n").reusable is reusable


def test_lists_of_several_lines_are_one_list() -> None:
    assert split_list(["gzip, BR", " ,x"]) == ["gzip", "br", "x"]
    assert split_list(None) == []


ANSWERS = [
    OK + b"Content-Length: 5\r\n\r\nhello",
    OK + b"A: b\r\n c\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\n1\r\n!\r\n0\r\nT: v\r\n\r\n",
    OK + b"\r\nuntil the end",
    b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nok",
    b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
    OK + b"Content-Length: 30\r\n\r\ncut short",
    OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhelloworld",
    b"nonsense\r\n\r\n",
]


def outcome(pieces: list[bytes]) -> object:
    """Return everything visible of a reader after these pieces."""
    reader = ResponseReader(LIMITS)
    try:
        for piece in pieces:
            reader.feed(piece)
        reader.end()
    except BadResponse as bad:
        return bad.fault
    return reader.head, reader.body, reader.done, reader.truncated, reader.reusable


@given(st.sampled_from(ANSWERS), st.lists(st.integers(0, 120), max_size=8))
def test_the_pieces_in_which_bytes_arrive_do_not_matter(answer: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(answer)) for cut in cuts), len(answer)]
    pieces = [answer[a:b] for a, b in pairwise(edges)]
    assert outcome(pieces) == outcome([answer])


@pytest.mark.parametrize("answer", ANSWERS)
def test_even_single_bytes_do_not_matter(answer: bytes) -> None:
    assert outcome([answer[i : i + 1] for i in range(len(answer))]) == outcome([answer])


NEARLY_HTTP = st.lists(
    st.sampled_from(
        [OK, b"HTTP/1.1 ", b"100 x", b"\r\n", b"\n", b"\r", b"\0", b": ", b" ", b"Content-Length", b"chunked"]
    )
    | st.sampled_from(
        [b"0", b"5", b"ff", b";", b"hello", b"\xff", b"Connection: close\r\n", b"\r\n\r\n", b"Transfer-Encoding"]
    )
    | st.binary(max_size=8),
    max_size=30,
)


@given(NEARLY_HTTP)
def test_no_bytes_raise_another_exception(pieces: list[bytes]) -> None:
    reader = ResponseReader(LIMITS)
    try:
        for piece in pieces:
            reader.feed(piece)
        reader.end()
    except BadResponse:
        pass
    assert len(reader.body) <= LIMITS.body_bytes
    if reader.head is not None:
        assert not any(set(name + value) & set("\r\n\0") for name, value in reader.head.headers)
