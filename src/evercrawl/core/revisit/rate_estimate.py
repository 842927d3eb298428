"""Estimate how fast pages change, from visits and announcements. Times are days.
A page changes as a Poisson process with a rate from Gamma(a, b); "changed after t days" leaves the family and is
matched by two moments. Page rows hold evidence beyond the site's prior, so a better prior touches none of them."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, expm1, inf, log1p, sqrt
from typing import NamedTuple

from evercrawl.model import wide

MIN_SHAPE = 0.05
MIN_SCALE_DAYS = 0.02


@wide
class PageEstimate(NamedTuple):
    """The estimate of one page. `change_rate` combines it with its site."""

    a: float = 0.0  # Evidence of changes beyond the site's prior.
    b: float = 0.0  # Days without change beyond the site's prior and exposure.
    visited: float | None = None  # The last visit; None without a copy.
    announcements: float = 0.0  # Announcements newer than the last visit.
    announced_evidence: float = 0.0  # What they added to `a`, taken back if they prove false.
    silent_change: float = 0.0  # Weight of an unannounced change found by the last visit, until the next poll.
    last_announced: float = -inf  # Date of the newest announcement. Older or equal ones are repetitions.
    weight: float = 1.0  # Importance divided by cost of a visit.


class BulkChange(NamedTuple):
    """Decayed sums of recent visits to a directory or site, which show bulk changes."""

    visits: float = 0.0
    changed: float = 0.0
    expected: float = 0.0
    at: float = 0.0


@wide
class SiteEstimate(NamedTuple):
    """The prior of one site, and how far its announcements can be trusted."""

    a: float = 0.5
    b: float = 25.0  # The prior of its pages: Gamma(a, b).
    recall: float = 0.5  # Share of changes that are announced.
    false_rate: float = 0.0025  # False announcements per page and day.
    silent_changes: float = 0.0  # Unannounced changes found by visits without an announcement.
    announced_changes: float = 0.0  # Expected number of announced changes over the same days.
    false_odds: float = 0.25  # Odds of a false announcement on a page of mean rate.
    false_curvature: float = 0.0  # Sum of squared slopes of the logarithm of `false_odds`.
    exposure: float = 0.0  # Days in which announced changes would have been seen, times recall, over all polls.
    polled: float | None = None  # The last poll, if any.
    has_signal: bool = False  # True after the first announcement.
    hub_trust: float = 1.0  # How far a bulk change of a directory is believed, 0 to 1.
    hub_curvature: float = 0.0  # Sum of squared slopes of `hub_trust`.
    site_change: BulkChange = BulkChange()  # The bulk change of the whole site.
    site_trust: float = 0.5
    site_curvature: float = 0.0
    mean_rate: float = 0.02  # Mean change rate of its pages.
    pending_silent: float = 0.0  # Sum of the pages' `silent_change` since the last poll.
    changes_found: int = 0  # Changes found by visits since the site announces changes; counted for people.
    changes_announced: int = 0  # Those of them that the site announced.
    announcements_checked: int = 0  # Announcements that led to a visit.
    announcements_false: int = 0  # Those of them that proved false.
    days_counted: float = 0.0  # Days between visits over which changes were counted.
    days_unannounced: float = 0.0  # Those before visits without an announcement.


def change_rate(page: PageEstimate, site: SiteEstimate) -> tuple[float, float]:
    """Return the Gamma parameters (a, b) of a page's change rate."""
    a = site.a + page.a
    b = site.b + site.exposure + page.b
    # Only many changes lower b. A page found after the last poll owes the days before it until the next.
    least = site.b / (1.0 + page.a) if page.a > 0.0 else site.b
    return (a if a > MIN_SHAPE else MIN_SHAPE), max(b, least, MIN_SCALE_DAYS)


def with_change_rate(page: PageEstimate, site: SiteEstimate, *, a: float, b: float) -> PageEstimate:
    """Return the page with the change rate Gamma(a, b)."""
    return page._replace(a=a - site.a, b=b - site.b - site.exposure)


