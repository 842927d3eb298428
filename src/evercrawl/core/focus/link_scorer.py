"""Score links by the topic, corrected by what the crawl has found so far.
A link is worth the chance of a page on topic plus that of a hub, so a crawl tunnels through pages off topic. Each page
updates both by a step of logistic regression over the words, folders and sources of the links to it."""

from __future__ import annotations

import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from math import exp, inf, sqrt
from typing import Any, Generic, NamedTuple, TypeVar

from evercrawl.core.document.compression import inflate
from evercrawl.core.focus.classifier import probability
from evercrawl.core.focus.focus import LEVELS, Focus, LinkLogits, TopicFolders, links_with_blocks
from evercrawl.core.focus.page_features import Blocks, folder_of
from evercrawl.model.document import Document

SOURCE_WEIGHT = 2.0  # Weight of the source page relative to the words of a link: where one link led, others lead too.
Key = tuple[str, str]
Weights = dict[Key, float]


@dataclass(frozen=True, slots=True)
class LinkScorerPolicy:
    """How strongly a crawl learns. Tuned by hand on two small webs."""

    level_values: tuple[float, ...] = (1.0, 1.0)  # Values of a page on topic and of a hub.
    proximity_value: float = 0.1  # Value of a link from a seed, halved with each further step.
    hub_bonus: float = 0.1  # Bonus for a link of the strongest hub.
    rate: float = 0.5
    caution: float = 1.0  # Log odds by which a page must exceed even chances before its links count as good.
    max_features: int = 200_000  # Words, folders and sources that are learned.


class Prospect(NamedTuple):
    """A waiting link with everything that its value depends on."""

    url: str
    source: str
    depth: int
    logits: LinkLogits
    features: tuple[tuple[Key, float], ...]


class ScoredPage(NamedTuple):
    """A page's score with and without its location, and its links in order."""

    score: float
    page_score: float
    prospects: list[Prospect]


@dataclass(slots=True)
class LinkScorer:
    """What one crawl has learned beyond its examples. Bounded; the same visits give the same state."""

    focus: Focus
    policy: LinkScorerPolicy = field(default_factory=LinkScorerPolicy)
    topic_folders: TopicFolders = field(default_factory=TopicFolders)
    weights: tuple[Weights, ...] = field(default_factory=lambda: tuple({} for _ in range(LEVELS)))

    def score_page(self, url: str, document: Document, *, depth: int) -> ScoredPage:
        """Return the page's score and its links. Only learns where pages on topic are."""
        logit = self.focus.logit(url, document)
        score = probability(self.focus.located_logit(logit, self.topic_folders.location(url)))
        if score > 0.5:
            self.topic_folders.add(url)
        prospects = []
        for link, blocks in links_with_blocks(url, document, on_topic=score > 0.5):
            logits, features = self.focus.link_logits(url, logit, link, blocks), _features(url, link.url, blocks)
            prospects.append(Prospect(link.url, url, depth + 1, logits, features))
        return ScoredPage(score, probability(logit), prospects)

    def value(self, prospect: Prospect, *, hub: float = 0.0) -> float:
        """Return the priority of a link; `hub` is the hub score of its source, 0 to 1."""
        policy = self.policy
        near = policy.proximity_value * 0.5**prospect.depth
        chances = self.chances(prospect)
        value = sum([chance * value for chance, value in zip(chances, policy.level_values, strict=True)])
        return value + near + policy.hub_bonus * hub

    def chances(self, prospect: Prospect) -> list[float]:
        """Return the chance that the link leads to a page of each level."""
        place = self.topic_folders.location(prospect.url)
        return [
            probability(logit + self.focus.location_logit(level, place) + _sum(weights, prospect.features))
            for level, (logit, weights) in enumerate(zip(prospect.logits, self.weights, strict=True))
        ]

    def learn(self, links_here: Sequence[Prospect], score: float, *, promise: float) -> None:
        """Learn that these links led to a page of this score, whose new links promise `promise` more."""
        odds = score / max(1e-12, 1.0 - score)
        rewards = (odds / (odds + exp(self.policy.caution)), min(1.0, promise))
        for prospect in links_here:
            for weights, reward, chance in zip(self.weights, rewards, self.chances(prospect), strict=True):
                self._step(weights, prospect, reward - chance)

    def _step(self, weights: Weights, prospect: Prospect, error: float) -> None:
        step = self.policy.rate * error
        is_full = len(weights) >= self.policy.max_features
        for key, size in prospect.features:
            if not is_full or key in weights:
                weights[key] = weights.get(key, 0.0) + step * size


