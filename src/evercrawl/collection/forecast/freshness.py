"""How fresh is a collection now, and how fresh would a budget keep it?"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from datetime import datetime
from math import isfinite

from evercrawl.adapters.sqlite.reader import StateReader
from evercrawl.collection.forecast.gather import Gathered, gathered
from evercrawl.collection.forecast.steering import DAY, level_of
from evercrawl.core.revisit.estimate import Estimate, Estimates, estimated
from evercrawl.core.revisit.plan import Forecast, Ground, Pick, forecast
from evercrawl.core.revisit.purse import Purse
from evercrawl.core.revisit.schedule import Level
from evercrawl.core.revisit.tended import Tended
from evercrawl.model.report import FreshnessEstimate, PlannedVisit, RevisitPlan, SiteFreshness
from evercrawl.model.settings import RevisitSettings
from evercrawl.model.time import DAY_US, to_us

MOST_SITES = 10
"""Sites that are shown one by one."""
MOST_PLANNED = 5_000
"""Pages that a plan is made from: their intervals are computed again for every threshold that is tried."""
DIGITS = 4


def freshness_of(reader: StateReader, settings: RevisitSettings, *, now: datetime) -> FreshnessEstimate:
    """The estimated freshness of a collection as it is."""
    now_us = to_us(now)
    found = gathered(reader, now_us=now_us, policy=settings.policy)
    return _freshness(found, estimated(found.pages, found.outlooks, now=now_us / DAY_US, share=found.share))


def _freshness(found: Gathered, estimates: Estimates) -> FreshnessEstimate:
    whole = estimates.whole
    largest = sorted(estimates.sites, key=lambda site: -estimates.sites[site].pages)[:MOST_SITES]
    return FreshnessEstimate(
        freshness=round(whole.freshness, DIGITS),
        uncertainty=round(whole.error, DIGITS),
        of_copies=round(whole.of_copies, DIGITS),
        pages=found.in_all(whole.pages),
        without_copy=found.in_all(whole.missing),
        sampled=whole.pages,
        sites=tuple(_site(found, site, estimates.sites[site]) for site in largest),
    )


def _site(found: Gathered, site: Hashable, estimate: Estimate, *, requests: float | None = None) -> SiteFreshness:
    return SiteFreshness(
        found.sites[site].name,
        found.in_all(estimate.pages),
        round(estimate.freshness, DIGITS),
        round(estimate.error, DIGITS),
        None if requests is None else round(requests, DIGITS),
    )


def plan_of(reader: StateReader, settings: RevisitSettings, *, budget: float | None, now: datetime) -> RevisitPlan:
    """What would be fetched with a budget in requests a day (None: the settings' own), and how fresh it
    keeps the pages; nothing is sent.
    """
    now_us, per_day = to_us(now), budget if budget is not None else settings.budget
    found = gathered(reader, now_us=now_us, policy=settings.policy, most=MOST_PLANNED)
    purse = Purse(per_day, settings.worth / DAY, pages=found.in_all(len(found.pages)))
    level = level_of(purse, settings)
    found = found._replace(pages=_with_turns(found, settings.policy, level))
    ground = Ground(found.pages, found.outlooks, now_us / DAY_US, found.share)
    return _plan(
        found,
        forecast(ground, level, per_day=per_day),
        now=estimated(found.pages, found.outlooks, now=ground.now, share=found.share).whole,
        policy=settings.policy,
        per_day=per_day,
    )


def _with_turns(found: Gathered, policy: str, level: Level) -> list[Tended]:
    """Under `uniform` every page comes once in a turn of all of them."""
    if policy != "uniform":
        return found.pages
    return [page._replace(interval=level.span) for page in found.pages]


def _plan(found: Gathered, made: Forecast, *, now: Estimate, policy: str, per_day: float | None) -> RevisitPlan:
    whole = made.expected.whole
    return RevisitPlan(
        policy=policy,
        budget_per_day=per_day,
        requests_per_day=round(made.requests, 2),
        expected_freshness=round(whole.freshness, DIGITS),
        uncertainty=round(whole.error, DIGITS),
        freshness_now=round(now.freshness, DIGITS),
        threshold_days=made.threshold,
        pages=found.in_all(whole.pages),
        pages_due=round(made.due),
        without_copy=found.in_all(now.missing),
        sampled=whole.pages,
        first=tuple(_planned(pick) for pick in made.first),
        sites=_busiest(found, made.expected.sites, made.by_site),
    )


def _planned(pick: Pick) -> PlannedVisit:
    return PlannedVisit(pick.url, round(pick.value, DIGITS) if isfinite(pick.value) else None)


def _busiest(
    found: Gathered, expected: Mapping[Hashable, Estimate], requests: Mapping[Hashable, float]
) -> tuple[SiteFreshness, ...]:
    busiest = sorted(requests, key=lambda site: -requests[site])[:MOST_SITES]
    return tuple(_site(found, site, expected.get(site, Estimate()), requests=requests[site]) for site in busiest)
