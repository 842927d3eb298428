"""What both focused frontiers have in common: the URLs that wait, their values, and the links that lead to them."""

from __future__ import annotations

import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from heapq import nlargest
from math import inf
from typing import Any, Generic, TypeVar

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
            fields: dict[str, Any] = json.loads(zlib.decompress(stored))
            if fields["format"] != FORMAT:
                raise ValueError("the stored state of the focus is of another format")
            self.fetched = fields["fetched"]
            self.values.update(fields["values"])
            self._restore(fields)
        except (zlib.error, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise ValueError("not a stored state of a focus") from error

    @abstractmethod
    def _restore(self, fields: dict[str, Any]) -> None:
        """Read what the frontier has learned."""
