"""What the default method looks at: words, negated words, pairs of words, what stands around `but`, and runs
of bytes.

Runs tell endings, stems and short phrases without any list of them. There are two kinds, those across the
borders of words and those inside words: two machines learn, each with one of them (`fit.py`). Each feature is
a bucket of a table, found by CRC-32; the kind of feature is the value that the sum begins with.
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
"""Words whose runs are remembered."""
NEGATED_WORDS = 3
"""So many words behind a negation are negated, at most up to the next mark or `but`."""
_NEGATIONS = frozenset(
    b"not no never nothing nor none neither without cannot hardly cant dont doesnt didnt isnt wasnt wont"
    b" wouldnt couldnt shouldnt".split()
)
_TURN = b"but"
_ENDS_OF_NEGATION = frozenset((b".", b",", b";", b":", b"!", b"?", _TURN))
_MASK = BUCKETS - 1
_WORD, _NEGATED, _PAIR, _ACROSS, _INSIDE, _APART, _BEFORE_TURN, _BEHIND_TURN = range(1, 9)


class FeatureViews(NamedTuple):
    """The buckets of a text: what both machines see, and what only one of them does."""

    shared: set[int]
    across: set[int]
    inside: set[int]


def text_features(text: str) -> set[int]:
    """All buckets of a text, each once; the same text always has the same."""
    shared, across, inside = feature_views(text)
    return shared | across | inside


def feature_views(text: str) -> FeatureViews:
    """The same, as the machines see them."""
    words = [word.encode("utf-8", "replace") for word in tokenize(text)]
    ends = [b"^", *words, b"$"]
    shared = _buckets(words, _WORD) | _buckets(_negated(words), _NEGATED)
    shared |= _buckets([one + b" " + other for one, other in pairwise(ends)], _PAIR)
    shared |= _buckets([one + b" " + other for one, other in zip(ends, ends[2:], strict=False)], _APART)
    if _TURN in words:
        turn = len(words) - 1 - words[::-1].index(_TURN)
        shared |= _buckets(words[:turn], _BEFORE_TURN) | _buckets(words[turn + 1 :], _BEHIND_TURN)
    line = b" " + b" ".join(words) + b" "
    inside = set().union(*map(_inside, words))
    return FeatureViews(shared, _buckets(_runs(line, BYTES_ACROSS), _ACROSS), inside)


@lru_cache(maxsize=MAX_CACHED_WORDS)
def _inside(word: bytes) -> frozenset[int]:
    """The same words come again and again."""
    return frozenset(_buckets(_runs(b" " + word + b" ", BYTES_INSIDE), _INSIDE))


def _buckets(features: Iterable[bytes], kind: int) -> set[int]:
    return {crc32(feature, kind) & _MASK for feature in features}


def _runs(line: bytes, size: int) -> set[bytes]:
    return {line[start : start + size] for start in range(len(line) - size + 1)}


def _negated(words: list[bytes]) -> list[bytes]:
    found: list[bytes] = []
    left = 0
    for word in words:
        if word in _NEGATIONS:
            left = NEGATED_WORDS
        elif word in _ENDS_OF_NEGATION:
            left = 0
        elif left:
            found.append(word)
            left -= 1
    return found


FORMAT = 1
MAX_WEIGHT = 127
CLIPPED_SHARE = 0.0005
"""So few of the weights may be larger than a byte can say; the others get the finer steps."""


@dataclass(frozen=True, slots=True)
class NbSvmModel:
    """One weight for each bucket, in steps; `slope` makes a score of a sum."""

    weights: array[int]
    step: float
    slope: float

    def margin(self, text: str) -> float:
        """The sum over the text: above 0 is positive."""
        weights = self.weights
        return self.step * sum([weights[bucket] for bucket in text_features(text)])

    def score(self, text: str) -> float:
        """-1 to 1; the sign says which, the size how sure: (1 + score) / 2 is the chance of positive."""
        return tanh(0.5 * self.slope * self.margin(text))

    def to_bytes(self) -> bytes:
        """The model as `from_bytes` reads it."""
        head = {"format": FORMAT, "buckets": BUCKETS, "step": self.step, "slope": self.slope}
        return json.dumps(head).encode() + b"\n" + zlib.compress(self.weights.tobytes(), 9)

    @classmethod
    def from_bytes(cls, stored: bytes) -> NbSvmModel:
        """The stored model; raises ValueError where it is another."""
        line, _, packed = stored.partition(b"\n")
        head = json.loads(line)
        if (head.get("format"), head.get("buckets")) != (FORMAT, BUCKETS):
            raise ValueError("the stored sentiment model is of another format")
        return cls(array("b", zlib.decompress(packed)), head["step"], head["slope"])


def quantize_weights(weights: Sequence[float], *, slope: float) -> NbSvmModel:
    """Weights in signed bytes; the few largest are cut."""
    sizes = sorted(abs(weight) for weight in weights if weight)
    largest = sizes[int(len(sizes) * (1 - CLIPPED_SHARE))] if sizes else 1.0
    step = largest / MAX_WEIGHT
    steps = (max(-MAX_WEIGHT, min(MAX_WEIGHT, round(weight / step))) for weight in weights)
    return NbSvmModel(array("b", steps), step, slope)


MIN_SENTENCES = 2
"""A feature that fewer sentences have is not learned."""


@dataclass(frozen=True, slots=True)
class NbSvmOptions:
    """How to learn; the defaults were chosen by cross-validation."""

    cost: float = 0.3
    rounds: int = 12
    added_count: float = 1.0
    bayes_share: float = 0.4
    """How much of the sum is naive Bayes alone, both brought to the same mean size."""


def train_nbsvm(
    examples: Iterable[tuple[str, bool]], *, random: Random, how: NbSvmOptions | None = None
) -> list[float]:
    """A weight for each bucket; positive speaks for a positive sentence. The same random gives the same."""
    how = how or NbSvmOptions()
    seen = [(feature_views(text), positive) for text, positive in examples]
    labels = [positive for _, positive in seen]
    across = [sorted(views.shared | views.across) for views, _ in seen]
    inside = [sorted(views.shared | views.inside) for views, _ in seen]
    both = [_learned(rows, labels, how=how, random=random) for rows in (across, inside)]
    return [one + other for one, other in zip(*both, strict=True)]


def _learned(rows: Sequence[list[int]], labels: Sequence[bool], *, how: NbSvmOptions, random: Random) -> list[float]:
    """The weights of one machine and its naive Bayes, so that the mean margin is one."""
    ratios = _ratios(rows, labels, how.added_count)
    rows = [[bucket for bucket in buckets if ratios[bucket]] for buckets in rows]
    machine = _machine(rows, labels, ratios, how=how, random=random)
    weights = [trust * ratio for trust, ratio in zip(machine, ratios, strict=True)]
    share = how.bayes_share * _mean_size(rows, weights) / (_mean_size(rows, ratios) or 1.0)
    weights = [weight + share * ratio for weight, ratio in zip(weights, ratios, strict=True)]
    size = _mean_size(rows, weights) or 1.0
    return [weight / size for weight in weights]


def _ratios(rows: Sequence[list[int]], labels: Sequence[bool], added: float) -> list[float]:
    """The logarithm of how much likelier each bucket is in positive sentences; 0 where it is too rare."""
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


def _machine(
    rows: Sequence[list[int]], labels: Sequence[bool], ratios: list[float], *, how: NbSvmOptions, random: Random
) -> list[float]:
    """Dual coordinate descent for the squared hinge loss (Hsieh and others, ICML 2008)."""
    trust = [0.0] * BUCKETS
    slack = 0.5 / how.cost
    alphas = [0.0] * len(rows)
    lengths = [sqrt(fsum(ratios[bucket] ** 2 for bucket in row)) or 1.0 for row in rows]
    order = list(range(len(rows)))
    for _ in range(how.rounds):
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
