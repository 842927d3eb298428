"""Learn how far a site's change announcements can be trusted.
A change is announced with probability `recall`. False announcements come at `false_rate` per page and day, on slow
pages as often as on fast ones, so the false share differs from page to page."""

from __future__ import annotations

from math import exp, expm1, inf, sqrt

from evercrawl.core.revisit.rate_estimate import PageEstimate, SiteEstimate, change_rate

MAX_RECALL = 0.995  # Some changes are assumed silent on any site, so unannounced pages are still visited.

MIN_BETWEEN_POLLS, MAX_BETWEEN_POLLS = 3, 200
FIRST_BETWEEN_POLLS = 10  # Requests before the second poll of a source that has announced nothing.
CLEAN_SIGNAL = 0.1  # Below this mean false share, announced pages stand out and a simple index is enough.
MAX_DOUBLINGS = 20
MIN_FALSE_RATE = 1e-7
MIN_FALSE_ODDS, MAX_FALSE_ODDS = 1e-4, 1e3
MAX_SURPRISE = 2.0  # Limit of what one visit says about the share of false announcements.
_INERTIA = 0.5
_FADING = 0.999


def false_share(rate: float, site: SiteEstimate) -> float:
    """Return the probability that an announcement of a page with this change rate is false."""
    return site.false_rate / (site.recall * rate + site.false_rate)


def has_announcements(site: SiteEstimate) -> bool:
    """True if the site announces changes and was polled."""
    return site.has_signal and site.polled is not None


def unseen_days(page: PageEstimate, site: SiteEstimate, *, now: float) -> tuple[float, float]:
    """Return the days since the visit, and those in which a change would have gone unseen."""
    visited = page.visited if page.visited is not None else now
    tau = max(now - visited, 0.0)
    if not has_announcements(site):
        return tau, tau
    assert site.polled is not None
    unpolled = max(now - max(site.polled, visited), 0.0)
    return tau, (1.0 - site.recall) * tau + site.recall * unpolled


def days_between_polls(site: SiteEstimate, *, pages: int, threshold: float) -> float:
    """Return the days between polls at which their cost (the `threshold`) equals the freshness lost by waiting.
    In d days `pages` x rate x recall x d credible changes are announced, each seen d/2 days late on average."""
    announced = max(pages, 1) * site.mean_rate * site.recall * (1.0 - false_share(site.mean_rate, site))
    return sqrt(2.0 * max(threshold, 0.0) / announced) if announced > 0.0 else inf


def requests_between_polls(
    site: SiteEstimate, *, waiting: int, silent_polls: int, pages: int, per_day: float, threshold: float
) -> float:
    """Return the requests to this site between two polls; `per_day` is its requests per day.
    Polls wait while many announced pages are pending, and become rare if nothing is ever announced."""
    if not site.has_signal:
        return FIRST_BETWEEN_POLLS << min(silent_polls, MAX_DOUBLINGS)
    gap = days_between_polls(site, pages=pages, threshold=threshold) * per_day
    return max(MIN_BETWEEN_POLLS, min(MAX_BETWEEN_POLLS, max(waiting, gap)))


def after_announcement(
    page: PageEstimate, site: SiteEstimate, *, announced_at: float
) -> tuple[PageEstimate, SiteEstimate]:
    """Add one announcement, before `after_poll` ends the poll. Repetitions change nothing."""
    site = site if site.has_signal else site._replace(has_signal=True)
    if announced_at <= page.last_announced:
        return page, site
    page = page._replace(last_announced=announced_at)
    if page.visited is None:
        return page, site
    if announced_at <= page.visited:
        return _forget_silent_change(page, site)
    a, b = change_rate(page, site)
    true_share = 1.0 - false_share(a / b, site)
    page = page._replace(
        a=page.a + true_share,
        announced_evidence=page.announced_evidence + true_share,
        announcements=page.announcements + 1.0,
    )
    return page, site


def _forget_silent_change(page: PageEstimate, site: SiteEstimate) -> tuple[PageEstimate, SiteEstimate]:
    """Forget a silent change that the site announced after all."""
    assert page.visited is not None
    if page.silent_change <= 0.0 or (site.polled is not None and page.visited <= site.polled):
        return page, site
    waiting = max(site.pending_silent - page.silent_change, 0.0)
    announced = min(site.changes_announced + 1, site.changes_found)
    return page._replace(silent_change=0.0), site._replace(pending_silent=waiting, changes_announced=announced)


def count_finding(site: SiteEstimate, *, announced: bool, changed: bool, days: float) -> SiteEstimate:
    """Count what a visit found `days` after the one before, to tell people how far announcements were right."""
    return site._replace(
        changes_found=site.changes_found + changed,
        changes_announced=site.changes_announced + (changed and announced),
        announcements_checked=site.announcements_checked + announced,
        announcements_false=site.announcements_false + (announced and not changed),
        days_counted=site.days_counted + days,
        days_unannounced=site.days_unannounced + (0.0 if announced else days),
    )


def announced_share(site: SiteEstimate) -> float | None:
    """Return the share of changes that a site announces, from what visits found; None: they found no change yet.
    Announced pages are visited sooner, so silent changes are scaled up from the days in which they would be seen."""
    if not site.changes_found:
        return None
    silent = float(site.changes_found - site.changes_announced)
    if site.days_unannounced > 0.0:
        silent *= site.days_counted / site.days_unannounced
    return site.changes_announced / (site.changes_announced + silent)


def after_poll(site: SiteEstimate, *, now: float) -> SiteEstimate:
    """End a poll: changes that it did not announce were silent."""
    if not site.has_signal or site.polled is None:
        return site._replace(polled=now, pending_silent=0.0)
    exposure = site.exposure + site.recall * max(now - site.polled, 0.0)
    silent = site.silent_changes + site.pending_silent
    return _update_recall(site._replace(polled=now, exposure=exposure, silent_changes=silent, pending_silent=0.0))


def _update_recall(site: SiteEstimate) -> SiteEstimate:
    ratio = (site.silent_changes + 0.5) / (site.announced_changes + 1.0)
    return site._replace(recall=min(1.0 / (1.0 + ratio), MAX_RECALL))


def learn_silent_change(site: SiteEstimate, *, rate: float, tau: float, changed: bool) -> tuple[float, SiteEstimate]:
    """Return the weight of a silent change, and the site after the visit.
    Only visits without an announcement count; counting all changes would overstate recall."""
    expected = (1.0 - site.recall) * rate * tau
    weight = expected / -expm1(-expected) if changed and expected > 0.0 else float(changed)
    site = site._replace(
        announced_changes=site.announced_changes + site.recall * rate * tau, pending_silent=site.pending_silent + weight
    )
    return weight, _update_recall(site)


def learn_false_announcement(
    site: SiteEstimate, *, announcements: float, false: float, p_current: float, changed: bool
) -> SiteEstimate:
    """Update the rate of false announcements after a visit to an announced page.
    One Newton step on the likelihood of the finding. A page with many announcements teaches nothing."""
    slope = announcements * (1.0 - false)
    if changed:
        slope *= -p_current / max(1.0 - p_current, 1e-9)
    slope = min(max(slope, -MAX_SURPRISE), MAX_SURPRISE)
    curvature = _FADING * site.false_curvature + slope * slope
    odds = site.false_odds * exp(slope / (curvature + _INERTIA))
    odds = min(max(odds, MIN_FALSE_ODDS), MAX_FALSE_ODDS)
    rate = max(odds * site.recall * site.mean_rate, MIN_FALSE_RATE)
    return site._replace(false_odds=odds, false_curvature=curvature, false_rate=rate)
