"""How far can a site's announcements be trusted? Recall and false share, learned per site, applied per page.

A change is announced with probability `recall`; false announcements come at `false_rate` per page and day, on
slow pages as often as on fast ones, so the false share differs from page to page.
"""

from __future__ import annotations

from math import exp, inf, sqrt

from evercrawl.core.revisit.rate_estimate import PageEstimate, SiteEstimate, change_rate

MAX_RECALL = 0.995
"""Some changes are taken to be silent on any site, so that unannounced pages are still looked at (C5)."""

MIN_BETWEEN_POLLS, MAX_BETWEEN_POLLS = 3, 200
FIRST_BETWEEN_POLLS = 10
"""Requests before the second poll of a source that has not said anything yet."""
CLEAN_SIGNAL = 0.1
"""Below this mean false share a signal is clean: announced pages stand out, and a simple index will do."""
MOST_DOUBLINGS = 20
LEAST_FALSE_RATE = 1e-7
LEAST_FALSE_ODDS, MOST_FALSE_ODDS = 1e-4, 1e3
MOST_SURPRISE = 2.0
"""No single visit says more than this about the share of false announcements."""
_INERTIA = 0.5
_FADING = 0.999


def false_share(rate: float, site: SiteEstimate) -> float:
    """Probability that an announcement of a page with this change rate is false."""
    return site.false_rate / (site.recall * rate + site.false_rate)


def has_announcements(site: SiteEstimate) -> bool:
    """Do announcements play a part?"""
    return site.has_signal and site.polled is not None


def unseen_days(page: PageEstimate, site: SiteEstimate, *, now: float) -> tuple[float, float]:
    """Days since the visit, and those of them in which a change would have gone unseen ("effective time")."""
    visited = page.visited if page.visited is not None else now
    tau = max(now - visited, 0.0)
    if not has_announcements(site):
        return tau, tau
    assert site.polled is not None
    unheard = max(now - max(site.polled, visited), 0.0)
    return tau, (1.0 - site.recall) * tau + site.recall * unheard


def days_between_polls(site: SiteEstimate, *, pages: int, threshold: float) -> float:
    """Days between two polls at which the polls cost as much as what they announce loses by waiting.

    In d days `pages` x rate x recall x d changes are announced, each seen d/2 days late on average; a poll
    costs what the least visit brings that the budget pays for: the `threshold`. Announcements that are not
    believed are not followed, so that only the credible share counts.
    """
    heard = max(pages, 1) * site.mean_rate * site.recall * (1.0 - _mean_false(site))
    return sqrt(2.0 * max(threshold, 0.0) / heard) if heard > 0.0 else inf


def requests_between_polls(
    site: SiteEstimate, *, waiting: int, silent_polls: int, pages: int, per_day: float, threshold: float
) -> float:
    """Requests to this site between two polls; a poll is a request as well. `per_day` are its requests a day.

    While many announced pages wait, new announcements could not be followed up. A source that never said
    anything is asked ever more rarely.
    """
    if not site.has_signal:
        return FIRST_BETWEEN_POLLS << min(silent_polls, MOST_DOUBLINGS)
    worth = days_between_polls(site, pages=pages, threshold=threshold) * per_day
    return max(MIN_BETWEEN_POLLS, min(MAX_BETWEEN_POLLS, max(waiting, worth)))


def _mean_false(site: SiteEstimate) -> float:
    return false_share(site.mean_rate, site)


def after_announcement(
    page: PageEstimate, site: SiteEstimate, *, announced_at: float
) -> tuple[PageEstimate, SiteEstimate]:
    """One announcement, read before the poll is closed by `after_poll`; repetitions change nothing."""
    site = site if site.has_signal else site._replace(has_signal=True)
    if announced_at <= page.last_announced:
        return page, site
    page = page._replace(last_announced=announced_at)
    if page.visited is None:
        return page, site
    if announced_at <= page.visited:
        return _owned_up(page, site)
    a, b = change_rate(page, site)
    true_share = 1.0 - false_share(a / b, site)
    page = page._replace(a=page.a + true_share, announced_evidence=page.announced_evidence + true_share, announcements=page.announcements + 1.0)
    return page, site


def _owned_up(page: PageEstimate, site: SiteEstimate) -> tuple[PageEstimate, SiteEstimate]:
    """A change that a visit found before the site announced it was announced after all."""
    assert page.visited is not None
    if page.silent_change <= 0.0 or (site.polled is not None and page.visited <= site.polled):
        return page, site
    waiting = max(site.pending_silent - page.silent_change, 0.0)
    return page._replace(silent_change=0.0), site._replace(pending_silent=waiting)


def after_poll(site: SiteEstimate, *, now: float) -> SiteEstimate:
    """The poll is over: what it did not announce was silent, and every page was heard for so much longer."""
    if not site.has_signal or site.polled is None:
        return site._replace(polled=now, pending_silent=0.0)
    exposure = site.exposure + site.recall * max(now - site.polled, 0.0)
    silent = site.silent_changes + site.pending_silent
    return _recalled(site._replace(polled=now, exposure=exposure, silent_changes=silent, pending_silent=0.0))


def _recalled(site: SiteEstimate) -> SiteEstimate:
    ratio = (site.silent_changes + 0.5) / (site.announced_changes + 1.0)
    return site._replace(recall=min(1.0 / (1.0 + ratio), MAX_RECALL))


def learn_silent_change(site: SiteEstimate, *, rate: float, tau: float, changed: bool) -> tuple[float, SiteEstimate]:
    """Weight of a silent change found without an announcement, and the site that learned from the visit.

    Only visits without an announcement count: silent changes do not depend on announcements, so this is
    unbiased, while counting all changes found would overstate recall.
    """
    expected = (1.0 - site.recall) * rate * tau
    weight = expected / -_expm1(expected) if changed and expected > 0.0 else float(changed)
    site = site._replace(announced_changes=site.announced_changes + site.recall * rate * tau, pending_silent=site.pending_silent + weight)
    return weight, _recalled(site)


def _expm1(x: float) -> float:
    return exp(-x) - 1.0 if x > 1e-6 else -x


def learn_false_announcement(
    site: SiteEstimate, *, notices: float, false: float, held: float, changed: bool
) -> SiteEstimate:
    """The rate of false announcements after a visit to a page with so many of them, each false with
    probability `false`, and current with probability `held` by all that was known.

    One Newton step on the likelihood of what the visit found. A page with many announcements has changed
    whatever share of them is false, so it teaches nothing; counting its false ones by expectation would only
    confirm what was believed before, however wrong.
    """
    slope = notices * (1.0 - false)
    if changed:
        slope *= -held / max(1.0 - held, 1e-9)
    slope = min(max(slope, -MOST_SURPRISE), MOST_SURPRISE)
    curvature = _FADING * site.false_curvature + slope * slope
    odds = site.false_odds * exp(slope / (curvature + _INERTIA))
    odds = min(max(odds, LEAST_FALSE_ODDS), MOST_FALSE_ODDS)
    return _with_false_rate(site._replace(false_odds=odds, false_curvature=curvature))


def _with_false_rate(site: SiteEstimate) -> SiteEstimate:
    return site._replace(false_rate=max(site.false_odds * site.recall * site.mean_rate, LEAST_FALSE_RATE))
