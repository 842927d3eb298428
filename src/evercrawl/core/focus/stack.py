"""How far to trust each of a handful of signs: a small logistic regression, fitted by Newton's method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ROUNDS = 25
RIDGE = 1.0
"""So strongly every weight is held near zero, but for the constant one."""
Signs = Mapping[str, float]
"""Sign -> size; a sign that is absent is 0."""


@dataclass(frozen=True, slots=True)
class Stack:
    """Weights of signs; without any the log odds are 0."""

    weights: Mapping[str, float]

    @property
    def knows_anything(self) -> bool:
        """Whether it was fitted."""
        return bool(self.weights)

    def logit(self, signs: Signs) -> float:
        """The log odds."""
        weights = self.weights
        return weights.get("", 0.0) + sum([weights.get(name, 0.0) * size for name, size in signs.items()])


def fitted(rows: Sequence[Signs], labels: Sequence[bool]) -> Stack:
    """The weights under which the labels are likeliest; none without labels of both kinds."""
    if len(set(labels)) < 2:
        return Stack({})
    names = sorted({name for row in rows for name in row})
    import numpy as np  # here, because a crawl without a focus needs none of it

    table = np.array([[1.0, *(row.get(name, 0.0) for name in names)] for row in rows])
    truth = np.array(labels, dtype=float)
    weights = np.zeros(table.shape[1])
    ridge = np.diag([1e-6] + [RIDGE] * len(names))
    for _ in range(ROUNDS):
        chance = 1.0 / (1.0 + np.exp(-np.clip(table @ weights, -30.0, 30.0)))
        pull = table.T @ (truth - chance) - ridge @ weights
        bend = (table * (chance * (1.0 - chance))[:, None]).T @ table + ridge
        weights += np.linalg.solve(bend, pull)
    return Stack(dict(zip(["", *names], map(float, weights), strict=True)))
