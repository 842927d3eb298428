"""Find the segments of a path that choose a view or a version: `/code/blame/HEAD/a.py` beside `/code/blob/HEAD/a.py`.
A segment chooses if it has few values and much of what follows it also follows other values. Then the first URL that
names something is its page, and the same path with another value is a view of it. Sections of a site are no choice:
they may all have an `index.html`, but hardly anything else in common."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

MAX_DEPTH = 4  # Only the first segments of a path may be choices.
MAX_VALUES = 32  # A segment with more values is a name.
MAX_VALUE_CHARS = 24
MIN_SHARED = 8  # Rests of paths that follow several values, before a segment counts as a choice.
SHARED_ABOVE = 0.3  # Their share among all rests.
RESTS_PER_VALUE = 2  # There are at least this many rests for each value: what a page is varies more than how it is shown.
MAX_PLACES = 4096  # Places in paths that are remembered.

_HASH = re.compile(r"(?<![0-9a-z])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,}(?![0-9a-z])", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile(r"\d")


class PathPlace(NamedTuple):
    """A segment of a path: what is before it, its value without hashes, and the rest."""

    before: str
    value: str
    rest: str
    has_hash: bool


def places_in(url: str) -> Iterator[PathPlace]:
    """Yield the segments of a URL that may choose a view. The rest names something: it has a letter."""
    start = url.find("/", url.find("//") + 2)
    if start < 0:
        return
    path = url[start:].partition("?")[0]
    segments = path.split("/")
    for depth in range(1, min(MAX_DEPTH + 1, len(segments) - 1)):
        value = _HASH.sub("", segments[depth])
        rest = "/".join(segments[depth + 1 :])
        has_hash = value != segments[depth]
        is_able = has_hash or (value and len(value) <= MAX_VALUE_CHARS and not _DIGIT.search(value))
        if is_able and _LETTER.search(_HASH.sub("", rest)) is not None:
            before = url[:start] + _HASH.sub("", "/".join(segments[:depth]))
            yield PathPlace(before, value, _HASH.sub("", rest), has_hash)


@dataclass(slots=True)
class _Place:
    values: set[int] = field(default_factory=set)
    rests: int = 0
    shared: int = 0

    @property
    def is_choice(self) -> bool:
        is_shared = self.shared >= max(MIN_SHARED, SHARED_ABOVE * self.rests)
        return is_shared and RESTS_PER_VALUE * len(self.values) <= self.rests and len(self.values) <= MAX_VALUES


@dataclass(slots=True)
class _Rest:
    value: int
    url: int
    has_hash: bool
    is_shared: bool = False


class PathViews:
    """Remembers which URLs were the first to name what is in a path. Bounded, the oldest are forgotten."""

    def __init__(self, max_names: int) -> None:
        self._max_names = max_names
        self._rests: dict[int, _Rest] = {}
        self._places: dict[int, _Place] = {}

    def is_view(self, url: str) -> bool:
        """Return whether a URL shows once more what another URL showed first; what it names is remembered."""
        return next(self.pages_of(url), None) is not None

    def pages_of(self, url: str) -> Iterator[int]:
        """Yield the hashes of the URLs of which a URL is a view."""
        for place in list(places_in(url)):
            stats, rest, value = self._learn(place, url)
            if rest.value != value and stats.is_choice:
                yield rest.url

    def _learn(self, place: PathPlace, url: str) -> tuple[_Place, _Rest, int]:
        value = _hash(place.value)
        stats = self._places.setdefault(_hash(place.before), _Place())
        if len(stats.values) <= MAX_VALUES:
            stats.values.add(value)
        key = _hash(f"{place.before}\n{place.rest}")
        rest = self._rests.get(key)
        if rest is None:
            self._rests[key] = rest = _Rest(value, _hash(url), place.has_hash)
            stats.rests += 1
        elif rest.value != value:
            stats.shared += not rest.is_shared
            rest.is_shared = True
            if rest.has_hash and not place.has_hash:
                rest.value, rest.url, rest.has_hash = value, _hash(url), False
        while len(self._rests) > self._max_names:
            del self._rests[next(iter(self._rests))]
        while len(self._places) > MAX_PLACES:
            del self._places[next(iter(self._places))]
        return stats, rest, value


def _hash(text: str) -> int:
    return int(xxh3_64_intdigest(text.encode("utf-8", "surrogatepass")))
