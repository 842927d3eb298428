"""The planned meaning of each robots.txt agrees with the crawler's parser."""

from __future__ import annotations

import pytest

from evercrawl.core.robots.robots_txt import parse_robots
from evercrawl.testing.site_plan import RobotsKind, robots_plan

READABLE = (RobotsKind.EMPTY, RobotsKind.FOLDERS, RobotsKind.DELAY, RobotsKind.NAMED, RobotsKind.BROKEN)
PATHS = ("/", "/news/item-1.html", "/private/3", "/private/open/4", "/private", "/drafts/5", "/robots.txt")
PLANS = [robots_plan(1, site, agent="evercrawl", bad=site % 3 == 0) for site in range(80)]


def test_every_kind_of_file_occurs():
    assert {plan.kind for plan in PLANS} == set(RobotsKind)


@pytest.mark.parametrize("plan", [plan for plan in PLANS if plan.kind in READABLE], ids=lambda plan: plan.kind)
def test_the_parser_agrees_with_the_plan(plan):
    parsed = parse_robots(plan.text.encode(), agent="evercrawl", limit=10_000)
    assert {path: parsed.verdict(path).allowed for path in PATHS} == {path: plan.allows(path) for path in PATHS}
    assert parsed.min_delay == plan.delay_s


def test_an_unreadable_file_disallows_everything_but_itself():
    for plan in PLANS:
        if plan.kind in (RobotsKind.FORBIDDEN, RobotsKind.SILENT):
            assert not plan.allows("/")
            assert plan.allows("/robots.txt")
