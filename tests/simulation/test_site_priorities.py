"""Settings of single sites: news sites first and more often (E13)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from evercrawl.core.url import site_parts
from evercrawl.model.settings import Settings, SiteSettings
from evercrawl.testing import NO_FAULTS, SimWeb
from evercrawl.testing.sim_world import make_world

NEWS = "http://site0006.test"
WATCHED = "http://site0002.test"
FIRST = 50


def _first_visits(favoured: SiteSettings | None) -> Counter[str]:
    """Return how often each site is asked among the first requests of a crawl."""
    settings = Settings()
    settings = replace(
        settings,
        crawl=replace(settings.crawl, concurrency=1),
        pace=replace(settings.pace, mode="unlimited"),
        sitemaps=replace(settings.sitemaps, enabled=False),
        sites=() if favoured is None else (favoured,),
    )
    world = make_world(SimWeb(5, sites=8, pages_per_site=25, faults=NO_FAULTS), settings=settings, shards=1)
    world.crawl()
    asked = [request.site for request in world.web.log.requests if request.path != "/robots.txt"]
    return Counter(asked[:FIRST])


def test_a_site_with_priority_comes_first_and_one_with_a_negative_one_last() -> None:
    usual = _first_visits(None)[NEWS]
    host = site_parts(NEWS).host
    assert _first_visits(SiteSettings(pattern=host, priority=4))[NEWS] > 1.5 * usual
    assert _first_visits(SiteSettings(pattern=host, priority=-8))[NEWS] < usual


def _watched(favoured: SiteSettings | None, budget: float | None) -> int:
    """Return how often pages of one site are requested in two weeks."""
    settings = Settings()
    revisit = replace(settings.revisit, budget=budget)
    settings = replace(settings, revisit=revisit, sites=() if favoured is None else (favoured,))
    world = make_world(SimWeb(11, sites=4, pages_per_site=12, faults=NO_FAULTS), settings=settings, shards=2)
    world.watch(timedelta(days=15))
    return sum(request.site == WATCHED for request in world.web.log.requests)


@pytest.mark.parametrize("budget", [None, 60.0], ids=["no budget", "too small a budget for all pages"])
def test_a_site_with_more_weight_is_visited_more_often(budget: float | None) -> None:
    host = site_parts(WATCHED).host
    usual = _watched(None, budget)
    assert _watched(SiteSettings(pattern=host, weight=4.0), budget) > 1.3 * usual
    assert _watched(SiteSettings(pattern=host, weight=0.25), budget) < 0.8 * usual
