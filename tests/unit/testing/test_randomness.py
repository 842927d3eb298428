"""Changes and outages depend on the seed alone, not on the order of calls."""

from __future__ import annotations

from itertools import pairwise

import pytest

from evercrawl.testing.sim_site import paragraphs, sentences
from evercrawl.testing.site_plan import ChangeTimes, Outages, choose, choose_weighted, random_stream, uniform

DAY = 86_400.0


def changes(per_day: float = 2.0) -> ChangeTimes:
    return ChangeTimes(random_stream(1, "changes"), per_day=per_day)


def test_changes_do_not_depend_on_the_order_of_calls():
    forward, backward = changes(), changes()
    moments = [day * DAY for day in range(50)]
    assert [forward.count(moment) for moment in moments] == [backward.count(moment) for moment in reversed(moments)][
        ::-1
    ]


def test_changes_have_their_rate():
    assert changes(2.0).count(1000 * DAY) == pytest.approx(2000, rel=0.1)


def test_the_last_change_is_where_the_count_increases():
    page = changes()
    last = page.last(30 * DAY)
    assert page.count(last) == page.count(30 * DAY)
    assert page.count(last - 0.001) == page.count(last) - 1


def test_a_static_page_never_changes():
    assert changes(0).count(10_000 * DAY) == 0
    assert changes(0).last(10_000 * DAY) == 0.0


def test_outages_have_their_share():
    outages = Outages(random_stream(2, "bad"), up_s=3000, down_s=1000)
    hits = sum(outages.at(second * 50.0) is not None for second in range(100_000))
    assert hits / 100_000 == pytest.approx(0.25, abs=0.03)


def test_outages_do_not_depend_on_the_order_of_calls():
    early, late = (Outages(random_stream(2, "bad"), up_s=30, down_s=10) for _ in range(2))
    late.at(10_000)
    assert [early.at(second) for second in range(500)] == [late.at(second) for second in range(500)]
    window = next(window for window in map(early.at, range(500)) if window)
    assert early.at(window.start) == window
    assert early.at(window.end) != window


def test_values_follow_from_their_names():
    assert uniform(1, "a") == uniform(1, "a") != uniform(1, "b")
    assert 0 <= uniform("x") < 1
    assert choose("abc", 1, 2) in "abc"
    drawn = [choose_weighted({"often": 9.0, "rarely": 1.0}, number) for number in range(1000)]
    assert drawn.count("often") == pytest.approx(900, abs=40)


def test_a_change_rewrites_one_paragraph():
    pool = sentences(1, 2)
    texts = [paragraphs(pool, "key", version=version, count=4) for version in range(9)]
    for before, after in pairwise(texts):
        assert sum(old != new for old, new in zip(before, after, strict=True)) == 1
