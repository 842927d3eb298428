"""A living site says the truth about itself."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.worlds.living.content import SECONDS_A_DAY
from tests.worlds.living.site import LivingSite

DAY = SECONDS_A_DAY


@pytest.mark.parametrize("seed", range(900, 912))
def test_the_same_moment_gives_the_same_answer(seed: int):
    one, other = LivingSite(seed, pages=3), LivingSite(seed, pages=3)
    late = one.answer(one.urls[1], 40 * DAY)
    assert other.answer(one.urls[1], 40 * DAY) == late
    assert one.answer(one.urls[1], 40 * DAY) == late


def test_answers_differ_though_the_content_does_not():
    site = LivingSite(901, pages=3)
    first, second = (site.answer(site.urls[0], at_s) for at_s in (10.0, 11.0))
    assert first.html != second.html
    assert first.content == second.content


def test_content_changes_in_time():
    site = LivingSite(902, pages=20)
    marks = [{site.answer(url, day * DAY).content for day in range(60)} for url in site.urls]
    assert max(map(len, marks)) > 5
    assert min(map(len, marks)) == 1


def test_a_template_edit_reaches_all_pages():
    site = LivingSite(903, pages=4, has_noise=False)
    moment = site.template_edits[0].at_s
    for url in site.urls:
        before, after = site.answer(url, moment - 1), site.answer(url, moment + 1)
        assert after.edition == before.edition + 1
        assert before.html != after.html


def test_without_widgets_only_content_and_template_differ():
    site = LivingSite(904, pages=6, has_noise=False)
    for url in site.urls:
        answers = [site.answer(url, day * DAY) for day in range(30)]
        for one, other in pairwise(answers):
            is_same = (one.content, one.edition) == (other.content, other.edition)
            assert (one.html == other.html) is is_same
