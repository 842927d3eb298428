"""Estimate the freshness of a collection, and forecast what a request budget would achieve.
Each page is visited when its value reaches the threshold, so the threshold gives every page its interval, and the
intervals give the requests per day and the expected freshness. The standard error covers sampling, the chance of each
page, and what pages share: the prior of their site, bulk changes, and the model. Nothing is sent. Times are days."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from heapq import nlargest
from math import exp, inf, log, sqrt
from operator import add
from typing import NamedTuple

from evercrawl.core.revisit.change_announcements import has_announcements, requests_between_polls, unseen_days
from evercrawl.core.revisit.rate_estimate import (
    MAX_SHAPE,
    PageEstimate,
    SiteEstimate,
    after_change,
    change_rate,
    survival,
    time_current,
    with_change_rate,
)
from evercrawl.core.revisit.visit_schedule import BudgetLevel, SiteModel
from evercrawl.core.revisit.visit_value import MARGIN, due_at, probability_current, value_now

UNVISITED = PageEstimate()


class ForecastPage(NamedTuple):
    """A page in a forecast."""

    url: str
    site: Hashable
    hub: int
    estimate: PageEstimate = UNVISITED  # `visited` is None without a copy.
    changes: int = 0  # Changes found by visits.
    interval: float = 0.0  # Days between visits under the current rule; 0 if the value decides.
    has_content: bool = True  # True if its content can be fresh. A redirect only costs visits.

    @property
    def has_copy(self) -> bool:
        return self.estimate.visited is not None


def estimate_from_counts(
    site: SiteEstimate, *, visited: float, watched: float, visits: int, changes: int
) -> PageEstimate:
    """Estimate a page from the number of its visits and changes.
    The visits are assumed evenly spaced over the `watched` days."""
    page = PageEstimate(b=-site.exposure, visited=visited)
    later = max(visits - 1, 0)
    if not later or watched <= 0.0:
        return page
    gap = watched / later
    changed = min(changes, later)
    a, b = change_rate(page, site)
    b += gap * (later - changed)
    for _ in range(min(changed, int(MAX_SHAPE))):
        a, b = after_change(a, b, gap)
    return with_change_rate(page, site, a=a, b=b)


PRIOR_CHANGES = 0.5  # Changes that the general prior is worth as evidence.
SITE_UNCERTAINTY = 0.3  # Relative error that the change rates of a site may share, measured on recorded sites.
MODEL_UNCERTAINTY = 0.1  # The same for all sites together.
NOTHING_KNOWN = SiteModel()


class FreshnessSums(NamedTuple):
    """Sums over the pages of one site."""

    pages: int = 0
    missing: int = 0
    chance: float = 0.0
    square: float = 0.0
    bernoulli: float = 0.0
    slope: float = 0.0  # Change of the summed probabilities if all rates change by their own size.
    prior_slope: float = 0.0  # The same if only the site's prior changes.
    changes: int = 0

    def add_page(
        self, chance: float, *, slope: float = 0.0, prior: float = 0.0, changes: int = 0, missing: bool = False
    ) -> FreshnessSums:
        """Return the sums with one more page; `prior` is the share of its estimate that comes from the site."""
        added = (1, missing, chance, chance * chance, chance * (1.0 - chance), slope, slope * prior, changes)
        return FreshnessSums(*map(add, self, added))


class FreshShare(NamedTuple):
    """The fresh share of pages, with its standard error."""

    freshness: float = 0.0
    error: float = 0.0
    pages: int = 0  # Pages in the sample, including those without a copy.
    missing: int = 0  # Pages without a copy, which count as not fresh.

    @property
    def of_copies(self) -> float:
        """The fresh share among pages with a copy."""
        copies = self.pages - self.missing
        return self.freshness * self.pages / copies if copies else 0.0


class FreshnessEstimates(NamedTuple):
    """Freshness of the collection and of its sites."""

    whole: FreshShare
    sites: Mapping[Hashable, FreshShare]


def estimate_freshness(
    pages: Iterable[ForecastPage], site_models: Mapping[Hashable, SiteModel], *, now: float, share: float = 1.0
) -> FreshnessEstimates:
    """Estimate the freshness of all pages and of each site from a sample, `share` of all pages."""
    sums: dict[Hashable, FreshnessSums] = {}
    for page in pages:
        if page.has_content:
            before = sums.get(page.site, FreshnessSums())
            sums[page.site] = _with_page(before, page, site_models.get(page.site, NOTHING_KNOWN), now)
    return estimates_of(sums, share=share)


def _with_page(sums: FreshnessSums, page: ForecastPage, model: SiteModel, now: float) -> FreshnessSums:
    estimate = page.estimate
    if estimate.visited is None:
        return sums.add_page(0.0, missing=True)
    escape = model.escape_chance(page.hub, now=now)
    chance = probability_current(estimate, model.estimate, now=now, escape=escape)
    a, b = change_rate(estimate, model.estimate)
    _, unseen = unseen_days(estimate, model.estimate, now=now)
    slope = a * unseen / (b + unseen) * chance
    return sums.add_page(chance, slope=slope, prior=prior_share(a, model), changes=page.changes)


def prior_share(a: float, model: SiteModel) -> float:
    """Return the share of a page's estimate that comes from its site's prior."""
    return min(model.estimate.a / a, 1.0)


def estimates_of(sums: Mapping[Hashable, FreshnessSums], *, share: float) -> FreshnessEstimates:
    """Combine the sums of all sites. Apart from the model, sites are independent."""
    known = {site: _estimate(each, _common(each, share), share) for site, each in sums.items()}
    whole = FreshnessSums(*(sum(column) for column in zip(*sums.values(), strict=True))) if sums else FreshnessSums()
    common = sum(_common(each, share) for each in sums.values()) + (MODEL_UNCERTAINTY * whole.slope) ** 2
    return FreshnessEstimates(_estimate(whole, common, share), known)


def _common(sums: FreshnessSums, share: float) -> float:
    """Return the variance that the pages of a site share."""
    return (SITE_UNCERTAINTY * sums.slope) ** 2 + sums.prior_slope**2 / (PRIOR_CHANGES + sums.changes / share)


def _estimate(sums: FreshnessSums, common: float, share: float) -> FreshShare:
    pages = sums.pages
    if not pages:
        return FreshShare()
    mean = sums.chance / pages
    spread = max(sums.square - pages * mean * mean, 0.0) / max(pages - 1, 1)
    variance = (1.0 - share) * spread / pages + share * sums.bernoulli / pages**2 + common / pages**2
    return FreshShare(mean, sqrt(variance), pages, sums.missing)


MIN_THRESHOLD, MAX_THRESHOLD = 1e-6, 1e4  # Bounds of the threshold, in days of a current copy.
THRESHOLD_PRECISION = 0.002  # Relative precision of the threshold.
MAX_PICKS = 10
ROBOTS_DAYS = 1.0  # Days between two requests for the robots.txt of a visited site.
SOON = 1e-6


class ForecastInput(NamedTuple):
    """What a forecast needs."""

    pages: Sequence[ForecastPage]
    site_models: Mapping[Hashable, SiteModel]
    now: float
    share: float = 1.0  # Share of all pages in the sample.

    def site_model(self, page: ForecastPage) -> SiteModel:
        return self.site_models.get(page.site, NOTHING_KNOWN)


class NextPick(NamedTuple):
    """A page that would be fetched now. Its value is infinite without a copy."""

    value: float
    url: str


class BudgetForecast(NamedTuple):
    """The expected result of a budget."""

    threshold: float | None  # None if the budget cannot even pay for the longest interval.
    requests: float  # Requests per day, including robots.txt and sitemaps.
    expected: FreshnessEstimates
    due: float  # Pages that are worth a visit now.
    first: tuple[NextPick, ...]
    by_site: Mapping[Hashable, float]  # Requests per day.


def forecast_budget(given: ForecastInput, level: BudgetLevel, *, per_day: float | None) -> BudgetForecast:
    """Forecast what a budget achieves; without one, what the level's own threshold costs."""
    if per_day is not None:
        level = level._replace(threshold=_threshold_for(given, level, per_day))
    intervals = [interval_of(page, given.site_model(page), level) for page in given.pages]
    by_site = _requests_by_site(given, intervals, threshold=level.threshold)
    requests = sum(by_site.values())
    stretch = 1.0 if per_day is None else max(1.0, requests / per_day)
    intervals = [interval * stretch for interval in intervals]
    due, first = _due_now(given, level)
    by_site = {site: spent / stretch for site, spent in by_site.items()}
    threshold = level.threshold if stretch == 1.0 else None
    return BudgetForecast(threshold, requests / stretch, _expected(given, intervals), due, first, by_site)


