"""What does a visit teach about its page, its site and its directory?"""

from __future__ import annotations

from typing import NamedTuple

from evercrawl.core.revisit.rate_estimate import BulkChange, PageEstimate, SiteEstimate, change_rate, with_change_rate
from evercrawl.core.revisit.rate_estimate import MAX_SHAPE, after_change, survival
from evercrawl.core.revisit.shock import shocks_after, spared
from evercrawl.core.revisit.signal import false_lesson, false_share, is_trusted, silence_lesson, unseen_days

SHOCK_EXCUSE = 0.7
"""How far a bulk edit excuses a page: at 1 a change that a shock explains says nothing about its own rate."""


class Lesson(NamedTuple):
    """All that a visit changed."""

    page: PageEstimate
    site: SiteEstimate
    hub: BulkChange


def page_found(site: SiteEstimate, *, now: float, has_copy: bool, weight: float = 1.0) -> PageEstimate:
    """A page as it starts: the site's prior; its exposure counts from now, not from the last poll."""
    early = site.recall * (now - site.polled) if is_trusted(site) and site.polled is not None else 0.0
    return PageEstimate(b=-site.exposure - max(early, 0.0), visited=now if has_copy else None, weight=weight)


def first_visit(page: PageEstimate, *, now: float) -> PageEstimate:
    """The first copy teaches nothing about change."""
    return page._replace(visited=now, notices=0.0, a=page.a - page.credit, credit=0.0, silent=0.0)


def after_visit(page: PageEstimate, site: SiteEstimate, hub: BulkChange, *, now: float, changed: bool) -> Lesson:
    """Page, site and directory after a visit that found the page changed or not."""
    if page.visited is None:
        return Lesson(first_visit(page, now=now), site, hub)
    a, b = change_rate(page, site)
    tau, unseen = unseen_days(page, site, now=now)
    current = survival(a, b, unseen)
    false = false_share(a / b, site)
    held = current * false**page.notices if page.notices else current
    blame = _own_share(held, spared(site, hub, now=now).both) if changed else 1.0
    site, hub = shocks_after(site, hub, now=now, changed=changed, held=held)
    page, site = _learned(
        page, site, now=now, changed=changed, tau=tau, unseen=unseen, false=false, held=held, blame=blame
    )
    return Lesson(page, site, hub)


def _own_share(held: float, escape: float) -> float:
    """Weight of a change as evidence about the page's own rate: less where a bulk edit explains it."""
    own = (1.0 - held) / max(1.0 - held * escape, 1e-9)
    return 1.0 - SHOCK_EXCUSE * (1.0 - own)


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
    trusted = is_trusted(site)
    silent, lies, rate = 0.0, 0.0, a / b
    seen = (1.0 - site.recall) * tau if trusted else tau
    if not trusted:
        a, page = a - page.credit, page._replace(notices=0.0, credit=0.0)
    if not changed:
        lies = page.notices
        a, b = a - page.credit, b + seen
    elif not page.notices:
        shape, scale = after_change(a, b, unseen)
        a, b = a + blame * (shape - a), b + blame * (scale - b)
    else:
        lies = page.notices * (false - held) / max(1.0 - held, 1e-9)
        a, b = a + page.notices - lies - page.credit, b + seen
    if trusted:
        if not page.notices:
            silent, site = silence_lesson(site, rate=rate, tau=tau, changed=changed)
        else:
            site = false_lesson(site, notices=page.notices, false=false, held=held, changed=changed)
    if a > MAX_SHAPE:
        a, b = MAX_SHAPE, b * MAX_SHAPE / a
    page = with_change_rate(page, site, a=a, b=b)
    return page._replace(visited=now, notices=0.0, credit=0.0, silent=silent), site
