"""How the default method learns: linear support vector machines over features scaled by naive Bayes.

Wang and Manning (ACL 2012): each feature is first worth the logarithm of how much likelier it is in positive
sentences; the machine then learns how far to trust each. The two are added at the end, because naive Bayes
alone is better where words are rare. Two machines that see different runs of letters err at different
sentences: the sum of both errs less than either. Pure Python, about a minute for ten thousand sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum, log, sqrt
from random import Random

from evercrawl.core.sentiment.feature import BUCKETS, views_of

LEAST_SENTENCES = 2
"""A feature that fewer sentences have is not learned."""


@dataclass(frozen=True, slots=True)
class Training:
    """How to learn; the defaults were chosen by cross-validation."""

    cost: float = 0.3
    rounds: int = 12
    added_count: float = 1.0
    bayes_share: float = 0.4
    """How much of the sum is naive Bayes alone, both brought to the same mean size."""


def fitted(examples: Iterable[tuple[str, bool]], *, random: Random, how: Training | None = None) -> list[float]:
    """A weight for each bucket; positive speaks for a positive sentence. The same random gives the same."""
    how = how or Training()
    seen = [(views_of(text), positive) for text, positive in examples]
    labels = [positive for _, positive in seen]
    across = [sorted(views.shared | views.across) for views, _ in seen]
    inside = [sorted(views.shared | views.inside) for views, _ in seen]
    both = [_learned(rows, labels, how=how, random=random) for rows in (across, inside)]
    return [one + other for one, other in zip(*both, strict=True)]


def _learned(rows: Sequence[list[int]], labels: Sequence[bool], *, how: Training, random: Random) -> list[float]:
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
        log((yes + added) / (no + added)) + shift if yes + no >= LEAST_SENTENCES else 0.0
        for no, yes in zip(*counts, strict=True)
    ]


def _machine(
    rows: Sequence[list[int]], labels: Sequence[bool], ratios: list[float], *, how: Training, random: Random
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
