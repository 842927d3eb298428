"""The value of a visit (marginal freshness: days of a current copy per request) and when it reaches the threshold.
There is one threshold, which the budget allows. It follows the lower fifth of the visits made, because steering by
queue length oscillates."""

from __future__ import annotations

from math import exp, inf, log, log1p, sqrt

from evercrawl.core.revisit.change_announcements import CLEAN_SIGNAL, false_share, has_announcements, unseen_days
from evercrawl.core.revisit.rate_estimate import (
    PageEstimate,
    SiteEstimate,
    change_rate,
    survival,
    time_current,
    time_to_reach,
)

NEVER_VISITED = inf
_MIN_CHANCE = 1e-12
_MIN_LOG_CHANCE, _MAX_LOG_CHANCE = 1e-4, 27.0
"""Bounds of -ln(chance), bisected on a log scale to five percent. Due pages are evaluated again anyway."""
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
    """Return a Gauss-Legendre rule, given by its positive nodes, on [0, 1]."""
    return tuple((0.5 + 0.5 * sign * node, 0.5 * weight) for node, weight in half for sign in (-1.0, 1.0))


_FINE = _on_unit(_FINE_HALF)  # Twelve points, to order pages by value.
_COARSE = _on_unit(_COARSE_HALF)  # Six points, good to half a percent for most pages, to search due times.


def probability_current(page: PageEstimate, site: SiteEstimate, *, now: float, escape: float = 1.0) -> float:
    """Return the probability that our copy is current; `escape`: that it escaped bulk changes."""
    if page.visited is None:
        return 0.0
    a, b = change_rate(page, site)
    _, unseen = unseen_days(page, site, now=now)
    chance = survival(a, b, unseen) * escape
    if page.announcements and has_announcements(site):
        chance *= false_share(a / b, site) ** page.announcements
    return max(chance, _MIN_CHANCE)


def value_now(page: PageEstimate, site: SiteEstimate, *, now: float, span: float, escape: float = 1.0) -> float:
    """Return the value of a visit now; `span` is the mean interval that the budget allows (T)."""
    if page.visited is None:
        return NEVER_VISITED
    chance = probability_current(page, site, now=now, escape=escape)
    a, b = change_rate(page, site)
    if not has_announcements(site):
        tau = max(now - page.visited, 0.0)
        return page.weight * (time_current(a, b, tau) - tau * chance)
    return page.weight * signal_value(a, b, site, chance=chance, span=span)


def signal_value(
    a: float, b: float, site: SiteEstimate, *, chance: float, span: float, rule: Quadrature = _FINE
) -> float:
    """Return the value of a visit to a page with announcements that is current with probability `chance`."""
    if false_share(site.mean_rate, site) < CLEAN_SIGNAL:
        return time_current(a, b, span) - span * chance
    reach = -log(chance) / ((1.0 - site.recall) * a / b)
    return _expected_gain(a, b, site, chance=chance, reach=reach, span=span, rule=rule)


def _expected_gain(
    a: float, b: float, site: SiteEstimate, *, chance: float, reach: float, span: float, rule: Quadrature
) -> float:
    """Return the first term of the exact index with announcements, averaged over the rate.
    The gain ends with the next visit too, or slow pages with false announcements would seem worth waiting for."""
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
    page: PageEstimate, site: SiteEstimate, *, threshold: float, span: float, longest: float, escape: float = 1.0
) -> float:
    """Return when the page's value reaches the threshold, at most `longest` days after its visit."""
    if page.visited is None:
        return -inf
    goal = threshold / page.weight
    a, b = change_rate(page, site)
    if has_announcements(site):
        return page.visited + min(_signal_wait(page, site, a, b, goal=goal, span=span, escape=escape), longest)
    return page.visited + min(time_to_reach(a, b, goal, escape=escape), longest)


def _signal_wait(
    page: PageEstimate, site: SiteEstimate, a: float, b: float, *, goal: float, span: float, escape: float
) -> float:
    """Return the days after the visit until unannounced changes make a visit worth `goal`."""
    chance = _chance_at(a, b, site, goal=goal, span=span)
    if chance <= 0.0:
        return inf
    known = escape * (false_share(a / b, site) ** page.announcements if page.announcements else 1.0)
    if chance >= known:
        return 0.0
    unseen = b * (exp(log(known / chance) / a) - 1.0) if log(known / chance) / a < 50.0 else inf
    return unseen / (1.0 - site.recall)


def _chance_at(a: float, b: float, site: SiteEstimate, *, goal: float, span: float) -> float:
    """Return the probability of being current at which a visit is worth `goal`; 0 or less: never."""
    if false_share(site.mean_rate, site) < CLEAN_SIGNAL:
        return (time_current(a, b, span) - goal) / span
    near, far = _MIN_LOG_CHANCE, _MAX_LOG_CHANCE
    if signal_value(a, b, site, chance=exp(-far), span=span, rule=_COARSE) < goal:
        return 0.0
    for _ in range(_HALVINGS):
        middle = sqrt(near * far)
        if signal_value(a, b, site, chance=exp(-middle), span=span, rule=_COARSE) < goal:
            near = middle
        else:
            far = middle
    return exp(-far)


LOWER_SHARE = 0.2  # Share of the visits that are worth less than the threshold.
STEP = 0.05
MIN_THRESHOLD = 1e-6
MARGIN = 0.75  # A page is a candidate from this share of the threshold; the best candidate wins.


def adjust_threshold(threshold: float, *, value: float) -> float:
    """Return the threshold after choosing a visit worth `value`."""
    moved = threshold * exp(STEP * (LOWER_SHARE if value > threshold else LOWER_SHARE - 1.0))
    return max(moved, MIN_THRESHOLD)
