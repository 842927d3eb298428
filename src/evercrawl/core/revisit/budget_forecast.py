"""A page as forecasts see it: what is believed of it, whatever policy it was visited by."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from heapq import nlargest
from math import exp, inf, log, sqrt
from typing import NamedTuple

from evercrawl.core.revisit.announcements import has_announcements, requests_between_polls, unseen_days
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
from evercrawl.core.revisit.site_model import SiteModel
from evercrawl.core.revisit.visit_schedule import BudgetLevel
from evercrawl.core.revisit.visit_value import MARGIN, due_at, probability_current, value_now

UNVISITED = PageEstimate()


class ForecastPage(NamedTuple):
    """A page that visits are spent on."""

    url: str
    site: Hashable
    hub: int
    estimate: PageEstimate = UNVISITED
    """`visited` is None: there is no copy yet."""
    changes: int = 0
    """Changes that visits have found."""
    interval: float = 0.0
    """Days that the rule in force leaves between two visits; 0: the value decides."""
    has_content: bool = True
    """It has content that can be fresh; a redirect only costs visits."""

    @property
    def has_copy(self) -> bool:
        return self.estimate.visited is not None


def estimate_from_counts(
    site: SiteEstimate, *, visited: float, watched: float, visits: int, changes: int
) -> PageEstimate:
    """What so many changes in so many visits say about a page of which only these counts are known.

    The visits are taken to have been evenly spaced over the `watched` days.
    """
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


PRIOR_CHANGES = 0.5
"""Changes' worth of evidence that the general prior stands for."""
SITE_UNCERTAINTY = 0.3
"""By so much of themselves the change rates of a site may all be off together: measured on recorded sites."""
MODEL_UNCERTAINTY = 0.1
"""The same for all sites together."""
NOTHING_KNOWN = SiteModel()


class FreshnessSums(NamedTuple):
    """What is added up over the pages of one site."""

    pages: int = 0
    missing: int = 0
    chance: float = 0.0
    square: float = 0.0
    bernoulli: float = 0.0
    slope: float = 0.0
    """How much the sum of chances moves when the rates of all pages move by their own size."""
    prior_slope: float = 0.0
    """The same when only the site's prior moves."""
    changes: int = 0

    def add_page(
        self, chance: float, *, slope: float = 0.0, prior: float = 0.0, changes: int = 0, missing: bool = False
    ) -> FreshnessSums:
        """The sums with one more page, current with this probability; `prior` is what it owes its site."""
        return FreshnessSums(
            self.pages + 1,
            self.missing + missing,
            self.chance + chance,
            self.square + chance * chance,
            self.bernoulli + chance * (1.0 - chance),
            self.slope + slope,
            self.prior_slope + slope * prior,
            self.changes + changes,
        )


class FreshShare(NamedTuple):
    """A share of pages, with its standard error."""

    freshness: float = 0.0
    error: float = 0.0
    pages: int = 0
    """Pages of the sample that it rests on, those without a copy among them."""
    missing: int = 0
    """Those without a copy; they count as not fresh."""

    @property
    def of_copies(self) -> float:
        """The same share among the pages that there is a copy of."""
        copies = self.pages - self.missing
        return self.freshness * self.pages / copies if copies else 0.0


class FreshnessEstimates(NamedTuple):
    """The whole and its sites."""

    whole: FreshShare
    sites: Mapping[Hashable, FreshShare]


def estimate_freshness(
    pages: Iterable[ForecastPage], site_models: Mapping[Hashable, SiteModel], *, now: float, share: float = 1.0
) -> FreshnessEstimates:
    """The freshness of all pages and of each site at `now`, from a sample that is `share` of all pages."""
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
    chance = probability_current(estimate, model.estimate, now=now, spared=escape)
    a, b = change_rate(estimate, model.estimate)
    _, unseen = unseen_days(estimate, model.estimate, now=now)
    slope = a * unseen / (b + unseen) * chance
    return sums.add_page(chance, slope=slope, prior=prior_share(a, model), changes=page.changes)


def prior_share(a: float, model: SiteModel) -> float:
    """How much of what is believed of a page is its site's prior."""
    return min(model.estimate.a / a, 1.0)


