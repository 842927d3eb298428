"""Decode the content codings of a response body.
RFC 9110 section 8.4.1 with br (RFC 7932) and zstd (RFC 8878, window of RFC 9659), from the last coding to the first.
Output is produced in bounded steps and stops at the limit, so a bomb costs no more than the limit."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import brotli
import zstandard
from isal import isal_zlib

from evercrawl.core.http.http1 import split_list
from evercrawl.model.fetch import Headers, Truncation, header_values

MAX_CODINGS = 3  # Maximum number of stacked codings.
MAX_MEMBERS = 1000  # Maximum number of gzip members or zstd frames in one body.
RATIO_FROM_BYTES = 1024 * 1024  # Decoded bytes from which the ratio is checked.
ZSTD_WINDOW_BYTES = 8 * 1024 * 1024
CACHED_VALUES = 64  # Servers send few different values.

_STEP_BYTES = 256 * 1024
_SLICE_BYTES = 64 * 1024
_ZSTD_BLOCK_BYTES = 128 * 1024
_ZSTD_MIN_BLOCK_BYTES = 4  # Encoded bytes that are enough for one block of `_ZSTD_BLOCK_BYTES`.
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_GZIP, _ZLIB, _RAW = 31, 15, -15
_ISAL_ERROR: Any = isal_zlib.error  # typed as an instance in its stubs
_DECODER_ERRORS: tuple[type[Exception], ...] = (_ISAL_ERROR, brotli.error, zstandard.ZstdError)
_NO_CODINGS = frozenset(("identity", "none", "7bit", "8bit", "binary", "aws-chunked"))
"""Names that leave the body as it is: two meant for HTTP, three of mail, and what S3 stores with uploads."""
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_SNIFFED_BYTES = 512


class BadCoding(Exception):
    """The bytes do not match the coding's name; blames the server."""


class DecodeLimits(NamedTuple):
    """Limits of the output."""

    decoded_bytes: int
    ratio: float


class _Piece(NamedTuple):
    """The output of one coding, at most the bound, and whether its end was reached."""

    data: bytes
    ended: bool


def decode(
    body: bytes, codings: list[str], *, limits: DecodeLimits, complete: bool = True
) -> tuple[bytes, Truncation | None]:
    """Return the decoded body, cut at the limits; `complete` is False if the wire body was cut.
    A body with an unknown coding, or plainly not encoded, is returned as it is; `unknown_coding` tells the first."""
    layers = [coding for coding in codings if not _is_no_coding(coding)]
    if len(layers) > MAX_CODINGS:
        raise BadCoding(f"more than {MAX_CODINGS} content codings")
    bound, cause = _bound(len(body), limits)
    truncated: Truncation | None = None
    for name in reversed(layers):
        decoder = _DECODERS.get(name)
        if decoder is None or not body:
            break
        body, was_cut = _undo(name, decoder, body, bound, complete)
        if was_cut:
            truncated, complete = cause, False
    return _cut(body, truncated, limits)


def unknown_coding(headers: Headers) -> str | None:
    """Return the content coding that `decode` cannot undo; None: there is none. Such a body is kept as bytes."""
    found = map(_unknown_in, header_values(headers, "content-encoding"))
    return next((unknown for unknown in found if unknown is not None), None)


@lru_cache(maxsize=CACHED_VALUES)
def _unknown_in(value: str) -> str | None:
    codings = (coding for coding in split_list([value]) if coding not in _DECODERS and not _is_no_coding(coding))
    return next(codings, None)


def _is_no_coding(name: str) -> bool:
    """True for names that say nothing about compression: servers also put charsets here."""
    if name in _NO_CODINGS:
        return True
    try:
        return codecs.lookup(name)._is_text_encoding
    except (LookupError, ValueError):
        return False


def decode_body(headers: Headers, wire_body: bytes, *, limits: DecodeLimits) -> bytes:
    """Decode a complete body as its headers say."""
    codings = split_list(header_values(headers, "content-encoding"))
    return decode(wire_body, codings, limits=limits)[0]


def _cut(body: bytes, truncated: Truncation | None, limits: DecodeLimits) -> tuple[bytes, Truncation | None]:
    if len(body) > limits.decoded_bytes:
        return body[: limits.decoded_bytes], truncated or Truncation.DECODED
    return body, truncated


def _bound(wire_bytes: int, limits: DecodeLimits) -> tuple[int, Truncation]:
    by_ratio = max(RATIO_FROM_BYTES, int(wire_bytes * limits.ratio))
    if by_ratio < limits.decoded_bytes:
        return by_ratio, Truncation.RATIO
    return limits.decoded_bytes, Truncation.DECODED


