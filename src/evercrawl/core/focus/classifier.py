"""A linear classifier over blocks of features, trained in seconds from few examples.
Features are scaled by their naive Bayes log ratio. A support vector machine (dual coordinate descent; Hsieh et al.,
ICML 2008) learns the weights, and a logistic curve gives a probability. A topic with only positive examples is trained
against pages sampled from background feature shares."""

from __future__ import annotations

import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import exp, log, sqrt
from random import Random
from typing import NamedTuple

from evercrawl.core.document.compression import inflate
from evercrawl.core.focus.page_features import Blocks, page_blocks, words_of
from evercrawl.model.document import Document

MAX_LOGIT = 30.0  # Logits are cut here.
CURVE_ROUNDS = 30
RIDGE = 1e-3
MIN_SLOPE, MAX_SLOPE = 0.1, 20.0


class LabelledBlocks(NamedTuple):
    """One page or link with its label."""

    blocks: Blocks
    on_topic: bool


@dataclass(frozen=True, slots=True)
class ClassifierSettings:
    """Training parameters."""

    cost: float = 0.03
    rounds: int = 10
    added_count: float = 1.0
    least_pages: int = 3  # Features of fewer examples are ignored; with few positive examples the limit is lower.


@dataclass(frozen=True, slots=True)
class Classifier:
    """The scale and weight of each feature by block, and a logistic curve."""

    scales: Mapping[str, Mapping[str, float]]
    weights: Mapping[str, Mapping[str, float]]
    slope: float
    shift: float

    @property
    def is_trained(self) -> bool:
        """True if it was trained with examples of both kinds."""
        return bool(self.scales)

    def logit(self, blocks: Blocks) -> float:
        """Return the log odds of being on topic."""
        margin = 0.0
        for name, scales in self.scales.items():
            vector = scale_block(blocks.get(name, {}), scales)
            weights = self.weights[name]
            margin += sum([weights[feature] * value for feature, value in vector.items()])
        return max(-MAX_LOGIT, min(MAX_LOGIT, self.slope * margin + self.shift))

    def score(self, blocks: Blocks) -> float:
        """Return the probability of being on topic."""
        return probability(self.logit(blocks))


UNDECIDED = Classifier({}, {}, 1.0, 0.0)  # An untrained classifier.


def probability(logit: float) -> float:
    """Return the probability of these log odds."""
    return 1.0 / (1.0 + exp(-max(-MAX_LOGIT, min(MAX_LOGIT, logit))))


def scale_block(counts: Mapping[str, int], scales: Mapping[str, float]) -> dict[str, float]:
    """Return a block as a unit vector of its known features."""
    vector = {feature: (1.0 + log(count)) * scales[feature] for feature, count in counts.items() if feature in scales}
    length = sqrt(sum([value * value for value in vector.values()]))
    return {feature: value / length for feature, value in vector.items()} if length else {}


class TrainedClassifier(NamedTuple):
    """A classifier, and its logit for each example as if that had been left out."""

    classifier: Classifier
    held_out_logits: list[float]


def train_classifier(examples: Sequence[LabelledBlocks], *, random: Random) -> TrainedClassifier:
    """Train a classifier. Without examples of both kinds everything is undecided (0.5)."""
    how = ClassifierSettings()
    labels = [example.on_topic for example in examples]
    if len(set(labels)) < 2:
        return TrainedClassifier(UNDECIDED, [0.0] * len(labels))
    # A block that only one kind of example has would separate them by its mere presence.
    names = sorted(_block_names(examples, on_topic=True) & _block_names(examples, on_topic=False))
    scales = {
        name: _scales([example.blocks.get(name, Counter()) for example in examples], labels, how) for name in names
    }
    rows = [_row(example.blocks, scales) for example in examples]
    vector, margins = _train_svm(rows, labels, how=how, random=random)
    weights = {name: {feature: vector.get((name, feature), 0.0) for feature in scales[name]} for name in names}
    slope, shift = _fit_curve(margins, labels)
    held_out = [max(-MAX_LOGIT, min(MAX_LOGIT, slope * margin + shift)) for margin in margins]
    return TrainedClassifier(Classifier(scales, weights, slope, shift), held_out)