def _threshold_for(given: ForecastInput, level: BudgetLevel, per_day: float) -> float:
    """Find the threshold by bisection: the lower it is, the more visits."""
    low, high = log(MIN_THRESHOLD), log(MAX_THRESHOLD)
    while high - low > THRESHOLD_PRECISION:
        middle = 0.5 * (low + high)
        tried = level._replace(threshold=exp(middle))
        intervals = [interval_of(page, given.site_model(page), tried) for page in given.pages]
        if sum(_requests_by_site(given, intervals, threshold=tried.threshold).values()) > per_day:
            low = middle
        else:
            high = middle
    return exp(high)


def interval_of(page: ForecastPage, model: SiteModel, level: BudgetLevel) -> float:
    """Return the days between visits of a known page without announcements or bulk changes."""
    if page.interval > 0.0:
        return min(max(page.interval, level.shortest), level.longest)
    page_estimate, least = _without_announcements(page.estimate), MARGIN * level.threshold
    wait = due_at(page_estimate, model.estimate, threshold=least, span=level.span, longest=level.longest)
    return max(wait, level.shortest)


def _without_announcements(estimate: PageEstimate) -> PageEstimate:
    return estimate._replace(
        visited=0.0, announcements=0.0, announced_evidence=0.0, a=estimate.a - estimate.announced_evidence
    )


