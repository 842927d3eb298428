"""What goes wrong with sites, and when: shares of sites, and windows of time."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from random import Random
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Faults:
    """Shares of sites, 0 to 1, that have each kind of trouble; a site may have several."""

    slow: float = 0.08
    """Answers take seconds."""
    outages: float = 0.08
    """Refuses connections for hours, again and again."""
    throttling: float = 0.08
    """Answers 429 or 503 with Retry-After for minutes to hours, again and again."""
    resets: float = 0.05
    """Breaks off one answer in ten."""
    nameless: float = 0.03
    """Its name does not resolve."""
    refusing: float = 0.02
    """Nobody listens, ever."""
    bad_robots: float = 0.08
    """robots.txt answers 403, or 5xx for some hours, or never."""
    server_errors: float = 0.03
    """One answer in twenty is 500."""
    broken_pages: float = 0.03
    """Share of pages, not of sites, that never answer or always answer 500."""


CALM = Faults(0, 0, 0, 0, 0, 0, 0, 0, 0)
"""A web in which nothing breaks."""


class Window(NamedTuple):
    """A span of seconds since the beginning of the simulation."""

    start: float
    end: float


class Windows:
    """Bad times of a site: good and bad spans in turn, without an end, drawn as far as they are needed."""

    def __init__(self, stream: Random, *, good_s: float, bad_s: float) -> None:
        self._stream = stream
        self._good_s = good_s
        self._bad_s = bad_s
        self._drawn: list[Window] = []
        self._starts: list[float] = []

    def at(self, seconds: float) -> Window | None:
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
        self._drawn.append(Window(start, start + self._stream.expovariate(1 / self._bad_s)))
        self._starts.append(start)


class Changes:
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
