"""Front queues and the biased selector."""

from __future__ import annotations

from collections import Counter
from random import Random

from evercrawl.core.frontier import band_of, biased_order


def test_near_pages_come_before_far_ones():
    bands = [band_of(depth=depth, hops=0, bands=4) for depth in range(8)]
    assert bands == sorted(bands)
    assert bands[0] == 0
    assert bands[-1] == 3


def test_the_target_of_a_redirect_is_as_urgent_as_a_seed():
    assert band_of(depth=9, hops=1, bands=4) == 0


def test_bands_stay_inside_their_number():
    assert {band_of(depth=depth, hops=0, bands=2) for depth in range(10)} == {0, 1}
    assert {band_of(depth=depth, hops=0, bands=1) for depth in range(10)} == {0}


def test_each_band_is_about_twice_as_likely_as_the_next_to_be_first():
    random = Random(1)
    firsts = Counter(biased_order(3, random=random)[0] for _ in range(7000))
    assert 3600 < firsts[0] < 4400
    assert 1700 < firsts[1] < 2300
    assert 750 < firsts[2] < 1250
    assert sorted(biased_order(3, random=random)) == [0, 1, 2]
