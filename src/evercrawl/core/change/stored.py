"""The stored form of a snapshot: its texts, paths and flags, compressed."""

from __future__ import annotations

from array import array
from functools import lru_cache
from struct import Struct, error

from zstandard import ZstdCompressor, ZstdDecompressor, ZstdError

from evercrawl.core.change.snapshot import MOST_BLOCKS, MOST_CHARS, Metadata, Snapshot

LEVEL = 1
"""Level 3 saves 3 % of the bytes and takes 40 % longer."""
MOST_BYTES = 4 * MOST_CHARS + 16 * MOST_BLOCKS + 1_000_000
"""A stored snapshot that claims more is damaged."""

METADATA_TEXTS = 4

_VERSION = 1
_HEAD = Struct("<BIII")
_BORDER = "\x1e"
"""Stands in no block, since a block's space is normal and this character counts as space."""


@lru_cache(maxsize=1)
def _compressor() -> ZstdCompressor:
    return ZstdCompressor(level=LEVEL, write_checksum=False)


@lru_cache(maxsize=1)
def _decompressor() -> ZstdDecompressor:
    return ZstdDecompressor()


def pack(snapshot: Snapshot) -> bytes:
    """The snapshot as bytes: most of it compressed text; each different path is stored once."""
    known = list(dict.fromkeys(snapshot.paths))
    number_of = dict(zip(known, range(len(known)), strict=True))
    about = snapshot.metadata
    texts = (about.title, about.description, about.canonical, about.robots, *snapshot.texts)
    written = _BORDER.join(texts).encode("utf-8", "surrogatepass")
    raw = b"".join((
        _HEAD.pack(_VERSION, len(snapshot.texts), len(known), len(written)),
        written,
        snapshot.flags,
        array("I", known).tobytes(),
        array("H", list(map(number_of.__getitem__, snapshot.paths))).tobytes(),
    ))  # fmt: skip
    return _compressor().compress(raw)


def unpack(stored: bytes) -> Snapshot | None:
    """The snapshot that was packed; None where it cannot be read."""
    try:
        raw = _decompressor().decompress(stored, max_output_size=MOST_BYTES)
        return _read(raw)
    except (ZstdError, error, ValueError, IndexError):
        return None


def _read(raw: bytes) -> Snapshot:
    version, blocks, paths, size = _HEAD.unpack_from(raw)
    at = _HEAD.size
    texts = raw[at : at + size].decode("utf-8", "surrogatepass").split(_BORDER)
    at += size
    flags = raw[at : at + blocks]
    at += blocks
    known, numbers = array("I"), array("H")
    known.frombytes(raw[at : at + 4 * paths])
    numbers.frombytes(raw[at + 4 * paths :])
    if version != _VERSION or not len(texts) - METADATA_TEXTS == len(flags) == len(numbers) == blocks:
        raise ValueError("not a snapshot of this version")
    return Snapshot(
        tuple(known[number] for number in numbers),
        flags,
        tuple(texts[METADATA_TEXTS:]),
        Metadata(*texts[:METADATA_TEXTS]),
    )
