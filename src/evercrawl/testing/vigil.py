"""Weeks of watching a web that changes and breaks: freshness, budget, pace and the times of day."""

from __future__ import annotations

from cmath import exp as turn
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import timedelta
from math import pi, sqrt

from evercrawl.model.settings import Settings
from evercrawl.testing.clock import EPOCH
from evercrawl.testing.freshness import Freshness, freshness_of
from evercrawl.testing.trouble import Faults
from evercrawl.testing.web import SimWeb
from evercrawl.testing.world import World, make_world

LEAST_VISITS = 15
"""Fewer visits to a page say nothing about the times of day at which it is visited."""
DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Vigil:
    """What came of watching."""

    looks: tuple[Freshness, ...]
    """True and estimated freshness at the end of each part."""
    requests: int
    allowed: float
    violations: int
    spread: float
    """0: every page always at the same time of day; 1: at any time alike. The mean over pages."""

    @property
    def estimate_error(self) -> float:
        """Mean difference between estimated and true freshness over the second half."""
        half = self.looks[len(self.looks) // 2 :]
        return sum(look.estimated - look.true for look in half) / len(half)

    @property
    def estimate_noise(self) -> float:
        """Standard error of the true freshness as so many pages can show it."""
        pages = sum(look.pages for look in self.looks[len(self.looks) // 2 :])
        return sqrt(0.25 / max(1, pages))


def keep_vigil(
    seed: int, *, sites: int, days: int, per_day: float, pages: int = 10, faults: Faults | None = None, parts: int = 6
) -> Vigil:
    """Watch a synthetic web for so many days, in several runs: each restart goes on where the last ended."""
    web = SimWeb(seed, sites=sites, pages_per_site=pages, faults=faults)
    base = Settings()
    settings = replace(base, revisit=replace(base.revisit, budget=per_day))
    world: World = make_world(web, settings=settings, shards=4)
    looks = []
    for _ in range(parts):
        world.watch(timedelta(days=days / parts))
        looks.append(freshness_of(world))
    return Vigil(tuple(looks), len(web.record.asked), per_day * days, len(web.violations()), time_of_day_spread(web))


def time_of_day_spread(web: SimWeb) -> float:
    """How evenly the visits to each page lie over the day, by the length of their mean direction."""
    moments: dict[str, list[float]] = defaultdict(list)
    for asked in web.record.asked:
        if not asked.path.endswith("robots.txt"):
            moments[asked.site + asked.path].append((asked.sent - EPOCH).total_seconds() / DAY_S)
    lengths = [
        abs(sum(turn(2j * pi * moment) for moment in times)) / len(times)
        for times in moments.values()
        if len(times) >= LEAST_VISITS
    ]
    return 1.0 - sum(lengths) / len(lengths) if lengths else 0.0
