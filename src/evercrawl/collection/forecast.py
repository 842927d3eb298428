"""What decides about visits: policy, budget, and the threshold that the last run left behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from datetime import datetime, timedelta
from math import isfinite
from typing import NamedTuple

from evercrawl.adapters.sql.state_reader import ROWS_AT_A_TIME, ShardReader, StateReader
from evercrawl.core.revisit.budget_forecast import (
    BudgetForecast,
    ForecastInput,
    ForecastPage,
    FreshnessEstimates,
    FreshShare,
    NextPick,
    estimate_freshness,
    estimate_from_counts,
    forecast_budget,
)
from evercrawl.core.revisit.rate_estimate import PageEstimate
from evercrawl.core.revisit.request_budget import BUDGET_KEY, RequestBudget, initial_threshold
from evercrawl.core.revisit.site_model import SiteModel
from evercrawl.core.revisit.visit_schedule import (
    OPTIMAL,
    BudgetLevel,
    WaitCause,
    page_estimate_of,
    rule_state_of,
    wait_cause,
)
from evercrawl.core.revisit.visit_update import new_page_estimate
from evercrawl.engine.revisits import hub_of
from evercrawl.engine.site_state import FRESHNESS
from evercrawl.model.listing import SampledPage, SampledSite
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.report import FreshnessEstimate, PlannedVisit, RevisitPlan, RevisitStatus, SiteFreshness
from evercrawl.model.settings import RevisitSettings
from evercrawl.model.time import DAY_US, to_us

DAY = timedelta(days=1)


def stored_budget(reader: StateReader, settings: RevisitSettings, *, pages: int) -> RequestBudget:
    """The purse as the last run left it."""
    worth = settings.min_freshness_gain / DAY
    threshold = initial_threshold(per_day=settings.budget, pages=pages, default=worth)
    purse = RequestBudget(settings.budget, threshold, pages=pages)
    shards = reader.shards()
    if shards:
        with reader.shard(min(shards)) as state:
            purse.restore(state.memory(*BUDGET_KEY))
    return purse


def budget_level(purse: RequestBudget, settings: RevisitSettings) -> BudgetLevel:
    """What that purse allows, within the settings' bounds."""
    return purse.level(shortest=settings.min_interval / DAY, longest=settings.max_interval / DAY)


def revisit_status(reader: StateReader, settings: RevisitSettings, *, pages: int) -> RevisitStatus:
    """Policy, budget and threshold in force."""
    purse = stored_budget(reader, settings, pages=pages)
    return RevisitStatus(settings.policy, settings.budget, purse.threshold)


MOST_SAMPLED = 20_000
"""Pages that are looked at; of a larger collection every k-th by number, which is by age."""
VANISHED = frozenset({Reason.NOT_FOUND, Reason.GONE})


class ForecastSample(NamedTuple):
    """The sample."""

    pages: list[ForecastPage]
    outlooks: dict[Hashable, SiteModel]
    sites: dict[Hashable, SampledSite]
    share: float
    """Rows that were read, of all."""

    def in_all(self, sampled: float) -> int:
        """So many pages of the sample stand for so many of the collection."""
        return round(sampled / self.share)


def take_sample(reader: StateReader, *, now_us: int, policy: str, most: int = MOST_SAMPLED) -> ForecastSample:
    """A systematic sample over all shards; every page where there are no more than `most`."""
    found = ForecastSample([], {}, {}, 1.0)
    read, pages = 0, 0
    for shard, ids in _chosen(reader, most):
        with reader.shard(shard) as state:
            read += _take(state, shard, ids, found, now_us=now_us, policy=policy)
            pages += state.totals(now_us).pages
    return found._replace(share=min(1.0, read / pages) if read else 1.0)


def iterate_sample(reader: StateReader, *, most: int = MOST_SAMPLED) -> Iterator[tuple[SampledPage, SiteModel]]:
    """The same sample row by row, each with what is expected of its site."""
    for shard, ids in _chosen(reader, most):
        known = ForecastSample([], {}, {}, 1.0)
        with reader.shard(shard) as state:
            for start in range(0, len(ids), ROWS_AT_A_TIME):
                rows = state.sampled_pages(ids[start : start + ROWS_AT_A_TIME])
                _learn_sites(state, shard, {row.site_id for row in rows}, known)
                yield from ((row, known.outlooks[shard, row.site_id]) for row in rows)


