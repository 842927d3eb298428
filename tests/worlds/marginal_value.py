"""The value of a visit, by its definition."""

from __future__ import annotations

from evercrawl.core.revisit.rate_estimate import survival, time_current


def marginal_value(a: float, b: float, tau: float, *, escape: float = 1.0) -> float:
    """Return the marginal freshness of a visit `tau` days after the last; it grows from 0.
    `escape` is the probability that the page escaped a bulk change."""
    return time_current(a, b, tau) - tau * survival(a, b, tau) * escape
