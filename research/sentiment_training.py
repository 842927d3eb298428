"""Training of the sentiment models: linear SVMs over naive Bayes features (Wang and Manning, ACL 2012), and the
paper's naive Bayes.

Two SVMs with different n-grams make different errors, so their sum errs less. Pure Python, about a minute for ten
thousand sentences.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum, log, sqrt
from random import Random

from evercrawl.core.sentiment.classifiers import (
    BUCKETS,
    NaiveBayesModel,
    NbSvmModel,
    class_counts,
    feature_views,
    sentence_words,
)

MAX_WEIGHT = 127
CLIPPED_SHARE = 0.0005
"""Share of the weights that are clipped, so that the others get finer steps."""


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


def train_naive_bayes(examples: Iterable[tuple[str, bool]]) -> NaiveBayesModel:
    """Return the model of labelled sentences; raises ValueError unless both classes occur."""
    words: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    sentences = [0, 0]
    for text, positive in examples:
        sentences[positive] += 1
        words[positive].update(sentence_words(text))
    if not all(sentences):
        raise ValueError("naive Bayes needs sentences of both classes")
    return NaiveBayesModel(class_counts(sentences[1], words[1]), class_counts(sentences[0], words[0]))
