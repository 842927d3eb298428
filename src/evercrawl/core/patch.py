"""How are bytes told to somebody who holds similar bytes?

As a zstd frame whose dictionary is what both hold (zstd's patch-from), so that it says little more than what
is new. Without a base the same frame is an ordinary compressed one.
"""

from __future__ import annotations

from math import ceil, log2

import zstandard

SMALLEST_WINDOW, LARGEST_WINDOW = 10, 27
"""zstd's window, as powers of two; it must hold the base and the bytes."""


def patch(plain: bytes, base: bytes, *, level: int) -> bytes:
    """The frame from which somebody who has `base` gets `plain` back."""
    window = min(max(ceil(log2(len(base) + len(plain) + 1)), SMALLEST_WINDOW), LARGEST_WINDOW)
    parameters = zstandard.ZstdCompressionParameters.from_level(
        level, source_size=len(plain), dict_size=len(base), window_log=window, write_content_size=1
    )
    if not base:
        return zstandard.ZstdCompressor(compression_params=parameters).compress(plain)
    dictionary = zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    return zstandard.ZstdCompressor(dict_data=dictionary, compression_params=parameters).compress(plain)


def patched(frame: bytes, base: bytes, *, most_bytes: int) -> bytes:
    """What the frame says to a holder of `base`; ValueError where it is damaged or claims too much."""
    try:
        size = zstandard.frame_content_size(frame)
        if not 0 <= size <= most_bytes:
            raise ValueError(f"a frame claims {size} bytes, more than {most_bytes}")
        if not base:
            opener = zstandard.ZstdDecompressor(max_window_size=1 << LARGEST_WINDOW)
        else:
            dictionary = zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
            opener = zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=1 << LARGEST_WINDOW)
        return opener.decompress(frame)
    except zstandard.ZstdError as error:
        raise ValueError(f"a frame is damaged: {error}") from error


def beginning(frame: bytes, most_bytes: int) -> bytes:
    """The first bytes of a frame that stands alone; ValueError where it is damaged."""
    try:
        opener = zstandard.ZstdDecompressor(max_window_size=1 << LARGEST_WINDOW)
        return opener.stream_reader(frame).read(most_bytes)
    except zstandard.ZstdError as error:
        raise ValueError(f"a frame is damaged: {error}") from error
