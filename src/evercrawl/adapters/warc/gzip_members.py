"""Compress each record as one gzip member, and decompress members within limits.
Compressed payloads are stored as they are (RFC 1951 section 3.2.4), which takes a third of the time."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from struct import Struct

from isal import isal_zlib
from isal.igzip_lib import IsalError

Buffer = bytes | mmap.mmap

GZIP_MAGIC = b"\x1f\x8b\x08"
MAX_RECORD_BYTES = 64 * 1024 * 1024  # Size limit of a decompressed record; more counts as damage.

_GZIP = 31  # Window bits for a gzip header with time 0, so that equal records compress to equal bytes.
_RAW = -15  # Window bits for raw deflate blocks.
_CHUNK = 1 << 18
_HEADER = GZIP_MAGIC + bytes((0, 0, 0, 0, 0, 0, 0xFF))
_TRAILER = Struct("<II")
_STORED = Struct("<BHH")
_MAX_STORED = 0xFFFF


def compress_record(record: bytes, level: int) -> bytes:
    """Return the record as one gzip member; level 0 to 3."""
    return isal_zlib.compress(record, level, _GZIP)


def compress_head(record: bytes, level: int, *, stored: int) -> bytes:
    """Return the record as one gzip member, storing the last `stored` bytes uncompressed."""
    deflate = isal_zlib.compressobj(level, isal_zlib.DEFLATED, _RAW)
    start = len(record) - stored
    parts = [_HEADER, deflate.compress(record[:start]), deflate.flush(isal_zlib.Z_SYNC_FLUSH)]
    for at in range(start, len(record), _MAX_STORED):
        block = record[at : at + _MAX_STORED]
        is_last = at + _MAX_STORED >= len(record)
        parts += (_STORED.pack(is_last, len(block), len(block) ^ _MAX_STORED), block)
    parts.append(_TRAILER.pack(isal_zlib.crc32(record), len(record) & 0xFFFFFFFF))
    return b"".join(parts)


def decompress_member(packed: bytes) -> bytes:
    """Decompress one member; raise ValueError if it is truncated, damaged or too large."""
    unpacked, _ = decompress_at(packed, 0)
    return unpacked


def decompress_at(data: Buffer, start: int) -> tuple[bytes, int]:
    """Decompress the member at `start`; return its content and the start of the next member."""
    parts: list[bytes] = []
    left = MAX_RECORD_BYTES

    def keep(part: bytes) -> None:
        nonlocal left
        left -= len(part)
        if left < 0:
            raise ValueError(f"a gzip member decompresses to more than {MAX_RECORD_BYTES} bytes")
        parts.append(part)

    end = member_end(data, start, keep)
    return b"".join(parts), end


def member_end(data: Buffer, start: int, sink: Callable[[bytes], object]) -> int:
    """Return the end of the member at `start`; pass its decompressed chunks to `sink`."""
    member, position = isal_zlib.decompressobj(_GZIP), start
    while not member.eof:
        chunk = member.unconsumed_tail
        if not chunk:
            chunk = data[position : position + _CHUNK]
            position += len(chunk)
        if not chunk:
            raise ValueError("a gzip member is truncated")
        try:
            sink(member.decompress(chunk, _CHUNK))
        except IsalError as error:  # type: ignore[misc]
            raise ValueError(f"a gzip member is damaged ({error})") from error
    return position - len(member.unused_data)
