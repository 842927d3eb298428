"""How fast does a page change, and what is a visit worth? A Gamma belief about the rate of a Poisson page.

The rate is distributed as Gamma(a, b) with mean a/b per day. Everything a schedule needs has a closed form;
only "changed after t days" leaves the family and is brought back by matching two moments.
"""

from __future__ import annotations

from math import exp, expm1, log1p, sqrt

MOST_EVIDENCE = 30.0
"""Largest shape a: more certainty than thirty changes is not believed, so that old evidence fades."""
_NEAR_ONE = 1e-6
_NEWTON_STEPS = 40
_CLOSE = 1e-7
_FURTHEST = 60.0


def survival(a: float, b: float, t: float) -> float:
    """Probability of no change within `t` days."""
    return exp(-a * log1p(t / b))


def time_current(a: float, b: float, t: float) -> float:
    """Expected days within the next `t` in which a copy taken now is current: the integral of `survival`."""
    x = log1p(t / b)
    if abs(a - 1.0) < _NEAR_ONE:
        return b * x
    return b * -expm1((1.0 - a) * x) / (a - 1.0)


def value_of_visit(a: float, b: float, tau: float, *, spared: float = 1.0) -> float:
    """Marginal freshness of a visit `tau` days after the last one; grows with `tau`, is 0 at 0.

    `spared` is the probability that the page escaped what changed the pages around it.
    """
    return time_current(a, b, tau) - tau * survival(a, b, tau) * spared


def largest_value(a: float, b: float) -> float:
    """What `value_of_visit` tends to; no bound for a <= 1, which is why little evidence loses no page."""
    return b / (a - 1.0) if a > 1.0 + _NEAR_ONE else float("inf")


def time_to_reach(a: float, b: float, value: float, *, spared: float = 1.0) -> float:
    """Days after a visit at which the next is worth `value` (the inverse of `value_of_visit`); may be inf."""
    if value <= 0.0:
        return 0.0
    if value >= largest_value(a, b) * (1.0 - 1e-9):
        return float("inf")
    return b * expm1(_solve(a, value / b, spared))


def _solve(a: float, target: float, spared: float) -> float:
    """Root x of h(x) = target, where tau = b(e^x - 1), V = b h(x); h grows from 0, so a bracket is kept."""
    low, high = 0.0, 1.0
    while _scaled(a, high, spared) < target:
        low, high = high, 2.0 * high
        if high > _FURTHEST:
            return _FURTHEST
    x = min(max(sqrt(2.0 * target / a), low), high)
    for _ in range(_NEWTON_STEPS):
        miss = _scaled(a, x, spared) - target
        if abs(miss) <= _CLOSE * target:
            break
        if miss > 0.0:
            high = x
        else:
            low = x
        slope = exp(-a * x) * ((1.0 - spared) * exp(x) + spared * a * expm1(x))
        x = x - miss / slope if slope > 0.0 else low
        if not low < x < high:
            x = 0.5 * (low + high)
    return x


def _scaled(a: float, x: float, spared: float) -> float:
    held = x if abs(a - 1.0) < _NEAR_ONE else -expm1((1.0 - a) * x) / (a - 1.0)
    return held - spared * expm1(x) * exp(-a * x)


def after_change(a: float, b: float, t: float) -> tuple[float, float]:
    """The Gamma with mean and variance of the exact posterior, given a change (or more) within `t` days."""
    x = log1p(t / b)
    seen = -expm1(-a * x)
    if seen <= 0.0:
        return a + 1.0, b
    mean = (a / b) * -expm1(-(a + 1.0) * x) / seen
    square = a * (a + 1.0) / (b * b) * -expm1(-(a + 2.0) * x) / seen
    variance = square - mean * mean
    shape = mean * mean / variance if variance > 0.0 else MOST_EVIDENCE
    shape = min(shape, MOST_EVIDENCE)
    return shape, shape / mean
