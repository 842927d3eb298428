"""Find the segments of a path that choose a view or a version: `/code/blame/HEAD/a.py` beside `/code/blob/HEAD/a.py`.
A value of a segment is a choice if most of what follows it was found behind another value first. Then the first URL
that names something is its page, and the same path with that value is a view of it. Sections of a site are no choice:
they may all have an `index.html`, but hardly anything else in common. A view and a version may also make one choice
together: `/code/compare/1a..2b/a.py`, `/code/revision/20/a.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from xxhash import xxh3_64_intdigest

MAX_DEPTH = 4  # Only the first segments of a path may be choices.
MAX_VALUES = 32  # A segment with more values is a name.
MAX_VALUE_CHARS = 24
MIN_SHARED = 8  # Rests of paths that were found behind another value first, before a value counts as a choice.
SHARED_ABOVE = 0.5  # Their share among all rests of the value.
RESTS_PER_CHOICE = 4
"""Rests of a value for each choice at its place. Five products with the same ten parts are no five views."""
MAX_PLACES = 4096  # Places in paths that are remembered.
CACHED_URLS = 1024  # A visit asks several times about the same URLs.

_HASH = re.compile(r"(?<![0-9a-z])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,}(?![0-9a-z])", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\d+")


class PathPlace(NamedTuple):
    """A segment of a path, or two: what is before it, its value without hashes, and the rest."""

    before: str
    value: str
    rest: str
    has_hash: bool


def places_in(url: str) -> Iterator[PathPlace]:
    """Yield the segments of a URL that may choose a view, and the pairs of a view and a version. The rest names
    something: it has a letter."""
    start = url.find("/", url.find("//") + 2)
    if start < 0:
        return
    segments = url[start:].partition("?")[0].split("/")
    plain = [_HASH.sub("", segment) if _DIGIT.search(segment) else segment for segment in segments]
    site = url[:start]
    for depth in range(1, min(MAX_DEPTH + 1, len(segments) - 1)):
        value, rest = plain[depth], "/".join(plain[depth + 1 :])
        has_hash = value != segments[depth]
        is_able = has_hash or (value and len(value) <= MAX_VALUE_CHARS and not _DIGIT.search(value))
        if is_able and _LETTER.search(rest) is not None:
            yield PathPlace(site + "/".join(plain[:depth]), value, rest, has_hash)
    for depth in range(1, min(MAX_DEPTH, len(segments) - 2)):
        view, rest = segments[depth], "/".join(plain[depth + 2 :])
        version = _version(segments[depth + 1])
        is_able = view and version and len(view) + len(version) <= 2 * MAX_VALUE_CHARS and not _DIGIT.search(view)
        if is_able and _LETTER.search(rest) is not None:
            yield PathPlace(f"{site}{'/'.join(plain[:depth])}//", f"{view}/{version}", rest, "#" in version)


def _version(segment: str) -> str:
    """Return a segment with a mark for each hash and number: behind a view, both are versions."""
    return _NUMBER.sub("#", _HASH.sub("#", segment)) if _DIGIT.search(segment) else segment


class _PlaceKeys(NamedTuple):
    """The hashes under which a segment is remembered."""

    before: int
    value: int
    rest: int  # With what is before the segment.
    has_hash: bool


@lru_cache(maxsize=CACHED_URLS)
def _keys_of(url: str) -> tuple[_PlaceKeys, ...]:
    return tuple(
        _PlaceKeys(_hash(before), _hash(value), _hash(f"{before}\n{rest}"), has_hash)
        for before, value, rest, has_hash in places_in(url)
    )


@dataclass(slots=True)
class _Value:
    rests: int = 0
    shared: int = 0  # Rests that were found behind another value first.

    @property
    def is_shared(self) -> bool:
        return self.shared >= max(MIN_SHARED, SHARED_ABOVE * self.rests)


@dataclass(slots=True)
class _Rest:
    value: int
    url: int
    has_hash: bool
    values: set[int] = field(default_factory=set)


class PathViews:
    """Remembers which URLs were the first to name what is in a path. Bounded, the oldest are forgotten."""

    def __init__(self, max_names: int) -> None:
        self._max_names = max_names
        self._rests: dict[int, _Rest] = {}
        self._places: dict[int, dict[int, _Value]] = {}

    def is_view(self, url: str) -> bool:
        """Return whether a URL shows once more what another URL showed first; what it names is remembered."""
        return next(self.pages_of(url), None) is not None

    def pages_of(self, url: str) -> Iterator[int]:
        """Yield the hashes of the URLs of which a URL is a view."""
        for place in _keys_of(url):
            values = self._places.setdefault(place.before, {})
            rest = self._learn(place, values, url)
            if rest.value != place.value and _is_choice(values, place.value):
                yield rest.url
        _forget_oldest(self._rests, self._max_names)
        _forget_oldest(self._places, MAX_PLACES)

    def _learn(self, place: _PlaceKeys, values: dict[int, _Value], url: str) -> _Rest:
        value = place.value
        rest = self._rests.get(place.rest)
        if rest is None:
            self._rests[place.rest] = rest = _Rest(value, _hash(url), place.has_hash)
        if value not in rest.values and len(values) <= MAX_VALUES:
            stats = values.setdefault(value, _Value())
            stats.rests += 1
            rest.values.add(value)
            if rest.has_hash and not place.has_hash:
                values.setdefault(rest.value, _Value()).shared += 1
                rest.value, rest.url, rest.has_hash = value, _hash(url), False
            stats.shared += rest.value != value
        return rest


def _is_choice(values: dict[int, _Value], value: int) -> bool:
    stats = values.get(value)
    if stats is None or not stats.is_shared or len(values) > MAX_VALUES:
        return False
    return stats.rests >= RESTS_PER_CHOICE * sum(other.is_shared for other in values.values())


def _forget_oldest(known: dict[int, Any], most: int) -> None:
    while len(known) > most:
        del known[next(iter(known))]


def _hash(text: str) -> int:
    return int(xxh3_64_intdigest(text.encode("utf-8", "surrogatepass")))
