"""What is a visit worth now, and when will it be worth the threshold?

Value is marginal freshness: days of a current copy per request. A page is due when its value reaches the one
threshold that the budget allows.
"""

from __future__ import annotations

from math import exp, inf, log, log1p, sqrt

from evercrawl.core.revisit.announcements import CLEAN_SIGNAL, false_share, has_announcements, unseen_days
from evercrawl.core.revisit.rate_estimate import (
    PageEstimate,
    SiteEstimate,
    change_rate,
    survival,
    time_current,
    time_to_reach,
)

NEVER_VISITED = inf
_LEAST_CHANCE = 1e-12
_NEAREST, _FURTHEST = 1e-4, 27.0
"""Ends of the search for -ln(chance), halved on a log scale to five percent: due pages are weighed anyway."""
_HALVINGS = 8

_FINE_HALF = (
    (0.1252334085114689, 0.2491470458134028), (0.3678314989981802, 0.2334925365383548),
    (0.5873179542866175, 0.2031674267230659), (0.7699026741943047, 0.1600783285433462),
    (0.9041172563704749, 0.1069393259953184), (0.9815606342467193, 0.0471753363865118),
)  # fmt: skip
_COARSE_HALF = (
    (0.2386191860831969, 0.4679139345726910), (0.6612093864662645, 0.3607615730481386),
    (0.9324695142031521, 0.1713244923791704),
)  # fmt: skip

Quadrature = tuple[tuple[float, float], ...]


def _on_unit(half: Quadrature) -> Quadrature:
    """A Gauss-Legendre rule, given by its positive nodes, on [0, 1]."""
    return tuple((0.5 + 0.5 * sign * node, 0.5 * weight) for node, weight in half for sign in (-1.0, 1.0))


_FINE = _on_unit(_FINE_HALF)
"""Twelve points: for the value by which pages are ordered."""
_COARSE = _on_unit(_COARSE_HALF)
"""Six points, good to half a percent for most pages: for due times, which are searched to five percent."""


def probability_current(page: PageEstimate, site: SiteEstimate, *, now: float, spared: float = 1.0) -> float:
    """Probability that our copy is still the current one; `spared`: that it escaped the shocks around it."""
    if page.visited is None:
        return 0.0
    a, b = change_rate(page, site)
    _, unseen = unseen_days(page, site, now=now)
    chance = survival(a, b, unseen) * spared
    if page.announcements and has_announcements(site):
        chance *= false_share(a / b, site) ** page.announcements
    return max(chance, _LEAST_CHANCE)


def value_now(page: PageEstimate, site: SiteEstimate, *, now: float, span: float, spared: float = 1.0) -> float:
    """Worth of a visit now; `span` is the mean time between visits that the budget allows a page (T)."""
    if page.visited is None:
        return NEVER_VISITED
    chance = probability_current(page, site, now=now, spared=spared)
    a, b = change_rate(page, site)
    if not has_announcements(site):
        tau = now - page.visited
        return page.weight * (time_current(a, b, tau) - tau * chance)
    return page.weight * signal_value(a, b, site, chance=chance, span=span)


def signal_value(
    a: float, b: float, site: SiteEstimate, *, chance: float, span: float, rule: Quadrature = _FINE
) -> float:
    """Worth of a visit to a page that may be announced and is current with probability `chance`."""
    if false_share(site.mean_rate, site) < CLEAN_SIGNAL:
        return time_current(a, b, span) - span * chance
    reach = -log(chance) / ((1.0 - site.recall) * a / b)
    return _expected_gain(a, b, site, chance=chance, reach=reach, span=span, rule=rule)


def _expected_gain(
    a: float, b: float, site: SiteEstimate, *, chance: float, reach: float, span: float, rule: Quadrature
) -> float:
    """The first term of the exact index with announcements, averaged over the estimate about the rate.

    What a visit brings ends with the next false announcement or with the next visit, whichever comes first:
    without the visits, slow pages that were announced, most of them falsely, would look worth waiting for.
    """
    false, recall = site.false_rate + 1.0 / span, site.recall
    unit = 1.0 / (a / b + false)
    end = log1p(reach / unit)
    total = 0.0
    for place, weight in rule:
        grown = exp(end * place)
        u = unit * (grown - 1.0)
        held = exp(-a * log1p(u / b)) - chance * exp(-a * log1p(recall * u / b))
        total += weight * grown * exp(-false * u) * held
    return total * end * unit


def due_at(
    page: PageEstimate, site: SiteEstimate, *, threshold: float, span: float, longest: float, spared: float = 1.0
) -> float:
    """The time at which the page's value reaches the threshold if the shocks around it stay as they are; at
    most `longest` days after its visit.
    """
    if page.visited is None:
        return -inf
    goal = threshold / page.weight
    a, b = change_rate(page, site)
    if has_announcements(site):
        return page.visited + min(_signal_wait(page, site, a, b, goal=goal, span=span, spared=spared), longest)
    return page.visited + min(time_to_reach(a, b, goal, spared=spared), longest)


def _signal_wait(
    page: PageEstimate, site: SiteEstimate, a: float, b: float, *, goal: float, span: float, spared: float
) -> float:
    """Days after the visit until silent changes (and what was announced) make a visit worth `goal`."""
    chance = _chance_worth(a, b, site, goal=goal, span=span)
    if chance <= 0.0:
        return inf
    known = spared * (false_share(a / b, site) ** page.announcements if page.announcements else 1.0)
    if chance >= known:
        return 0.0
    unseen = b * (exp(log(known / chance) / a) - 1.0) if log(known / chance) / a < 50.0 else inf
    return unseen / (1.0 - site.recall)


def _chance_worth(a: float, b: float, site: SiteEstimate, *, goal: float, span: float) -> float:
    """The probability of being current at which a visit is worth `goal`; 0 or less: never."""
    if false_share(site.mean_rate, site) < CLEAN_SIGNAL:
        return (time_current(a, b, span) - goal) / span
    near, far = _NEAREST, _FURTHEST
    if signal_value(a, b, site, chance=exp(-far), span=span, rule=_COARSE) < goal:
        return 0.0
    for _ in range(_HALVINGS):
        middle = sqrt(near * far)
        if signal_value(a, b, site, chance=exp(-middle), span=span, rule=_COARSE) < goal:
            near = middle
        else:
            far = middle
    return exp(-far)


LOWER_SHARE = 0.2
"""So many of the visits made are worth less than the threshold."""
STEP = 0.05
LEAST_DAYS = 1e-6
MARGIN = 0.75
"""A page is a candidate when its value reaches this share of the threshold; the best candidate is taken."""


def adjust_threshold(threshold: float, *, value: float) -> float:
    """The threshold after a visit that was worth `value` when it was chosen."""
    moved = threshold * exp(STEP * (LOWER_SHARE if value > threshold else LOWER_SHARE - 1.0))
    return max(moved, LEAST_DAYS)
