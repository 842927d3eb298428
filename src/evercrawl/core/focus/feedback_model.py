"""A topic given by one page or a few words, learned while crawling (pseudo-relevance feedback; Rocchio 1971).
The pages most like the example are taken as further examples, and all fetched pages as the background. To keep the
topic from drifting, the example counts as much as all pages found together, and pages with URLs of one form count
little more than one of them. Each page is compared with examples other than itself, so its score is held out."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evercrawl.core.focus.page_features import (
    MAX_ANCHOR_CHARS,
    MAX_LINKS,
    folder_of,
    is_home,
    link_contexts,
    link_direction,
    page_blocks,
    url_features,
    words_of,
)
from evercrawl.core.focus.sparse_rows import (
    Floats,
    Rows,
    SparseVector,
    Vocabulary,
    fit_near_prior,
    log_odds,
    logistic,
    widen,
)
from evercrawl.model.document import Document

PAGE_BLOCKS = ("text", "title", "url", "anchors", "targets", "shape", "inlinks")
LINK_BLOCKS = ("anchor", "around", "url", "source")
PRIOR_ROUNDS = 30
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class FeedbackPolicy:
    """How a topic is learned from few examples. Chosen on four topics of two small webs."""

    most_found: int = 12  # Pages most like the example that count as examples.
    rounds: int = 2
    strong_likeness: float = 0.6  # With as much likeness to the example, the pages found count as much as it.
    known_weight: float = 0.6  # How much less a page on topic counts than another when features are counted.
    steepness: float = 5.0  # How quickly scores change between pages on and off topic.
    min_distance: float = 0.15  # Least difference of scores between the middle and pages on topic.
    usual_low: float = 0.4  # Usual scores of pages off and on topic.
    usual_high: float = 1.5
    usual_spread: float = 0.25
    usual_pages: float = 30.0  # How many pages the usual scores count for.
    usual_share: float = 0.06  # Usual share of pages on topic; 0.5 is then the chance halfway between usual scores.
    prior_pages: float = 20.0  # How many pages the usual share counts for.
    rate_prior: float = 2.0  # Weight of the average among the targets of one source or of URLs of one form.
    ridge: float = 4.0  # How strongly the weights of signals are held at their prior.
    min_links: int = 5  # Links with a known target needed to adapt the weights of signals.
    hub_value: float = 1.0
    proximity_value: float = 0.2  # Value of a link from a seed, halved with each further step.


PageVectors = dict[str, SparseVector]


class PageSample(NamedTuple):
    """A page that the topic is learned from."""

    url: str
    vectors: PageVectors
    links: tuple[str, ...]  # Where it links to, without links up its own path.


def url_form(url: str) -> str:
    """Return a URL without its query, with `#` for each number."""
    return _NUMBER.sub("#", url.partition("?")[0])


def page_vectors(vocabulary: Vocabulary, url: str, document: Document) -> PageVectors:
    """Return the vectors of a page."""
    return {name: vocabulary.vector(counts) for name, counts in page_blocks(url, document).items()}


class PageModel:
    """What pages on topic look like: a centroid for each block, and the scores between which chances rise."""

    def __init__(
        self,
        samples: Sequence[PageVectors],
        forms: Sequence[str],
        *,
        examples: int,
        known: Sequence[float],
        background: Mapping[str, Floats],
        width: int,
        policy: FeedbackPolicy,
    ) -> None:
        """Learn from samples. The first `examples` of them are the examples, or the query; `known` are the chances
        known so far: what only pages on topic share is not common."""
        self._policy = policy
        self._examples = examples
        weights = 1.0 - policy.known_weight * np.array(known)
        self.rows = {name: Rows([sample[name] for sample in samples], width) for name in PAGE_BLOCKS}
        self.rarity = {name: rows.rarity(background.get(name), weights) for name, rows in self.rows.items()}
        for name, rows in self.rows.items():
            rows.scale(self.rarity[name])
        weights = np.zeros(len(samples))
        weights[:examples] = 1.0 / examples
        scores = first = self._compare(weights)
        for _ in range(policy.rounds):
            weights = self._choose(scores, first, forms)
            scores = self._compare(weights)
        self._centroids = {name: rows.centroid(weights) for name, rows in self.rows.items()}
        self._presence = {
            name: float(np.sqrt(weights @ rows.squares() / weights.sum())) for name, rows in self.rows.items()
        }
        low, high = self._typical_scores(scores)
        self._middle = (low + high) / 2.0
        self._distance = max((high - low) / 2.0, policy.min_distance)
        self._prior_shift = 0.0
        self._prior_shift = self._estimate_prior_shift(scores[examples:])
        self.chances = logistic(self._logits(scores))
        self.estimates = self._chance(scores)
        self.chances[:examples] = self.estimates[:examples] = 1.0

    def _compare(self, weights: Floats) -> Floats:
        """Return how much each sample is like the others with these weights: the sum of cosines of all blocks."""
        total = np.zeros(len(weights))
        for rows in self.rows.values():
            centroid = rows.centroid(weights)
            dot, own = rows.dot(centroid), rows.squares()
            square = (centroid * centroid).sum() - 2.0 * weights * dot + weights * weights * own
            cosine = (dot - own * weights) / np.sqrt(np.maximum(square, 1e-6))
            total += cosine * np.sqrt(weights @ own / weights.sum())  # A block that examples lack counts less.
        return total

    def _choose(self, scores: Floats, first: Floats, forms: Sequence[str]) -> Floats:
        """Return the weights of the example and of the pages most like it.
        Pages that are little like the example itself (by their first score) count little."""
        most = min(self._policy.most_found, max(1, len(scores) // 4))
        ranked = np.argsort(-scores, kind="stable").tolist()
        best = [number for number in ranked if number >= self._examples and scores[number] > 0][:most]
        weights = np.zeros(len(scores))
        seen: Counter[str] = Counter()
        for number in best:
            seen[forms[number]] += 1
            weights[number] = 1.0 / seen[forms[number]]
        if best:
            likeness = float(np.mean(first[best])) / self._policy.strong_likeness
            weights *= min(1.0, likeness**2) / weights.sum()
        weights[: self._examples] = 1.0 / self._examples
        return weights

    def _typical_scores(self, scores: Floats) -> tuple[float, float]:
        """Return the typical scores of pages off and on topic. With few pages, what is usual elsewhere counts more."""
        policy, others = self._policy, np.sort(scores[self._examples :])
        if not len(others):
            return policy.usual_low, policy.usual_high
        # Most pages may be on topic, so the median alone could be one of them.
        low = min(float(np.median(others)), float(np.quantile(others, 0.1)) + policy.usual_spread)
        best = float(np.mean(others[-5:]))
        high = (best + max(best, float(np.mean(scores[: self._examples])))) / 2.0
        share = len(others) / (len(others) + policy.usual_pages)
        return low, share * high + (1.0 - share) * max(policy.usual_high, low + 2.0 * policy.min_distance)

    def _estimate_prior_shift(self, scores: Floats) -> float:
        """Return by how much pages on topic are more frequent here than usual, in log odds, found by EM (Saerens 2002).
        A few pages of the usual kind are counted with the scores, so that few pages do not decide much."""
        policy = self._policy
        usual = float(log_odds(np.array([policy.usual_share]))[0])
        logits, shift = self._logits(scores), 0.0
        for _ in range(PRIOR_ROUNDS):
            expected = float(logistic(logits + shift).sum()) + policy.usual_share * policy.prior_pages
            share = expected / (len(scores) + policy.prior_pages)
            shift = float(log_odds(np.array([share]))[0]) - usual
        return shift

    def _logits(self, scores: Floats) -> Floats:
        found: Floats = self._policy.steepness * (scores - self._middle) / self._distance
        return found

    def _chance(self, scores: Floats) -> Floats:
        return logistic(self._logits(scores) + self._prior_shift)

    def chance(self, vectors: PageVectors, width: int) -> float:
        """Return the probability that a page that is no sample is on topic."""
        total = np.zeros(1)
        for name in PAGE_BLOCKS:
            rarity = widen(self.rarity[name], width, float(self.rarity[name].max(initial=1.0)))
            centroid = widen(self._centroids[name], width)
            length = max(float(np.sqrt((centroid * centroid).sum())), 1e-3)
            total += self._presence[name] * Rows([vectors[name]], width).scale(rarity).dot(centroid) / length
        return float(self._chance(total)[0])


class WaitingLink:
    """A link with everything that its value depends on."""

    __slots__ = ("folder", "form", "is_home", "source", "url", "vectors", "way")

    def __init__(self, source: str, url: str, vectors: dict[str, SparseVector]) -> None:
        self.source = source
        self.url = url
        self.vectors = vectors
        self.way = link_direction(source, url)
        self.is_home = is_home(url)
        self.folder = folder_of(url)
        self.form = url_form(self.folder)


def link_vectors(vocabulary: Vocabulary, url: str, *, anchor: str = "", around: str = "") -> dict[str, SparseVector]:
    """Return the vectors of a link."""
    return {
        "anchor": vocabulary.vector(Counter(words_of(anchor[:MAX_ANCHOR_CHARS]))),
        "around": vocabulary.vector(Counter(words_of(around[:MAX_ANCHOR_CHARS]))),
        "url": vocabulary.vector(Counter(url_features(url))),
        "source": vocabulary.vector({}),
    }


def waiting_links(vocabulary: Vocabulary, url: str, document: Document) -> list[WaitingLink]:
    """Return the links of a page."""
    title = vocabulary.vector(Counter(words_of((document.title or "")[:MAX_ANCHOR_CHARS])))
    found = []
    for link, around in zip(document.links[:MAX_LINKS], link_contexts(document), strict=False):
        vectors = link_vectors(vocabulary, link.url, anchor=link.text, around=around) | {"source": title}
        found.append(WaitingLink(url, link.url, vectors))
    return found


class ResolvedLink(NamedTuple):
    """A link whose target is a sample, with the sample's number."""

    link: WaitingLink
    number: int


