"""What is inside a packed sitemap? Never more than the limit, and as much as a damaged file still gives."""

from __future__ import annotations

from typing import Any, NamedTuple

from isal import isal_zlib

GZIP_MAGIC = b"\x1f\x8b"
MOST_LAYERS = 2
"""A gzip file that was sent with a gzip coding that nobody removed."""
MOST_MEMBERS = 1000

_GZIP = 31
_SLICE_BYTES = 16 * 1024
_BAD_DATA: Any = isal_zlib.error  # typed as an instance in its stubs


class Unpacked(NamedTuple):
    """The bytes, and what was wrong with the packing."""

    data: bytes
    error: str | None = None


def unpacked(body: bytes, *, most_bytes: int) -> Unpacked:
    """The body without gzip, known by its first bytes whatever the name or the type says."""
    error: str | None = None
    for _ in range(MOST_LAYERS):
        if not body.startswith(GZIP_MAGIC):
            break
        body, wrong = _gunzipped(body, most_bytes)
        error = error or wrong
    if body.startswith(GZIP_MAGIC):
        return Unpacked(b"", error or f"packed more than {MOST_LAYERS} times")
    if len(body) > most_bytes:
        return Unpacked(body[:most_bytes], error or _too_long(most_bytes))
    return Unpacked(body, error)


def _too_long(most_bytes: int) -> str:
    return f"longer than {most_bytes} bytes; the rest was not read"


def _gunzipped(body: bytes, most_bytes: int) -> Unpacked:
    """All members joined; what came out before damage is kept, and what follows the last is ignored."""
    out, at, members = bytearray(), 0, 0
    while body.startswith(GZIP_MAGIC, at) and members < MOST_MEMBERS:
        members += 1
        member = isal_zlib.decompressobj(wbits=_GZIP)
        while not member.eof:
            piece = body[at : at + _SLICE_BYTES]
            if not piece:
                return Unpacked(bytes(out), "the gzip data end too early")
            try:
                out += member.decompress(piece, most_bytes + 1 - len(out))
            except _BAD_DATA as damage:
                return Unpacked(bytes(out), f"the gzip data are damaged: {damage}")
            if len(out) > most_bytes:
                del out[most_bytes:]
                return Unpacked(bytes(out), _too_long(most_bytes))
            at += len(piece) - len(member.unused_data)
    return Unpacked(bytes(out))