def _chosen(reader: StateReader, most: int) -> Iterator[tuple[int, range]]:
    """The numbers of the pages that are looked at, shard by shard."""
    sizes = _sizes(reader)
    stride = max(1, -(-sum(sizes.values()) // most))
    offset = stride // 2
    for shard, size in sizes.items():
        ids = range(offset + 1, size + 1, stride)
        yield shard, ids
        offset = offset + stride * len(ids) - size


def _sizes(reader: StateReader) -> dict[int, int]:
    """The largest page number of each shard."""
    sizes = {}
    for shard in reader.shards():
        with reader.shard(shard) as state:
            sizes[shard] = state.next_id() - 1
    return sizes


def _take(state: ShardReader, shard: int, ids: range, found: ForecastSample, *, now_us: int, policy: str) -> int:
    """Add a shard's part of the sample; the number of rows that were read."""
    read = 0
    for start in range(0, len(ids), ROWS_AT_A_TIME):
        rows = state.sampled_pages(ids[start : start + ROWS_AT_A_TIME])
        read += len(rows)
        _learn_sites(state, shard, {row.site_id for row in rows}, found)
        for row in rows:
            key = (shard, row.site_id)
            page = forecast_page(row, key, found.outlooks[key], now_us=now_us, policy=policy)
            if page is not None:
                found.pages.append(page)
    return read


def _learn_sites(state: ShardReader, shard: int, ids: set[int], found: ForecastSample) -> None:
    unknown = [number for number in ids if (shard, number) not in found.sites]
    for site in state.sampled_sites(unknown, FRESHNESS.name) if unknown else ():
        found.sites[shard, site.id] = site._replace(memory=None)
        found.outlooks[shard, site.id] = FRESHNESS.read(site.memory)


def forecast_page(
    row: SampledPage, site: Hashable, outlook: SiteModel, *, now_us: int, policy: str
) -> ForecastPage | None:
    """The page as forecasts see it; None: it is refused, has vanished, or is not asked for again."""
    if row.outcome is Outcome.REJECTED or row.reason in VANISHED:
        return None
    hub = hub_of(row.url)
    if row.version == 0 and row.belief is None:
        missing = new_page_estimate(outlook.estimate, now=now_us / DAY_US, has_copy=False)
        return ForecastPage(row.url, site, hub, missing) if row.is_waiting else None
    return ForecastPage(
        row.url,
        site,
        hub,
        estimate_of(row, outlook),
        changes=max(row.version - 1, 0),
        interval=_interval(row.belief) if policy != OPTIMAL else 0.0,
        has_content=row.version > 0 and row.reason is not Reason.REDIRECT,
    )


def estimate_of(row: SampledPage, outlook: SiteModel) -> PageEstimate:
    """What is stored, or what the counts of visits and versions say where another policy was at work."""
    stored = page_estimate_of(row.belief)
    if stored is not None:
        return stored
    visited = (row.last_us or row.found_us) / DAY_US
    return estimate_from_counts(
        outlook.estimate,
        visited=visited,
        watched=visited - row.found_us / DAY_US,
        visits=row.visits,
        changes=max(row.version - 1, 0),
    )


def _interval(state: bytes | None) -> float:
    """Days that a rule by name leaves between two visits; 0: it did not say so yet."""
    memory = rule_state_of(state)
    return max(memory.due - memory.visited, 0.0) if memory.visits else 0.0


MOST_SITES = 10
"""Sites that are shown one by one."""
MOST_PLANNED = 5_000
"""Pages that a plan is made from: their intervals are computed again for every threshold that is tried."""
DIGITS = 4


def collection_freshness(reader: StateReader, settings: RevisitSettings, *, now: datetime) -> FreshnessEstimate:
    """The estimated freshness of a collection as it is."""
    now_us = to_us(now)
    found = take_sample(reader, now_us=now_us, policy=settings.policy)
    return _freshness(found, estimate_freshness(found.pages, found.outlooks, now=now_us / DAY_US, share=found.share))


def _freshness(found: ForecastSample, estimates: FreshnessEstimates) -> FreshnessEstimate:
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


def _site(
    found: ForecastSample, site: Hashable, estimate: FreshShare, *, requests: float | None = None
) -> SiteFreshness:
    return SiteFreshness(
        found.sites[site].name,
        found.in_all(estimate.pages),
        round(estimate.freshness, DIGITS),
        round(estimate.error, DIGITS),
        None if requests is None else round(requests, DIGITS),
    )


def plan_revisits(
    reader: StateReader, settings: RevisitSettings, *, budget: float | None, now: datetime
) -> RevisitPlan:
    """What would be fetched with a budget in requests a day (None: the settings' own), and how fresh it
    keeps the pages; nothing is sent.
    """
    now_us, per_day = to_us(now), budget if budget is not None else settings.budget
    found = take_sample(reader, now_us=now_us, policy=settings.policy, most=MOST_PLANNED)
    purse = RequestBudget(per_day, settings.min_freshness_gain / DAY, pages=found.in_all(len(found.pages)))
    level = budget_level(purse, settings)
    found = found._replace(pages=_with_turns(found, settings.policy, level))
    ground = ForecastInput(found.pages, found.outlooks, now_us / DAY_US, found.share)
    return _plan(
        found,
        forecast_budget(ground, level, per_day=per_day),
        now=estimate_freshness(found.pages, found.outlooks, now=ground.now, share=found.share).whole,
        policy=settings.policy,
        per_day=per_day,
    )


def _with_turns(found: ForecastSample, policy: str, level: BudgetLevel) -> list[ForecastPage]:
    """Under `uniform` every page comes once in a turn of all of them."""
    if policy != "uniform":
        return found.pages
    return [page._replace(interval=level.span) for page in found.pages]


def _plan(
    found: ForecastSample, made: BudgetForecast, *, now: FreshShare, policy: str, per_day: float | None
) -> RevisitPlan:
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


def _planned(pick: NextPick) -> PlannedVisit:
    return PlannedVisit(pick.url, round(pick.value, DIGITS) if isfinite(pick.value) else None)


def _busiest(
    found: ForecastSample, expected: Mapping[Hashable, FreshShare], requests: Mapping[Hashable, float]
) -> tuple[SiteFreshness, ...]:
    busiest = sorted(requests, key=lambda site: -requests[site])[:MOST_SITES]
    return tuple(_site(found, site, expected.get(site, FreshShare()), requests=requests[site]) for site in busiest)


def count_wait_causes(reader: StateReader, *, pages: int, since: datetime) -> dict[str, int]:
    """Cause -> pages, of `pages` in all that a run which began at `since` did not ask for.

    Of a large collection a sample is looked at; the counts add up to `pages` in any case.
    """
    if pages <= 0:
        return {}
    since_us = to_us(since)
    counted = Counter(
        wait_cause(row.belief, outlook, is_gone=row.due_us is None, tries=row.tries)
        for row, outlook in iterate_sample(reader)
        if _is_left(row, since_us)
    )
    return _shared_out(pages, counted)


def _is_left(row: SampledPage, since_us: int) -> bool:
    is_queued = row.is_waiting and row.due_us is None
    return not is_queued and (row.last_us or row.found_us) < since_us


def _shared_out(pages: int, counted: Counter[WaitCause]) -> dict[str, int]:
    """The pages in the proportions of the sample, by largest remainder."""
    seen = counted.total()
    if not seen:
        return {WaitCause.MODEL.value: pages}
    exact = {cause: pages * count / seen for cause, count in counted.items()}
    whole = {cause: int(share) for cause, share in exact.items()}
    missing = pages - sum(whole.values())
    for cause in sorted(exact, key=lambda cause: whole[cause] - exact[cause])[:missing]:
        whole[cause] += 1
    return {cause.value: whole[cause] for cause in WaitCause if whole.get(cause)}