def _undo(
    name: str, decoder: Callable[[bytes, int], _Piece], body: bytes, bound: int, complete: bool
) -> tuple[bytes, bool]:
    """Undo one coding; return also whether the output was cut."""
    try:
        piece = decoder(body, bound + 1)
    except _DECODER_ERRORS as error:
        if _looks_plain(body):
            return body, False
        raise BadCoding(f"the body is not valid {name}: {error}") from error
    if len(piece.data) > bound:
        return piece.data[:bound], True
    if not piece.ended and complete:
        if _looks_plain(body):
            return body, False
        raise BadCoding(f"the {name} body ends too early, after {len(piece.data)} decoded bytes")
    return piece.data, False


def _looks_plain(body: bytes) -> bool:
    """True for text labelled as encoded: the label is wrong, the page is good."""
    return _NOT_TEXT.search(body[:_SNIFFED_BYTES]) is None and not body.startswith((_GZIP_MAGIC, _ZSTD_MAGIC))


def _gunzip(data: bytes, most: int) -> _Piece:
    """Decompress all members. Bytes after the last one are ignored."""
    if not data.startswith(_GZIP_MAGIC):
        return _inflate(data, most)
    first = isal_zlib.decompressobj(wbits=_GZIP)
    out = first.decompress(data, most)
    rest = first.unused_data
    if not first.eof or not rest.startswith(_GZIP_MAGIC):
        return _Piece(out, first.eof)
    return _further_members(out, rest, most)


def _further_members(first: bytes, rest: bytes, most: int) -> _Piece:
    # In slices: `unused_data` is a copy, and many small members of a large body would copy it again and again.
    out, at, members = bytearray(first), 0, 1
    while rest.startswith(_GZIP_MAGIC, at) and len(out) < most:
        members += 1
        if members > MAX_MEMBERS:
            raise BadCoding(f"more than {MAX_MEMBERS} gzip members")
        member = isal_zlib.decompressobj(wbits=_GZIP)
        while not member.eof and at < len(rest) and len(out) < most:
            piece = rest[at : at + _SLICE_BYTES]
            out += member.decompress(piece, most - len(out))
            at += len(piece) - len(member.unused_data)
        if not member.eof:
            return _Piece(bytes(out), False)
    return _Piece(bytes(out), True)


def _inflate(data: bytes, most: int) -> _Piece:
    """Decompress `deflate`, which means zlib's format; some servers send the bare stream."""
    if data.startswith(_GZIP_MAGIC):
        return _gunzip(data, most)
    if data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0:
        try:
            return _inflate_as(_ZLIB, data, most)
        except _ISAL_ERROR:
            pass
    return _inflate_as(_RAW, data, most)


def _inflate_as(wbits: int, data: bytes, most: int) -> _Piece:
    stream = isal_zlib.decompressobj(wbits=wbits)
    out = stream.decompress(data, most)
    return _Piece(out, stream.eof)


def _unbrotli(data: bytes, most: int) -> _Piece:
    # The library may exceed its limit by as much again, so each call gets one small step.
    stream = brotli.Decompressor()
    out = bytearray(stream.process(data, output_buffer_limit=_STEP_BYTES))
    while len(out) < most and not stream.is_finished() and not stream.can_accept_more_data():
        out += stream.process(b"", output_buffer_limit=_STEP_BYTES)
    return _Piece(_first(out, most), stream.is_finished())


def _unzstd(data: bytes, most: int) -> _Piece:
    """Decompress all frames. Bytes after the last one are ignored."""
    if not data.startswith(_ZSTD_MAGIC):
        raise zstandard.ZstdError("no frame begins here")
    opener = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES)
    out, at, frames = bytearray(), 0, 0
    while data.startswith(_ZSTD_MAGIC, at) and len(out) < most:
        frames += 1
        if frames > MAX_MEMBERS:
            raise BadCoding(f"more than {MAX_MEMBERS} zstd frames")
        frame = opener.decompressobj()
        while not frame.eof and at < len(data) and len(out) < most:
            # The piece fits the room left, even if every block is one repeated byte.
            fitting = max(64, (most - len(out)) * _ZSTD_MIN_BLOCK_BYTES // _ZSTD_BLOCK_BYTES)
            piece = data[at : at + min(_SLICE_BYTES, fitting)]
            out += frame.decompress(piece)
            at += len(piece) - len(frame.unused_data)
        if not frame.eof:
            return _Piece(_first(out, most), False)
    return _Piece(_first(out, most), True)


def _first(out: bytearray, most: int) -> bytes:
    del out[most:]
    return bytes(out)


_DECODERS: dict[str, Callable[[bytes, int], _Piece]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
