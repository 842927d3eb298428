"""Content codings and their limits."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.http.content_coding import (
    MAX_MEMBERS,
    RATIO_FROM_BYTES,
    BadCoding,
    DecodeLimits,
    decode,
    unknown_coding,
)
from evercrawl.model.fetch import Truncation

LIMITS = DecodeLimits(decoded_bytes=8_000_000, ratio=200.0)
PAGE = b"<html>" + b"some words " * 2000
ZEROS = bytes(64 * 1024 * 1024)


def raw_deflate(data: bytes) -> bytes:
    press = zlib.compressobj(wbits=-15)
    return press.compress(data) + press.flush()


def zstd_stream(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_content_size=False).compress(data)


ENCODERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}


@pytest.mark.parametrize("name", ENCODERS)
def test_every_coding_is_decoded(name: str) -> None:
    assert decode(ENCODERS[name](PAGE), [name], limits=LIMITS) == (PAGE, None)


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("deflate", raw_deflate(PAGE)),
        ("deflate", gzip.compress(PAGE)),
        ("gzip", zlib.compress(PAGE)),
        ("gzip", raw_deflate(PAGE)),
        ("gzip", gzip.compress(PAGE[:100]) + gzip.compress(PAGE[100:])),
        ("gzip", gzip.compress(PAGE) + b"\0\0garbage"),
        ("zstd", zstd_stream(PAGE)),
        ("zstd", zstd_stream(PAGE[:100]) + zstandard.compress(PAGE[100:])),
        ("zstd", zstd_stream(PAGE) + b"garbage"),
    ],
)
def test_common_server_mistakes_are_decoded(coding: str, body: bytes) -> None:
    assert decode(body, [coding], limits=LIMITS) == (PAGE, None)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "unheard-of", "identity", "none"])
def test_plain_body_is_unchanged(coding: str) -> None:
    assert decode(b"<html>plain</html>", [coding], limits=LIMITS) == (b"<html>plain</html>", None)
    assert decode(b"", [coding], limits=LIMITS) == (b"", None)


def test_codings_on_top_of_each_other() -> None:
    body = zstandard.compress(brotli.compress(gzip.compress(PAGE)))
    assert decode(body, ["gzip", "br", "zstd"], limits=LIMITS) == (PAGE, None)
    with pytest.raises(BadCoding, match="more than 3"):
        decode(PAGE, ["gzip"] * 4, limits=LIMITS)


def test_an_unknown_coding_hides_those_below() -> None:
    body = gzip.compress(PAGE)
    assert decode(body, ["gzip", "secret"], limits=LIMITS) == (body, None)


@pytest.mark.parametrize(
    ("value", "found"),
    [("secret", "secret"), ("gzip, Secret", "secret"), ("compress", "compress"), ("hex", "hex"), ("rot13", "rot13")]
    + [(known, None) for known in ("gzip", "br, gzip", "identity", "UTF-8", "iso-8859-1", "binary", "aws-chunked", "")],
)
def test_an_unknown_coding_is_told_from_a_charset(value: str, found: str | None) -> None:
    assert unknown_coding((("content-encoding", value),)) == found
    assert unknown_coding((("Content-Type", value),)) is None


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_broken_stream_is_refused(name: str) -> None:
    whole = ENCODERS[name](bytes(range(256)) * 100)
    with pytest.raises(BadCoding):
        decode(whole[: len(whole) // 2], [name], limits=LIMITS)
    with pytest.raises(BadCoding):
        decode(b"\0\x01\x02" + whole[3:], [name], limits=LIMITS)


def test_a_wrong_checksum_is_refused() -> None:
    whole = gzip.compress(PAGE)
    with pytest.raises(BadCoding):
        decode(whole[:-8] + b"\1\2\3\4" + whole[-4:], ["gzip"], limits=LIMITS)


@pytest.mark.parametrize("name", ["gzip", "deflate", "zstd"])
def test_a_body_cut_on_the_wire_gives_its_beginning(name: str) -> None:
    noise = b"".join(zlib.crc32(b"%d" % n).to_bytes(4, "big") for n in range(100_000))
    whole = ENCODERS[name](noise)
    body, truncated = decode(whole[: len(whole) - 100], [name], limits=LIMITS, complete=False)
    assert noise.startswith(body)
    assert len(body) > 100_000
    assert truncated is None


@pytest.mark.parametrize(
    ("name", "bomb"),
    [
        ("gzip", gzip.compress(ZEROS, 1)),
        ("deflate", zlib.compress(ZEROS, 1)),
        ("deflate", raw_deflate(ZEROS)),
        ("br", brotli.compress(ZEROS, quality=1)),
        ("zstd", zstandard.compress(ZEROS)),
        ("zstd", zstd_stream(ZEROS)),
        ("gzip", gzip.compress(ZEROS[:1000]) + gzip.compress(ZEROS, 1)),
    ],
)
def test_a_bomb_costs_no_more_than_the_limit(name: str, bomb: bytes) -> None:
    tracemalloc.start()
    body, truncated = decode(bomb, [name], limits=LIMITS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    allowed = max(RATIO_FROM_BYTES, int(200 * len(bomb)))
    assert len(body) == min(8_000_000, allowed)
    assert truncated is (Truncation.DECODED if allowed >= 8_000_000 else Truncation.RATIO)
    assert peak < 3 * len(body) + 4_000_000


def test_a_bomb_in_a_bomb() -> None:
    inner = gzip.compress(ZEROS, 1)
    body, truncated = decode(gzip.compress(inner), ["gzip", "gzip"], limits=LIMITS)
    assert truncated is not None
    assert len(body) <= 8_000_000


def test_a_plain_body_is_cut_too() -> None:
    assert decode(b"x" * 100, [], limits=DecodeLimits(10, 1.0)) == (b"x" * 10, Truncation.DECODED)


@pytest.mark.parametrize(("name", "member"), [("gzip", gzip.compress(b"")), ("zstd", zstandard.compress(b""))])
def test_members_are_counted(name: str, member: bytes) -> None:
    assert decode(member * MAX_MEMBERS, [name], limits=LIMITS) == (b"", None)
    with pytest.raises(BadCoding, match="more than 1000"):
        decode(member * (MAX_MEMBERS + 1), [name], limits=LIMITS)


def test_a_window_beyond_the_limit_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    with pytest.raises(BadCoding):
        decode(packer.compress(ZEROS) + packer.flush(), ["zstd"], limits=LIMITS)


CODINGS = st.lists(st.sampled_from(["gzip", "deflate", "br", "zstd", "x"]), max_size=3)
PREFIXES = st.sampled_from([b"", b"\x1f\x8b\x08\0", b"\x78\x9c", b"\x28\xb5\x2f\xfd"])


@given(st.binary(max_size=200), CODINGS, PREFIXES, st.booleans())
def test_no_bytes_raise_another_exception(body: bytes, codings: list[str], prefix: bytes, complete: bool) -> None:
    try:
        decoded, _ = decode(prefix + body, codings, limits=DecodeLimits(1000, 2.0), complete=complete)
    except BadCoding:
        return
    assert len(decoded) <= 1000


@given(st.binary(max_size=3000), st.sampled_from(["gzip", "deflate", "br", "zstd"]))
def test_codings_round_trip(body: bytes, name: str) -> None:
    assert decode(ENCODERS[name](body), [name], limits=LIMITS) == (body, None)