# Weights before anything was learned, for links to pages on topic and to hubs: a constant, `LINK_BLOCKS`, the source on
# topic, the rates of source, citing pages and form; home, above, deeper, same folder, ancestor, part of the source.
PRIORS = (
    np.array([-3.0, 2.0, 0.5, 3.0, 1.0, -0.5, 1.2, 0.3, 0.4, 1.0, -0.3, -0.3, 0.0, 0.0, -1.0]),
    np.array([-3.0, 1.5, 0.5, 1.2, 0.3, 0.2, 0.4, 0.6, 0.0, 0.5, 0.5, -0.3, -0.3, 1.0, -0.7]),
)
MIN_COUNTED = 0.2  # A smaller chance of a link's target does not make its source a hub.
_HUB_LINKS = 2.0  # A page with links to as many pages on topic is a hub.
_VIEWS = {"anchor": "title", "url": "url"}  # Views of a page that are like views of a link to it.
_LIKE_BLOCK = {"anchor": "anchors", "around": "text", "source": "title"}  # Blocks of pages with the same background.
_IN_SHARE = 0.2  # Weight of one link to an example, relative to the example's own view.


class _Rates:
    """Mean labels of targets by a key, towards the overall mean."""

    def __init__(self, pairs: Iterable[tuple[str, int]], labels: Floats, *, prior: float, weight: float) -> None:
        self.sums: dict[str, float] = defaultdict(float)
        self.counts: Counter[str] = Counter()
        for key, number in dict.fromkeys(pairs):
            self.sums[key] += float(labels[number])
            self.counts[key] += 1
        self._prior, self._weight = prior, weight

    def signal(self, keys: Sequence[str], without: Floats | None = None) -> Floats:
        """Return the log odds of each key's mean above the overall one, without one label each if given."""
        sums = np.array([self.sums.get(key, 0.0) for key in keys])
        counts = np.array([self.counts.get(key, 0) for key in keys], dtype=float)
        if without is not None:
            sums, counts = sums - without, counts - 1.0
        mean = (sums + self._weight * self._prior) / (counts + self._weight)
        return log_odds(mean) - float(log_odds(np.array([self._prior]))[0])


