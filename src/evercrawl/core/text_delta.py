"""How are the main texts of many versions of a page kept in little room?

The first version and every `FULL_EVERY`th are one zstd frame each; the others are frames that were made with
the text of the version before as their dictionary, so that they hold little more than what is new. A chain is
never longer than `LONGEST_CHAIN`, whatever was deleted in between: any version is read within milliseconds.
"""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Iterable, Sequence

import zstandard

from evercrawl.core.patch import beginning, patch, patched
from evercrawl.model.page import PackedText

FULL_EVERY = 32
"""Version 1, 33, 65 ... are stored whole."""
LONGEST_CHAIN = 2 * FULL_EVERY
"""Frames that have to be read for one text; more is taken for damage."""
CHEAP_SHARE = 1 / 8
"""A delta below this share of the plain text is taken without a look at what the whole would cost."""
LARGEST_SHARE = 0.6
"""A delta above this share of the whole frame is not worth another link in the chain."""
MOST_TEXT_BYTES = 64 * 1024 * 1024
"""More than this in one frame is taken for damage."""
LEVEL = 3
WHOLE_LEVEL = 1
"""Whole frames are made for every page of a first crawl: there speed counts, a little room does not."""

_WHOLE = zstandard.ZstdCompressor(level=WHOLE_LEVEL)


def pack_text(text: str, number: int, before: tuple[int, str] | None) -> PackedText:
    """The text of version `number`, as a delta to the version `before` (number and text) where that pays."""
    plain = _to_bytes(text)
    if before is None or not before[1] or number % FULL_EVERY == 1:
        return PackedText(None, _WHOLE.compress(plain))
    delta = patch(plain, _to_bytes(before[1]), level=LEVEL)
    if len(delta) > len(plain) * CHEAP_SHARE:
        whole = _WHOLE.compress(plain)
        if len(delta) > len(whole) * LARGEST_SHARE:
            return PackedText(None, whole)
    return PackedText(before[0], delta)


def unpack_text(frames: Iterable[bytes]) -> str:
    """The text at the end of a chain that begins with a whole frame; ValueError where it is damaged."""
    plain = b""
    for frame in frames:
        plain = patched(frame, plain, most_bytes=MOST_TEXT_BYTES)
    return plain.decode("utf-8", "surrogatepass")


def unpack_beginning(frames: Sequence[bytes], most_bytes: int) -> str:
    """About the first so many bytes of the same text; of one that stands alone the rest is not opened."""
    if len(frames) != 1:
        return unpack_text(frames)
    plain = beginning(frames[0], most_bytes)
    # The last character may have been cut: it is left out.
    text, _ = utf_8_decode(plain, "surrogatepass", len(plain) < most_bytes)
    return text


def unpack_all(packed: Sequence[tuple[int, PackedText]]) -> list[tuple[int, str]]:
    """The texts of many versions of one page, given in order of their numbers: each frame is opened once."""
    plain: dict[int, bytes] = {}
    for number, (base, frame) in packed:
        if base is not None and base not in plain:
            raise ValueError(f"the text of version {number} rests on that of version {base}, which is not there")
        plain[number] = patched(frame, b"" if base is None else plain[base], most_bytes=MOST_TEXT_BYTES)
    return [(number, text.decode("utf-8", "surrogatepass")) for number, text in plain.items()]


def pack_all(texts: Sequence[tuple[int, str]]) -> list[tuple[int, PackedText]]:
    """The same texts packed anew, for instance without those versions that a chain went through before."""
    packed: list[tuple[int, PackedText]] = []
    before: tuple[int, str] | None = None
    for place, (number, text) in enumerate(texts, start=1):
        packed.append((number, pack_text(text, place, before)))
        before = number, text
    return packed


def _to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
