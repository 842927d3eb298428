"""Estimate the freshness of a collection and plan revisits, from a sample of its pages. Nothing is requested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from datetime import datetime
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
from evercrawl.core.revisit.request_budget import BUDGET_KEY, DAY, RequestBudget, budget_level, initial_threshold
from evercrawl.core.revisit.visit_schedule import (
    OPTIMAL,
    BudgetLevel,
    SiteModel,
    WaitCause,
    hub_of,
    page_estimate_of,
    rule_state_of,
    wait_cause,
)
from evercrawl.core.revisit.visit_update import new_page_estimate
from evercrawl.engine.site_state import FRESHNESS
from evercrawl.model.listing import SampledPage, SampledSite
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.report import FreshnessEstimate, PlannedVisit, RevisitPlan, RevisitStatus, SiteFreshness
from evercrawl.model.settings import RevisitSettings
from evercrawl.model.time import DAY_US, to_us


def stored_budget(reader: StateReader, settings: RevisitSettings, *, pages: int) -> RequestBudget:
    """Return the request budget as the last run left it."""
    default = settings.min_freshness_gain / DAY
    threshold = initial_threshold(per_day=settings.budget, pages=pages, default=default)
    budget = RequestBudget(settings.budget, threshold, pages=pages)
    shards = reader.shards()
    if shards:
        with reader.shard(min(shards)) as state:
            budget.restore(state.site_state(*BUDGET_KEY))
    return budget


def revisit_status(reader: StateReader, settings: RevisitSettings, *, pages: int) -> RevisitStatus:
    """Return the current policy, budget and threshold."""
    budget = stored_budget(reader, settings, pages=pages)
    return RevisitStatus(settings.policy, settings.budget, budget.threshold)


MAX_SAMPLED = 20_000  # Pages in a sample; of a larger collection every k-th page by id, that is by age.
GONE = frozenset({Reason.NOT_FOUND, Reason.GONE})


class ForecastSample(NamedTuple):
    """A sample of pages with the models of their sites."""

    pages: list[ForecastPage]
    models: dict[Hashable, SiteModel]
    sites: dict[Hashable, SampledSite]
    share: float  # Fraction of the pages that were read.

    def scale_up(self, sampled: float) -> int:
        """Return how many pages of the collection correspond to `sampled` pages of the sample."""
        return round(sampled / self.share)


def take_sample(reader: StateReader, *, now_us: int, policy: str, limit: int = MAX_SAMPLED) -> ForecastSample:
    """Return a systematic sample over all shards, or every page if there are at most `limit`."""
    sample = ForecastSample([], {}, {}, 1.0)
    read, pages = 0, 0
    for shard, ids in _sampled_ids(reader, limit):
        with reader.shard(shard) as state:
            read += _add_pages(state, shard, ids, sample, now_us=now_us, policy=policy)
            pages += state.totals(now_us).pages
    return sample._replace(share=min(1.0, read / pages) if read else 1.0)


def iterate_sample(reader: StateReader, *, limit: int = MAX_SAMPLED) -> Iterator[tuple[SampledPage, SiteModel]]:
    """Yield the pages of the same sample, each with the model of its site."""
    for shard, ids in _sampled_ids(reader, limit):
        sample = ForecastSample([], {}, {}, 1.0)
        with reader.shard(shard) as state:
            for start in range(0, len(ids), ROWS_AT_A_TIME):
                rows = state.sampled_pages(ids[start : start + ROWS_AT_A_TIME])
                _add_sites(state, shard, {row.site_id for row in rows}, sample)
                yield from ((row, sample.models[shard, row.site_id]) for row in rows)


def _sampled_ids(reader: StateReader, limit: int) -> Iterator[tuple[int, range]]:
    """Yield the ids of the sampled pages, shard by shard."""
    sizes = _sizes(reader)
    stride = max(1, -(-sum(sizes.values()) // limit))
    offset = stride // 2
    for shard, size in sizes.items():
        ids = range(offset + 1, size + 1, stride)
        yield shard, ids
        offset = offset + stride * len(ids) - size


def _sizes(reader: StateReader) -> dict[int, int]:
    """Return the largest page id of each shard."""
    sizes = {}
    for shard in reader.shards():
        with reader.shard(shard) as state:
            sizes[shard] = state.next_id() - 1
    return sizes


def _add_pages(state: ShardReader, shard: int, ids: range, sample: ForecastSample, *, now_us: int, policy: str) -> int:
    """Add a shard's pages to the sample; return the number of rows read."""
    read = 0
    for start in range(0, len(ids), ROWS_AT_A_TIME):
        rows = state.sampled_pages(ids[start : start + ROWS_AT_A_TIME])
        read += len(rows)
        _add_sites(state, shard, {row.site_id for row in rows}, sample)
        for row in rows:
            key = (shard, row.site_id)
            page = forecast_page(row, key, sample.models[key], now_us=now_us, policy=policy)
            if page is not None:
                sample.pages.append(page)
    return read


