"""Which link next? What is known of the topic, corrected by what the crawl itself found so far.

A link is worth the chance that it leads to a page on topic, plus the chance that it leads to a hub of such
pages: so a crawl tunnels through pages that are off topic themselves. Both chances are learned further after
each page, by one step of logistic regression over the words, folders and sources of the links that led to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import exp, sqrt
from typing import NamedTuple

from evercrawl.core.focus.classifier import probability
from evercrawl.core.focus.focus import LEVELS, Focus, LinkLogits, TopicFolders, links_with_blocks
from evercrawl.core.focus.page_features import Blocks, folder_of
from evercrawl.model.document import Document

SOURCE_SIZE = 2.0
"""How much the page that a link stands on counts beside its words: where one link led, others lead too."""
Key = tuple[str, str]
Weights = dict[Key, float]


@dataclass(frozen=True, slots=True)
class LinkScorerPolicy:
    """How strongly a crawl learns on its way; found on two of the small webs, by hand."""

    level_values: tuple[float, ...] = (1.0, 1.0)
    """What a page on topic and a hub are worth."""
    nearness_value: float = 0.1
    """Of a link from a seed; half of it with each further step."""
    hub_bonus: float = 0.1
    """For a link of the strongest hub that the distiller knows."""
    rate: float = 0.5
    caution: float = 1.0
    """Log odds by which a page must be more than likely before its links are taken for good ones."""
    most_features: int = 200_000
    """Beyond this no new words, folders and sources are learned."""


class Prospect(NamedTuple):
    """One link that waits, with all that its value depends on."""

    url: str
    source: str
    depth: int
    logits: LinkLogits
    features: tuple[tuple[Key, float], ...]


class ScoredPage(NamedTuple):
    """What a page gave: how likely it is on topic in its place and by itself, and its links in order."""

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
        """The page's score and its links as prospects; learns only where pages on topic lie."""
        logit = self.focus.logit(url, document)
        score = probability(self.focus.located_logit(logit, self.topic_folders.location(url)))
        if score > 0.5:
            self.topic_folders.add(url)
        prospects = [
            Prospect(
                link.url, url, depth + 1, self.focus.link_logits(url, logit, link, blocks), _features(url, link.url, blocks)
            )
            for link, blocks in links_with_blocks(url, document, on_topic=score > 0.5)
        ]
        return ScoredPage(score, probability(logit), prospects)

    def value(self, prospect: Prospect, *, hub: float = 0.0) -> float:
        """The priority of a link, larger first; `hub` is what the distiller says of its source, 0 to 1."""
        policy = self.policy
        near = policy.nearness_value * 0.5**prospect.depth
        chances = self.chances(prospect)
        worth = sum([chance * worth for chance, worth in zip(chances, policy.level_values, strict=True)])
        return worth + near + policy.hub_bonus * hub

    def chances(self, prospect: Prospect) -> list[float]:
        """How likely the link leads to a page of each level."""
        place = self.topic_folders.location(prospect.url)
        return [
            probability(outlook + self.focus.location_logit(level, place) + _sum(weights, prospect.features))
            for level, (outlook, weights) in enumerate(zip(prospect.logits, self.weights, strict=True))
        ]

    def learn(self, led_here: Sequence[Prospect], score: float, *, promise: float) -> None:
        """Take in that these links led to a page of this score, whose new links promise so many more."""
        odds = score / max(1e-12, 1.0 - score)
        rewards = (odds / (odds + exp(self.policy.caution)), min(1.0, promise))
        for prospect in led_here:
            for weights, reward, chance in zip(self.weights, rewards, self.chances(prospect), strict=True):
                self._step(weights, prospect, reward - chance)

    def _step(self, weights: Weights, prospect: Prospect, error: float) -> None:
        step = self.policy.rate * error
        is_full = len(weights) >= self.policy.most_features
        for key, size in prospect.features:
            if not is_full or key in weights:
                weights[key] = weights.get(key, 0.0) + step * size


def _features(source: str, target: str, blocks: Blocks) -> tuple[tuple[Key, float], ...]:
    """The words of each view, as long as one together, and where the link comes from and leads to."""
    found: list[tuple[Key, float]] = [(("always", ""), 1.0), (("page", source), SOURCE_SIZE)]
    folder = folder_of(target)
    found += [(("folder", folder), 0.7), (("above", folder_of(folder[:-1])), 0.5)]
    for name, counts in blocks.items():
        if counts:
            size = 1.0 / sqrt(len(counts))
            found += [((name, feature), size) for feature in counts]
    return tuple(found)


def _sum(weights: Weights, features: Iterable[tuple[Key, float]]) -> float:
    return sum([weights[key] * size for key, size in features if key in weights])
