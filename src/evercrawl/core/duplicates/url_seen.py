"""Was this URL met before?

Three steps, cheapest first: a cache of popular URLs (Mercator's, with the clock rule: most links lead to few
pages), a Bloom filter that is sure about new ones, and the store for the rest. Page keys are unique over the
whole collection, so one test serves all shards of a process: its memory does not depend on their number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from operator import index
from struct import Struct
from typing import TypeVar

from rbloom import Bloom

from evercrawl.model.settings import UrlSeenSettings

FALSE_POSITIVES = 0.001
"""Share of new keys that one filter of the chain takes for known; each costs a look-up in the store."""
FIRST_FILTER_KEYS = 500_000
GROWTH = 2
"""Each filter of the chain is made for this many times the keys of the one before."""

Key = TypeVar("Key", bytes, str)
_LAST_8 = Struct(">8xq")


def _hashes(keys: Iterable[bytes]) -> list[int]:
    """A key is a hash already: its last 8 bytes, which stand for the whole URL, as the number for rbloom."""
    return [number for (number,) in _LAST_8.iter_unpack(b"".join(keys))]


class UrlCache:
    """The keys (or URLs) that were met most lately, within a fixed number of entries.

    About 146 bytes an entry with 16-byte keys: 38 MB for the default of 2^18. Replacement is by the clock:
    an entry that was hit since the hand last passed it gets a second chance.
    """

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
        """The key is in the cache; it then stays for at least one more round of the hand."""
        place = self._place.get(key)
        if place is None:
            self.misses += 1
            return False
        self._was_hit[place] = 1
        self.hits += 1
        return True

    def missing(self, keys: Collection[Key]) -> list[Key]:
        """The keys that are not in the cache; as with `hit`, the others stay for a while."""
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
        """Put a key in, at the cost of one that was not hit for a while."""
        if key in self._place:
            return
        if len(self._entries) < self._most:
            self._place[key] = len(self._entries)
            self._entries.append(key)
            return
        hand = self._hand
        if self._was_hit[hand]:
            hand = self._next_unmarked(hand)
        del self._place[self._entries[hand]]
        self._entries[hand] = key
        self._place[key] = hand
        self._hand = hand + 1 if hand + 1 < self._most else 0

    def _next_unmarked(self, hand: int) -> int:
        """The first entry from the hand on that was not hit; the marks on the way are used up."""
        free = self._was_hit.find(0, hand)
        if free < 0:
            self._was_hit[hand:] = bytes(self._most - hand)
            hand = 0
            free = self._was_hit.find(0)
        self._was_hit[hand:free] = bytes(free - hand)
        return free


class BloomChain:
    """A chain of growing Bloom filters: never says that a key it was given is new.

    About 1.8 bytes a key. When the next filter would not fit into the limit, a last one takes what is left of
    it; further keys go there too, so that the filter is sure of fewer and fewer new keys, but stays right.
    """

    def __init__(self, most_bytes: int) -> None:
        self.keys = 0
        self.is_saturated = False
        """The limit is reached: the share of false positives is not promised any more."""
        self._most_bytes = most_bytes
        self._filters: list[Bloom] = []
        self._room = 0
        self._next_keys = FIRST_FILTER_KEYS

    @property
    def size_bytes(self) -> int:
        """Memory of all filters."""
        return sum(_bytes_of(one) for one in self._filters)

    def may_know(self, key: bytes) -> bool:
        """False: the key is new for sure."""
        return not self.new_among((key,))

    def new_among(self, keys: Sequence[bytes]) -> list[bytes]:
        """The keys that are new for sure."""
        left = dict(zip(_hashes(keys), keys, strict=True))
        for one in reversed(self._filters):
            left = {number: key for number, key in left.items() if number not in one}
        return list(left.values())

    def add(self, key: bytes) -> None:
        """From now on `key` may be known."""
        self.update((key,))

    def update(self, keys: Collection[bytes]) -> None:
        """From now on all of these may be known."""
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
        """One more filter, of the planned size or of what the limit leaves, unless that is very little."""
        left = self._most_bytes - self.size_bytes
        keys = min(self._next_keys, left * 8 // _BITS_PER_KEY)
        if keys < self._next_keys and self._filters and keys < FIRST_FILTER_KEYS:
            self.is_saturated = True
            return
        self._filters.append(Bloom(max(keys, 1), FALSE_POSITIVES, index))
        self._room = keys
        self._next_keys = keys * GROWTH


_BITS_PER_KEY = 15
"""A little more than log2(1 / FALSE_POSITIVES) / ln 2 = 14.4, so that the limit holds."""


def _bytes_of(one: Bloom) -> int:
    return int(one.size_in_bits) // 8


@dataclass(slots=True)
class UrlSeenCounts:
    """What the test did, for reports."""

    offered: int = 0
    cache_hits: int = 0
    new_by_filter: int = 0
    store_lookups: int = 0
    false_positives: int = 0
    """Look-ups in the store that ended with "new"."""

    @property
    def cache_hit_rate(self) -> float:
        """Share of the offers that the cache answered; the paper on Mercator has 0.757 with 2^18 entries."""
        return self.cache_hits / self.offered if self.offered else 0.0


class UrlSeenTest:
    """The URL-seen test of a process. A key that was learned is never called new."""

    def __init__(self, settings: UrlSeenSettings) -> None:
        self.counts = UrlSeenCounts()
        self.cache = UrlCache(settings.cache_entries)
        self.filter = BloomChain(settings.filter_bytes)

    def split(self, keys: Collection[bytes]) -> tuple[list[bytes], list[bytes]]:
        """The keys that are new for sure, and those that only the store can tell; known ones are left out."""
        missed = list(dict.fromkeys(self.cache.missing(keys)))
        new = self.filter.new_among(missed)
        certain = set(new)
        unsure = [key for key in missed if key not in certain] if len(new) < len(missed) else []
        self.counts.offered = self.cache.hits + self.cache.misses
        self.counts.cache_hits = self.cache.hits
        self.counts.new_by_filter += len(new)
        return new, unsure

    def resolve(self, unsure: Sequence[bytes], known: Collection[bytes]) -> list[bytes]:
        """The unsure keys that the store does not know, which are new; the others are popular now."""
        new = [key for key in unsure if key not in known]
        self.counts.store_lookups += len(unsure)
        self.counts.false_positives += len(new)
        for key in known:
            self.cache.add(key)
        return new

    def learn(self, keys: Collection[bytes]) -> None:
        """These keys are pages from now on (in the store, or in a batch on its way there)."""
        self.filter.update(keys)
        add = self.cache.add
        for key in keys:
            add(key)

    def load(self, keys: Collection[bytes]) -> None:
        """Keys of pages that the store holds already: known to the filter, without a claim to be popular."""
        self.filter.update(keys)
