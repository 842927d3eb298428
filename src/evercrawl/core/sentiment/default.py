"""The default method: the sum of the weights of a sentence's features, as a score from -1 to 1.

The stored model is a line of JSON (format, buckets, the size of one step, the slope of the curve), a line
feed, and the weights of all buckets, one signed byte each, compressed by zlib.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from math import tanh

from evercrawl.core.sentiment.feature import BUCKETS, features_of

FORMAT = 1
LARGEST = 127
CLIPPED_SHARE = 0.0005
"""So few of the weights may be larger than a byte can say; the others get the finer steps."""


@dataclass(frozen=True, slots=True)
class DefaultModel:
    """One weight for each bucket, in steps; `slope` makes a score of a sum."""

    weights: array[int]
    step: float
    slope: float

    def margin(self, text: str) -> float:
        """The sum over the text: above 0 is positive."""
        weights = self.weights
        return self.step * sum([weights[bucket] for bucket in features_of(text)])

    def score(self, text: str) -> float:
        """-1 to 1; the sign says which, the size how sure: (1 + score) / 2 is the chance of positive."""
        return tanh(0.5 * self.slope * self.margin(text))

    def to_bytes(self) -> bytes:
        """The model as `from_bytes` reads it."""
        head = {"format": FORMAT, "buckets": BUCKETS, "step": self.step, "slope": self.slope}
        return json.dumps(head).encode() + b"\n" + zlib.compress(self.weights.tobytes(), 9)

    @classmethod
    def from_bytes(cls, stored: bytes) -> DefaultModel:
        """The stored model; raises ValueError where it is another."""
        line, _, packed = stored.partition(b"\n")
        head = json.loads(line)
        if (head.get("format"), head.get("buckets")) != (FORMAT, BUCKETS):
            raise ValueError("the stored sentiment model is of another format")
        return cls(array("b", zlib.decompress(packed)), head["step"], head["slope"])


def packed(weights: Sequence[float], *, slope: float) -> DefaultModel:
    """Weights in signed bytes; the few largest are cut."""
    sizes = sorted(abs(weight) for weight in weights if weight)
    largest = sizes[int(len(sizes) * (1 - CLIPPED_SHARE))] if sizes else 1.0
    step = largest / LARGEST
    steps = (max(-LARGEST, min(LARGEST, round(weight / step))) for weight in weights)
    return DefaultModel(array("b", steps), step, slope)
