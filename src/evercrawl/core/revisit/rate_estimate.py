"""What is kept about a page, a site and a directory: a few floats each, all times in days.

A page's own numbers are evidence *beyond its site's prior*, so that a better prior reaches old pages without
touching their rows; and counted against the site's exposure, so that a poll of a sitemap touches no row of a
page that it does not name.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, expm1, inf, log1p, sqrt
from typing import NamedTuple

MIN_SHAPE = 0.05
MIN_SCALE_DAYS = 0.02


class PageEstimate(NamedTuple):
    """One page. `rate_of` joins it with its site."""

    a: float = 0.0
    """Evidence of changes beyond the site's prior."""
    b: float = 0.0
    """Days without change beyond the site's prior and exposure."""
    visited: float | None = None
    """The last visit; None: we have no copy."""
    announcements: float = 0.0
    """Announcements newer than the last visit."""
    announced_evidence: float = 0.0
    """What was added to `a` for them, to be taken back if they prove false."""
    silent_change: float = 0.0
    """Weight of a change that the last visit found unannounced, until the next poll; 0: none."""
    last_announced: float = -inf
    """Date of the newest announcement seen; an older or equal one is a repetition."""
    weight: float = 1.0
    """Importance per cost: freshness of this page counts so much more, or its visit costs so much less."""


class BulkChange(NamedTuple):
    """Recent visits to a directory or a whole site, decayed: does it change as a whole right now?"""

    visits: float = 0.0
    changed: float = 0.0
    expected: float = 0.0
    at: float = 0.0


class SiteEstimate(NamedTuple):
    """One site: its prior, and how far its signals can be trusted."""

    a: float = 0.5
    b: float = 25.0
    """The prior of its pages: Gamma(a, b)."""
    recall: float = 0.5
    """Share of changes that are announced."""
    false_rate: float = 0.0025
    """False announcements per page and day."""
    silent_changes: float = 0.0
    """Changes found that were not announced, by visits without an announcement."""
    announced_changes: float = 0.0
    """Changes that announcements accounted for over the same days, by expectation."""
    false_odds: float = 0.25
    """False announcements against true ones, on a page of the site's mean rate."""
    false_curvature: float = 0.0
    """What is known about `false_odds`: the sum of squared slopes of its logarithm."""
    exposure: float = 0.0
    """Days in which announced changes would have been seen, times recall, summed over all polls."""
    polled: float | None = None
    """The last poll; None: never."""
    has_signal: bool = False
    """True once any announcement was received; until then the signals play no part."""
    hub_trust: float = 1.0
    """How far the shock of a directory may be believed on this site, 0 to 1."""
    hub_curvature: float = 0.0
    """What is known about `earned`: the sum of squared slopes."""
    site_change: BulkChange = BulkChange()
    """The shock of the whole site."""
    site_trust: float = 0.5
    site_curvature: float = 0.0
    mean_rate: float = 0.02
    """Mean change rate of its pages, for the mean false share."""
    pending_silent: float = 0.0
    """Sum of the pages' `silent` since the last poll."""


def change_rate(page: PageEstimate, site: SiteEstimate) -> tuple[float, float]:
    """The Gamma estimate (a, b) about a page's change rate."""
    a = site.a + page.a
    b = site.b + site.exposure + page.b
    # Only many changes make b fall. A page found after the last poll owes the days before it until the next.
    least = site.b / (1.0 + page.a) if page.a > 0.0 else site.b
    return (a if a > MIN_SHAPE else MIN_SHAPE), max(b, least, MIN_SCALE_DAYS)


def with_change_rate(page: PageEstimate, site: SiteEstimate, *, a: float, b: float) -> PageEstimate:
    """The page, believed to change at Gamma(a, b)."""
    return page._replace(a=a - site.a, b=b - site.b - site.exposure)


MAX_SHAPE = 30.0
"""Largest shape a: more certainty than thirty changes is not believed, so that old evidence fades."""
_NEAR_ONE = 1e-6
_NEWTON_STEPS = 40
_CLOSE = 1e-7
_FURTHEST = 60.0


def survival(a: float, b: float, t: float) -> float:
    """Probability of no change within `t` days."""
    return exp(-a * log1p(t / b))


def time_current(a: float, b: float, t: float) -> float:
    """Expected days within the next `t` in which a copy taken now is current: the integral of `survival`."""
    x = log1p(t / b)
    if abs(a - 1.0) < _NEAR_ONE:
        return b * x
    return b * -expm1((1.0 - a) * x) / (a - 1.0)


def marginal_value(a: float, b: float, tau: float, *, spared: float = 1.0) -> float:
    """Marginal freshness of a visit `tau` days after the last one; grows with `tau`, is 0 at 0.

    `spared` is the probability that the page escaped what changed the pages around it.
    """
    return time_current(a, b, tau) - tau * survival(a, b, tau) * spared


def max_value(a: float, b: float) -> float:
    """What `value_of_visit` tends to; no bound for a <= 1, which is why little evidence loses no page."""
    return b / (a - 1.0) if a > 1.0 + _NEAR_ONE else float("inf")


def time_to_reach(a: float, b: float, value: float, *, spared: float = 1.0) -> float:
    """Days after a visit at which the next is worth `value` (the inverse of `value_of_visit`); may be inf."""
    if value <= 0.0:
        return 0.0
    if value >= max_value(a, b) * (1.0 - 1e-9):
        return float("inf")
    return b * expm1(_solve(a, value / b, spared))


def _solve(a: float, target: float, spared: float) -> float:
    """Root x of h(x) = target, where tau = b(e^x - 1), V = b h(x); h grows from 0, so a bracket is kept."""
    low, high = 0.0, 1.0
    while _scaled(a, high, spared) < target:
        low, high = high, 2.0 * high
        if high > _FURTHEST:
            return _FURTHEST
    x = min(max(sqrt(2.0 * target / a), low), high)
    for _ in range(_NEWTON_STEPS):
        miss = _scaled(a, x, spared) - target
        if abs(miss) <= _CLOSE * target:
            break
        if miss > 0.0:
            high = x
        else:
            low = x
        slope = exp(-a * x) * ((1.0 - spared) * exp(x) + spared * a * expm1(x))
        x = x - miss / slope if slope > 0.0 else low
        if not low < x < high:
            x = 0.5 * (low + high)
    return x


def _scaled(a: float, x: float, spared: float) -> float:
    held = x if abs(a - 1.0) < _NEAR_ONE else -expm1((1.0 - a) * x) / (a - 1.0)
    return held - spared * expm1(x) * exp(-a * x)


def after_change(a: float, b: float, t: float) -> tuple[float, float]:
    """The Gamma with mean and variance of the exact posterior, given a change (or more) within `t` days."""
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
    """The site with the Gamma that matches mean and variance of its pages' rates (empirical Bayes).

    Page rows hold evidence beyond the prior, so all of them shift with it and none is written.
    """
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
    spread = squares / count - mean * mean
    if mean <= 0.0 or spread <= 0.0:
        return site
    shape = min(max(mean * mean / spread, MIN_PRIOR_SHAPE), MAX_PRIOR_SHAPE)
    return site._replace(a=shape, b=shape / mean, mean_rate=mean)
