from __future__ import annotations

from itertools import accumulate
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.duplicates.url_seen import FIRST_FILTER_KEYS, BloomChain, UrlCache, UrlSeenTest
from evercrawl.core.url import key_of
from evercrawl.model.settings import UrlSeenSettings

SMALL = UrlSeenSettings(cache_entries=64, filter_bytes=1 << 20)


def some_keys(count: int, *, seed: int = 0) -> list[bytes]:
    random = Random(seed)
    return [random.randbytes(16) for _ in range(count)]


# The cache


def test_the_cache_is_limited_and_keeps_popular_keys() -> None:
    cache = UrlCache(100)
    popular, rare = some_keys(10, seed=1), some_keys(5000, seed=2)
    for key in popular:
        cache.add(key)
    for number, key in enumerate(rare):
        cache.add(key)
        if number % 10 == 0:
            assert all(cache.hit(one) for one in popular)
    assert len(cache) == 100
    assert cache.hits == 5000
    assert not cache.hit(rare[0])
    assert cache.misses == 1


def test_a_cache_of_hit_entries_accepts_a_new_key() -> None:
    cache = UrlCache(3)
    for url in ("a", "b", "c"):
        cache.add(url)
        assert cache.hit(url)
    cache.add("d")
    cache.add("d")
    assert [url for url in "abcd" if cache.hit(url)] == ["b", "c", "d"]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 20)), max_size=200), st.integers(1, 8))
def test_the_cache_holds_only_what_was_added(steps: list[tuple[bool, int]], entries: int) -> None:
    cache, added = UrlCache(entries), set()
    for is_add, number in steps:
        key = str(number)
        if is_add:
            cache.add(key)
            added.add(key)
            assert cache.hit(key)
        elif cache.hit(key):
            assert key in added
        assert len(cache) == min(entries, len(added))


# The filter


def test_the_filter_never_calls_a_known_key_new() -> None:
    known = BloomChain(1 << 22)
    keys, others = some_keys(20_000), some_keys(20_000, seed=1)
    known.update(keys[:-1])
    known.add(keys[-1])
    assert all(map(known.may_know, keys))
    assert known.new_among(keys) == []
    wrong = sum(map(known.may_know, others))
    assert wrong < 60
    assert len(known.new_among(others)) == len(others) - wrong


def test_keys_of_one_folder_do_not_collide() -> None:
    known = BloomChain(1 << 20)
    urls = [f"https://example.org/folder/{number}" for number in range(40_000)]
    known.update([key_of(url) for url in urls[:20_000]])
    assert sum(known.may_know(key_of(url)) for url in urls[20_000:]) < 60


def test_the_filter_grows_to_its_limit_and_stays_correct() -> None:
    limit = 3 * FIRST_FILTER_KEYS
    known = BloomChain(limit)
    portions = [some_keys(FIRST_FILTER_KEYS // 2, seed=seed) for seed in range(6)]
    for portion in portions:
        known.update(portion)
        assert known.size_bytes <= limit
    assert known.is_saturated
    assert known.keys == 3 * FIRST_FILTER_KEYS
    assert all(known.new_among(portion) == [] for portion in portions)


def test_a_tiny_filter_is_useless_but_correct() -> None:
    known = BloomChain(10)
    keys = some_keys(1000)
    known.update(keys)
    assert known.is_saturated
    assert known.new_among(keys) == []


# The whole test


def test_split_drops_known_and_repeated_keys() -> None:
    seen = UrlSeenTest(SMALL)
    keys = some_keys(10)
    assert seen.split([*keys, keys[0]]) == (keys, [])
    seen.learn(keys)
    assert seen.split(keys) == ([], [])
    assert seen.counts.cache_hits == 10
    assert seen.counts.offered == 21


def test_keys_evicted_from_the_cache_are_unsure() -> None:
    seen = UrlSeenTest(SMALL)
    keys = some_keys(200)
    seen.learn(keys)
    new, unsure = seen.split(keys)
    assert new == []
    assert set(unsure) == set(keys[:-64])
    assert seen.resolve(unsure, set(unsure)) == []
    # The cache holds known keys and a few that were hit before.
    assert len(seen.cache.missing(unsure)) <= len(unsure) - 32
    assert (seen.counts.store_lookups, seen.counts.false_positives) == (136, 0)


def test_the_store_decides_about_unsure_keys() -> None:
    seen = UrlSeenTest(SMALL)
    keys = some_keys(200)
    seen.load(keys)
    _, unsure = seen.split(keys)
    assert seen.resolve(unsure, set(keys[50:])) == keys[:50]
    assert seen.counts.false_positives == 50


@given(st.lists(st.lists(st.integers(0, 300), max_size=20), max_size=40))
def test_a_learned_key_is_never_new(pages: list[list[int]]) -> None:
    seen, store = UrlSeenTest(SMALL), set()
    for page in pages:
        keys = [key_of(f"https://example.org/{number}") for number in page]
        new, unsure = seen.split(keys)
        assert not store.intersection(new)
        assert store.union(new, unsure).issuperset(keys)
        new += seen.resolve(unsure, store.intersection(unsure))
        assert len(new) == len(set(new))
        seen.learn(new)
        store.update(new)


def crawl_stream(pages: int, *, seed: int) -> list[list[str]]:
    """Yield links of a breadth-first crawl: the site's menu, neighbours, popular pages (Zipf)."""
    random = Random(seed)
    sites = 400
    weights = list(accumulate(1 / (rank + 1) for rank in range(sites)))
    made = [20] * sites
    stream = []
    for site in random.choices(range(sites), cum_weights=weights, k=pages):
        here = random.randrange(made[site])
        links = [(site, number) for number in range(18)]
        links += [(site, max(0, here - step)) for step in range(10)]
        links += [(random.choices(range(sites), cum_weights=weights)[0], random.randrange(3)) for _ in range(4)]
        links += [(site, made[site] + step) for step in range(8)]
        made[site] += 8
        stream.append([f"https://s{owner}.example/{number // 40}/{number}" for owner, number in links])
    return stream


@pytest.mark.regression_pin
def test_the_hit_rate_of_a_crawl(record_property: pytest.RecordProperty) -> None:
    seen, store = UrlSeenTest(UrlSeenSettings(cache_entries=2**13)), set()
    for links in crawl_stream(5000, seed=3):
        keys = list(map(key_of, links))
        new, unsure = seen.split(keys)
        assert not store.intersection(new)
        new += seen.resolve(unsure, store.intersection(unsure))
        seen.learn(new)
        store.update(new)
    record_property("cache_hit_rate", round(seen.counts.cache_hit_rate, 3))
    print(f"cache hit rate {seen.counts.cache_hit_rate:.3f} with 2^13 entries, {len(store)} URLs")
    assert len(store) > 4 * 2**13
    assert 0.5 < seen.counts.cache_hit_rate < 0.8
    assert seen.counts.offered == 5000 * 40
    assert seen.counts.false_positives < len(store) / 100