def _features(source: str, target: str, blocks: Blocks) -> tuple[tuple[Key, float], ...]:
    """Return the words of each block, scaled to length one, with the source and folder of the link."""
    found: list[tuple[Key, float]] = [(("always", ""), 1.0), (("page", source), SOURCE_WEIGHT)]
    folder = folder_of(target)
    found += [(("folder", folder), 0.7), (("above", folder_of(folder[:-1])), 0.5)]
    for name, counts in blocks.items():
        if counts:
            size = 1.0 / sqrt(len(counts))
            found += [((name, feature), size) for feature in counts]
    return tuple(found)


def _sum(weights: Weights, features: Iterable[tuple[Key, float]]) -> float:
    return sum([weights[key] * size for key, size in features if key in weights])


MAX_LINKS_IN = 5  # Links kept per waiting page.
MAX_SAVED = 20_000  # Best waiting URLs whose value is stored. Others are judged by their URL after a restart.
MAX_URL_VALUE = 0.3  # Largest value of a URL without a known link to it.
FORMAT = 1

L = TypeVar("L")


class LinkValues(ABC, Generic[L]):
    """Waiting URLs and what is known of them."""

    max_waiting: int  # Waiting URLs whose links are kept. Others are valued once, by their URL.

    def __init__(self, seeds: Iterable[str], is_allowed: Callable[[str], bool]) -> None:
        self.values: dict[str, float] = dict.fromkeys(seeds, inf)
        self.waiting: dict[str, list[L]] = {}
        self.fetched = 0
        self._is_allowed = is_allowed
        self._depths = dict.fromkeys(self.values, 0)
        self._scores: dict[str, float] = {}

    @property
    @abstractmethod
    def on_topic(self) -> float:
        """The expected number of fetched pages on topic."""

    @property
    def harvest_ratio(self) -> float:
        """The share of fetched pages that are on topic, estimated; 0 before the first."""
        return self.on_topic / self.fetched if self.fetched else 0.0

    @abstractmethod
    def _url_chance(self, url: str) -> float:
        """Return the chance that a URL without a known link is on topic."""

    @abstractmethod
    def _redirected(self, link: L, target: str) -> L:
        """Return the link with another target."""

    @abstractmethod
    def _was_seen(self, url: str) -> bool:
        """Return whether a URL waits or was fetched."""

    def value_of(self, url: str) -> float:
        """Return the value of fetching a URL; without a known link, by the URL alone."""
        known = self.values.get(url, self._scores.get(url))
        if known is not None:
            return known
        value = MAX_URL_VALUE * self._url_chance(url)
        if len(self.values) < self.max_waiting:
            self.values[url] = value
        return value

    def add_seed(self, url: str) -> None:
        """Put a URL before all others."""
        self.values[url] = inf
        self._depths.setdefault(url, 0)

    def follow_redirect(self, url: str, target: str) -> None:
        """Move what was expected of a URL to its redirect target."""
        value = self.values.pop(url, None)
        links = self.waiting.pop(url, [])
        if value is None or self._was_seen(target):
            return
        self.values[target] = value
        self._depths[target] = self._depths.get(url, 0)
        if links:
            self.waiting[target] = [self._redirected(link, target) for link in links]

    def discard(self, url: str) -> None:
        """Forget a URL that yielded nothing."""
        self.values.pop(url, None)
        self.waiting.pop(url, None)

    def _best(self, most: int) -> list[str]:
        if len(self.values) <= most:
            return list(self.values)
        return nlargest(most, self.values, key=self.values.__getitem__)

    def _stored(self, fields: dict[str, Any]) -> bytes:
        """Return the stored form: what a frontier has learned, and what waits."""
        values = {url: round(self.values[url], 4) for url in self._best(MAX_SAVED) if self.values[url] < inf}
        fields = {"format": FORMAT, "fetched": self.fetched, **fields, "values": values}
        return zlib.compress(json.dumps(fields, separators=(",", ":")).encode(), 1)

    def restore(self, stored: bytes) -> None:
        """Continue from `to_bytes`; raises ValueError for anything else."""
        try:
            fields: dict[str, Any] = json.loads(inflate(stored))
            if fields["format"] != FORMAT:
                raise ValueError("the stored state of the focus is of another format")
            self.fetched = fields["fetched"]
            self.values.update(fields["values"])
            self._restore(fields)
        except (KeyError, TypeError, AttributeError, OverflowError) as error:
            raise ValueError("not a stored state of a focus") from error

    @abstractmethod
    def _restore(self, fields: dict[str, Any]) -> None:
        """Read what the frontier has learned."""
