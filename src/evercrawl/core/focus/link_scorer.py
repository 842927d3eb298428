"""Score links by the topic, corrected by what the crawl has found so far.
A link is worth the chance of a page on topic plus that of a hub, so a crawl tunnels through pages off topic. Each page
updates both by a step of logistic regression over the words, folders and sources of the links to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import exp, sqrt
from typing import NamedTuple

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
