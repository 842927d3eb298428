"""The order of a focused crawl: the best prospect first, all of them weighed again every few pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf

from evercrawl.core.focus.distiller import distilled
from evercrawl.core.focus.priority import Prospect, Steering
from evercrawl.model.document import Document

WEIGHED_AGAIN_EVERY = 10
"""Pages between two looks at everything that waits."""
MOST_LINKS_IN = 5
"""Links to one waiting page that are remembered."""
MOST_WAITING = 100_000
"""Beyond this the links of new pages are dropped, the seeds never."""


class FocusedQueue:
    """URLs that wait, with what is known of them.

    Invariant: a URL is handed out once; while it waits its priority is that of the best link to it.
    """

    def __init__(self, steering: Steering, seeds: Iterable[str], *, admits: Callable[[str], bool]) -> None:
        self.steering = steering
        self.fetched = 0
        self.on_topic = 0
        self._admits = admits
        self._waiting: dict[str, list[Prospect]] = {seed: [] for seed in seeds}
        self._priorities: dict[str, float] = dict.fromkeys(self._waiting, inf)
        self._seen = set(self._waiting)
        self._depths = dict.fromkeys(self._waiting, 0)
        self._links: dict[str, list[str]] = {}
        self._scores: dict[str, float] = {}
        self._hubs: dict[str, float] = {}
        self._led_here: dict[str, list[Prospect]] = {}

    @property
    def harvest_ratio(self) -> float:
        """The share of fetched pages that are on topic, 0 before the first."""
        return self.on_topic / self.fetched if self.fetched else 0.0

    def next(self) -> str | None:
        """The URL to fetch now; None when nothing waits."""
        if not self._priorities:
            return None
        url = max(self._priorities, key=self._priorities.__getitem__)
        del self._priorities[url]
        self._led_here[url] = self._waiting.pop(url)
        return url

    def saw(self, url: str, document: Document) -> float:
        """Take in a fetched page: learn from it, queue its links; gives back its score."""
        score, prospects = self.steering.found(url, document, depth=self._depths.get(url, 0))
        prospects = [prospect for prospect in prospects if self._admits(prospect.url)]
        self._links[url] = [prospect.url for prospect in prospects]
        self._scores[url] = score
        self.fetched += 1
        self.on_topic += score > 0.5
        promise = self._queue(prospects)
        self.steering.learn(self._led_here.pop(url, []), score, promise=promise)
        if self.fetched % WEIGHED_AGAIN_EVERY == 0:
            self._hubs = distilled(self._links, self._scores).hubs
            self._weigh(self._waiting)
        else:
            self._weigh(self._links[url])
        return score

    def _queue(self, prospects: Iterable[Prospect]) -> float:
        """Remember the links; gives back how many pages on topic the new ones promise."""
        promise = 0.0
        for prospect in prospects:
            url = prospect.url
            if url not in self._seen and len(self._waiting) < MOST_WAITING:
                self._seen.add(url)
                self._waiting[url] = []
                self._depths[url] = prospect.depth
                promise += self.steering.chance(prospect)
            if url in self._waiting and len(self._waiting[url]) < MOST_LINKS_IN:
                self._waiting[url].append(prospect)
        return promise

    def _weigh(self, urls: Iterable[str]) -> None:
        for url in urls:
            if self._waiting.get(url):
                values = [
                    self.steering.value(prospect, hub=self._hubs.get(prospect.source, 0.0))
                    for prospect in self._waiting[url]
                ]
                self._priorities[url] = max(values)
