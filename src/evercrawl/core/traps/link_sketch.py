"""Do two pages offer the same new links, but for one part of the URLs? Sketches that can be made without it.

Lists say little and link to ever other pages; a session says the same and links to the same pages under other
addresses. Each link is a sum over its segments and parameters, from which one part is taken out. Where one
link is another each time, a sketch of the new ones tells; where sessions stand in other places from link to
link, the words of the links do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar
from zlib import crc32

from evercrawl.model.document import Link

MOST_LINKS: Final = 40
"""Links of one page that are looked at, spread over all of them: a list is found anywhere among them."""
LEAST_WORDED, WORDED_SHARE = 2, 0.6
"""Different words of links, and their share of all, from which on they name what the links lead to."""
MOST_CACHED = 8192
"""Links and words of links that are known by their numbers: most stand on many pages of a site."""
BUCKETS: Final = 8
BUCKET_BITS: Final = 8
ALIKE: Final = 3
"""Buckets of two sketches that agree where about two links in five are the same."""
PIECES = re.compile(r"([.,;~!=_-])")
"""Marks that join the pieces of a segment; splitting by it keeps them."""
T = TypeVar("T")

_MIX: Final = 0x9E3779B1
_WORD: Final = 0xFFFFFFFF
_LOW: Final = (1 << BUCKET_BITS) - 1


class SegmentPiece(NamedTuple):
    """One of the pieces of a segment, which marks join."""

    segment: int
    number: int


UrlPart = tuple[str, ...] | int | SegmentPiece
"""A part of a URL: parameters by name, a segment by number, or a piece of one."""


class _Link(NamedTuple):
    whole: int
    mixed: int
    """The whole, spread over all bits."""
    segments: tuple[int, ...]
    parameters: dict[str, int]
    written: list[str]
    """The segments as they are written."""


class LinkSketch(NamedTuple):
    """The links of a page, in numbers."""

    words: int = 0
    """The words of the links; 0: they do not tell the links apart."""
    whole: int = 0
    """The set of links, but for one part of each; 0: there are none."""
    new: int = 0
    """A sketch of those that were new; 0: there were none."""

    def is_similar(self, other: LinkSketch) -> bool:
        """Both lead to the same pages, or nearly."""
        if self.whole == other.whole or (self.words != 0 and self.words == other.words):
            return True
        return self.new != 0 and other.new != 0 and _alike(self.new, other.new)


class PageLinks:
    """The links of one page as URLs with their words, and which of them were new."""

    def __init__(self, links: Sequence[Link], new: Sequence[str]) -> None:
        shown = _spread(links)
        self._all = [_taken_apart(url) for url, *_ in shown]
        self._new = [_taken_apart(url) for url in _spread(new)]
        self._words = self._worded([words.strip() for _, words, _ in shown])

    def without(self, part: UrlPart) -> LinkSketch:
        """What the page offers, whatever that part is in its links."""
        whole = sum({_mixed(_rest(link, part)) for link in self._all}) & _WORD
        return LinkSketch(self._words, whole, _sketch(_mixed(_rest(link, part)) for link in self._new))

    def complete(self) -> LinkSketch:
        """What the page offers, with all parts of its links."""
        whole = sum({link.mixed for link in self._all}) & _WORD
        return LinkSketch(self._words, whole, _sketch(link.mixed for link in self._new))

    @staticmethod
    def _worded(words: Sequence[str]) -> int:
        different = {each for each in words if each}
        if len(different) < max(LEAST_WORDED, WORDED_SHARE * len(words)):
            return 0
        return sum(map(_word_number, different)) & _WORD or 1


def _rest(link: _Link, part: UrlPart) -> int:
    whole = link.whole
    if isinstance(part, int):
        return whole - link.segments[part] if part < len(link.segments) else whole
    if isinstance(part, SegmentPiece):
        place, index = part
        if place >= len(link.segments):
            return whole
        return whole - link.segments[place] + _number(blank_piece(link.written[place], index), place)
    for name in part:
        whole -= link.parameters.get(name, 0)
    return whole


@lru_cache(maxsize=MOST_CACHED)
def blank_piece(segment: str, index: int) -> str:
    """The segment with a star for one of its pieces; as it is, where it has fewer."""
    pieces = PIECES.split(segment)
    if index >= len(pieces):
        return segment
    pieces[index] = "*"
    return "".join(pieces)


def _mixed(number: int) -> int:
    return (number * _MIX ^ (number & _WORD) >> 15) & _WORD


def _alike(one: int, other: int) -> bool:
    """Two sketches are of sets that have much in common."""
    agreeing = 0
    for bucket in range(BUCKETS):
        shift = bucket * BUCKET_BITS
        mine = one >> shift & _LOW
        agreeing += mine != 0 and mine == other >> shift & _LOW
    filled = sum(1 for bucket in range(BUCKETS) if (one | other) >> bucket * BUCKET_BITS & _LOW)
    return agreeing * BUCKETS >= ALIKE * filled


def _spread(all_of: Sequence[T]) -> Sequence[T]:
    return all_of[:: len(all_of) // MOST_LINKS + 1]


def _sketch(links: Iterable[int]) -> int:
    """The least number of each bucket, as its low bits; an empty bucket is 0."""
    least: dict[int, int] = {}
    for link in links:
        bucket, rank = link % BUCKETS, link // BUCKETS
        least[bucket] = min(rank, least.get(bucket, rank))
    return sum((rank % _LOW + 1) << bucket * BUCKET_BITS for bucket, rank in least.items())


@lru_cache(maxsize=MOST_CACHED)
def _taken_apart(link: str) -> _Link:
    base, _, query = link.partition("#")[0].partition("?")
    start = base.find("/", base.find("//") + 2)
    pieces = base[start + 1 :].split("/") if start >= 0 else []
    segments = tuple(_number(piece, place) for place, piece in enumerate(pieces))
    parameters: dict[str, int] = {}
    for pair in filter(None, query.split("&")):
        name = pair.partition("=")[0]
        parameters[name] = parameters.get(name, 0) + _number(pair, -1)
    whole = _number(base[:start], -2) + sum(segments) + sum(parameters.values())
    return _Link(whole, _mixed(whole), segments, parameters, pieces)


@lru_cache(maxsize=MOST_CACHED)
def _word_number(word: str) -> int:
    return _number(word, 0)


def _number(piece: str, place: int) -> int:
    return crc32(piece.encode("utf-8", "surrogatepass"), place & _WORD) * (_MIX + 2 * place) & _WORD