MAX_SHAPE = 30.0  # Largest shape a. More evidence than thirty changes is ignored, so old evidence fades.
_NEAR_ONE = 1e-6
_NEWTON_STEPS = 40
_PRECISION = 1e-7
_MAX_X = 60.0


def survival(a: float, b: float, t: float) -> float:
    """Return the probability of no change within `t` days."""
    return exp(-a * log1p(t / b))


def time_current(a: float, b: float, t: float) -> float:
    """Return the expected days within the next `t` in which a copy taken now is current: the integral of `survival`."""
    x = log1p(t / b)
    return b * x if abs(a - 1.0) < _NEAR_ONE else b * -expm1((1.0 - a) * x) / (a - 1.0)


def max_value(a: float, b: float) -> float:
    """Return the limit of the marginal freshness of a visit; infinite for a <= 1, so little evidence loses no page."""
    return b / (a - 1.0) if a > 1.0 + _NEAR_ONE else float("inf")


def time_to_reach(a: float, b: float, value: float, *, escape: float = 1.0) -> float:
    """Return the days after a visit at which the next is worth `value`; may be infinite."""
    if value <= 0.0:
        return 0.0
    if value >= max_value(a, b) * (1.0 - 1e-9):
        return float("inf")
    return b * expm1(_solve(a, value / b, escape))


def _solve(a: float, target: float, escape: float) -> float:
    """Find x with h(x) = target, where tau = b(e^x - 1) and V = b h(x). h grows from 0, so the root stays bracketed."""
    low, high = 0.0, 1.0
    while _scaled(a, high, escape) < target:
        low, high = high, 2.0 * high
        if high > _MAX_X:
            return _MAX_X
    x = min(max(sqrt(2.0 * target / a), low), high)
    for _ in range(_NEWTON_STEPS):
        miss = _scaled(a, x, escape) - target
        if abs(miss) <= _PRECISION * target:
            break
        if miss > 0.0:
            high = x
        else:
            low = x
        slope = exp(-a * x) * ((1.0 - escape) * exp(x) + escape * a * expm1(x))
        x = x - miss / slope if slope > 0.0 else low
        if not low < x < high:
            x = 0.5 * (low + high)
    return x


def _scaled(a: float, x: float, escape: float) -> float:
    held = x if abs(a - 1.0) < _NEAR_ONE else -expm1((1.0 - a) * x) / (a - 1.0)
    return held - escape * expm1(x) * exp(-a * x)


def after_change(a: float, b: float, t: float) -> tuple[float, float]:
    """Return the Gamma with the mean and variance of the posterior, given a change within `t` days."""
    x = log1p(t / b)
    seen = -expm1(-a * x)
    if seen <= 0.0:
        return a + 1.0, b
    mean = (a / b) * -expm1(-(a + 1.0) * x) / seen
    square = a * (a + 1.0) / (b * b) * -expm1(-(a + 2.0) * x) / seen
    variance = square - mean * mean
    shape = mean * mean / variance if variance > 0.0 else MAX_SHAPE
    shape = min(shape, MAX_SHAPE)
    return shape, shape / mean


REFRESH_DAYS = 10.0
MIN_PRIOR_SHAPE, MAX_PRIOR_SHAPE = 0.15, 5.0


def update_prior(site: SiteEstimate, pages: Iterable[PageEstimate]) -> SiteEstimate:
    """Return the site with the prior that matches its pages' rates (empirical Bayes).
    Page rows hold evidence beyond the prior, so all of them shift and none is written."""
    count, total, squares = 0, 0.0, 0.0
    for page in pages:
        a, b = change_rate(page, site)
        mean = a / b
        count += 1
        total += mean
        squares += mean / b + mean * mean
    if not count:
        return site
    mean = total / count
    return with_prior(site, mean=mean, variance=squares / count - mean * mean)


def with_prior(site: SiteEstimate, *, mean: float, variance: float) -> SiteEstimate:
    """Return the site with the prior of this mean and variance; unchanged if they fit no Gamma."""
    if mean <= 0.0 or variance <= 0.0:
        return site
    shape = min(max(mean * mean / variance, MIN_PRIOR_SHAPE), MAX_PRIOR_SHAPE)
    return site._replace(a=shape, b=shape / mean, mean_rate=mean)