class LinkModel:
    """The chance that a link leads to a page on topic, or to a hub."""

    def __init__(
        self,
        pages: PageModel,
        samples: Sequence[PageSample],
        known: Sequence[ResolvedLink],
        *,
        others: Sequence[WaitingLink],
        background: Mapping[str, Floats],
        hubs: Floats,
        width: int,
        policy: FeedbackPolicy,
    ) -> None:
        """Learn from links with known targets; `others` only tell which words are common."""
        self._policy = policy
        self._overall = max(float(pages.chances.mean()), 1.0 / (len(samples) + 1.0))
        self._ancestors = _ancestors(samples, pages.chances)
        scored = {sample.url: float(chance) for sample, chance in zip(samples, pages.chances, strict=True)}
        links = [target.link for target in known]
        self._numbers = np.array([target.number for target in known], dtype=np.int64)
        rows = {name: Rows([link.vectors[name] for link in links], width) for name in LINK_BLOCKS}
        seen = [*links, *others]
        self.rarity = {
            name: Rows([link.vectors[name] for link in seen], width).rarity(background.get(_LIKE_BLOCK.get(name, "")))
            for name in LINK_BLOCKS
        }
        self.rarity["url"] = pages.rarity["url"]
        self.rarity["anchor"] = (self.rarity["anchor"] + pages.rarity["title"]) / 2.0
        for name in LINK_BLOCKS:
            rows[name].scale(self.rarity[name])
        copies = np.bincount(self._numbers, minlength=len(samples))[self._numbers] if known else np.zeros(0)
        self._levels = [
            self._learn_level(pages, rows, links, scored, labels=labels, prior=prior, weights=1.0 / copies)
            for labels, prior in zip((pages.chances, hubs), PRIORS, strict=True)
        ]

    def _learn_level(
        self,
        pages: PageModel,
        rows: Mapping[str, Rows],
        links: Sequence[WaitingLink],
        scored: Mapping[str, float],
        *,
        labels: Floats,
        prior: Floats,
        weights: Floats,
    ) -> _LinkLevel:
        policy, numbers = self._policy, self._numbers
        overall = max(float(labels.mean()), 1.0 / (len(labels) + 1.0))
        own = labels[numbers]
        level = _LinkLevel(
            {name: rows[name].centroid(own * _IN_SHARE) for name in LINK_BLOCKS},
            _rates(links, numbers, labels, prior=overall, weight=policy.rate_prior, key="source"),
            _rates(links, numbers, labels, prior=overall, weight=policy.rate_prior, key="form"),
            prior,
        )
        for name, view in _VIEWS.items():
            level.centroids[name] += pages.rows[view].centroid(labels)
        if len(links) < policy.min_links:
            return level
        cosines = {}
        for name, row in rows.items():
            dot = row.dot(level.centroids[name]) - row.squares() * own * _IN_SHARE
            if name in _VIEWS:
                dot -= row.take(numbers, pages.rows[_VIEWS[name]]) * own
            cosines[name] = dot / max(float(np.sqrt((level.centroids[name] ** 2).sum())), 1e-9)
        table = self._table(links, cosines, level, scored, without=own)
        fitted = fit_near_prior(table, own, weights, prior=prior, ridge=policy.ridge)
        return level._replace(weights=fitted)

    def _table(
        self,
        links: Sequence[WaitingLink],
        cosines: Mapping[str, Floats],
        level: _LinkLevel,
        scored: Mapping[str, float],
        *,
        without: Floats | None = None,
    ) -> Floats:
        """Return the signals of the links, one row each."""
        source = np.array([scored.get(link.source, 0.0) for link in links])
        ways = {way: np.array([float(link.way == way) for link in links]) for way in ("above", "deeper", "same folder")}
        columns = (
            np.ones(len(links)),
            *(cosines[name] for name in LINK_BLOCKS),
            source,
            level.sources.signal([link.source for link in links], without),
            self._citing_rates(links, source),
            level.forms.signal([link.form for link in links], without),
            np.array([float(link.is_home) for link in links]),
            *ways.values(),
            np.array([self._ancestors.get(link.folder, 0.0) * link.is_home for link in links]),
            source * (ways["deeper"] + ways["same folder"]),
        )
        return np.stack(columns, axis=1)

    def _citing_rates(self, links: Sequence[WaitingLink], source: Floats) -> Floats:
        """Return the log odds of the mean chance of the pages that link to each target, above the overall mean."""
        sums: dict[str, float] = defaultdict(float)
        counts = Counter(link.url for link in links)
        for link, chance in zip(links, source.tolist(), strict=True):
            sums[link.url] += chance
        weight, prior = self._policy.rate_prior, self._overall
        means = [(sums[link.url] + weight * prior) / (counts[link.url] + weight) for link in links]
        return log_odds(np.array(means)) - float(log_odds(np.array([prior]))[0])

    def chances(self, links: Sequence[WaitingLink], scored: Mapping[str, float], width: int) -> list[Floats]:
        """Return the chances of each level for links with unknown targets."""
        rows = {
            name: Rows([link.vectors[name] for link in links], width).scale(
                widen(self.rarity[name], width, float(self.rarity[name].max(initial=1.0)))
            )
            for name in LINK_BLOCKS
        }
        found = []
        for level in self._levels:
            cosines = {}
            for name, row in rows.items():
                centroid = widen(level.centroids[name], width)
                cosines[name] = row.dot(centroid) / max(float(np.sqrt((centroid**2).sum())), 1e-9)
            found.append(logistic(self._table(links, cosines, level, scored) @ level.weights))
        return found


