"""The closed forms agree with numeric integration."""

from __future__ import annotations

from math import exp, gamma, inf, isclose

import pytest

from evercrawl.core.revisit.rate_estimate import (
    MAX_SHAPE,
    after_change,
    max_value,
    survival,
    time_current,
    time_to_reach,
)
from tests.worlds.marginal_value import marginal_value

BELIEFS = [(0.2, 3.0), (0.5, 25.0), (1.0, 10.0), (1.0 + 1e-9, 10.0), (2.5, 40.0), (30.0, 12.0)]
STEPS = 4000


def _integral(function, start: float, end: float) -> float:
    """Simpson's rule."""
    width = (end - start) / STEPS
    inner = sum(function(start + i * width) * (4 if i % 2 else 2) for i in range(1, STEPS))
    return (function(start) + inner + function(end)) * width / 3.0


@pytest.mark.parametrize(("a", "b"), BELIEFS)
def test_time_current_is_the_integral_of_survival(a: float, b: float) -> None:
    for t in (0.1, 3.0, 50.0):
        assert isclose(time_current(a, b, t), _integral(lambda u: survival(a, b, u), 0.0, t), rel_tol=1e-6)


def test_survival_is_the_mean_over_the_estimate() -> None:
    a, b, t = 2.5, 4.0, 1.5
    mixed = _integral(lambda rate: b**a * rate ** (a - 1.0) * exp(-b * rate) / gamma(a) * exp(-rate * t), 1e-12, 30.0)
    assert isclose(survival(a, b, t), mixed, rel_tol=1e-5)


@pytest.mark.parametrize(("a", "b"), BELIEFS)
@pytest.mark.parametrize("escape", [1.0, 0.9, 0.3])
def test_time_to_reach_inverts_the_value(a: float, b: float, escape: float) -> None:
    for tau in (0.05, 1.0, 20.0, 400.0):
        value = marginal_value(a, b, tau, escape=escape)
        if value < 0.999 * max_value(a, b):
            assert isclose(time_to_reach(a, b, value, escape=escape), tau, rel_tol=1e-3)


def test_a_page_known_to_be_too_fast_is_never_worth_more_than_its_limit() -> None:
    assert time_to_reach(30.0, 3.0, 0.2) == inf
    assert max_value(30.0, 3.0) == pytest.approx(3.0 / 29.0)
    assert max_value(0.7, 3.0) == inf


def test_a_certain_rate_gives_the_value_of_a_poisson_page() -> None:
    rate, tau = 0.1, 7.0
    exact = 1.0 / rate - (tau + 1.0 / rate) * exp(-rate * tau)
    assert marginal_value(1e7, 1e7 / rate, tau) == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize(("a", "b", "t"), [(0.5, 25.0, 10.0), (2.0, 5.0, 1.0), (4.0, 40.0, 30.0)])
def test_a_change_matches_two_moments_of_the_exact_posterior(a: float, b: float, t: float) -> None:
    def moment(power: float) -> float:
        def density(root: float) -> float:
            rate = root * root
            seen = 1.0 - exp(-rate * t)
            return 2.0 * root * rate ** (a - 1.0 + power) * exp(-b * rate) * seen

        return _integral(density, 1e-9, (60.0 / b) ** 0.5)

    shape, scale = after_change(a, b, t)
    mean, square = moment(1.0) / moment(0.0), moment(2.0) / moment(0.0)
    assert shape / scale == pytest.approx(mean, rel=1e-4)
    assert shape / scale**2 == pytest.approx(square - mean * mean, rel=1e-3)


def test_certainty_is_capped_so_that_old_evidence_fades() -> None:
    a, b = 0.5, 25.0
    for _ in range(500):
        a, b = after_change(a, b, 0.01)
        b += 0.5
    assert a <= MAX_SHAPE