def _add_sites(state: ShardReader, shard: int, ids: set[int], sample: ForecastSample) -> None:
    unknown = [number for number in ids if (shard, number) not in sample.sites]
    for site in state.sampled_sites(unknown, FRESHNESS.name) if unknown else ():
        sample.sites[shard, site.id] = site._replace(memory=None)
        sample.models[shard, site.id] = FRESHNESS.read(site.memory)


def forecast_page(
    row: SampledPage, site: Hashable, model: SiteModel, *, now_us: int, policy: str
) -> ForecastPage | None:
    """Return the page for a forecast; None: it is rejected, gone or never visited again."""
    if row.outcome is Outcome.REJECTED or row.reason in GONE:
        return None
    hub = hub_of(row.url)
    if row.version == 0 and row.rate_estimate is None:
        missing = new_page_estimate(model.estimate, now=now_us / DAY_US, has_copy=False)
        return ForecastPage(row.url, site, hub, missing) if row.is_waiting else None
    return ForecastPage(
        row.url,
        site,
        hub,
        estimate_of(row, model),
        changes=max(row.version - 1, 0),
        interval=_interval(row.rate_estimate) if policy != OPTIMAL else 0.0,
        has_content=row.version > 0 and row.reason is not Reason.REDIRECT,
    )


def estimate_of(row: SampledPage, model: SiteModel) -> PageEstimate:
    """Return the stored estimate, or one from the counts of visits and versions if another policy was used."""
    stored = page_estimate_of(row.rate_estimate)
    if stored is not None:
        return stored
    visited = (row.last_us or row.found_us) / DAY_US
    return estimate_from_counts(
        model.estimate,
        visited=visited,
        watched=visited - row.found_us / DAY_US,
        visits=row.visits,
        changes=max(row.version - 1, 0),
    )


def _interval(state: bytes | None) -> float:
    """Return the days between two visits that a named rule has set; 0: none yet."""
    rule = rule_state_of(state)
    return max(rule.due - rule.visited, 0.0) if rule.visits else 0.0


MAX_SITES = 10
MAX_PLANNED = 5_000  # Pages in the sample of a plan, whose intervals are computed for every threshold tried.
DIGITS = 4


def collection_freshness(reader: StateReader, settings: RevisitSettings, *, now: datetime) -> FreshnessEstimate:
    """Return the estimated current freshness of a collection."""
    now_us = to_us(now)
    sample = take_sample(reader, now_us=now_us, policy=settings.policy)
    estimates = estimate_freshness(sample.pages, sample.models, now=now_us / DAY_US, share=sample.share)
    return _freshness(sample, estimates)


def _freshness(sample: ForecastSample, estimates: FreshnessEstimates) -> FreshnessEstimate:
    whole = estimates.whole
    largest = sorted(estimates.sites, key=lambda site: -estimates.sites[site].pages)[:MAX_SITES]
    return FreshnessEstimate(
        freshness=round(whole.freshness, DIGITS),
        uncertainty=round(whole.error, DIGITS),
        of_copies=round(whole.of_copies, DIGITS),
        pages=sample.scale_up(whole.pages),
        without_copy=sample.scale_up(whole.missing),
        sampled=whole.pages,
        sites=tuple(_site(sample, site, estimates.sites[site]) for site in largest),
    )


def _site(
    sample: ForecastSample, site: Hashable, estimate: FreshShare, *, requests: float | None = None
) -> SiteFreshness:
    return SiteFreshness(
        sample.sites[site].name,
        sample.scale_up(estimate.pages),
        round(estimate.freshness, DIGITS),
        round(estimate.error, DIGITS),
        None if requests is None else round(requests, DIGITS),
    )