def _block_names(examples: Sequence[LabelledBlocks], *, on_topic: bool) -> set[str]:
    return {
        name
        for example in examples
        if example.on_topic is on_topic
        for name, features in example.blocks.items()
        if features
    }


def _scales(counts: Sequence[Counter[str]], labels: Sequence[bool], how: ClassifierSettings) -> dict[str, float]:
    yes: Counter[str] = Counter()
    no: Counter[str] = Counter()
    for count, on_topic in zip(counts, labels, strict=True):
        (yes if on_topic else no).update(count.keys())
    least = min(how.least_pages, max(1, sum(labels) // 4))
    known = [feature for feature in yes.keys() | no.keys() if yes[feature] + no[feature] >= least]
    totals = [sum(side.values()) + how.added_count * len(known) for side in (yes, no)]
    shift = log(totals[1] / totals[0])
    return {
        feature: log((yes[feature] + how.added_count) / (no[feature] + how.added_count)) + shift
        for feature in sorted(known)
    }


_Row = list[tuple[tuple[str, str], float]]


def _row(blocks: Blocks, scales: Mapping[str, Mapping[str, float]]) -> _Row:
    return [
        ((name, feature), value)
        for name, known in scales.items()
        for feature, value in scale_block(blocks.get(name, {}), known).items()
    ]


def _train_svm(
    rows: Sequence[_Row], labels: Sequence[bool], *, how: ClassifierSettings, random: Random
) -> tuple[dict[tuple[str, str], float], list[float]]:
    """Return the weights, and the margin of each row as if it had been left out."""
    positives = sum(labels)
    costs = {True: how.cost * len(rows) / (2 * positives), False: how.cost * len(rows) / (2 * (len(rows) - positives))}
    weights: dict[tuple[str, str], float] = {}
    squares = [sum([value * value for _, value in row]) or 1.0 for row in rows]
    alphas = [0.0] * len(rows)
    margins = [0.0] * len(rows)
    order = list(range(len(rows)))
    for _ in range(how.rounds):
        random.shuffle(order)
        for place in order:
            row, sign, before = rows[place], 1.0 if labels[place] else -1.0, alphas[place]
            margin = sign * sum([weights.get(key, 0.0) * value for key, value in row])
            slack = 0.5 / costs[labels[place]]
            margins[place] = sign * (margin - before * squares[place])
            after = max(0.0, before - (margin - 1 + slack * before) / (squares[place] + slack))
            step = (after - before) * sign
            if step:
                alphas[place] = after
                for key, value in row:
                    weights[key] = weights.get(key, 0.0) + step * value
    return weights, margins


def _fit_curve(margins: Sequence[float], labels: Sequence[bool]) -> tuple[float, float]:
    """Fit slope and shift of a logistic curve to held-out margins (Platt 1999) by Newton's method.
    The share of positive examples is taken as expected, so 0.5 is the fair border."""
    slope, shift = 1.0, 0.0
    for _ in range(CURVE_ROUNDS):
        pull_a = pull_b = 0.0
        aa = ab = bb = RIDGE
        for margin, label in zip(margins, labels, strict=True):
            expected = probability(slope * margin + shift)
            missing, spread = label - expected, expected * (1.0 - expected)
            pull_a += missing * margin
            pull_b += missing
            aa += spread * margin * margin
            ab += spread * margin
            bb += spread
        size = (aa + RIDGE) * (bb + RIDGE) - ab * ab
        slope += max(-1.0, min(1.0, ((bb + RIDGE) * pull_a - ab * pull_b) / size))
        shift += max(-1.0, min(1.0, ((aa + RIDGE) * pull_b - ab * pull_a) / size))
        slope = max(MIN_SLOPE, min(MAX_SLOPE, slope))
    return slope, shift


LOGISTIC_ROUNDS = 25
LOGISTIC_RIDGE = 1.0  # Ridge penalty of every weight except the constant.
SignalValues = Mapping[str, float]  # Signal -> value; a missing signal is 0.


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """Weights of a few signals. Without any, the log odds are 0."""

    weights: Mapping[str, float]

    @property
    def is_trained(self) -> bool:
        """True if it was fitted."""
        return bool(self.weights)

    def logit(self, signs: SignalValues) -> float:
        """Return the log odds."""
        weights = self.weights
        return weights.get("", 0.0) + sum([weights.get(name, 0.0) * size for name, size in signs.items()])


def fit_logistic(rows: Sequence[SignalValues], labels: Sequence[bool]) -> LogisticModel:
    """Fit a logistic regression by Newton's method; empty without labels of both kinds."""
    if len(set(labels)) < 2:
        return LogisticModel({})
    names = sorted({name for row in rows for name in row})
    import numpy as np  # a crawl without a focus does not need it

    table = np.array([[1.0, *(row.get(name, 0.0) for name in names)] for row in rows])
    truth = np.array(labels, dtype=float)
    weights = np.zeros(table.shape[1])
    ridge = np.diag([1e-6] + [LOGISTIC_RIDGE] * len(names))
    for _ in range(LOGISTIC_ROUNDS):
        chance = 1.0 / (1.0 + np.exp(-np.clip(table @ weights, -30.0, 30.0)))
        pull = table.T @ (truth - chance) - ridge @ weights
        bend = (table * (chance * (1.0 - chance))[:, None]).T @ table + ridge
        weights += np.linalg.solve(bend, pull)
    return LogisticModel(dict(zip(["", *names], map(float, weights), strict=True)))


PARTS = 1000  # Shares are stored in parts of a thousand.

FeatureShares = dict[str, dict[str, float]]  # Block -> feature -> share of pages.


def parse_shares(table: str) -> FeatureShares:
    """Parse lines of block, feature and parts of a thousand."""
    shares: FeatureShares = defaultdict(dict)
    for line in table.splitlines():
        name, feature, parts = line.split("\t")
        shares[name][feature] = int(parts) / PARTS
    return dict(shares)


def sample_pages(shares: FeatureShares, *, pages: int, random: Random) -> Sequence[Blocks]:
    """Sample pages in which each feature occurs with the probability of its share."""
    return [
        {
            name: Counter([feature for feature, share in of.items() if random.random() < share])
            for name, of in shares.items()
        }
        for _ in range(pages if shares else 0)
    ]


HEADER = b"sketch 1\n"


MAX_PAGES = 200  # Examples that are used.


QUERY_BLOCKS = ("text", "title", "url", "inlinks")


class SketchPage(NamedTuple):
    """The features of an example page, or of a page made of a query's words (without a URL)."""

    url: str
    blocks: Blocks


@dataclass(frozen=True, slots=True)
class TopicSketch:
    """What is known of a topic before the crawl; at least one page."""

    pages: tuple[SketchPage, ...]
    background: FeatureShares  # The share of pages in general that have each feature, by block.

    def to_bytes(self) -> bytes:
        """Return the stored form."""
        return HEADER + zlib.compress(json.dumps([self.pages, self.background], separators=(",", ":")).encode())

    @classmethod
    def from_bytes(cls, stored: bytes) -> TopicSketch:
        """Read the stored form; raises ValueError for anything else."""
        try:
            pages, background = json.loads(inflate(stored.removeprefix(HEADER)))
            found = [
                SketchPage(url, {name: Counter(counts) for name, counts in blocks.items()}) for url, blocks in pages
            ]
            return cls(tuple(found), background)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("not a stored focus") from error


def is_sketch(stored: bytes) -> bool:
    """Check whether the stored form is of a sketch, and not of a topic that was learned beforehand."""
    return stored.startswith(HEADER)


def sketch_from_words(query: str, *, background: FeatureShares) -> TopicSketch:
    """Return the topic of a query; raises ValueError if it has no words."""
    words = Counter(words_of(query))
    if not words:
        raise ValueError("a query needs at least one word")
    return TopicSketch((SketchPage("", dict.fromkeys(QUERY_BLOCKS, words)),), background)


def sketch_from_pages(pages: Iterable[tuple[str, Document]], *, background: FeatureShares) -> TopicSketch:
    """Return the topic of example pages; raises ValueError if none has words."""
    found = [SketchPage(url, page_blocks(url, document)) for url, document in islice(pages, MAX_PAGES)]
    found = [page for page in found if page.blocks["text"] or page.blocks["title"]]
    if not found:
        raise ValueError("the example has no text")
    return TopicSketch(tuple(found), background)
