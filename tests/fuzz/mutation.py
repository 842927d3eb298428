"""Make new inputs out of old ones; the same number always gives the same input."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

MAX_STEPS = 6
MAX_BYTES = 256 * 1024
REPEATS = (2, 3, 10, 100, 1000, 10_000)
NUMBERS = (b"0", b"-1", b"1e999", b"4294967296", b"18446744073709551616", b"9" * 400, b"0x7fffffff", b"NaN", b"00")
BYTES = (b"\0", b"\xff", b"\xff\xfe", b"\x80", b"\r", b"\n", b"\r\n", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xcc\x81")
SIGNS = (b"<", b">", b'"', b"'", b"\\", b"/", b"%", b"&", b"=", b":", b";", b",", b"(", b")", b"[", b"]", b"{", b"}")


def mutate(seeds: Sequence[bytes], number: str) -> bytes:
    """Return the input with this number: a seed changed in a few places, or parts of two seeds."""
    draw = Random(number)
    data = bytearray(draw.choice(seeds))
    for _ in range(draw.randint(1, MAX_STEPS)):
        _change(data, seeds, draw)
        del data[MAX_BYTES:]
    return bytes(data)


def _change(data: bytearray, seeds: Sequence[bytes], draw: Random) -> None:
    at = draw.randint(0, len(data))
    end = min(len(data), at + draw.choice((1, 2, 4, 16, 64, 1000)))
    match draw.randrange(8):
        case 0 if at < len(data):
            data[at] ^= 1 << draw.randrange(8)
        case 1:
            del data[at:end]
        case 2:
            piece = bytes(data[at:end])
            data[at:at] = (piece * min(draw.choice(REPEATS), MAX_BYTES // max(1, len(piece))))[:MAX_BYTES]
        case 3:
            data[at:end] = draw.choice(NUMBERS)
        case 4:
            data[at:at] = draw.choice(BYTES + SIGNS) * draw.choice((1, 1, 1, *REPEATS))
        case 5:
            other = draw.choice(seeds)
            start = draw.randint(0, len(other))
            data[at:end] = other[start : start + draw.choice((4, 32, 1000))]
        case 6:
            data[at:end] = draw.randbytes(end - at)
        case _:
            del data[at:]
            data += draw.choice(seeds)[at:]
