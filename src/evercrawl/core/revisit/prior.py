"""What does a site's page do before we know it? A prior learned from all of the site's pages."""

from __future__ import annotations

from collections.abc import Iterable

from evercrawl.core.revisit.belief import PageBelief, SiteBelief, rate_of

REFRESH_DAYS = 10.0
LEAST_SHAPE, MOST_SHAPE = 0.15, 5.0


def refreshed_prior(site: SiteBelief, pages: Iterable[PageBelief]) -> SiteBelief:
    """The site with the Gamma that matches mean and variance of its pages' rates (empirical Bayes).

    Page rows hold evidence beyond the prior, so all of them shift with it and none is written.
    """
    count, total, squares = 0, 0.0, 0.0
    for page in pages:
        a, b = rate_of(page, site)
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
    shape = min(max(mean * mean / spread, LEAST_SHAPE), MOST_SHAPE)
    return site._replace(a=shape, b=shape / mean, mean_rate=mean)
