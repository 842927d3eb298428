"""How are bytes told to somebody who holds similar bytes?

As a zstd frame whose dictionary is what both hold (zstd's patch-from), so that it says little more than what
is new. Without a base the same frame is an ordinary compressed one.
"""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Iterable, Sequence
from math import ceil, log2
from typing import Any

import orjson
import zstandard

from evercrawl.model.document import Document, Link, Outline
from evercrawl.model.page import PackedText

MIN_WINDOW_LOG, MAX_WINDOW_LOG = 10, 27
"""zstd's window, as powers of two; it must hold the base and the bytes."""


def make_patch(plain: bytes, base: bytes, *, level: int) -> bytes:
    """The frame from which somebody who has `base` gets `plain` back."""
    window = min(max(ceil(log2(len(base) + len(plain) + 1)), MIN_WINDOW_LOG), MAX_WINDOW_LOG)
    parameters = zstandard.ZstdCompressionParameters.from_level(
        level, source_size=len(plain), dict_size=len(base), window_log=window, write_content_size=1
    )
    if not base:
        return zstandard.ZstdCompressor(compression_params=parameters).compress(plain)
    dictionary = zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    return zstandard.ZstdCompressor(dict_data=dictionary, compression_params=parameters).compress(plain)


def apply_patch(frame: bytes, base: bytes, *, most_bytes: int) -> bytes:
    """What the frame says to a holder of `base`; ValueError where it is damaged or claims too much."""
    try:
        size = zstandard.frame_content_size(frame)
        if not 0 <= size <= most_bytes:
            raise ValueError(f"a frame claims {size} bytes, more than {most_bytes}")
        if not base:
            opener = zstandard.ZstdDecompressor(max_window_size=1 << MAX_WINDOW_LOG)
        else:
            dictionary = zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
            opener = zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=1 << MAX_WINDOW_LOG)
        return opener.decompress(frame)
    except zstandard.ZstdError as error:
        raise ValueError(f"a frame is damaged: {error}") from error


def decompress_start(frame: bytes, most_bytes: int) -> bytes:
    """The first bytes of a frame that stands alone; ValueError where it is damaged."""
    try:
        opener = zstandard.ZstdDecompressor(max_window_size=1 << MAX_WINDOW_LOG)
        return opener.stream_reader(frame).read(most_bytes)
    except zstandard.ZstdError as error:
        raise ValueError(f"a frame is damaged: {error}") from error


FULL_EVERY = 32
"""Version 1, 33, 65 ... are stored whole."""
MAX_CHAIN = 2 * FULL_EVERY
"""Frames that have to be read for one text; more is taken for damage."""
CHEAP_DELTA_SHARE = 1 / 8
"""A delta below this share of the plain text is taken without a look at what the whole would cost."""
MAX_DELTA_SHARE = 0.6
"""A delta above this share of the whole frame is not worth another link in the chain."""
MAX_TEXT_BYTES = 64 * 1024 * 1024
"""More than this in one frame is taken for damage."""
DELTA_LEVEL = 3
FULL_LEVEL = 1
"""Whole frames are made for every page of a first crawl: there speed counts, a little room does not."""

_WHOLE = zstandard.ZstdCompressor(level=FULL_LEVEL)


def pack_text(text: str, number: int, before: tuple[int, str] | None) -> PackedText:
    """The text of version `number`, as a delta to the version `before` (number and text) where that pays."""
    plain = _to_bytes(text)
    if before is None or not before[1] or number % FULL_EVERY == 1:
        return PackedText(None, _WHOLE.compress(plain))
    delta = make_patch(plain, _to_bytes(before[1]), level=DELTA_LEVEL)
    if len(delta) > len(plain) * CHEAP_DELTA_SHARE:
        whole = _WHOLE.compress(plain)
        if len(delta) > len(whole) * MAX_DELTA_SHARE:
            return PackedText(None, whole)
    return PackedText(before[0], delta)


