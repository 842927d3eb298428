"""Which value must a visit have? The value of the least visits that the budget pays for.

Steering by the length of the queue swings, because a page that became due stays due. The values of the visits
that were really made say the same without delay: the threshold follows their lower fifth.
"""

from __future__ import annotations

from math import exp

LOWER_SHARE = 0.2
"""So many of the visits made are worth less than the threshold."""
STEP = 0.05
LEAST_DAYS = 1e-6
MARGIN = 0.75
"""A page is a candidate when its value reaches this share of the threshold; the best candidate is taken."""


def steered(threshold: float, *, value: float) -> float:
    """The threshold after a visit that was worth `value` when it was chosen."""
    moved = threshold * exp(STEP * (LOWER_SHARE if value > threshold else LOWER_SHARE - 1.0))
    return max(moved, LEAST_DAYS)