def plan_revisits(
    reader: StateReader, settings: RevisitSettings, *, budget: float | None, now: datetime
) -> RevisitPlan:
    """Return what a budget of requests per day would visit, and the expected freshness.
    Without a budget, that of the settings counts."""
    now_us, per_day = to_us(now), budget if budget is not None else settings.budget
    sample = take_sample(reader, now_us=now_us, policy=settings.policy, limit=MAX_PLANNED)
    allowance = RequestBudget(per_day, settings.min_freshness_gain / DAY, pages=sample.scale_up(len(sample.pages)))
    level = budget_level(allowance, settings)
    sample = sample._replace(pages=_with_uniform_interval(sample, settings.policy, level))
    given = ForecastInput(sample.pages, sample.models, now_us / DAY_US, sample.share)
    return _plan(
        sample,
        forecast_budget(given, level, per_day=per_day),
        now=estimate_freshness(sample.pages, sample.models, now=given.now, share=sample.share).whole,
        policy=settings.policy,
        per_day=per_day,
    )


def _with_uniform_interval(sample: ForecastSample, policy: str, level: BudgetLevel) -> list[ForecastPage]:
    """Set the common interval of all pages under the policy `uniform`."""
    if policy != "uniform":
        return sample.pages
    return [page._replace(interval=level.span) for page in sample.pages]


def _plan(
    sample: ForecastSample, forecast: BudgetForecast, *, now: FreshShare, policy: str, per_day: float | None
) -> RevisitPlan:
    whole = forecast.expected.whole
    return RevisitPlan(
        policy=policy,
        budget_per_day=per_day,
        requests_per_day=round(forecast.requests, 2),
        expected_freshness=round(whole.freshness, DIGITS),
        uncertainty=round(whole.error, DIGITS),
        freshness_now=round(now.freshness, DIGITS),
        threshold_days=forecast.threshold,
        pages=sample.scale_up(whole.pages),
        pages_due=round(forecast.due),
        without_copy=sample.scale_up(now.missing),
        sampled=whole.pages,
        first=tuple(_planned_visit(pick) for pick in forecast.first),
        sites=_busiest_sites(sample, forecast.expected.sites, forecast.by_site),
    )


def _planned_visit(pick: NextPick) -> PlannedVisit:
    return PlannedVisit(pick.url, round(pick.value, DIGITS) if isfinite(pick.value) else None)


def _busiest_sites(
    sample: ForecastSample, expected: Mapping[Hashable, FreshShare], requests: Mapping[Hashable, float]
) -> tuple[SiteFreshness, ...]:
    busiest = sorted(requests, key=lambda site: -requests[site])[:MAX_SITES]
    return tuple(_site(sample, site, expected.get(site, FreshShare()), requests=requests[site]) for site in busiest)


def count_wait_causes(reader: StateReader, *, pages: int, since: datetime) -> dict[str, int]:
    """Count, by cause, the `pages` that a run which began at `since` did not visit.
    A large collection is sampled; the counts always add up to `pages`."""
    if pages <= 0:
        return {}
    since_us = to_us(since)
    counted = Counter(
        wait_cause(row.rate_estimate, model, is_gone=row.due_us is None, tries=row.tries)
        for row, model in iterate_sample(reader)
        if _was_not_visited(row, since_us)
    )
    return _distribute(pages, counted)


def _was_not_visited(row: SampledPage, since_us: int) -> bool:
    is_queued = row.is_waiting and row.due_us is None
    return not is_queued and (row.last_us or row.found_us) < since_us


def _distribute(pages: int, counted: Counter[WaitCause]) -> dict[str, int]:
    """Distribute the pages in the proportions of the sample, by largest remainder."""
    seen = counted.total()
    if not seen:
        return {WaitCause.MODEL.value: pages}
    exact = {cause: pages * count / seen for cause, count in counted.items()}
    whole = {cause: int(share) for cause, share in exact.items()}
    missing = pages - sum(whole.values())
    for cause in sorted(exact, key=lambda cause: whole[cause] - exact[cause])[:missing]:
        whole[cause] += 1
    return {cause.value: whole[cause] for cause in WaitCause if whole.get(cause)}
