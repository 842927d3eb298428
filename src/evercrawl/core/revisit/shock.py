"""Does a directory, or the whole site, change at once right now? Pages of real sites change together.

Of each, three decayed sums are kept: visits, changes found, changes expected. What was found beyond
expectation is the shock q, the share of the other pages that changed as well. How far q may be believed is
earned per site.
"""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

from evercrawl.core.revisit.rate_estimate import BulkChange, SiteEstimate

HALF_LIFE_DAYS = 2.0
HUB_DOUBT = 3.0
"""Visits' worth of doubt: one changed page alone is not yet a bulk edit."""
WIDE_DOUBT = 6.0
MOST_SHOCK = 0.95
LEAST_LESSON = 0.02
"""A smaller shock teaches nothing about whether shocks are to be believed."""
LN_2 = log(2.0)
_INERTIA = 20.0
_FADING = 0.999


class Spared(NamedTuple):
    """Probabilities that a page escaped what its directory (`hub`) and its site (`wide`) went through."""

    hub: float
    wide: float

    @property
    def both(self) -> float:
        return self.hub * self.wide


CALM = Spared(1.0, 1.0)


def shock_of(hub: BulkChange, *, now: float, doubt: float = HUB_DOUBT) -> float:
    """Share of the pages that changed beyond expectation, as far as recent visits tell."""
    if hub.changed <= hub.expected:
        return 0.0
    fade = _fading(now - hub.at)
    return min((hub.changed - hub.expected) * fade / ((hub.visits - hub.expected) * fade + doubt), MOST_SHOCK)


def _fading(days: float) -> float:
    return exp(-LN_2 * max(days, 0.0) / HALF_LIFE_DAYS)


def spared(site: SiteEstimate, hub: BulkChange, *, now: float) -> Spared:
    """How probable it is that a page of this directory escaped the shocks of the moment."""
    return Spared(
        1.0 - site.earned * shock_of(hub, now=now),
        1.0 - site.wide_earned * shock_of(site.wide, now=now, doubt=WIDE_DOUBT),
    )


def sums_after(hub: BulkChange, *, now: float, changed: bool, expected: float) -> BulkChange:
    """The sums after one more visit, of which a change was expected with probability `expected`."""
    fade = _fading(now - hub.at)
    return BulkChange(
        hub.visits * fade + 1.0, hub.changed * fade + changed, hub.expected * fade + expected, max(now, hub.at)
    )


def shocks_after(
    site: SiteEstimate, hub: BulkChange, *, now: float, changed: bool, held: float
) -> tuple[SiteEstimate, BulkChange]:
    """Site and directory after a visit; `held` is P(current) by the page's own rate and announcements."""
    escape = spared(site, hub, now=now)
    q, wide_q = shock_of(hub, now=now), shock_of(site.wide, now=now, doubt=WIDE_DOUBT)
    if q > LEAST_LESSON:
        earned, curvature = _step(site.earned, site.curvature, held=held * escape.wide, q=q, changed=changed)
        site = site._replace(earned=earned, curvature=curvature)
    if wide_q > LEAST_LESSON:
        earned, curvature = _step(
            site.wide_earned, site.wide_curvature, held=held * escape.hub, q=wide_q, changed=changed
        )
        site = site._replace(wide_earned=earned, wide_curvature=curvature)
    wide = sums_after(site.wide, now=now, changed=changed, expected=1.0 - held * escape.hub)
    return site._replace(wide=wide), sums_after(hub, now=now, changed=changed, expected=1.0 - held)


def _step(earned: float, curvature: float, *, held: float, q: float, changed: bool) -> tuple[float, float]:
    """One Newton step on the likelihood of what a visit found, towards the belief that shocks have earned."""
    still = 1.0 - earned * q
    slope = held * q / max(1.0 - held * still, 1e-9) if changed else -q / still
    curvature = _FADING * curvature + slope * slope
    return min(max(earned + slope / (curvature + _INERTIA), 0.0), 1.0), curvature
