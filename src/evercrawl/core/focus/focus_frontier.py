"""The value of everything that waits in a focused crawl, updated as the crawl learns.
Hubs and authorities follow Kleinberg, as in the focused crawler of Chakrabarti, van den Berg and Dom (1999): a link
counts as much as its target is on topic, so a list of everything is not a hub of the topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import sqrt
from typing import Any, NamedTuple

from evercrawl.core.focus.classifier import probability
from evercrawl.core.focus.focus import TopicFolders
from evercrawl.core.focus.link_scorer import MAX_LINKS_IN, LinkScorer, LinkValues, Prospect
from evercrawl.core.focus.page_features import url_features
from evercrawl.model.document import Document

HITS_ROUNDS = 12  # Enough for a stable order of the first hundred on the webs that we tried.


class TopicHubs(NamedTuple):
    """Hub and authority scores of each page; the largest is 1."""

    hubs: dict[str, float]
    authorities: dict[str, float]


def distill_hubs(links: Mapping[str, Sequence[str]], relevance: Mapping[str, float]) -> TopicHubs:
    """Compute hubs and authorities among pages of known relevance."""
    edges = [
        (source, target, relevance[target])
        for source, targets in links.items()
        for target in dict.fromkeys(targets)
        if target in relevance and target != source
    ]
    hubs = dict.fromkeys(links, 1.0)
    authorities: dict[str, float] = {}
    for _ in range(HITS_ROUNDS):
        authorities = _normalised(_sum_by_page((target, hubs[source] * weight) for source, target, weight in edges))
        hubs = _normalised(_sum_by_page((source, authorities[target] * weight) for source, target, weight in edges))
        hubs = {source: hubs.get(source, 0.0) for source in links}
    return TopicHubs(_largest_one(hubs), _largest_one(authorities))


def _sum_by_page(shares: Iterable[tuple[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for page, share in shares:
        total[page] = total.get(page, 0.0) + share
    return total


def _normalised(values: dict[str, float]) -> dict[str, float]:
    length = sqrt(sum([value * value for value in values.values()])) or 1.0
    return {page: value / length for page, value in values.items()}


def _largest_one(values: dict[str, float]) -> dict[str, float]:
    largest = max(values.values(), default=0.0) or 1.0
    return {page: value / largest for page, value in values.items()}


UPDATE_EVERY = 10  # Pages between two updates of the waiting URLs.
MAX_UPDATED = 5_000  # Best waiting URLs that are updated at a time. Others wait for a new link.
MAX_SOURCES = 5_000  # Most recent pages whose links the hub scores use.
MIN_PROMISE = 0.05
"""If no example taught what hubs are, a smaller chance counts as none, or every long list would be one."""


class FocusFrontier(LinkValues[Prospect]):
    """Waiting URLs and what is known of them. Invariant: each has the value of the best link to it."""

    max_waiting = 100_000

    def __init__(
        self, scorer: LinkScorer, seeds: Iterable[str] = (), *, is_allowed: Callable[[str], bool] = lambda _: True
    ) -> None:
        super().__init__(seeds, is_allowed)
        self.scorer = scorer
        self.waiting = {seed: [] for seed in self.values}
        self._on_topic = 0.0
        self._seen = set(self.values)
        self._links: dict[str, list[str]] = {}
        self._hubs: dict[str, float] = {}

    @property
    def on_topic(self) -> float:
        """The expected number of fetched pages on topic."""
        return self._on_topic

    def _url_chance(self, url: str) -> float:
        return probability(self.scorer.focus.pages.logit({"url": Counter(url_features(url))}))

    def _redirected(self, link: Prospect, target: str) -> Prospect:
        return link._replace(url=target)

    def _was_seen(self, url: str) -> bool:
        return url in self._seen

    def add_seed(self, url: str) -> None:
        """Put a URL before all others."""
        super().add_seed(url)
        self._seen.add(url)

    def follow_redirect(self, url: str, target: str) -> None:
        """Move what was expected of a URL to its redirect target."""
        super().follow_redirect(url, target)
        self._seen.add(target)

    def add_page(self, url: str, document: Document) -> float:
        """Learn from a fetched page and add its links; return its own score."""
        found = self.scorer.score_page(url, document, depth=self._depths.pop(url, 0))
        links_here = self.waiting.pop(url, [])
        self.values.pop(url, None)
        self._seen.add(url)
        prospects = [prospect for prospect in found.prospects if self._is_allowed(prospect.url)]
        self._record_page(url, found.score, prospects)
        self.scorer.learn(links_here, found.score, promise=self._add_links(prospects))
        self._update_values(dict.fromkeys(prospect.url for prospect in prospects))
        if self.fetched % UPDATE_EVERY == 0:
            self._hubs = distill_hubs(self._links, self._scores).hubs
            self._update_values(self._best(MAX_UPDATED))
        return found.page_score

    def _record_page(self, url: str, score: float, prospects: list[Prospect]) -> None:
        self.fetched += 1
        self._on_topic += score
        self._links[url] = [prospect.url for prospect in prospects]
        self._scores[url] = score
        if len(self._links) > MAX_SOURCES:
            oldest = next(iter(self._links))
            del self._links[oldest], self._scores[oldest]

    def _add_links(self, prospects: Iterable[Prospect]) -> float:
        """Add the links; return how many pages on topic the new ones promise."""
        promise = 0.0
        least = 0.0 if self.scorer.focus.levels[1].signals.is_trained else MIN_PROMISE
        for prospect in prospects:
            url = prospect.url
            if url not in self._seen and len(self.waiting) < self.max_waiting:
                self._seen.add(url)
                self.waiting[url] = []
                self._depths[url] = prospect.depth
                chance = self.scorer.chances(prospect)[0]
                promise += chance if chance >= least else 0.0
            if url in self.waiting and len(self.waiting[url]) < MAX_LINKS_IN:
                self.waiting[url].append(prospect)
        return promise

    def _update_values(self, urls: Iterable[str]) -> None:
        for url in urls:
            if self.waiting.get(url):
                values = [
                    self.scorer.value(prospect, hub=self._hubs.get(prospect.source, 0.0))
                    for prospect in self.waiting[url]
                ]
                self.values[url] = max(values)

    def to_bytes(self) -> bytes:
        """Return what the crawl has learned and what waits."""
        weights = [[[*key, value] for key, value in of.items()] for of in self.scorer.weights]
        places = self.scorer.topic_folders.urls()
        return self._stored({"on_topic": self._on_topic, "weights": weights, "places": places})

    def _restore(self, fields: dict[str, Any]) -> None:
        self._on_topic = fields["on_topic"]
        for weights, rows in zip(self.scorer.weights, fields["weights"], strict=True):
            weights.update({(block, name): value for block, name, value in rows})
        self.scorer.topic_folders = TopicFolders(fields["places"])
        self._seen.update(fields["values"])
