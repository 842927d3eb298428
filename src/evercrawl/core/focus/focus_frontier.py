"""Which of the pages seen lead to many good ones? Hubs and authorities, weighted by relevance.

Kleinberg's rule as the focused crawler of Chakrabarti, van den Berg and Dom (1999) uses it: a link counts as
much as its target is on topic, so that a list of everything does not become a hub of the topic.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nlargest
from math import inf, sqrt
from typing import Any, NamedTuple

from evercrawl.core.focus.classifier import probability
from evercrawl.core.focus.focus import TopicFolders
from evercrawl.core.focus.link_scorer import LinkScorer, Prospect
from evercrawl.core.focus.page_features import url_features
from evercrawl.model.document import Document

HITS_ROUNDS = 12
"""Enough for the order of the first hundred to stay on the webs that we tried."""


class HubScores(NamedTuple):
    """Hub and authority of each page, largest 1."""

    hubs: dict[str, float]
    authorities: dict[str, float]


def distill_hubs(links: Mapping[str, Sequence[str]], relevance: Mapping[str, float]) -> HubScores:
    """The hubs and authorities among pages whose relevance is known."""
    edges = [
        (source, target, relevance[target])
        for source, targets in links.items()
        for target in dict.fromkeys(targets)
        if target in relevance and target != source
    ]
    hubs = dict.fromkeys(links, 1.0)
    authorities: dict[str, float] = {}
    for _ in range(HITS_ROUNDS):
        authorities = _unit(_gathered((target, hubs[source] * weight) for source, target, weight in edges))
        hubs = _unit(_gathered((source, authorities[target] * weight) for source, target, weight in edges))
        hubs = {source: hubs.get(source, 0.0) for source in links}
    return HubScores(_largest_one(hubs), _largest_one(authorities))


def _gathered(shares: Iterable[tuple[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for page, share in shares:
        total[page] = total.get(page, 0.0) + share
    return total


def _unit(values: dict[str, float]) -> dict[str, float]:
    length = sqrt(sum([value * value for value in values.values()])) or 1.0
    return {page: value / length for page, value in values.items()}


def _largest_one(values: dict[str, float]) -> dict[str, float]:
    largest = max(values.values(), default=0.0) or 1.0
    return {page: value / largest for page, value in values.items()}


WEIGHED_AGAIN_EVERY = 10
"""Pages between two looks at what waits."""
MOST_WEIGHED = 5_000
"""Waiting URLs that are weighed again at a time, the best ones; others when a new link leads to them."""
MOST_LINKS_IN = 5
"""Links to one waiting page that are remembered."""
MOST_WAITING = 100_000
"""Beyond this the links of new pages are only judged by their URL when their turn comes, the seeds never."""
MOST_SOURCES = 5_000
"""Pages of which the distiller knows the links, the last ones."""
MOST_SAVED = 20_000
"""Waiting URLs whose value is saved, the best ones; others are judged by their URL after a restart."""
MOST_URL_VALUE = 0.3
"""What a URL that no known link led to is worth at most."""
LEAST_PROMISE = 0.05
"""Where no example taught what hubs are, a smaller chance is none: else every long list would be one."""
ON_TOPIC = 0.5
FORMAT = 1


class FocusFrontier:
    """URLs that wait, and what is known of them. Invariant: each has the value of the best link to it."""

    def __init__(
        self, steering: LinkScorer, seeds: Iterable[str] = (), *, admits: Callable[[str], bool] = lambda _: True
    ) -> None:
        self.scorer = steering
        self.fetched = 0
        self.on_topic = 0
        self._admits = admits
        self.waiting: dict[str, list[Prospect]] = {seed: [] for seed in seeds}
        self.values: dict[str, float] = dict.fromkeys(self.waiting, inf)
        self._seen = set(self.waiting)
        self._depths = dict.fromkeys(self.waiting, 0)
        self._links: dict[str, list[str]] = {}
        self._scores: dict[str, float] = {}
        self._hubs: dict[str, float] = {}

    @property
    def harvest_ratio(self) -> float:
        """The share of fetched pages that are on topic, 0 before the first."""
        return self.on_topic / self.fetched if self.fetched else 0.0

    def value_of(self, url: str) -> float:
        """What fetching a URL is worth now, larger first; one that no link led to is judged by itself."""
        known = self.values.get(url)
        return known if known is not None else self._by_itself(url)

    def _by_itself(self, url: str) -> float:
        features = Counter(url_features(url))
        value = MOST_URL_VALUE * probability(self.scorer.focus.pages.logit({"url": features}))
        if len(self.values) < MOST_WAITING:
            self.values[url] = value
        return value

    def add_seed(self, url: str) -> None:
        """Before everything else."""
        self.values[url] = inf
        self._depths.setdefault(url, 0)
        self._seen.add(url)

    def follow_redirect(self, url: str, target: str) -> None:
        """A redirect leads on: what was expected here is expected there."""
        value = self.values.pop(url, None)
        led_here = self.waiting.pop(url, [])
        if target in self._seen or value is None:
            return
        self._seen.add(target)
        self.values[target] = value
        self._depths[target] = self._depths.get(url, 0)
        if led_here:
            self.waiting[target] = [prospect._replace(url=target) for prospect in led_here]

    def discard(self, url: str) -> None:
        """The URL gave nothing."""
        self.values.pop(url, None)
        self.waiting.pop(url, None)

    def add_page(self, url: str, document: Document) -> float:
        """Take in a fetched page: learn from it, remember its links; gives back its score by itself."""
        found = self.scorer.score_page(url, document, depth=self._depths.pop(url, 0))
        led_here = self.waiting.pop(url, [])
        self.values.pop(url, None)
        self._seen.add(url)
        prospects = [prospect for prospect in found.prospects if self._admits(prospect.url)]
        self._remember(url, found.score, prospects)
        self.scorer.learn(led_here, found.score, promise=self._take_in(prospects))
        self._weigh(dict.fromkeys(prospect.url for prospect in prospects))
        if self.fetched % WEIGHED_AGAIN_EVERY == 0:
            self._hubs = distill_hubs(self._links, self._scores).hubs
            self._weigh(self._best(MOST_WEIGHED))
        return found.page_score

    def _remember(self, url: str, score: float, prospects: list[Prospect]) -> None:
        self.fetched += 1
        self.on_topic += score > ON_TOPIC
        self._links[url] = [prospect.url for prospect in prospects]
        self._scores[url] = score
        if len(self._links) > MOST_SOURCES:
            oldest = next(iter(self._links))
            del self._links[oldest], self._scores[oldest]

    def _take_in(self, prospects: Iterable[Prospect]) -> float:
        """Remember the links; gives back how many pages on topic the new ones promise."""
        promise = 0.0
        least = 0.0 if self.scorer.focus.levels[1].signals.is_trained else LEAST_PROMISE
        for prospect in prospects:
            url = prospect.url
            if url not in self._seen and len(self.waiting) < MOST_WAITING:
                self._seen.add(url)
                self.waiting[url] = []
                self._depths[url] = prospect.depth
                chance = self.scorer.chances(prospect)[0]
                promise += chance if chance >= least else 0.0
            if url in self.waiting and len(self.waiting[url]) < MOST_LINKS_IN:
                self.waiting[url].append(prospect)
        return promise

    def _best(self, most: int) -> list[str]:
        if len(self.values) <= most:
            return list(self.values)
        return nlargest(most, self.values, key=self.values.__getitem__)

    def _weigh(self, urls: Iterable[str]) -> None:
        for url in urls:
            if self.waiting.get(url):
                values = [
                    self.scorer.value(prospect, hub=self._hubs.get(prospect.source, 0.0))
                    for prospect in self.waiting[url]
                ]
                self.values[url] = max(values)

    def to_bytes(self) -> bytes:
        """What the crawl has learned and what waits, for `recall`."""
        best = self._best(MOST_SAVED)
        fields = {
            "format": FORMAT,
            "fetched": self.fetched,
            "on_topic": self.on_topic,
            "weights": [[[*key, value] for key, value in of.items()] for of in self.scorer.weights],
            "places": self.scorer.topic_folders.urls(),
            "values": {url: round(self.values[url], 4) for url in best if self.values[url] < inf},
        }
        return zlib.compress(json.dumps(fields, separators=(",", ":")).encode(), 1)

    def restore(self, stored: bytes) -> None:
        """Go on where `to_bytes` was called; raises ValueError for anything else."""
        try:
            fields: dict[str, Any] = json.loads(zlib.decompress(stored))
            if fields["format"] != FORMAT:
                raise ValueError("the stored state of the focus is of another format")
            self.fetched, self.on_topic = fields["fetched"], fields["on_topic"]
            for weights, rows in zip(self.scorer.weights, fields["weights"], strict=True):
                weights.update({(block, name): value for block, name, value in rows})
            self.scorer.topic_folders = TopicFolders(fields["places"])
            self.values.update(fields["values"])
            self._seen.update(fields["values"])
        except (zlib.error, KeyError, TypeError, AttributeError) as error:
            raise ValueError("not a stored state of a focus") from error


class FocusedQueue:
    """URLs that wait. Invariant: a URL is handed out once."""

    def __init__(self, steering: LinkScorer, seeds: Iterable[str], *, admits: Callable[[str], bool]) -> None:
        self.frontier = FocusFrontier(steering, seeds, admits=admits)
        self._done: set[str] = set()

    def next(self) -> str | None:
        """The URL to fetch now; None when nothing waits."""
        values = self.frontier.values
        waiting = (url for url in values if url not in self._done)
        url = max(waiting, key=values.__getitem__, default=None)
        if url is not None:
            self._done.add(url)
        return url

    def add_page(self, url: str, document: Document) -> float:
        """Take in a fetched page; gives back its score."""
        return self.frontier.add_page(url, document)
