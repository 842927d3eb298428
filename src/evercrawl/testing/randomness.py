"""Chance that depends on names alone.

Each question about the synthetic web draws from a stream of its own, named by the seed and by what is
asked, so that the answer does not depend on which page was asked for first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from random import Random
from typing import NamedTuple, TypeVar

from xxhash import xxh3_64_intdigest

T = TypeVar("T")

_SPAN = 2.0**64


def hash_number(*names: object) -> int:
    """Return 64 bits derived from the names."""
    return int(xxh3_64_intdigest("/".join(map(str, names)).encode()))


def uniform(*names: object) -> float:
    """Return a number from 0 to less than 1."""
    return hash_number(*names) / _SPAN


def choose(options: Sequence[T], *names: object) -> T:
    """Return one of the options."""
    return options[hash_number(*names) % len(options)]


def choose_weighted(table: dict[T, float], *names: object) -> T:
    """Return one of the keys, each with the probability of its weight."""
    left = uniform(*names) * sum(table.values())
    for option, weight in table.items():
        left -= weight
        if left < 0:
            return option
    return next(reversed(table))


def random_stream(*names: object) -> Random:
    """Return a generator for these names."""
    return Random(hash_number(*names))


class Span(NamedTuple):
    """A span of seconds since the beginning of the simulation."""

    start: float
    end: float


class BadTimes:
    """Bad times of a site: good and bad spans in turn, without an end, drawn as far as they are needed."""

    def __init__(self, stream: Random, *, good_s: float, bad_s: float) -> None:
        self._stream = stream
        self._good_s = good_s
        self._bad_s = bad_s
        self._drawn: list[Span] = []
        self._starts: list[float] = []

    def at(self, seconds: float) -> Span | None:
        """The bad time in which this moment lies."""
        while not self._drawn or self._drawn[-1].start <= seconds:
            self._draw()
        place = bisect_right(self._starts, seconds) - 1
        if place < 0 or self._drawn[place].end <= seconds:
            return None
        return self._drawn[place]

    def _draw(self) -> None:
        begin = self._drawn[-1].end if self._drawn else 0.0
        start = begin + self._stream.expovariate(1 / self._good_s)
        self._drawn.append(Span(start, start + self._stream.expovariate(1 / self._bad_s)))
        self._starts.append(start)


class ChangeTimes:
    """The moments at which a page changes: a Poisson process, drawn as far as it is needed."""

    def __init__(self, stream: Random, *, per_day: float) -> None:
        self._stream = stream
        self._per_second = per_day / 86_400
        self._moments: list[float] = []
        self._next = self._gap()

    def count(self, seconds: float) -> int:
        """Changes up to this moment."""
        while self._next <= seconds:
            self._moments.append(self._next)
            self._next += self._gap()
        return bisect_right(self._moments, seconds)

    def last(self, seconds: float) -> float:
        """The moment of the newest change up to this one; 0: none since the beginning."""
        count = self.count(seconds)
        return self._moments[count - 1] if count else 0.0

    def _gap(self) -> float:
        return self._stream.expovariate(self._per_second) if self._per_second > 0 else float("inf")
