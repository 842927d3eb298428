"""What is kept about a page, a site and a directory: a few floats each, all times in days.

A page's own numbers are evidence *beyond its site's prior*, so that a better prior reaches old pages without
touching their rows; and counted against the site's exposure, so that a poll of a sitemap touches no row of a
page that it does not name.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

LEAST_SHAPE = 0.05
LEAST_SCALE_DAYS = 0.02


class PageBelief(NamedTuple):
    """One page. `rate_of` joins it with its site."""

    a: float = 0.0
    """Evidence of changes beyond the site's prior."""
    b: float = 0.0
    """Days without change beyond the site's prior and exposure."""
    visited: float | None = None
    """The last visit; None: we have no copy."""
    notices: float = 0.0
    """Announcements newer than the last visit."""
    credit: float = 0.0
    """What was added to `a` for them, to be taken back if they prove false."""
    silent: float = 0.0
    """Weight of a change that the last visit found unannounced, until the next poll; 0: none."""
    announced: float = -inf
    """Date of the newest announcement seen; an older or equal one is a repetition."""
    weight: float = 1.0
    """Importance per cost: freshness of this page counts so much more, or its visit costs so much less."""


class HubShock(NamedTuple):
    """Recent visits to a directory or a whole site, decayed: does it change as a whole right now?"""

    visits: float = 0.0
    changed: float = 0.0
    expected: float = 0.0
    at: float = 0.0


class SiteBelief(NamedTuple):
    """One site: its prior, and how far its signals can be trusted."""

    a: float = 0.5
    b: float = 25.0
    """The prior of its pages: Gamma(a, b)."""
    recall: float = 0.5
    """Share of changes that are announced."""
    false_rate: float = 0.0025
    """False announcements per page and day."""
    silent: float = 0.0
    """Changes found that were not announced, by visits without an announcement."""
    heard: float = 0.0
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
    earned: float = 1.0
    """How far the shock of a directory may be believed on this site, 0 to 1."""
    curvature: float = 0.0
    """What is known about `earned`: the sum of squared slopes."""
    wide: HubShock = HubShock()
    """The shock of the whole site."""
    wide_earned: float = 0.5
    wide_curvature: float = 0.0
    mean_rate: float = 0.02
    """Mean change rate of its pages, for the mean false share."""
    waiting_silent: float = 0.0
    """Sum of the pages' `silent` since the last poll."""


def rate_of(page: PageBelief, site: SiteBelief) -> tuple[float, float]:
    """The Gamma belief (a, b) about a page's change rate."""
    a = site.a + page.a
    b = site.b + site.exposure + page.b
    # Only many changes make b fall. A page found after the last poll owes the days before it until the next.
    least = site.b / (1.0 + page.a) if page.a > 0.0 else site.b
    return (a if a > LEAST_SHAPE else LEAST_SHAPE), max(b, least, LEAST_SCALE_DAYS)


def with_rate(page: PageBelief, site: SiteBelief, *, a: float, b: float) -> PageBelief:
    """The page, believed to change at Gamma(a, b)."""
    return page._replace(a=a - site.a, b=b - site.b - site.exposure)
