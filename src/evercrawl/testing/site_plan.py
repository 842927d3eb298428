"""Plan of a synthetic site: its faults, its robots.txt, its pages and how they link to each other.
Ordinary pages form a tree: the nth links to 3n+1, 3n+2 and 3n+3. Special pages (moved, gone, copied, private, ...) are
leaves of this tree."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
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


PRIVATE = "/private/"
OPENED = "/private/open/"
OTHERS_ONLY = "/drafts/"
BRANCHES = 3
LONGEST_CHAIN = 3
FOLDERS = ("news", "docs", "people", "shop", "blog/2025", "blog/2026")


class PageKind(StrEnum):
    """What a path of a site is. The value starts its path."""

    PAGE = "page"
    TEXT = "text"
    BIG = "big"
    COPY = "copy"
    MOVED = "go"
    LOOP = "loop"
    MISSING = "missing"
    GONE = "gone"
    PRIVATE = "private"
    OPENED = "opened"
    DRAFT = "drafts"
    UNFOLLOWED = "unfollowed"
    STUCK = "stuck"
    ERROR = "error"


_WEIGHTS = {
    PageKind.PAGE: 70.0,
    PageKind.TEXT: 3.0,
    PageKind.BIG: 1.0,
    PageKind.COPY: 5.0,
    PageKind.MOVED: 5.0,
    PageKind.LOOP: 1.0,
    PageKind.MISSING: 3.0,
    PageKind.GONE: 2.0,
    PageKind.PRIVATE: 5.0,
    PageKind.OPENED: 1.0,
    PageKind.DRAFT: 2.0,
    PageKind.UNFOLLOWED: 2.0,
}
_FOLDER_OF = {PageKind.PRIVATE: PRIVATE, PageKind.OPENED: OPENED, PageKind.DRAFT: OTHERS_ONLY}


class PlannedPage(NamedTuple):
    """A page of the plan. `step` counts the remaining redirects of a chain; 0 for all other pages."""

    number: int
    kind: PageKind
    path: str
    step: int = 0


class SitePlan:
    """All paths of a site, derived from the seed and the site's number."""

    def __init__(self, seed: int, site: int, *, pages: int, broken: float) -> None:
        self._key = f"{seed}/{site}"
        count = max(1, round(pages * (0.5 + uniform(self._key, "pages"))))
        self.pages = [self._planned(place, broken) for place in range(count)]
        self.ordinary = [page for page in self.pages if page.kind is PageKind.PAGE]
        self.special = [page for page in self.pages if page.kind is not PageKind.PAGE]
        self._rank = {page.number: rank for rank, page in enumerate(self.ordinary)}
        self.by_path = {page.path: page for page in self.pages}
        for page in self.special:
            self.by_path |= {step.path: step for step in self._other_steps(page)}

    def _planned(self, place: int, broken: float) -> PlannedPage:
        if place == 0:
            return PlannedPage(0, PageKind.PAGE, "/")
        if uniform(self._key, place, "broken") < broken:
            kind = choose((PageKind.STUCK, PageKind.ERROR), self._key, place, "how")
        else:
            kind = choose_weighted(_WEIGHTS, self._key, place, "kind")
        return self._page(place, kind)

    def _page(self, place: int, kind: PageKind) -> PlannedPage:
        if kind is PageKind.PAGE:
            return PlannedPage(place, kind, f"/{choose(FOLDERS, self._key, place, 'folder')}/item-{place}.html")
        if kind is PageKind.MOVED:
            step = 1 + hash_number(self._key, place, "chain") % LONGEST_CHAIN
            return PlannedPage(place, kind, f"/go/{place}/{step}", step)
        if kind is PageKind.LOOP:
            return PlannedPage(place, kind, f"/loop/{place}/1", 1)
        return PlannedPage(place, kind, f"{_FOLDER_OF.get(kind, f'/{kind}/')}{place}")

    def _other_steps(self, page: PlannedPage) -> list[PlannedPage]:
        """Return the other steps of a redirect chain or loop."""
        if page.kind is PageKind.MOVED:
            return [page._replace(path=f"/go/{page.number}/{step}", step=step) for step in range(1, page.step)]
        if page.kind is PageKind.LOOP:
            return [page._replace(path=f"/loop/{page.number}/2", step=2)]
        return []

    def target(self, page: PlannedPage) -> str:
        """Return where a moved page redirects to."""
        if page.kind is PageKind.LOOP:
            return f"/loop/{page.number}/{3 - page.step}"
        if page.step > 1:
            return f"/go/{page.number}/{page.step - 1}"
        return self.original(page).path

    def original(self, page: PlannedPage) -> PlannedPage:
        """Return the ordinary page that a copy copies or a redirect chain leads to."""
        return choose(self.ordinary, self._key, page.number, "partner")

    def linked(self, page: PlannedPage) -> list[PlannedPage]:
        """Return the pages of the site that a page links to: its branches, its special leaves, and two at random."""
        rank = self._rank.get(page.number)
        if rank is None:
            return [self.ordinary[0]]
        first = BRANCHES * rank + 1
        branches = self.ordinary[first : first + BRANCHES]
        leaves = self.special[rank :: len(self.ordinary)]
        bits, count = hash_number(self._key, page.number, "links"), len(self.ordinary)
        at_random = [self.ordinary[bits % count], self.ordinary[(bits >> 32) % count]]
        return branches + leaves + at_random


