"""What everything that waits is worth in a focused crawl, weighed again every few pages as it learns."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from heapq import nlargest
from math import inf
from typing import Any

from evercrawl.core.focus.classifier import probability
from evercrawl.core.focus.distiller import distilled
from evercrawl.core.focus.feature import url_features
from evercrawl.core.focus.place import Places
from evercrawl.core.focus.priority import Prospect, Steering
from evercrawl.model.document import Document

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


class Board:
    """URLs that wait, and what is known of them. Invariant: each has the value of the best link to it."""

    def __init__(
        self, steering: Steering, seeds: Iterable[str] = (), *, admits: Callable[[str], bool] = lambda _: True
    ) -> None:
        self.steering = steering
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
        value = MOST_URL_VALUE * probability(self.steering.focus.pages.logit({"url": features}))
        if len(self.values) < MOST_WAITING:
            self.values[url] = value
        return value

    def seed(self, url: str) -> None:
        """Before everything else."""
        self.values[url] = inf
        self._depths.setdefault(url, 0)
        self._seen.add(url)

    def moved(self, url: str, target: str) -> None:
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

    def drop(self, url: str) -> None:
        """The URL gave nothing."""
        self.values.pop(url, None)
        self.waiting.pop(url, None)

    def saw(self, url: str, document: Document) -> float:
        """Take in a fetched page: learn from it, remember its links; gives back its score by itself."""
        found = self.steering.found(url, document, depth=self._depths.pop(url, 0))
        led_here = self.waiting.pop(url, [])
        self.values.pop(url, None)
        self._seen.add(url)
        prospects = [prospect for prospect in found.prospects if self._admits(prospect.url)]
        self._remember(url, found.score, prospects)
        self.steering.learn(led_here, found.score, promise=self._take_in(prospects))
        self._weigh(dict.fromkeys(prospect.url for prospect in prospects))
        if self.fetched % WEIGHED_AGAIN_EVERY == 0:
            self._hubs = distilled(self._links, self._scores).hubs
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
        least = 0.0 if self.steering.focus.levels[1].signs.knows_anything else LEAST_PROMISE
        for prospect in prospects:
            url = prospect.url
            if url not in self._seen and len(self.waiting) < MOST_WAITING:
                self._seen.add(url)
                self.waiting[url] = []
                self._depths[url] = prospect.depth
                chance = self.steering.chances(prospect)[0]
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
                    self.steering.value(prospect, hub=self._hubs.get(prospect.source, 0.0))
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
            "weights": [[[*key, value] for key, value in of.items()] for of in self.steering.weights],
            "places": self.steering.places.urls(),
            "values": {url: round(self.values[url], 4) for url in best if self.values[url] < inf},
        }
        return zlib.compress(json.dumps(fields, separators=(",", ":")).encode(), 1)

    def recall(self, stored: bytes) -> None:
        """Go on where `to_bytes` was called; raises ValueError for anything else."""
        try:
            fields: dict[str, Any] = json.loads(zlib.decompress(stored))
            if fields["format"] != FORMAT:
                raise ValueError("the stored state of the focus is of another format")
            self.fetched, self.on_topic = fields["fetched"], fields["on_topic"]
            for weights, rows in zip(self.steering.weights, fields["weights"], strict=True):
                weights.update({(block, name): value for block, name, value in rows})
            self.steering.places = Places(fields["places"])
            self.values.update(fields["values"])
            self._seen.update(fields["values"])
        except (zlib.error, KeyError, TypeError, AttributeError) as error:
            raise ValueError("not a stored state of a focus") from error
