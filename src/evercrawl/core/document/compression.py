"""Compact stored forms: zstd patches, the main texts of versions, and page outlines.
The first text and every `FULL_EVERY`th is a zstd frame; the others use the text before as dictionary. A chain has at
most `MAX_CHAIN` frames, so any version is read within milliseconds."""

from __future__ import annotations

import zlib
from codecs import utf_8_decode
from collections.abc import Iterable, Sequence
from math import ceil, log2
from typing import Any

import orjson
import zstandard

from evercrawl.core.url import without_user
from evercrawl.model.document import Document, Link, Outline
from evercrawl.model.page import PackedText

MIN_WINDOW_LOG, MAX_WINDOW_LOG = 10, 27  # zstd's window as a power of two; it must hold the base and the bytes.


def make_patch(plain: bytes, base: bytes, *, level: int) -> bytes:
    """Compress `plain` for a reader who has `base` (zstd's patch-from)."""
    window = min(max(ceil(log2(len(base) + len(plain) + 1)), MIN_WINDOW_LOG), MAX_WINDOW_LOG)
    parameters = zstandard.ZstdCompressionParameters.from_level(
        level, source_size=len(plain), dict_size=len(base), window_log=window, write_content_size=1
    )
    if not base:
        return zstandard.ZstdCompressor(compression_params=parameters).compress(plain)
    dictionary = zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    return zstandard.ZstdCompressor(dict_data=dictionary, compression_params=parameters).compress(plain)


def apply_patch(frame: bytes, base: bytes, *, most_bytes: int) -> bytes:
    """Decompress a patch with its base; raises ValueError if it is damaged or too large."""
    try:
        size = zstandard.frame_content_size(frame)
        if not 0 <= size <= most_bytes:
            raise ValueError(f"a frame claims {size} bytes, more than {most_bytes}")
        if not base:
            decompressor = zstandard.ZstdDecompressor(max_window_size=1 << MAX_WINDOW_LOG)
        else:
            dictionary = zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
            decompressor = zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=1 << MAX_WINDOW_LOG)
        return decompressor.decompress(frame)
    except zstandard.ZstdError as error:
        raise ValueError(f"a frame is damaged: {error}") from error


def decompress_start(frame: bytes, most_bytes: int) -> bytes:
    """Return the first bytes of a frame without base; raises ValueError if it is damaged."""
    try:
        decompressor = zstandard.ZstdDecompressor(max_window_size=1 << MAX_WINDOW_LOG)
        return decompressor.stream_reader(frame).read(most_bytes)
    except zstandard.ZstdError as error:
        raise ValueError(f"a frame is damaged: {error}") from error


def inflate(stored: bytes) -> bytes:
    """Decompress the state of a site or of a crawl; raises ValueError if it is damaged or larger than any."""
    stream = zlib.decompressobj()
    try:
        plain = stream.decompress(stored, MAX_STATE_BYTES)
    except zlib.error as error:
        raise ValueError(f"stored state is damaged: {error}") from error
    if not stream.eof:
        raise ValueError("stored state is cut off or too large")
    return plain


FULL_EVERY = 32  # Versions 1, 33, 65 ... are stored in full.
MAX_CHAIN = 2 * FULL_EVERY  # A text that needs more frames is damaged.
CHEAP_DELTA_SHARE = 1 / 8  # A delta below this share of the plain text is kept without trying a full frame.
MAX_DELTA_SHARE = 0.6  # A delta above this share of the full frame is not worth another link in the chain.
MAX_TEXT_BYTES = 64 * 1024 * 1024  # A larger frame is damaged.
MAX_STATE_BYTES = 64 * 1024 * 1024
DELTA_LEVEL = 3
FULL_LEVEL = 1  # Every page of a first crawl is stored in full: speed matters more than space.

_FULL = zstandard.ZstdCompressor(level=FULL_LEVEL)