class RobotsKind(StrEnum):
    """How a site's robots.txt behaves."""

    EMPTY = "empty"
    FOLDERS = "folders"
    DELAY = "delay"
    NAMED = "named"
    MISSING = "missing"
    FORBIDDEN = "forbidden"
    BROKEN = "broken"
    SILENT = "silent"


GOOD_KINDS = {
    RobotsKind.EMPTY: 2.0,
    RobotsKind.FOLDERS: 3.0,
    RobotsKind.DELAY: 2.0,
    RobotsKind.NAMED: 1.0,
    RobotsKind.MISSING: 2.0,
}
BAD_KINDS = (RobotsKind.FORBIDDEN, RobotsKind.BROKEN, RobotsKind.BROKEN, RobotsKind.SILENT)
DELAYS_S = (2.0, 3.0, 5.0, 10.0, 0.5)
BROKEN_HOURS = (1, 3, 8, 30)


class RobotsPlan(NamedTuple):
    """A site's rules and what they mean.
    The meaning is written down independently of the crawler's parser, so that tests can compare the two."""

    kind: RobotsKind
    text: str
    disallowed: tuple[str, ...]  # Disallowed folders, except `OPENED`.
    delay_s: float | None
    broken_until_s: float  # Seconds from the start during which the file returns 500.

    def allows(self, path: str) -> bool:
        """Return whether the rules allow a path."""
        if path == "/robots.txt":
            return True
        if self.kind in (RobotsKind.FORBIDDEN, RobotsKind.SILENT):
            return False
        return path.startswith(OPENED) or not path.startswith(self.disallowed or ("\n",))


def robots_plan(seed: int, site: int, *, agent: str, bad: bool) -> RobotsPlan:
    """Return the robots.txt of one site; files of kind NAMED address `agent`."""
    name = (seed, "robots", site)
    kind = choose(BAD_KINDS, *name, "bad") if bad else choose_weighted(GOOD_KINDS, *name)
    delay = choose(DELAYS_S, *name, "delay") if kind is RobotsKind.DELAY else None
    broken_s = choose(BROKEN_HOURS, *name, "hours") * 3600.0 if kind is RobotsKind.BROKEN else 0.0
    disallowed = _disallowed(kind)
    return RobotsPlan(kind, _text(kind, agent, disallowed, delay, uniform(*name) < 0.5), disallowed, delay, broken_s)


def _disallowed(kind: RobotsKind) -> tuple[str, ...]:
    if kind in (RobotsKind.EMPTY, RobotsKind.MISSING):
        return ()
    return (PRIVATE, OTHERS_ONLY) if kind is RobotsKind.NAMED else (PRIVATE,)


def _text(kind: RobotsKind, agent: str, disallowed: tuple[str, ...], delay: float | None, comment: bool) -> str:
    if kind is RobotsKind.EMPTY:
        return "# everybody is welcome\n" if comment else ""
    rules = "".join(f"Disallow: {folder}\n" for folder in disallowed) + f"Allow: {OPENED}\n"
    if delay is not None:
        rules += f"Crawl-delay: {delay:g}\n"
    others = "User-agent: otherbot\nDisallow: /\n\n"
    if kind is RobotsKind.NAMED:
        return f"{others}User-agent: *\nDisallow: /\n\nUser-agent: {agent}\n{rules}"
    return f"{others}User-agent: *\n{rules}"


def robots_tag(plan: RobotsPlan) -> str:
    """Return the file's ETag."""
    return f'"robots-{hash_number(plan.text):x}"'


@dataclass(frozen=True, slots=True)
class SiteFaults:
    """Shares of sites, 0 to 1, with each kind of fault. A site may have several."""

    slow: float = 0.08  # Responses take seconds.
    outages: float = 0.08  # Refuses connections for hours, repeatedly.
    throttling: float = 0.08  # Returns 429 or 503 with Retry-After for minutes to hours, repeatedly.
    resets: float = 0.05  # Resets one connection in ten.
    unresolvable: float = 0.03  # The name does not resolve.
    refusing: float = 0.02  # Refuses every connection.
    bad_robots: float = 0.08  # robots.txt returns 403, fails for some hours, or never responds.
    server_errors: float = 0.03  # One response in twenty is 500.
    broken_pages: float = 0.03  # Share of pages, not of sites, that never respond or always return 500.


NO_FAULTS = SiteFaults(0, 0, 0, 0, 0, 0, 0, 0, 0)  # A web without faults.