def unpack_text(frames: Iterable[bytes]) -> str:
    """The text at the end of a chain that begins with a whole frame; ValueError where it is damaged."""
    plain = b""
    for frame in frames:
        plain = apply_patch(frame, plain, most_bytes=MAX_TEXT_BYTES)
    return plain.decode("utf-8", "surrogatepass")


def unpack_text_start(frames: Sequence[bytes], most_bytes: int) -> str:
    """About the first so many bytes of the same text; of one that stands alone the rest is not opened."""
    if len(frames) != 1:
        return unpack_text(frames)
    plain = decompress_start(frames[0], most_bytes)
    # The last character may have been cut: it is left out.
    text, _ = utf_8_decode(plain, "surrogatepass", len(plain) < most_bytes)
    return text


def unpack_texts(packed: Sequence[tuple[int, PackedText]]) -> list[tuple[int, str]]:
    """The texts of many versions of one page, given in order of their numbers: each frame is opened once."""
    plain: dict[int, bytes] = {}
    for number, (base, frame) in packed:
        if base is not None and base not in plain:
            raise ValueError(f"the text of version {number} rests on that of version {base}, which is not there")
        plain[number] = apply_patch(frame, b"" if base is None else plain[base], most_bytes=MAX_TEXT_BYTES)
    return [(number, text.decode("utf-8", "surrogatepass")) for number, text in plain.items()]


def pack_texts(texts: Sequence[tuple[int, str]]) -> list[tuple[int, PackedText]]:
    """The same texts packed anew, for instance without those versions that a chain went through before."""
    packed: list[tuple[int, PackedText]] = []
    before: tuple[int, str] | None = None
    for place, (number, text) in enumerate(texts, start=1):
        packed.append((number, pack_text(text, place, before)))
        before = number, text
    return packed


def _to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


OUTLINE_LEVEL = 1
"""Made for every page of a first crawl: there speed counts."""
MAX_OUTLINE_BYTES = 64 * 1024 * 1024
"""More than this in one frame is taken for damage."""

_COMPRESSOR = zstandard.ZstdCompressor(level=OUTLINE_LEVEL)


def outline_of(document: Document) -> Outline:
    """The outline of a parsed page."""
    return Outline(document.headings, document.links, document.robots.noindex)


def pack_outline(outline: Outline) -> bytes:
    """The outline as it is stored; links of one site share their beginnings, so little is left of them."""
    links = [[link.url, link.text, 1] if link.nofollow else [link.url, link.text] for link in outline.links]
    head = _json([int(outline.noindex), list(outline.headings)])
    return _COMPRESSOR.compress(head + b"\n" + _json(links))


def unpack_outline(
    frame: bytes, *, with_links: bool = True, opener: zstandard.ZstdDecompressor | None = None
) -> Outline:
    """The outline of a stored frame; ValueError where it is damaged. Without links it is read much faster,
    and so are many in one thread with the same `opener`.
    """
    try:
        size = zstandard.frame_content_size(frame)
        if not 0 <= size <= MAX_OUTLINE_BYTES:
            raise ValueError(f"a stored outline claims {size} bytes")
        head, _, links = (opener or zstandard.ZstdDecompressor()).decompress(frame).partition(b"\n")
        noindex, headings = orjson.loads(head)
        found = tuple(map(_link, orjson.loads(links))) if with_links else ()
    except (zstandard.ZstdError, orjson.JSONDecodeError) as error:
        raise ValueError(f"a stored outline is damaged: {error}") from error
    return Outline(tuple(headings), found, bool(noindex))


def _link(stored: list[Any]) -> Link:
    return Link(stored[0], stored[1], len(stored) > 2)


def _json(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:
        # A lone surrogate, which UTF-8 cannot say: it stands for nothing that can be read.
        return orjson.dumps(_without_surrogates(value))


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return [_without_surrogates(part) for part in value] if isinstance(value, list) else value