class _LinkLevel(NamedTuple):
    centroids: dict[str, Floats]
    sources: _Rates
    forms: _Rates
    weights: Floats


def _rates(
    links: Sequence[WaitingLink], numbers: Iterable[int], labels: Floats, *, prior: float, weight: float, key: str
) -> _Rates:
    pairs = ((str(getattr(link, key)), int(number)) for link, number in zip(links, numbers, strict=True))
    return _Rates(pairs, labels, prior=prior, weight=weight)


MIN_ANCESTOR = 0.3  # A page less likely on topic says nothing about the folders above it.


def _ancestors(samples: Sequence[PageSample], chances: Floats) -> dict[str, float]:
    """Return the folders above pages on topic, with the best chance below each: their first pages may be hubs."""
    found: dict[str, float] = {}
    for sample, chance in zip(samples, chances, strict=True):
        if chance <= MIN_ANCESTOR:
            continue
        folder = folder_of(sample.url)
        if is_home(sample.url):
            folder = folder_of(folder[:-1])
        while folder.count("/") > 3:
            found[folder] = max(found.get(folder, 0.0), float(chance))
            folder = folder_of(folder[:-1])
    return found


def hub_scores(samples: Sequence[PageSample], chances: Floats, expected: Mapping[str, float]) -> Floats:
    """Return how much of a hub each sample is: 1 if it links to two pages on topic, found or expected."""
    numbers = {sample.url: number for number, sample in enumerate(samples)}
    found = np.zeros(len(samples))
    for number, sample in enumerate(samples):
        for url in sample.links:
            target = numbers.get(url)
            chance = float(chances[target]) if target is not None else expected.get(url, 0.0)
            found[number] += chance if chance > MIN_COUNTED else 0.0
    return np.minimum(1.0, found / _HUB_LINKS)
