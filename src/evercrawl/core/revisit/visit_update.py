"""Does a directory, or the whole site, change at once right now? Pages of real sites change together.

Of each, three decayed sums are kept: visits, changes found, changes expected. What was found beyond
expectation is the shock q, the share of the other pages that changed as well. How far q may be believed is
earned per site.
"""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

from evercrawl.core.revisit.announcements import (
    false_share,
    has_announcements,
    learn_false_announcement,
    learn_silent_change,
    unseen_days,
)
from evercrawl.core.revisit.rate_estimate import (
    MAX_SHAPE,
    BulkChange,
    PageEstimate,
    SiteEstimate,
    after_change,
    change_rate,
    survival,
    with_change_rate,
)

HALF_LIFE_DAYS = 2.0
HUB_DOUBT = 3.0
"""Visits' worth of doubt: one changed page alone is not yet a bulk edit."""
SITE_DOUBT = 6.0
MAX_BULK_CHANGE = 0.95
MIN_BULK_CHANGE = 0.02
"""A smaller shock teaches nothing about whether shocks are to be believed."""
LN_2 = log(2.0)
_INERTIA = 20.0
_FADING = 0.999


class EscapeChances(NamedTuple):
    """Probabilities that a page escaped what its directory (`hub`) and its site (`wide`) went through."""

    hub: float
    site: float

    @property
    def both(self) -> float:
        return self.hub * self.site


NO_BULK_CHANGE = EscapeChances(1.0, 1.0)


def bulk_change_share(hub: BulkChange, *, now: float, doubt: float = HUB_DOUBT) -> float:
    """Share of the pages that changed beyond expectation, as far as recent visits tell."""
    if hub.changed <= hub.expected:
        return 0.0
    fade = _fading(now - hub.at)
    return min((hub.changed - hub.expected) * fade / ((hub.visits - hub.expected) * fade + doubt), MAX_BULK_CHANGE)


def _fading(days: float) -> float:
    return exp(-LN_2 * max(days, 0.0) / HALF_LIFE_DAYS)


def escape_chances(site: SiteEstimate, hub: BulkChange, *, now: float) -> EscapeChances:
    """How probable it is that a page of this directory escaped the shocks of the moment."""
    return EscapeChances(
        1.0 - site.hub_trust * bulk_change_share(hub, now=now),
        1.0 - site.site_trust * bulk_change_share(site.site_change, now=now, doubt=SITE_DOUBT),
    )


def add_visit(hub: BulkChange, *, now: float, changed: bool, expected: float) -> BulkChange:
    """The sums after one more visit, of which a change was expected with probability `expected`."""
    fade = _fading(now - hub.at)
    return BulkChange(
        hub.visits * fade + 1.0, hub.changed * fade + changed, hub.expected * fade + expected, max(now, hub.at)
    )


def update_bulk_changes(
    site: SiteEstimate, hub: BulkChange, *, now: float, changed: bool, held: float
) -> tuple[SiteEstimate, BulkChange]:
    """Site and directory after a visit; `held` is P(current) by the page's own rate and announcements."""
    escape = escape_chances(site, hub, now=now)
    q, wide_q = bulk_change_share(hub, now=now), bulk_change_share(site.site_change, now=now, doubt=SITE_DOUBT)
    if q > MIN_BULK_CHANGE:
        earned, curvature = _step(site.hub_trust, site.hub_curvature, held=held * escape.site, q=q, changed=changed)
        site = site._replace(hub_trust=earned, hub_curvature=curvature)
    if wide_q > MIN_BULK_CHANGE:
        earned, curvature = _step(
            site.site_trust, site.site_curvature, held=held * escape.hub, q=wide_q, changed=changed
        )
        site = site._replace(site_trust=earned, site_curvature=curvature)
    wide = add_visit(site.site_change, now=now, changed=changed, expected=1.0 - held * escape.hub)
    return site._replace(site_change=wide), add_visit(hub, now=now, changed=changed, expected=1.0 - held)


