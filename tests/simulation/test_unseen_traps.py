"""The whole engine on traps written after the rules, and on honest sites that look like them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evercrawl.engine.runtime import Ended
from evercrawl.model.settings import Settings
from tests.worlds.traps import unseen_sites, unseen_variants
from tests.worlds.traps.sites import TrapSite
from tests.worlds.traps.world import TrapWorld

pytestmark = pytest.mark.regression_pin
UNSEEN = unseen_sites.UNSEEN | unseen_variants.UNSEEN
HONEST = unseen_sites.HONEST | unseen_variants.HONEST

MOST_PER_PAGE = 7
"""Requests for each real page."""
FAR_TOO_MANY = 3000
LEAST_REACHED = 0.95


def _world(site: TrapSite) -> TrapWorld:
    base = Settings()
    return TrapWorld(site, settings=replace(base, scope=replace(base.scope, kind="domain")))


@pytest.mark.parametrize("name", UNSEEN)
def test_the_crawl_leaves_the_trap_and_reaches_the_real_pages(name: str) -> None:
    site = UNSEEN[name]()
    world = _world(site)
    web = world.crawl(most=FAR_TOO_MANY)
    assert world.ended is Ended.DONE
    assert len(web.asked) <= MOST_PER_PAGE * site.real_pages
    assert len(web.reached) >= LEAST_REACHED * site.real_pages


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_site_loses_nothing(name: str) -> None:
    site = HONEST[name]()
    world = _world(site)
    web = world.crawl(most=FAR_TOO_MANY)
    assert world.ended is Ended.DONE
    assert len(web.reached) == site.real_pages
    assert world.skipped["trap"] == 0
