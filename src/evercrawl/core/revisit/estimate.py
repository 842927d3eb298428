"""How fresh is a collection, as far as we can know without asking? The mean probability of being current.

The standard error counts pages that were not looked at (sampling), the luck of each page (one Bernoulli
draw), and what pages have in common: the prior of their site (the fewer changes, the less certain), edits of
the site that touch many pages at once, and the model itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from math import sqrt
from typing import NamedTuple

from evercrawl.core.revisit.rate_estimate import change_rate
from evercrawl.core.revisit.outlook import Outlook
from evercrawl.core.revisit.signal import unseen_days
from evercrawl.core.revisit.tended import Tended
from evercrawl.core.revisit.worth import chance_current

PRIOR_CHANGES = 0.5
"""Changes' worth of evidence that the general prior stands for."""
SITE_DOUBT = 0.3
"""By so much of themselves the change rates of a site may all be off together: measured on recorded sites."""
MODEL_DOUBT = 0.1
"""The same for all sites together."""
NOTHING_KNOWN = Outlook()


class Sums(NamedTuple):
    """What is added up over the pages of one site."""

    pages: int = 0
    missing: int = 0
    chance: float = 0.0
    square: float = 0.0
    luck: float = 0.0
    slope: float = 0.0
    """How much the sum of chances moves when the rates of all pages move by their own size."""
    lean: float = 0.0
    """The same when only the site's prior moves."""
    changes: int = 0

    def plus(
        self, chance: float, *, slope: float = 0.0, prior: float = 0.0, changes: int = 0, missing: bool = False
    ) -> Sums:
        """The sums with one more page, current with this probability; `prior` is what it owes its site."""
        return Sums(
            self.pages + 1,
            self.missing + missing,
            self.chance + chance,
            self.square + chance * chance,
            self.luck + chance * (1.0 - chance),
            self.slope + slope,
            self.lean + slope * prior,
            self.changes + changes,
        )


class Estimate(NamedTuple):
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


class Estimates(NamedTuple):
    """The whole and its sites."""

    whole: Estimate
    sites: Mapping[Hashable, Estimate]


def estimated(
    pages: Iterable[Tended], outlooks: Mapping[Hashable, Outlook], *, now: float, share: float = 1.0
) -> Estimates:
    """The freshness of all pages and of each site at `now`, from a sample that is `share` of all pages."""
    sums: dict[Hashable, Sums] = {}
    for page in pages:
        if page.counts:
            before = sums.get(page.site, Sums())
            sums[page.site] = _with_page(before, page, outlooks.get(page.site, NOTHING_KNOWN), now)
    return estimates_of(sums, share=share)


def _with_page(sums: Sums, page: Tended, outlook: Outlook, now: float) -> Sums:
    belief = page.belief
    if belief.visited is None:
        return sums.plus(0.0, missing=True)
    escape = outlook.spared(page.hub, now=now)
    chance = chance_current(belief, outlook.belief, now=now, spared=escape)
    a, b = change_rate(belief, outlook.belief)
    _, unseen = unseen_days(belief, outlook.belief, now=now)
    slope = a * unseen / (b + unseen) * chance
    return sums.plus(chance, slope=slope, prior=prior_share(a, outlook), changes=page.changes)


def prior_share(a: float, outlook: Outlook) -> float:
    """How much of what is believed of a page is its site's prior."""
    return min(outlook.belief.a / a, 1.0)


def estimates_of(sums: Mapping[Hashable, Sums], *, share: float) -> Estimates:
    """What the sums of all sites say; but for the model, sites are independent of each other."""
    known = {site: _estimate(each, _common(each, share), share) for site, each in sums.items()}
    whole = Sums(*(sum(column) for column in zip(*sums.values(), strict=True))) if sums else Sums()
    common = sum(_common(each, share) for each in sums.values()) + (MODEL_DOUBT * whole.slope) ** 2
    return Estimates(_estimate(whole, common, share), known)


def _common(sums: Sums, share: float) -> float:
    """Variance of the sum of chances by what the pages of a site have in common."""
    return (SITE_DOUBT * sums.slope) ** 2 + sums.lean**2 / (PRIOR_CHANGES + sums.changes / share)


def _estimate(sums: Sums, common: float, share: float) -> Estimate:
    pages = sums.pages
    if not pages:
        return Estimate()
    mean = sums.chance / pages
    spread = max(sums.square - pages * mean * mean, 0.0) / max(pages - 1, 1)
    variance = (1.0 - share) * spread / pages + share * sums.luck / pages**2 + common / pages**2
    return Estimate(mean, sqrt(variance), pages, sums.missing)
