"""Compare the links of two pages while ignoring one part of their URLs.
A list links to other pages each time, a session to the same pages under other URLs. Each link is a sum over its
segments and parameters, so one part can be subtracted. Link texts allow for sessions in changing places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar
from zlib import crc32

from evercrawl.core.traps.url_parts import query_pairs
from evercrawl.model.document import Link

MAX_LINKS: Final = 40  # Links of one page that are examined, spread over all of them.
MIN_LINK_TEXTS, MIN_LINK_TEXT_SHARE = 2, 0.6
"""Distinct link texts, and their share, that identify what the links lead to."""
CACHED_HASHES = 8192  # Cached hashes of links and link texts. Most occur on many pages of a site.
BUCKETS: Final = 8
BUCKET_BITS: Final = 8
MIN_EQUAL_BUCKETS: Final = 3  # Buckets of two sketches that agree if about two links in five are equal.
PIECES = re.compile(r"([.,;~!=_-])")  # Marks between the pieces of a segment. Splitting keeps them.
T = TypeVar("T")

_MIX: Final = 0x9E3779B1
_WORD: Final = 0xFFFFFFFF
_LOW: Final = (1 << BUCKET_BITS) - 1


class SegmentPiece(NamedTuple):
    """One of the pieces that marks separate in a segment."""

    segment: int
    number: int


UrlPart = tuple[str, ...] | int | SegmentPiece  # Parameters by name, a segment by number, or a piece of one.


class _Link(NamedTuple):
    whole: int
    mixed: int  # The whole, spread over all bits.
    segments: tuple[int, ...]
    parameters: dict[str, int]
    written: list[str]  # The segments as written.


class LinkSketch(NamedTuple):
    """The links of a page as numbers."""

    words: int = 0  # Hash of the link texts; 0 if they do not identify the links.
    whole: int = 0  # Hash of the set of links without one part; 0 if there are none.
    new: int = 0  # Sketch of the new links; 0 if there are none.

    def is_similar(self, other: LinkSketch) -> bool:
        """True if both lead to nearly the same pages."""
        if self.whole == other.whole or (self.words != 0 and self.words == other.words):
            return True
        return self.new != 0 and other.new != 0 and _are_similar(self.new, other.new)


class LinkSketcher:
    """The links of one page with their texts, and the new ones among them."""

    def __init__(self, links: Sequence[Link], new: Sequence[str]) -> None:
        shown = _spread(links)
        self._all = [_split_link(url) for url, *_ in shown]
        self._new = [_split_link(url) for url in _spread(new)]
        self._words = self._hash_texts([words.strip() for _, words, _ in shown])

    def without(self, part: UrlPart) -> LinkSketch:
        """Return the sketch without a part of the URLs."""
        whole = sum({_mix(_without_part(link, part)) for link in self._all}) & _WORD
        return LinkSketch(self._words, whole, _sketch(_mix(_without_part(link, part)) for link in self._new))

    def complete(self) -> LinkSketch:
        """Return the sketch of the complete URLs."""
        whole = sum({link.mixed for link in self._all}) & _WORD
        return LinkSketch(self._words, whole, _sketch(link.mixed for link in self._new))

    @staticmethod
    def _hash_texts(words: Sequence[str]) -> int:
        different = {each for each in words if each}
        if len(different) < max(MIN_LINK_TEXTS, MIN_LINK_TEXT_SHARE * len(words)):
            return 0
        return sum(map(_text_hash, different)) & _WORD or 1


def _without_part(link: _Link, part: UrlPart) -> int:
    whole = link.whole
    if isinstance(part, int):
        return whole - link.segments[part] if part < len(link.segments) else whole
    if isinstance(part, SegmentPiece):
        place, index = part
        if place >= len(link.segments):
            return whole
        return whole - link.segments[place] + _part_hash(blank_piece(link.written[place], index), place)
    for name in part:
        whole -= link.parameters.get(name, 0)
    return whole


@lru_cache(maxsize=CACHED_HASHES)
def blank_piece(segment: str, index: int) -> str:
    """Replace one piece of the segment by a star; unchanged if it has fewer pieces."""
    pieces = PIECES.split(segment)
    if index >= len(pieces):
        return segment
    pieces[index] = "*"
    return "".join(pieces)


def _mix(number: int) -> int:
    return (number * _MIX ^ (number & _WORD) >> 15) & _WORD


def _are_similar(one: int, other: int) -> bool:
    """True if two sketches come from sets with much in common."""
    agreeing = 0
    for bucket in range(BUCKETS):
        shift = bucket * BUCKET_BITS
        mine = one >> shift & _LOW
        agreeing += mine != 0 and mine == other >> shift & _LOW
    filled = sum(1 for bucket in range(BUCKETS) if (one | other) >> bucket * BUCKET_BITS & _LOW)
    return agreeing * BUCKETS >= MIN_EQUAL_BUCKETS * filled


def _spread(all_of: Sequence[T]) -> Sequence[T]:
    return all_of[:: len(all_of) // MAX_LINKS + 1]


def _sketch(links: Iterable[int]) -> int:
    """Return the least number of each bucket, as its low bits; 0 for an empty bucket."""
    least: dict[int, int] = {}
    for link in links:
        bucket, rank = link % BUCKETS, link // BUCKETS
        least[bucket] = min(rank, least.get(bucket, rank))
    return sum((rank % _LOW + 1) << bucket * BUCKET_BITS for bucket, rank in least.items())


@lru_cache(maxsize=CACHED_HASHES)
def _split_link(link: str) -> _Link:
    base, _, query = link.partition("#")[0].partition("?")
    start = base.find("/", base.find("//") + 2)
    pieces = base[start + 1 :].split("/") if start >= 0 else []
    segments = tuple(_part_hash(piece, place) for place, piece in enumerate(pieces))
    parameters: dict[str, int] = {}
    for pair in query_pairs(query):
        name = pair.partition("=")[0]
        parameters[name] = parameters.get(name, 0) + _part_hash(pair, -1)
    whole = _part_hash(base[:start], -2) + sum(segments) + sum(parameters.values())
    return _Link(whole, _mix(whole), segments, parameters, pieces)


@lru_cache(maxsize=CACHED_HASHES)
def _text_hash(word: str) -> int:
    return _part_hash(word, 0)


def _part_hash(piece: str, place: int) -> int:
    return crc32(piece.encode("utf-8", "surrogatepass"), place & _WORD) * (_MIX + 2 * place) & _WORD