def estimates_of(sums: Mapping[Hashable, FreshnessSums], *, share: float) -> FreshnessEstimates:
    """What the sums of all sites say; but for the model, sites are independent of each other."""
    known = {site: _estimate(each, _common(each, share), share) for site, each in sums.items()}
    whole = FreshnessSums(*(sum(column) for column in zip(*sums.values(), strict=True))) if sums else FreshnessSums()
    common = sum(_common(each, share) for each in sums.values()) + (MODEL_UNCERTAINTY * whole.slope) ** 2
    return FreshnessEstimates(_estimate(whole, common, share), known)


def _common(sums: FreshnessSums, share: float) -> float:
    """Variance of the sum of chances by what the pages of a site have in common."""
    return (SITE_UNCERTAINTY * sums.slope) ** 2 + sums.prior_slope**2 / (PRIOR_CHANGES + sums.changes / share)


def _estimate(sums: FreshnessSums, common: float, share: float) -> FreshShare:
    pages = sums.pages
    if not pages:
        return FreshShare()
    mean = sums.chance / pages
    spread = max(sums.square - pages * mean * mean, 0.0) / max(pages - 1, 1)
    variance = (1.0 - share) * spread / pages + share * sums.bernoulli / pages**2 + common / pages**2
    return FreshShare(mean, sqrt(variance), pages, sums.missing)


LEAST_THRESHOLD, MOST_THRESHOLD = 1e-6, 1e4
"""Days of a current copy between which the threshold is looked for."""
CLOSE = 0.002
"""The threshold is found to this share of itself."""
SHOWN_FIRST = 10
ROBOTS_DAYS = 1.0
"""robots.txt of a site that is visited is asked for again after so long."""
SOON = 1e-6


class ForecastInput(NamedTuple):
    """What a plan rests on."""

    pages: Sequence[ForecastPage]
    site_models: Mapping[Hashable, SiteModel]
    now: float
    share: float = 1.0
    """The pages are this share of all."""

    def site_model(self, page: ForecastPage) -> SiteModel:
        return self.site_models.get(page.site, NOTHING_KNOWN)


class NextPick(NamedTuple):
    """A page that would be fetched now; its value is inf where there is no copy yet."""

    value: float
    url: str


class BudgetForecast(NamedTuple):
    """What can be expected."""

    threshold: float | None
    """None: the budget does not even pay for the longest interval, so that pages come in turn."""
    requests: float
    """A day, with robots.txt and the reading of sitemaps."""
    expected: FreshnessEstimates
    due: float
    """Pages that a visit now is worth it for."""
    first: tuple[NextPick, ...]
    by_site: Mapping[Hashable, float]
    """Requests a day."""


def forecast_budget(ground: ForecastInput, level: BudgetLevel, *, per_day: float | None) -> BudgetForecast:
    """What a budget buys; without one (None), what the level's own threshold asks for."""
    if per_day is not None:
        level = level._replace(threshold=_threshold_for(ground, level, per_day))
    intervals = [interval_of(page, ground.site_model(page), level) for page in ground.pages]
    by_site = _spent(ground, intervals, threshold=level.threshold)
    requests = sum(by_site.values())
    stretch = 1.0 if per_day is None else max(1.0, requests / per_day)
    intervals = [interval * stretch for interval in intervals]
    due, first = _due_now(ground, level)
    return BudgetForecast(
        level.threshold if stretch == 1.0 else None,
        requests / stretch,
        _expected(ground, intervals),
        due,
        first,
        {site: spent / stretch for site, spent in by_site.items()},
    )


def _threshold_for(ground: ForecastInput, level: BudgetLevel, per_day: float) -> float:
    """By bisection: the lower the threshold, the more visits. The least one where the budget is ample."""
    low, high = log(LEAST_THRESHOLD), log(MOST_THRESHOLD)
    while high - low > CLOSE:
        middle = 0.5 * (low + high)
        tried = level._replace(threshold=exp(middle))
        intervals = [interval_of(page, ground.site_model(page), tried) for page in ground.pages]
        if sum(_spent(ground, intervals, threshold=tried.threshold).values()) > per_day:
            low = middle
        else:
            high = middle
    return exp(high)


