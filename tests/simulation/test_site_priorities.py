"""Settings of single sites: news sites first and more often (E13)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from evercrawl.core.url import site_parts
from evercrawl.model.settings import Settings, SiteSettings
from evercrawl.testing import NO_FAULTS, SimWeb
from evercrawl.testing.sim_world import make_world

NEWS = "http://site0006.test"
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
