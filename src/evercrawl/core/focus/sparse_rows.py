"""Sparse vectors of pages and links, and the sums over them that a topic learned while crawling needs.
A feature has one number in all blocks. Rows are scaled by the inverse document frequency and to length one, so the
product of a row and a centroid of length one is a cosine."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
BACKGROUND_ROWS = 20.0  # How many rows the background counts for.
MAX_FEATURES = 300_000  # Features that are told apart. Later ones are ignored.


class SparseVector:
    """Feature numbers with their weights."""

    __slots__ = ("features", "weights")

    def __init__(self, features: array[int], weights: array[float]) -> None:
        self.features = features
        self.weights = weights


class Vocabulary:
    """Numbers of features."""

    def __init__(self, features: Iterable[str] = ()) -> None:
        self._numbers = {feature: number for number, feature in enumerate(features)}

    def __len__(self) -> int:
        return len(self._numbers)

    def features(self) -> list[str]:
        """Return all features in the order of their numbers."""
        return list(self._numbers)

    def number(self, feature: str) -> int | None:
        """Return the number of a feature; None if there are too many."""
        found = self._numbers.get(feature)
        if found is None and len(self._numbers) < MAX_FEATURES:
            found = self._numbers[feature] = len(self._numbers)
        return found

    def values(self, of: Mapping[str, float], width: int) -> Floats:
        """Return an array with the value of each known feature, else 0."""
        found = np.zeros(width)
        for feature, value in of.items():
            number = self._numbers.get(feature)
            if number is not None and number < width:
                found[number] = value
        return found

    def vector(self, counts: Mapping[str, int]) -> SparseVector:
        """Return a block of counts as a vector of damped counts."""
        features, weights = array("i"), array("f")
        for feature, count in counts.items():
            number = self.number(feature)
            if number is not None:
                features.append(number)
                weights.append(1.0 + log(count))
        return SparseVector(features, weights)


class Rows:
    """Several vectors of one block, scaled to length one."""

    def __init__(self, vectors: Sequence[SparseVector], width: int) -> None:
        self.count = len(vectors)
        self.width = width
        self._row = np.repeat(np.arange(self.count), [len(vector.features) for vector in vectors])
        self._column = np.frombuffer(b"".join([vector.features.tobytes() for vector in vectors]), dtype=np.int32)
        self._value = np.frombuffer(b"".join([v.weights.tobytes() for v in vectors]), dtype=np.float32).astype(float)

    def scale(self, rarity: Floats) -> Rows:
        """Weight each feature by its rarity, and scale each row to length one."""
        self._value = self._value * rarity[self._column]
        length = np.sqrt(self.squares())
        self._value = self._value / np.maximum(length, 1e-9)[self._row]
        return self

    def rarity(self, background: Floats | None = None, weights: Floats | None = None) -> Floats:
        """Return the logarithm of the inverse share of rows that have each feature; 0 for one that all have.
        The background gives the share of pages in general that have each feature; it counts as some more rows."""
        weights = np.ones(self.count) if weights is None else weights
        having = _sums(self._column, weights[self._row], self.width)
        count = float(weights.sum())
        if background is not None:
            having += BACKGROUND_ROWS * background
            count += BACKGROUND_ROWS
        return np.maximum(np.log((count + 2.0) / (having + 0.5)), 0.0)

    def centroid(self, weights: Floats) -> Floats:
        """Return the weighted sum of the rows."""
        return _sums(self._column, self._value * weights[self._row], self.width)

    def dot(self, vector: Floats) -> Floats:
        """Return the product of each row with a vector."""
        return _sums(self._row, self._value * vector[self._column], self.count)

    def squares(self) -> Floats:
        """Return the squared length of each row: 1, or 0 for an empty one."""
        return _sums(self._row, self._value**2, self.count)

    def take(self, numbers: npt.NDArray[np.int64], others: Rows) -> Floats:
        """Return the product of each row with the row `numbers` of other rows."""
        width = np.int64(self.width)
        own = self._row.astype(np.int64) * width + self._column
        keys = others._row.astype(np.int64) * width + others._column
        order = np.argsort(keys)
        wanted = numbers[self._row].astype(np.int64) * width + self._column
        place = np.minimum(np.searchsorted(keys, wanted, sorter=order), max(0, len(keys) - 1))
        if not len(keys) or not len(own):
            return np.zeros(self.count)
        found = order[place]
        value = np.where(keys[found] == wanted, others._value[found], 0.0)
        return _sums(self._row, self._value * value, self.count)


def _sums(places: npt.NDArray[Any], values: Floats, count: int) -> Floats:
    return np.bincount(places, values, count).astype(float)  # Integers if nothing is there.


def widen(vector: Floats, width: int, fill: float = 0.0) -> Floats:
    """Return the vector with entries for features that came later."""
    if len(vector) >= width:
        return vector
    return np.concatenate([vector, np.full(width - len(vector), fill)])


def logistic(logits: Floats) -> Floats:
    """Return the probabilities of these log odds."""
    found: Floats = 1.0 / (1.0 + np.exp(-np.clip(logits, -30.0, 30.0)))
    return found


def log_odds(chances: Floats) -> Floats:
    """Return the log odds of these probabilities."""
    bounded = np.clip(chances, 1e-4, 1.0 - 1e-4)
    found: Floats = np.log(bounded / (1.0 - bounded))
    return found


def fit_near_prior(table: Floats, labels: Floats, weights: Floats, *, prior: Floats, ridge: float) -> Floats:
    """Fit a logistic regression to soft labels by Newton's method, with a penalty for leaving the prior."""
    fitted = prior.copy()
    penalty = np.eye(table.shape[1]) * ridge
    penalty[0, 0] = ridge / 4.0  # The constant is known least beforehand.
    for _ in range(8):
        chance = logistic(table @ fitted)
        pull = table.T @ (weights * (labels - chance)) - penalty @ (fitted - prior)
        bend = (table * (weights * chance * (1.0 - chance))[:, None]).T @ table + penalty
        fitted = fitted + np.clip(np.linalg.solve(bend, pull), -2.0, 2.0)
    return fitted
