"""gzip members, one per record: packed in one go, unpacked within limits.

What was sent compressed does not get smaller a second time: it is stored as it is (RFC 1951 section 3.2.4),
which takes a third of the time.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from struct import Struct

from isal import isal_zlib
from isal.igzip_lib import IsalError

Buffer = bytes | mmap.mmap

GZIP_MAGIC = b"\x1f\x8b\x08"
MAX_RECORD_BYTES = 64 * 1024 * 1024
"""Most bytes of one record, unpacked; more is taken for damage."""

_GZIP = 31
"""Window bits that mean: a gzip header with time 0, so that equal records pack to equal bytes."""
_RAW = -15
"""Window bits that mean: nothing around the deflate blocks."""
_CHUNK = 1 << 18
_HEADER = GZIP_MAGIC + bytes((0, 0, 0, 0, 0, 0, 0xFF))
_TRAILER = Struct("<II")
_STORED = Struct("<BHH")
_MAX_STORED = 0xFFFF


def compress_record(record: bytes, level: int) -> bytes:
    """The record as one gzip member; level 0 to 3."""
    return isal_zlib.compress(record, level, _GZIP)


def compress_head(record: bytes, level: int, *, stored: int) -> bytes:
    """The same, the last `stored` bytes as they are, because they are packed already."""
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
    """What one whole member unpacks to; ValueError where it is cut, damaged or too large."""
    unpacked, _ = decompress_at(packed, 0)
    return unpacked


def decompress_at(data: Buffer, start: int) -> tuple[bytes, int]:
    """What the member at `start` unpacks to, and where the next one begins; ValueError as in `unpack`."""
    parts: list[bytes] = []
    left = MAX_RECORD_BYTES

    def keep(part: bytes) -> None:
        nonlocal left
        left -= len(part)
        if left < 0:
            raise ValueError(f"a gzip member unpacks to more than {MAX_RECORD_BYTES} bytes")
        parts.append(part)

    end = member_end(data, start, keep)
    return b"".join(parts), end


def member_end(data: Buffer, start: int, sink: Callable[[bytes], object]) -> int:
    """Where the member at `start` ends, its unpacked parts given to `sink`; ValueError as in `unpack`."""
    member, position = isal_zlib.decompressobj(_GZIP), start
    while not member.eof:
        chunk = member.unconsumed_tail
        if not chunk:
            chunk = data[position : position + _CHUNK]
            position += len(chunk)
        if not chunk:
            raise ValueError("a gzip member is cut off")
        try:
            sink(member.decompress(chunk, _CHUNK))
        except IsalError as error:  # type: ignore[misc]
            raise ValueError(f"a gzip member is damaged ({error})") from error
    return position - len(member.unused_data)