def _requests_by_site(given: ForecastInput, intervals: Sequence[float], *, threshold: float) -> dict[Hashable, float]:
    """Return the requests per day by site, scaled from the sample to all pages."""
    visits: dict[Hashable, float] = {}
    sizes: dict[Hashable, int] = {}
    for page, interval in zip(given.pages, intervals, strict=True):
        announced = _announcement_rate(page, given.site_model(page)) if not page.interval else 0.0
        visits[page.site] = visits.get(page.site, 0.0) + 1.0 / interval + announced
        sizes[page.site] = sizes.get(page.site, 0) + 1
    return {
        site: _with_overhead(
            made / given.share,
            given.site_models.get(site, NOTHING_KNOWN),
            pages=round(sizes[site] / given.share),
            threshold=threshold,
        )
        for site, made in visits.items()
    }


def _announcement_rate(page: ForecastPage, model: SiteModel) -> float:
    """Return the announcements of a page per day. Each leads to a visit."""
    site = model.estimate
    if not has_announcements(site):
        return 0.0
    a, b = change_rate(page.estimate, site)
    return site.recall * a / b + site.false_rate


def _with_overhead(visits: float, model: SiteModel, *, pages: int, threshold: float) -> float:
    """Add the requests for robots.txt and sitemaps to a site's visits per day."""
    robots = 1.0 / (ROBOTS_DAYS + 1.0 / visits)
    site = model.estimate
    if not has_announcements(site):
        return visits + robots
    gap = requests_between_polls(site, waiting=0, silent_polls=0, pages=pages, per_day=visits, threshold=threshold)
    return visits + robots + visits / gap


def _expected(given: ForecastInput, intervals: Sequence[float]) -> FreshnessEstimates:
    """Return the freshness once every page has been visited: the mean over each interval."""
    sums: dict[Hashable, FreshnessSums] = {}
    for page, interval in zip(given.pages, intervals, strict=True):
        if not page.has_content:
            continue
        model = given.site_model(page)
        a, b = change_rate(page.estimate, model.estimate)
        unseen = interval * (1.0 - model.estimate.recall) if has_announcements(model.estimate) else interval
        mean = time_current(a, b, unseen) / unseen
        slope = mean - survival(a, b, unseen)
        before = sums.get(page.site, FreshnessSums())
        sums[page.site] = before.add_page(mean, slope=slope, prior=prior_share(a, model), changes=page.changes)
    return estimates_of(sums, share=given.share)


def _due_now(given: ForecastInput, level: BudgetLevel) -> tuple[float, tuple[NextPick, ...]]:
    """Return how many pages are worth a request now, and the most valuable of them, new pages first."""
    valued = [(_value(page, given, level), not page.has_copy, page.url) for page in given.pages]
    due = [each for each in valued if each[0] >= MARGIN * level.threshold]
    first = nlargest(MAX_PICKS, due, key=lambda each: each[:2])
    return len(due) / given.share, tuple(NextPick(value, url) for value, _, url in first)


def _value(page: ForecastPage, given: ForecastInput, level: BudgetLevel) -> float:
    """Return the value of a visit now; infinite if it is required."""
    visited, model = page.estimate.visited, given.site_model(page)
    if visited is None or given.now - visited >= level.longest:
        return inf
    if page.interval > 0.0:
        return inf if given.now - visited >= page.interval - SOON else 0.0
    if given.now - visited < level.shortest:
        return 0.0
    escape = model.escape_chance(page.hub, now=given.now)
    return value_now(page.estimate, model.estimate, now=given.now, span=level.span, escape=escape)