def pack_text(text: str, number: int, before: tuple[int, str] | None) -> PackedText:
    """Pack the text of version `number`, as a delta to the version `before` (number and text) if that is smaller."""
    plain = _to_bytes(text)
    if before is None or not before[1] or number % FULL_EVERY == 1:
        return PackedText(None, _FULL.compress(plain))
    delta = make_patch(plain, _to_bytes(before[1]), level=DELTA_LEVEL)
    if len(delta) > len(plain) * CHEAP_DELTA_SHARE:
        full = _FULL.compress(plain)
        if len(delta) > len(full) * MAX_DELTA_SHARE:
            return PackedText(None, full)
    return PackedText(before[0], delta)


def unpack_text(frames: Iterable[bytes]) -> str:
    """Return the last text of a chain that begins with a full frame; raises ValueError if it is damaged."""
    plain = b""
    for frame in frames:
        plain = apply_patch(frame, plain, most_bytes=MAX_TEXT_BYTES)
    return plain.decode("utf-8", "surrogatepass")


def unpack_text_start(frames: Sequence[bytes], most_bytes: int) -> str:
    """Return about the first bytes of that text; of a single frame only these are decompressed."""
    if len(frames) != 1:
        return unpack_text(frames)
    plain = decompress_start(frames[0], most_bytes)
    # The last character may be cut: drop it.
    text, _ = utf_8_decode(plain, "surrogatepass", len(plain) < most_bytes)
    return text


def unpack_texts(packed: Sequence[tuple[int, PackedText]]) -> list[tuple[int, str]]:
    """Return the texts of many versions of one page in order of their numbers; each frame is read once."""
    plain: dict[int, bytes] = {}
    for number, (base, frame) in packed:
        if base is not None and base not in plain:
            raise ValueError(f"the text of version {number} needs that of version {base}, which is missing")
        plain[number] = apply_patch(frame, b"" if base is None else plain[base], most_bytes=MAX_TEXT_BYTES)
    return [(number, text.decode("utf-8", "surrogatepass")) for number, text in plain.items()]


def pack_texts(texts: Sequence[tuple[int, str]]) -> list[tuple[int, PackedText]]:
    """Pack the texts again, for instance without versions that a chain went through."""
    packed: list[tuple[int, PackedText]] = []
    before: tuple[int, str] | None = None
    for place, (number, text) in enumerate(texts, start=1):
        packed.append((number, pack_text(text, place, before)))
        before = number, text
    return packed


def _to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


OUTLINE_LEVEL = 1  # Every page of a first crawl has an outline: speed matters.
MAX_OUTLINE_BYTES = 64 * 1024 * 1024  # A larger frame is damaged.

_COMPRESSOR = zstandard.ZstdCompressor(level=OUTLINE_LEVEL)


def outline_of(document: Document) -> Outline:
    """Return the outline of a parsed page."""
    return Outline(document.headings, document.links, document.robots.noindex)


def pack_outline(outline: Outline) -> bytes:
    """Pack an outline as two lines of JSON in a zstd frame."""
    links = [[without_user(link.url), link.text, *(1,) * link.nofollow] for link in outline.links]
    head = _json([int(outline.noindex), list(outline.headings)])
    return _COMPRESSOR.compress(head + b"\n" + _json(links))


def unpack_outline(
    frame: bytes, *, with_links: bool = True, decompressor: zstandard.ZstdDecompressor | None = None
) -> Outline:
    """Unpack an outline; raises ValueError if it is damaged.
    Reading is much faster without links, and with one `decompressor` for many outlines of a thread."""
    try:
        size = zstandard.frame_content_size(frame)
        if not 0 <= size <= MAX_OUTLINE_BYTES:
            raise ValueError(f"a stored outline claims {size} bytes")
        head, _, links = (decompressor or zstandard.ZstdDecompressor()).decompress(frame).partition(b"\n")
        noindex, headings = orjson.loads(head)
        found = tuple(Link(row[0], row[1], len(row) > 2) for row in orjson.loads(links)) if with_links else ()
    except (zstandard.ZstdError, orjson.JSONDecodeError) as error:
        raise ValueError(f"a stored outline is damaged: {error}") from error
    return Outline(tuple(headings), found, bool(noindex))


def _json(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:
        # A lone surrogate, which UTF-8 cannot encode.
        return orjson.dumps(_without_surrogates(value))


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return [_without_surrogates(part) for part in value] if isinstance(value, list) else value
