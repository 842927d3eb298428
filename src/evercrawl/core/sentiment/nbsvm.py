"""Default sentiment model: linear SVMs over naive Bayes features (NBSVM; Wang and Manning, ACL 2012).

Features are words, negated words, word pairs, words around `but`, and byte n-grams across and inside words, hashed to
buckets by CRC-32. Two SVMs, each with one kind of n-grams, are summed. A stored model is a line of JSON, a line feed,
and the weights as zlib-compressed signed bytes.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import fsum, log, sqrt, tanh
from random import Random
from typing import NamedTuple
from zlib import crc32

from evercrawl.core.sentiment.sentences import tokenize

BUCKETS = 1 << 20
BYTES_ACROSS, BYTES_INSIDE = 5, 4
MAX_CACHED_WORDS = 8192
NEGATED_WORDS = 3
"""Words after a negation that are negated, up to the next punctuation or `but`."""
_NEGATIONS = frozenset(
    b"not no never nothing nor none neither without cannot hardly cant dont doesnt didnt isnt wasnt wont"
    b" wouldnt couldnt shouldnt".split()
)
_BUT = b"but"
_NEGATION_ENDS = frozenset((b".", b",", b";", b":", b"!", b"?", _BUT))
_MASK = BUCKETS - 1
_WORD, _NEGATED, _PAIR, _ACROSS, _INSIDE, _SKIP_PAIR, _BEFORE_BUT, _AFTER_BUT = range(1, 9)


class FeatureViews(NamedTuple):
    """The buckets of a text: what both SVMs use, and what only one of them does."""

    shared: set[int]
    across: set[int]
    inside: set[int]


def text_features(text: str) -> set[int]:
    """Return all buckets of a text."""
    shared, across, inside = feature_views(text)
    return shared | across | inside


def feature_views(text: str) -> FeatureViews:
    """Return the buckets of a text by SVM."""
    words = [word.encode("utf-8", "replace") for word in tokenize(text)]
    ends = [b"^", *words, b"$"]
    shared = _buckets(words, _WORD) | _buckets(_negated(words), _NEGATED)
    shared |= _buckets([one + b" " + other for one, other in pairwise(ends)], _PAIR)
    shared |= _buckets([one + b" " + other for one, other in zip(ends, ends[2:], strict=False)], _SKIP_PAIR)
    if _BUT in words:
        but_at = len(words) - 1 - words[::-1].index(_BUT)
        shared |= _buckets(words[:but_at], _BEFORE_BUT) | _buckets(words[but_at + 1 :], _AFTER_BUT)
    line = b" " + b" ".join(words) + b" "
    inside = set().union(*map(_inside_buckets, words))
    return FeatureViews(shared, _buckets(_ngrams(line, BYTES_ACROSS), _ACROSS), inside)


@lru_cache(maxsize=MAX_CACHED_WORDS)
def _inside_buckets(word: bytes) -> frozenset[int]:
    return frozenset(_buckets(_ngrams(b" " + word + b" ", BYTES_INSIDE), _INSIDE))


def _buckets(features: Iterable[bytes], kind: int) -> set[int]:
    return {crc32(feature, kind) & _MASK for feature in features}


def _ngrams(line: bytes, size: int) -> set[bytes]:
    return {line[start : start + size] for start in range(len(line) - size + 1)}


def _negated(words: list[bytes]) -> list[bytes]:
    found: list[bytes] = []
    left = 0
    for word in words:
        if word in _NEGATIONS:
            left = NEGATED_WORDS
        elif word in _NEGATION_ENDS:
            left = 0
        elif left:
            found.append(word)
            left -= 1
    return found


FORMAT = 1
MAX_WEIGHT = 127
CLIPPED_SHARE = 0.0005
"""Share of the weights that are clipped, so that the others get finer steps."""


@dataclass(frozen=True, slots=True)
class NbSvmModel:
    """A weight per bucket, in steps; `slope` turns a sum into a score."""

    weights: array[int]
    step: float
    slope: float

    def margin(self, text: str) -> float:
        """Return the sum over the text: above 0 is positive."""
        weights = self.weights
        return self.step * sum([weights[bucket] for bucket in text_features(text)])

    def score(self, text: str) -> float:
        """Return -1 to 1; (1 + score) / 2 is the probability of positive."""
        return tanh(0.5 * self.slope * self.margin(text))

    def to_bytes(self) -> bytes:
        """Return the stored form."""
        head = {"format": FORMAT, "buckets": BUCKETS, "step": self.step, "slope": self.slope}
        return json.dumps(head).encode() + b"\n" + zlib.compress(self.weights.tobytes(), 9)

    @classmethod
    def from_bytes(cls, stored: bytes) -> NbSvmModel:
        """Read the stored form; raises ValueError for another format."""
        line, _, packed = stored.partition(b"\n")
        head = json.loads(line)
        if (head.get("format"), head.get("buckets")) != (FORMAT, BUCKETS):
            raise ValueError("the stored sentiment model is of another format")
        return cls(array("b", zlib.decompress(packed)), head["step"], head["slope"])


def quantize_weights(weights: Sequence[float], *, slope: float) -> NbSvmModel:
    """Return the model with weights as signed bytes; the few largest are clipped."""
    sizes = sorted(abs(weight) for weight in weights if weight)
    largest = sizes[int(len(sizes) * (1 - CLIPPED_SHARE))] if sizes else 1.0
    step = largest / MAX_WEIGHT
    steps = (max(-MAX_WEIGHT, min(MAX_WEIGHT, round(weight / step))) for weight in weights)
    return NbSvmModel(array("b", steps), step, slope)


MIN_SENTENCES = 2
"""A feature in fewer sentences is not learned."""


@dataclass(frozen=True, slots=True)
class NbSvmOptions:
    """Training options; the defaults were chosen by cross-validation."""

    cost: float = 0.3
    rounds: int = 12
    added_count: float = 1.0
    bayes_share: float = 0.4
    """Share of naive Bayes alone in the sum, both scaled to the same mean size."""


def train_nbsvm(
    examples: Iterable[tuple[str, bool]], *, random: Random, options: NbSvmOptions | None = None
) -> list[float]:
    """Return a weight per bucket; positive speaks for a positive sentence. The same `random` gives the same result."""
    options = options or NbSvmOptions()
    seen = [(feature_views(text), positive) for text, positive in examples]
    labels = [positive for _, positive in seen]
    across = [sorted(views.shared | views.across) for views, _ in seen]
    inside = [sorted(views.shared | views.inside) for views, _ in seen]
    both = [_train_one(rows, labels, options=options, random=random) for rows in (across, inside)]
    return [one + other for one, other in zip(*both, strict=True)]


def _train_one(
    rows: Sequence[list[int]], labels: Sequence[bool], *, options: NbSvmOptions, random: Random
) -> list[float]:
    """Return the weights of one SVM with its naive Bayes, scaled to a mean margin of one."""
    ratios = _log_count_ratios(rows, labels, options.added_count)
    rows = [[bucket for bucket in buckets if ratios[bucket]] for buckets in rows]
    trusts = _train_svm(rows, labels, ratios, options=options, random=random)
    weights = [trust * ratio for trust, ratio in zip(trusts, ratios, strict=True)]
    share = options.bayes_share * _mean_size(rows, weights) / (_mean_size(rows, ratios) or 1.0)
    weights = [weight + share * ratio for weight, ratio in zip(weights, ratios, strict=True)]
    size = _mean_size(rows, weights) or 1.0
    return [weight / size for weight in weights]


def _log_count_ratios(rows: Sequence[list[int]], labels: Sequence[bool], added: float) -> list[float]:
    """Return the log-count ratio of each bucket; 0 if it is too rare."""
    counts = ([0] * BUCKETS, [0] * BUCKETS)
    for buckets, positive in zip(rows, labels, strict=True):
        for bucket in buckets:
            counts[positive][bucket] += 1
    totals = [sum(count) + added * sum(1 for value in count if value) for count in counts]
    shift = log((totals[0] or 1.0) / (totals[1] or 1.0))
    return [
        log((yes + added) / (no + added)) + shift if yes + no >= MIN_SENTENCES else 0.0
        for no, yes in zip(*counts, strict=True)
    ]


def _train_svm(
    rows: Sequence[list[int]], labels: Sequence[bool], ratios: list[float], *, options: NbSvmOptions, random: Random
) -> list[float]:
    """Dual coordinate descent for the squared hinge loss (Hsieh and others, ICML 2008)."""
    trust = [0.0] * BUCKETS
    slack = 0.5 / options.cost
    alphas = [0.0] * len(rows)
    lengths = [sqrt(fsum(ratios[bucket] ** 2 for bucket in row)) or 1.0 for row in rows]
    order = list(range(len(rows)))
    for _ in range(options.rounds):
        random.shuffle(order)
        for place in order:
            sign = (1.0 if labels[place] else -1.0) / lengths[place]
            row = rows[place]
            margin = sign * sum([trust[bucket] * ratios[bucket] for bucket in row])
            before = alphas[place]
            after = max(0.0, before - (margin - 1 + slack * before) / (1.0 + slack))
            alphas[place] = after
            step = (after - before) * sign
            if step:
                for bucket in row:
                    trust[bucket] += step * ratios[bucket]
    return trust


def _mean_size(rows: Sequence[list[int]], weights: list[float]) -> float:
    if not rows:
        return 0.0
    return fsum(abs(sum(weights[bucket] for bucket in row)) for row in rows) / len(rows)
