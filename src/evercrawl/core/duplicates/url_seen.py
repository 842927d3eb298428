"""The URL-seen test: a cache of popular URLs, a Bloom filter that is sure about new ones, then the store.
The cache is Mercator's with the clock rule, since most links lead to few pages. Page keys are unique over the
collection, so one test serves all shards of a process."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from operator import index
from struct import Struct
from typing import TypeVar

from rbloom import Bloom

from evercrawl.model.settings import UrlSeenSettings

FALSE_POSITIVES = 0.001  # Share of new keys that one filter of the chain takes for known; each costs a store lookup.
FIRST_FILTER_KEYS = 500_000
GROWTH = 2  # Each filter of the chain holds this many times the keys of the one before.

Key = TypeVar("Key", bytes, str)
_LAST_8 = Struct(">8xq")


def _hashes(keys: Iterable[bytes]) -> list[int]:
    """Return the last 8 bytes of each key, which is a hash already, as numbers for rbloom."""
    return [number for (number,) in _LAST_8.iter_unpack(b"".join(keys))]


class UrlCache:
    """The most recent keys (or URLs), within a fixed number of entries of about 146 bytes each.
    Clock replacement: an entry hit since the hand last passed gets a second chance."""

    def __init__(self, entries: int) -> None:
        self.hits = 0
        self.misses = 0
        self._most = entries
        self._place: dict[bytes | str, int] = {}
        self._entries: list[bytes | str] = []
        self._was_hit = bytearray(entries)
        self._hand = 0

    def __len__(self) -> int:
        return len(self._entries)

    def hit(self, key: bytes | str) -> bool:
        """Return whether the key is cached; it then stays for at least one more round of the hand."""
        place = self._place.get(key)
        if place is None:
            self.misses += 1
            return False
        self._was_hit[place] = 1
        self.hits += 1
        return True

    def missing(self, keys: Collection[Key]) -> list[Key]:
        """Return the keys that are not cached; the others count as hit."""
        place_of, was_hit, missed = self._place.get, self._was_hit, []
        for key in keys:
            place = place_of(key)
            if place is None:
                missed.append(key)
            else:
                was_hit[place] = 1
        self.hits += len(keys) - len(missed)
        self.misses += len(missed)
        return missed

    def add(self, key: bytes | str) -> None:
        """Add a key, replacing one that was not hit for a while."""
        if key in self._place:
            return
        if len(self._entries) < self._most:
            self._place[key] = len(self._entries)
            self._entries.append(key)
            return
        hand = self._hand
        if self._was_hit[hand]:
            hand = self._next_unmarked(hand)
        self._place.pop(self._entries[hand], None)
        self._entries[hand] = key
        self._place[key] = hand
        self._hand = hand + 1 if hand + 1 < self._most else 0

    def forget(self, keys: Iterable[bytes | str]) -> None:
        """Remove keys; their entries are replaced when the hand passes."""
        for key in keys:
            self._place.pop(key, None)

    def _next_unmarked(self, hand: int) -> int:
        """Return the first entry from the hand on that was not hit, and clear the marks on the way."""
        free = self._was_hit.find(0, hand)
        if free < 0:
            self._was_hit[hand:] = bytes(self._most - hand)
            hand = 0
            free = self._was_hit.find(0)
        self._was_hit[hand:free] = bytes(free - hand)
        return free


class BloomChain:
    """A chain of growing Bloom filters, of about 1.8 bytes per key: never says that a known key is new.
    At the memory limit, the last filter takes all further keys and is sure of fewer new ones."""

    def __init__(self, most_bytes: int) -> None:
        self.keys = 0
        self.is_saturated = False
        """The limit is reached: the false positive rate is no longer guaranteed."""
        self._most_bytes = most_bytes
        self._filters: list[Bloom] = []
        self._room = 0
        self._next_keys = FIRST_FILTER_KEYS

    @property
    def size_bytes(self) -> int:
        """Return the memory of all filters."""
        return sum(int(one.size_in_bits) // 8 for one in self._filters)

    def may_know(self, key: bytes) -> bool:
        """Return False if the key is certainly new."""
        (number,) = _LAST_8.unpack(key)
        return any(number in one for one in self._filters)

    def new_among(self, keys: Sequence[bytes]) -> list[bytes]:
        """Return the keys that are certainly new."""
        left = dict(zip(_hashes(keys), keys, strict=True))
        for one in reversed(self._filters):
            left = {number: key for number, key in left.items() if number not in one}
        return list(left.values())

    def add(self, key: bytes) -> None:
        """Make a key known."""
        self.update((key,))

    def update(self, keys: Collection[bytes]) -> None:
        """Make keys known."""
        hashes = _hashes(keys)
        self.keys += len(hashes)
        while len(hashes) > self._room and not self.is_saturated:
            fitting, hashes = hashes[: self._room], hashes[self._room :]
            if fitting:
                self._filters[-1].update(fitting)
            self._grow()
        if hashes:
            self._filters[-1].update(hashes)
            self._room -= len(hashes)

    def _grow(self) -> None:
        """Add a filter of the planned size or what the limit leaves, unless that is very little."""
        left = self._most_bytes - self.size_bytes
        keys = min(self._next_keys, left * 8 // _BITS_PER_KEY)
        if keys < self._next_keys and self._filters and keys < FIRST_FILTER_KEYS:
            self.is_saturated = True
            return
        self._filters.append(Bloom(max(keys, 1), FALSE_POSITIVES, index))
        self._room = keys
        self._next_keys = keys * GROWTH


_BITS_PER_KEY = 15  # A little more than log2(1 / FALSE_POSITIVES) / ln 2 = 14.4, so that the limit holds.


@dataclass(slots=True)
class UrlSeenCounts:
    """Counters for reports."""

    offered: int = 0
    cache_hits: int = 0
    new_by_filter: int = 0
    store_lookups: int = 0
    false_positives: int = 0  # Store lookups that found nothing.

    @property
    def cache_hit_rate(self) -> float:
        """Return the share answered by the cache; the Mercator paper has 0.757 with 2^18 entries."""
        return self.cache_hits / self.offered if self.offered else 0.0


class UrlSeenTest:
    """The URL-seen test of a process. A learned key is never called new."""

    def __init__(self, settings: UrlSeenSettings) -> None:
        self.counts = UrlSeenCounts()
        self.cache = UrlCache(settings.cache_entries)
        self.filter = BloomChain(settings.filter_bytes)

    def split(self, keys: Collection[bytes]) -> tuple[list[bytes], list[bytes]]:
        """Return the keys that are certainly new, and those that only the store can tell; known ones are left out."""
        missed = list(dict.fromkeys(self.cache.missing(keys)))
        new = self.filter.new_among(missed)
        certain = set(new)
        unsure = [key for key in missed if key not in certain] if len(new) < len(missed) else []
        self.counts.offered = self.cache.hits + self.cache.misses
        self.counts.cache_hits = self.cache.hits
        self.counts.new_by_filter += len(new)
        return new, unsure

    def resolve(self, unsure: Sequence[bytes], known: Collection[bytes]) -> list[bytes]:
        """Return the unsure keys that the store does not know; the others enter the cache."""
        new = [key for key in unsure if key not in known]
        self.counts.store_lookups += len(unsure)
        self.counts.false_positives += len(new)
        for key in known:
            self.cache.add(key)
        return new

    def learn(self, keys: Collection[bytes]) -> None:
        """Make keys known that are stored, or about to be."""
        self.filter.update(keys)
        add = self.cache.add
        for key in keys:
            add(key)

    def load(self, keys: Collection[bytes]) -> None:
        """Make stored keys known to the filter without caching them."""
        self.filter.update(keys)
