"""Where a list goes on, as a word."""

from __future__ import annotations

import pytest

from evercrawl.collection.listings import key_in, number_in, place_of, place_word
from evercrawl.errors import ConfigError


def test_a_place_comes_back():
    shard, inside = place_of(place_word(7, b"\x01\xff"))
    assert (shard, key_in(inside)) == (7, b"\x01\xff")
    shard, inside = place_of(place_word(3, 255))
    assert (shard, number_in(inside)) == (3, 255)
    assert place_of(None) == (0, "")


@pytest.mark.parametrize("word", ["x", "1", "1.g", "12345.00", "1." + "0" * 65, "1.00 "])
def test_other_words_are_refused(word: str):
    with pytest.raises(ConfigError):
        place_of(word)


def test_odd_and_huge_places_are_harmless():
    assert key_in("abc") == b"\xab"
    assert number_in("f" * 64) == 2**63 - 1
