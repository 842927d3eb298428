"""Do two pages link to the same pages, but for one part of the URLs? Sums that can be asked without any part.

Lists say little and link to ever other pages; a session says the same and links to the same pages under other
addresses. Each link is a sum over its segments and parameters, from which one part is taken out again. Where
sessions stand in other places from link to link, the words of the links tell that they lead to the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

MOST_LINKS = 60
"""Links of one page that are looked at, spread over all of them: a list is found anywhere among them."""
LEAST_WORDED, WORDED_SHARE = 2, 0.6
"""Different words of links, and their share of all, from which on they name what the links lead to."""
_MIX = 0x9E3779B1
_WORD = 0xFFFFFFFF


class _Link(NamedTuple):
    whole: int
    segments: tuple[int, ...]
    parameters: dict[str, int]


class LinkSum:
    """The links of one page."""

    def __init__(self, links: Sequence[tuple[str, str]]) -> None:
        """From URLs with the words of the links."""
        step = len(links) // MOST_LINKS + 1
        self._links = [_taken_apart(url) for url, _ in links[::step]]
        self._words = [words.strip() for _, words in links[::step]]

    def words(self) -> int | None:
        """A number for the words of the links; None: they do not tell the links apart."""
        different = {words for words in self._words if words}
        if len(different) < max(LEAST_WORDED, WORDED_SHARE * len(self._words)):
            return None
        return _sum(_number(words, 0) for words in different)

    def without_parameter(self, name: str) -> int:
        """A number for the set of links, whatever the named parameter is in them."""
        return _sum(link.whole - link.parameters.get(name, 0) for link in self._links)

    def without_segment(self, place: int) -> int:
        """A number for the set of links, whatever stands in the segment at that place, the first being 0."""
        return _sum(
            link.whole - link.segments[place] if place < len(link.segments) else link.whole
            for link in self._links
        )


def _sum(links: Iterable[int]) -> int:
    """The same for the same set, in whatever order."""
    total = 0
    for link in {link & _WORD for link in links}:
        total += (link * _MIX ^ link >> 15) & _WORD
    return total & _WORD


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
    return _Link(whole, segments, parameters)


def _number(piece: str, place: int) -> int:
    return crc32(piece.encode("utf-8", "surrogatepass"), place & _WORD) * (_MIX + 2 * place) & _WORD
