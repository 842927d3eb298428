from __future__ import annotations

import pytest

from evercrawl.collection.tools import trap


def test_a_trap_comes_with_its_reason() -> None:
    answer = trap({"url": "http://a.test/x/x/x/y"})
    assert answer["trap"] is True
    assert answer["reason"] == "repetition: the path repeats /x/ 3 times in a row"


def test_an_honest_url_has_no_reason() -> None:
    assert trap({"url": "http://a.test/about"}) == {"trap": False, "reason": ""}


def test_hops_count_where_they_are_given() -> None:
    assert trap({"url": "http://a.test/about", "hops": 21})["trap"] is True
    assert trap({"url": "http://a.test/about", "hops": 20})["trap"] is False
    assert trap({"url": "http://a.test/about", "hops": None})["trap"] is False


def test_what_is_no_url_is_said() -> None:
    with pytest.raises(ValueError, match="url"):
        trap({"url": 7})
    with pytest.raises(KeyError):
        trap({})