def interval_of(page: ForecastPage, model: SiteModel, level: BudgetLevel) -> float:
    """Days between two visits once the page is known: no announcement waits, and nothing shakes the site."""
    if page.interval > 0.0:
        return min(max(page.interval, level.shortest), level.longest)
    wait = due_at(
        _settled(page.estimate),
        model.estimate,
        threshold=MARGIN * level.threshold,
        span=level.span,
        longest=level.longest,
    )
    return max(wait, level.shortest)


def _settled(estimate: PageEstimate) -> PageEstimate:
    return estimate._replace(visited=0.0, announcements=0.0, announced_evidence=0.0, a=estimate.a - estimate.announced_evidence)


def _spent(ground: ForecastInput, intervals: Sequence[float], *, threshold: float) -> dict[Hashable, float]:
    """Requests a day by site, scaled from the sample to all pages."""
    visits: dict[Hashable, float] = {}
    sizes: dict[Hashable, int] = {}
    for page, interval in zip(ground.pages, intervals, strict=True):
        told = _told(page, ground.site_model(page)) if not page.interval else 0.0
        visits[page.site] = visits.get(page.site, 0.0) + 1.0 / interval + told
        sizes[page.site] = sizes.get(page.site, 0) + 1
    return {
        site: _with_errands(
            made / ground.share,
            ground.site_models.get(site, NOTHING_KNOWN),
            pages=round(sizes[site] / ground.share),
            threshold=threshold,
        )
        for site, made in visits.items()
    }


def _told(page: ForecastPage, model: SiteModel) -> float:
    """Announcements of a page a day, each of which is followed by a visit."""
    site = model.estimate
    if not has_announcements(site):
        return 0.0
    a, b = change_rate(page.estimate, site)
    return site.recall * a / b + site.false_rate


def _with_errands(visits: float, model: SiteModel, *, pages: int, threshold: float) -> float:
    """A site's visits a day, and what has to be asked beside: robots.txt, and the sitemaps now and then."""
    robots = 1.0 / (ROBOTS_DAYS + 1.0 / visits)
    site = model.estimate
    if not has_announcements(site):
        return visits + robots
    gap = requests_between_polls(site, waiting=0, silent_polls=0, pages=pages, per_day=visits, threshold=threshold)
    return visits + robots + visits / gap


def _expected(ground: ForecastInput, intervals: Sequence[float]) -> FreshnessEstimates:
    """Freshness once every page has been visited: the mean over each interval, missing pages among them."""
    sums: dict[Hashable, FreshnessSums] = {}
    for page, interval in zip(ground.pages, intervals, strict=True):
        if not page.has_content:
            continue
        model = ground.site_model(page)
        a, b = change_rate(page.estimate, model.estimate)
        unseen = interval * (1.0 - model.estimate.recall) if has_announcements(model.estimate) else interval
        mean = time_current(a, b, unseen) / unseen
        slope = mean - survival(a, b, unseen)
        before = sums.get(page.site, FreshnessSums())
        sums[page.site] = before.add_page(mean, slope=slope, prior=prior_share(a, model), changes=page.changes)
    return estimates_of(sums, share=ground.share)


def _due_now(ground: ForecastInput, level: BudgetLevel) -> tuple[float, tuple[NextPick, ...]]:
    """Number of pages that are worth a request now, and those that are worth most, new ones before all."""
    valued = [(_value(page, ground, level), not page.has_copy, page.url) for page in ground.pages]
    worthy = [each for each in valued if each[0] >= MARGIN * level.threshold]
    first = nlargest(SHOWN_FIRST, worthy, key=lambda each: each[:2])
    return len(worthy) / ground.share, tuple(NextPick(value, url) for value, _, url in first)


def _value(page: ForecastPage, ground: ForecastInput, level: BudgetLevel) -> float:
    """What a visit now would bring; inf: it has to be made."""
    visited, model = page.estimate.visited, ground.site_model(page)
    if visited is None or ground.now - visited >= level.longest:
        return inf
    if page.interval > 0.0:
        return inf if ground.now - visited >= page.interval - SOON else 0.0
    if ground.now - visited < level.shortest:
        return 0.0
    escape = model.escape_chance(page.hub, now=ground.now)
    return value_now(page.estimate, model.estimate, now=ground.now, span=level.span, spared=escape)
