"""How far can a site's announcements be trusted? Recall and false share, learned per site, applied per page.

A change is announced with probability `recall`; false announcements come at `false_rate` per page and day, on
slow pages as often as on fast ones, so the false share differs from page to page.
"""

from __future__ import annotations

from math import exp

from evercrawl.core.freshness.belief import PageBelief, SiteBelief, rate_of

MOST_RECALL = 0.995
"""Some changes are taken to be silent on any site, so that unannounced pages are still looked at (C5)."""

FEWEST_BETWEEN, MOST_BETWEEN = 10, 200
FEWEST_IF_TRUE = 3
"""Where hardly anything goes unannounced, asking again is worth more than visiting unannounced pages."""
TRUE_RECALL = 0.9
CLEAN_SIGNAL = 0.1
"""Below this mean false share a signal is clean: announced pages stand out, and a simple index will do."""
MOST_DOUBLINGS = 20
FIRST_FALSE_SHARE = 0.2
"""What is believed of the announcements of a site before any of them was checked; weighs one visit."""
LEAST_FALSE_RATE = 1e-7


def false_share(rate: float, site: SiteBelief) -> float:
    """Probability that an announcement of a page with this change rate is false."""
    return site.false_rate / (site.recall * rate + site.false_rate)


def is_trusted(site: SiteBelief) -> bool:
    """Do announcements play a part?"""
    return site.has_signal and site.polled is not None


def unseen_days(page: PageBelief, site: SiteBelief, *, now: float) -> tuple[float, float]:
    """Days since the visit, and those of them in which a change would have gone unseen ("effective time")."""
    visited = page.visited if page.visited is not None else now
    tau = max(now - visited, 0.0)
    if not is_trusted(site):
        return tau, tau
    assert site.polled is not None
    unheard = max(now - max(site.polled, visited), 0.0)
    return tau, (1.0 - site.recall) * tau + site.recall * unheard


def poll_gap(site: SiteBelief, *, waiting: int, silent_polls: int) -> int:
    """Requests to this site between two polls; a poll is a request as well.

    While many announced pages wait, new announcements could not be followed up. A source that never said
    anything is asked ever more rarely.
    """
    if not site.has_signal:
        return FEWEST_BETWEEN << min(silent_polls, MOST_DOUBLINGS)
    fewest = (
        FEWEST_IF_TRUE if site.recall > TRUE_RECALL and _mean_false(site) < CLEAN_SIGNAL else FEWEST_BETWEEN
    )
    return max(fewest, min(MOST_BETWEEN, waiting))


def _mean_false(site: SiteBelief) -> float:
    return false_share(site.mean_rate, site)


def after_notice(page: PageBelief, site: SiteBelief, *, announced_at: float) -> tuple[PageBelief, SiteBelief]:
    """One announcement, read before the poll is closed by `after_poll`; repetitions change nothing."""
    site = site if site.has_signal else site._replace(has_signal=True)
    if announced_at <= page.announced:
        return page, site
    page = page._replace(announced=announced_at)
    if page.visited is None:
        return page, site
    if announced_at <= page.visited:
        return _owned_up(page, site)
    a, b = rate_of(page, site)
    true_share = 1.0 - false_share(a / b, site)
    page = page._replace(a=page.a + true_share, credit=page.credit + true_share, notices=page.notices + 1.0)
    return page, site


def _owned_up(page: PageBelief, site: SiteBelief) -> tuple[PageBelief, SiteBelief]:
    """A change that a visit found before the site announced it was announced after all."""
    assert page.visited is not None
    if page.silent <= 0.0 or (site.polled is not None and page.visited <= site.polled):
        return page, site
    waiting = max(site.waiting_silent - page.silent, 0.0)
    return page._replace(silent=0.0), site._replace(waiting_silent=waiting)


def after_poll(site: SiteBelief, *, now: float) -> SiteBelief:
    """The poll is over: what it did not announce was silent, and every page was heard for so much longer."""
    if not site.has_signal or site.polled is None:
        return site._replace(polled=now, waiting_silent=0.0)
    exposure = site.exposure + site.recall * max(now - site.polled, 0.0)
    silent = site.silent + site.waiting_silent
    return _recalled(site._replace(polled=now, exposure=exposure, silent=silent, waiting_silent=0.0))


def _recalled(site: SiteBelief) -> SiteBelief:
    ratio = (site.silent + 0.5) / (site.heard + 1.0)
    return site._replace(recall=min(1.0 / (1.0 + ratio), MOST_RECALL))


def silence_lesson(site: SiteBelief, *, rate: float, tau: float, changed: bool) -> tuple[float, SiteBelief]:
    """Weight of a silent change found without an announcement, and the site that learned from the visit.

    Only visits without an announcement count: silent changes do not depend on announcements, so this is
    unbiased, while counting all changes found would overstate recall.
    """
    expected = (1.0 - site.recall) * rate * tau
    weight = expected / -_expm1(expected) if changed and expected > 0.0 else float(changed)
    site = site._replace(
        heard=site.heard + site.recall * rate * tau, waiting_silent=site.waiting_silent + weight
    )
    return weight, _recalled(site)


def _expm1(x: float) -> float:
    return exp(-x) - 1.0 if x > 1e-6 else -x


def false_lesson(site: SiteBelief, *, share: float) -> SiteBelief:
    """The rate of false announcements after a visit to an announced page, `share` of whose were false.

    Counted per announced visit, not per day between visits: those who are visited are the announced ones, so
    that their days alone would make false announcements look far too frequent, and then stay believed.
    """
    count, checked = site.false_count + share, site.checked + 1.0
    mean = (count + FIRST_FALSE_SHARE) / (checked + 1.0)
    rate = site.recall * site.mean_rate * mean / (1.0 - mean)
    return site._replace(false_count=count, checked=checked, false_rate=max(rate, LEAST_FALSE_RATE))