def _step(earned: float, curvature: float, *, held: float, q: float, changed: bool) -> tuple[float, float]:
    """One Newton step on the likelihood of what a visit found, towards the estimate that shocks have earned."""
    still = 1.0 - earned * q
    slope = held * q / max(1.0 - held * still, 1e-9) if changed else -q / still
    curvature = _FADING * curvature + slope * slope
    return min(max(earned + slope / (curvature + _INERTIA), 0.0), 1.0), curvature


BULK_DISCOUNT = 0.7
"""How far a bulk edit excuses a page: at 1 a change that a shock explains says nothing about its own rate."""


class VisitUpdate(NamedTuple):
    """All that a visit changed."""

    page: PageEstimate
    site: SiteEstimate
    hub: BulkChange


def new_page_estimate(site: SiteEstimate, *, now: float, has_copy: bool, weight: float = 1.0) -> PageEstimate:
    """A page as it starts: the site's prior; its exposure counts from now, not from the last poll."""
    early = site.recall * (now - site.polled) if has_announcements(site) and site.polled is not None else 0.0
    return PageEstimate(b=-site.exposure - max(early, 0.0), visited=now if has_copy else None, weight=weight)


def first_visit(page: PageEstimate, *, now: float) -> PageEstimate:
    """The first copy teaches nothing about change."""
    return page._replace(visited=now, announcements=0.0, a=page.a - page.announced_evidence, announced_evidence=0.0, silent_change=0.0)


def after_visit(page: PageEstimate, site: SiteEstimate, hub: BulkChange, *, now: float, changed: bool) -> VisitUpdate:
    """Page, site and directory after a visit that found the page changed or not."""
    if page.visited is None:
        return VisitUpdate(first_visit(page, now=now), site, hub)
    a, b = change_rate(page, site)
    tau, unseen = unseen_days(page, site, now=now)
    current = survival(a, b, unseen)
    false = false_share(a / b, site)
    held = current * false**page.announcements if page.announcements else current
    blame = _own_share(held, escape_chances(site, hub, now=now).both) if changed else 1.0
    site, hub = update_bulk_changes(site, hub, now=now, changed=changed, held=held)
    page, site = _learned(
        page, site, now=now, changed=changed, tau=tau, unseen=unseen, false=false, held=held, blame=blame
    )
    return VisitUpdate(page, site, hub)


def _own_share(held: float, escape: float) -> float:
    """Weight of a change as evidence about the page's own rate: less where a bulk edit explains it."""
    own = (1.0 - held) / max(1.0 - held * escape, 1e-9)
    return 1.0 - BULK_DISCOUNT * (1.0 - own)


def _learned(
    page: PageEstimate,
    site: SiteEstimate,
    *,
    now: float,
    changed: bool,
    tau: float,
    unseen: float,
    false: float,
    held: float,
    blame: float,
) -> tuple[PageEstimate, SiteEstimate]:
    a, b = change_rate(page, site)
    trusted = has_announcements(site)
    silent, lies, rate = 0.0, 0.0, a / b
    seen = (1.0 - site.recall) * tau if trusted else tau
    if not trusted:
        a, page = a - page.announced_evidence, page._replace(announcements=0.0, announced_evidence=0.0)
    if not changed:
        lies = page.announcements
        a, b = a - page.announced_evidence, b + seen
    elif not page.announcements:
        shape, scale = after_change(a, b, unseen)
        a, b = a + blame * (shape - a), b + blame * (scale - b)
    else:
        lies = page.announcements * (false - held) / max(1.0 - held, 1e-9)
        a, b = a + page.announcements - lies - page.announced_evidence, b + seen
    if trusted:
        if not page.announcements:
            silent, site = learn_silent_change(site, rate=rate, tau=tau, changed=changed)
        else:
            site = learn_false_announcement(site, notices=page.announcements, false=false, held=held, changed=changed)
    if a > MAX_SHAPE:
        a, b = MAX_SHAPE, b * MAX_SHAPE / a
    page = with_change_rate(page, site, a=a, b=b)
    return page._replace(visited=now, announcements=0.0, announced_evidence=0.0, silent_change=silent), site
