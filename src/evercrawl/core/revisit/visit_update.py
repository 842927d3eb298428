"""Update the estimates of a page, its site and its directory after a visit.
Pages change together: for each directory and site, three decayed sums count visits, changes found and expected. The
excess is q, the share of other pages that changed as well; how far it is believed is learned per site."""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

from evercrawl.core.revisit.change_announcements import (
    count_finding,
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
HUB_PRIOR_VISITS = 3.0  # Unchanged visits assumed beforehand: one changed page is not yet a bulk change.
SITE_PRIOR_VISITS = 6.0
MAX_BULK_CHANGE = 0.95
MIN_BULK_CHANGE = 0.02  # A smaller bulk change teaches nothing about its credibility.
LN_2 = log(2.0)
_INERTIA = 20.0
_FADING = 0.999


class EscapeChances(NamedTuple):
    """Probabilities that a page escaped the bulk changes of its directory and its site."""

    hub: float
    site: float

    @property
    def both(self) -> float:
        return self.hub * self.site


def bulk_change_share(hub: BulkChange, *, now: float, prior_visits: float = HUB_PRIOR_VISITS) -> float:
    """Return the share of pages that changed beyond expectation in recent visits."""
    if hub.changed <= hub.expected:
        return 0.0
    fade = _fading(now - hub.at)
    return min(
        (hub.changed - hub.expected) * fade / ((hub.visits - hub.expected) * fade + prior_visits), MAX_BULK_CHANGE
    )


def _fading(days: float) -> float:
    return exp(-LN_2 * max(days, 0.0) / HALF_LIFE_DAYS)


def escape_chances(site: SiteEstimate, hub: BulkChange, *, now: float) -> EscapeChances:
    """Return the probabilities that a page of this directory escaped the current bulk changes."""
    return EscapeChances(
        1.0 - site.hub_trust * bulk_change_share(hub, now=now),
        1.0 - site.site_trust * bulk_change_share(site.site_change, now=now, prior_visits=SITE_PRIOR_VISITS),
    )


def add_visit(hub: BulkChange, *, now: float, changed: bool, expected: float) -> BulkChange:
    """Return the sums after one more visit, which expected a change with probability `expected`."""
    fade = _fading(now - hub.at)
    return BulkChange(
        hub.visits * fade + 1.0, hub.changed * fade + changed, hub.expected * fade + expected, max(now, hub.at)
    )


def update_bulk_changes(
    site: SiteEstimate, hub: BulkChange, *, now: float, changed: bool, p_current: float
) -> tuple[SiteEstimate, BulkChange]:
    """Return site and directory after a visit to a page that was current with probability `p_current`."""
    escape = escape_chances(site, hub, now=now)
    q, site_q = (
        bulk_change_share(hub, now=now),
        bulk_change_share(site.site_change, now=now, prior_visits=SITE_PRIOR_VISITS),
    )
    if q > MIN_BULK_CHANGE:
        trust, curvature = _step(
            site.hub_trust, site.hub_curvature, p_current=p_current * escape.site, q=q, changed=changed
        )
        site = site._replace(hub_trust=trust, hub_curvature=curvature)
    if site_q > MIN_BULK_CHANGE:
        trust, curvature = _step(
            site.site_trust, site.site_curvature, p_current=p_current * escape.hub, q=site_q, changed=changed
        )
        site = site._replace(site_trust=trust, site_curvature=curvature)
    wide = add_visit(site.site_change, now=now, changed=changed, expected=1.0 - p_current * escape.hub)
    return site._replace(site_change=wide), add_visit(hub, now=now, changed=changed, expected=1.0 - p_current)


def _step(trust: float, curvature: float, *, p_current: float, q: float, changed: bool) -> tuple[float, float]:
    """Take one Newton step on the likelihood of what a visit found."""
    still = 1.0 - trust * q
    slope = p_current * q / max(1.0 - p_current * still, 1e-9) if changed else -q / still
    curvature = _FADING * curvature + slope * slope
    return min(max(trust + slope / (curvature + _INERTIA), 0.0), 1.0), curvature


BULK_DISCOUNT = 0.7  # How far a bulk change explains a change away: at 1, it says nothing about the page's own rate.


class VisitUpdate(NamedTuple):
    """The estimates after a visit."""

    page: PageEstimate
    site: SiteEstimate
    hub: BulkChange


def new_page_estimate(site: SiteEstimate, *, now: float, has_copy: bool, weight: float = 1.0) -> PageEstimate:
    """Return the estimate of a new page: the site's prior, with exposure from now on."""
    early = site.recall * (now - site.polled) if has_announcements(site) and site.polled is not None else 0.0
    return PageEstimate(b=-site.exposure - max(early, 0.0), visited=now if has_copy else None, weight=weight)


def first_visit(page: PageEstimate, *, now: float) -> PageEstimate:
    """Return the page after its first visit, which teaches nothing about change."""
    return page._replace(
        visited=now, announcements=0.0, a=page.a - page.announced_evidence, announced_evidence=0.0, silent_change=0.0
    )


def after_visit(page: PageEstimate, site: SiteEstimate, hub: BulkChange, *, now: float, changed: bool) -> VisitUpdate:
    """Return page, site and directory after a visit."""
    if page.visited is None:
        return VisitUpdate(first_visit(page, now=now), site, hub)
    a, b = change_rate(page, site)
    tau, unseen = unseen_days(page, site, now=now)
    current = survival(a, b, unseen)
    false = false_share(a / b, site)
    p_current = current * false**page.announcements if page.announcements else current
    own_weight = _own_weight(p_current, escape_chances(site, hub, now=now).both) if changed else 1.0
    site, hub = update_bulk_changes(site, hub, now=now, changed=changed, p_current=p_current)
    page, site = _learn(
        page,
        site,
        now=now,
        changed=changed,
        tau=tau,
        unseen=unseen,
        false=false,
        p_current=p_current,
        own_weight=own_weight,
    )
    return VisitUpdate(page, site, hub)


def _own_weight(p_current: float, escape: float) -> float:
    """Return the weight of a change as evidence about the page's own rate."""
    own = (1.0 - p_current) / max(1.0 - p_current * escape, 1e-9)
    return 1.0 - BULK_DISCOUNT * (1.0 - own)


def _learn(
    page: PageEstimate,
    site: SiteEstimate,
    *,
    now: float,
    changed: bool,
    tau: float,
    unseen: float,
    false: float,
    p_current: float,
    own_weight: float,
) -> tuple[PageEstimate, SiteEstimate]:
    a, b = change_rate(page, site)
    announces = has_announcements(site)
    silent, rate = 0.0, a / b
    seen = (1.0 - site.recall) * tau if announces else tau
    if not announces:
        a, page = a - page.announced_evidence, page._replace(announcements=0.0, announced_evidence=0.0)
    if not changed:
        a, b = a - page.announced_evidence, b + seen
    elif not page.announcements:
        shape, scale = after_change(a, b, unseen)
        a, b = a + own_weight * (shape - a), b + own_weight * (scale - b)
    else:
        false_ones = page.announcements * (false - p_current) / max(1.0 - p_current, 1e-9)
        a, b = a + page.announcements - false_ones - page.announced_evidence, b + seen
    if announces:
        site = count_finding(site, announced=page.announcements > 0.0, changed=changed, days=tau)
        if not page.announcements:
            silent, site = learn_silent_change(site, rate=rate, tau=tau, changed=changed)
        else:
            site = learn_false_announcement(
                site, announcements=page.announcements, false=false, p_current=p_current, changed=changed
            )
    if a > MAX_SHAPE:
        a, b = MAX_SHAPE, b * MAX_SHAPE / a
    page = with_change_rate(page, site, a=a, b=b)
    return page._replace(visited=now, announcements=0.0, announced_evidence=0.0, silent_change=silent), site
