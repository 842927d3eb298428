"""Watch a synthetic web for weeks; compare true and estimated freshness, budget and politeness."""

from __future__ import annotations

from cmath import exp as turn
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import pi, sqrt
from typing import NamedTuple

from evercrawl.core.revisit.visit_schedule import SiteModel, hub_of, page_estimate_of, site_model_of
from evercrawl.core.revisit.visit_value import probability_current
from evercrawl.model.page import Page
from evercrawl.model.settings import Settings
from evercrawl.model.time import DAY_US, from_us, to_us
from evercrawl.testing.sim_web import SimWeb
from evercrawl.testing.sim_world import SimWorld, make_world
from evercrawl.testing.site_plan import SiteFaults
from evercrawl.testing.virtual_time import EPOCH


class Freshness(NamedTuple):
    """Freshness of the stored pages: the truth and the estimate."""

    pages: int
    true: float
    estimated: float


def freshness_of(world: SimWorld) -> Freshness:
    """Return the share of current copies between two runs, and the mean of the estimates."""
    now = world.clock.start
    now_us = to_us(now)
    true, believed, pages = 0, 0.0, 0
    for shard in range(world.store.shards):
        for page, outlook in _copies(world, shard):
            pages += 1
            true += _is_current(world, page, now)
            believed += _chance(page, outlook, now_us / DAY_US)
    return Freshness(pages, true / max(1, pages), believed / max(1, pages))


def _copies(world: SimWorld, shard: int) -> list[tuple[Page, SiteModel]]:
    state = world.store.state_of(shard)
    outlooks = {
        site_id: site_model_of(stored) for (site_id, kind), stored in state.site_states.items() if kind == "freshness"
    }
    pages = [record.page for record in state.records.values() if record.page.version]
    return [(page, outlooks.get(page.site_id, SiteModel())) for page in pages]


def _is_current(world: SimWorld, page: Page, now: datetime) -> bool:
    assert page.last_us is not None
    return world.web.version(page.url, at=now) == world.web.version(page.url, at=from_us(page.last_us))


def _chance(page: Page, outlook: SiteModel, now: float) -> float:
    rate_estimate = page_estimate_of(page.rate_estimate)
    if rate_estimate is None:
        return 0.0
    return probability_current(
        rate_estimate, outlook.estimate, now=now, escape=outlook.escape_chance(hub_of(page.url), now=now)
    )


LEAST_VISITS = 15
"""Pages with fewer visits do not count for the spread over the day."""
DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class WatchResult:
    """The result of watching."""

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
        """Standard error of the true freshness with this many pages."""
        pages = sum(look.pages for look in self.looks[len(self.looks) // 2 :])
        return sqrt(0.25 / max(1, pages))


def run_long_watch(
    seed: int,
    *,
    sites: int,
    days: int,
    per_day: float,
    pages: int = 10,
    faults: SiteFaults | None = None,
    parts: int = 6,
) -> WatchResult:
    """Watch a synthetic web for some days in several runs that continue each other."""
    web = SimWeb(seed, sites=sites, pages_per_site=pages, faults=faults)
    base = Settings()
    settings = replace(base, revisit=replace(base.revisit, budget=per_day))
    world: SimWorld = make_world(web, settings=settings, shards=4)
    looks = []
    for _ in range(parts):
        world.watch(timedelta(days=days / parts))
        looks.append(freshness_of(world))
    return WatchResult(
        tuple(looks), len(web.log.requests), per_day * days, len(web.violations()), time_of_day_spread(web)
    )


def time_of_day_spread(web: SimWeb) -> float:
    """Return how evenly visits to each page spread over the day (circular variance)."""
    moments: dict[str, list[float]] = defaultdict(list)
    for asked in web.log.requests:
        if not asked.path.endswith("robots.txt"):
            moments[asked.site + asked.path].append((asked.sent - EPOCH).total_seconds() / DAY_S)
    lengths = [
        abs(sum(turn(2j * pi * moment) for moment in times)) / len(times)
        for times in moments.values()
        if len(times) >= LEAST_VISITS
    ]
    return 1.0 - sum(lengths) / len(lengths) if lengths else 0.0
