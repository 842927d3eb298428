"""Randomness that depends on names alone.
Each property of the synthetic web has its own stream, named by the seed and the property, so that its value does not
depend on the order of requests."""

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


class TimeSpan(NamedTuple):
    """A span in seconds since the start of the simulation."""

    start: float
    end: float


class Outages:
    """Endless series of outages of a site, drawn as far as needed."""

    def __init__(self, stream: Random, *, up_s: float, down_s: float) -> None:
        self._stream = stream
        self._up_s = up_s
        self._down_s = down_s
        self._drawn: list[TimeSpan] = []
        self._starts: list[float] = []

    def at(self, seconds: float) -> TimeSpan | None:
        """Return the outage at this moment, if any."""
        while not self._drawn or self._drawn[-1].start <= seconds:
            self._draw()
        place = bisect_right(self._starts, seconds) - 1
        if place < 0 or self._drawn[place].end <= seconds:
            return None
        return self._drawn[place]

    def _draw(self) -> None:
        begin = self._drawn[-1].end if self._drawn else 0.0
        start = begin + self._stream.expovariate(1 / self._up_s)
        self._drawn.append(TimeSpan(start, start + self._stream.expovariate(1 / self._down_s)))
        self._starts.append(start)


class ChangeTimes:
    """The moments at which a page changes: a Poisson process, drawn as far as needed."""

    def __init__(self, stream: Random, *, per_day: float) -> None:
        self._stream = stream
        self._per_second = per_day / 86_400
        self._moments: list[float] = []
        self._next = self._interval()

    def count(self, seconds: float) -> int:
        """Return the number of changes by this moment."""
        while self._next <= seconds:
            self._moments.append(self._next)
            self._next += self._interval()
        return bisect_right(self._moments, seconds)

    def last(self, seconds: float) -> float:
        """Return the moment of the last change by then; 0 if there was none."""
        count = self.count(seconds)
        return self._moments[count - 1] if count else 0.0

    def _interval(self) -> float:
        return self._stream.expovariate(self._per_second) if self._per_second > 0 else float("inf")
