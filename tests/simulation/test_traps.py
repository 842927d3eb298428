"""The whole engine on sites with traps ends by itself, within a request budget, and reaches the real pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evercrawl.engine.runtime import Ended
from evercrawl.model.settings import Settings, TrapSettings
from evercrawl.testing import NO_FAULTS, SimWeb
from evercrawl.testing.sim_world import make_world
from tests.shared import conformance_rows
from tests.worlds.traps.more_sites import MORE_GENERATORS
from tests.worlds.traps.sites import HOST, TrapSite, facet_explosion, make_site, random_word_maze
from tests.worlds.traps.world import TrapWorld

pytestmark = pytest.mark.regression_pin
LEAST_REACHED = 0.95
FAR_TOO_MANY = 6000
BUDGETS = {"symlink cycle": 1000}
USUAL_BUDGET = 400


def world_of(site: TrapSite, **traps: Any) -> TrapWorld:
    return TrapWorld(site, settings=replace(Settings(), traps=replace(TrapSettings(), **traps)))


def test_the_budgets_of_the_shared_generators_hold() -> None:
    for row in conformance_rows("traps/site_traps.jsonl"):
        site, expect = make_site(row["name"]), row["expect"]
        world = world_of(site)
        web = world.crawl(most=FAR_TOO_MANY)
        assert world.ended is Ended.DONE, row["name"]
        assert len(web.asked) <= expect.get("max_fetched", FAR_TOO_MANY - 1), row["name"]
        least = max(LEAST_REACHED, expect.get("must_reach_real", 0.0))
        assert len(web.reached) >= least * site.real_pages, row["name"]
        if expect.get("not_flagged"):
            assert world.blocked_patterns == []
            assert world.skipped["trap"] == 0


@pytest.mark.parametrize("name", MORE_GENERATORS)
def test_traps_unknown_to_the_rules(name: str) -> None:
    site = MORE_GENERATORS[name]()
    world = world_of(site)
    web = world.crawl(most=FAR_TOO_MANY)
    assert world.ended is Ended.DONE
    assert len(web.asked) <= BUDGETS.get(name, USUAL_BUDGET)
    assert len(web.reached) >= LEAST_REACHED * site.real_pages


def test_concurrent_requests_respect_a_block() -> None:
    site = facet_explosion(products=60)
    settings = Settings()
    own = replace(settings.pace, mode="unlimited", unlimited_concurrency=16)
    world = TrapWorld(site, settings=replace(settings, pace=own))
    web = world.crawl(most=FAR_TOO_MANY)
    assert len(web.asked) <= 800
    assert len(web.reached) >= LEAST_REACHED * site.real_pages


def test_without_detection_a_maze_is_endless() -> None:
    assert world_of(random_word_maze(), enabled=False).crawl(most=400).asked[399:]
    assert len(world_of(random_word_maze()).crawl(most=400).asked) < 150


def test_the_next_run_uses_what_was_learned() -> None:
    site = MORE_GENERATORS["slow calendar"]()
    world = world_of(site)
    first = world.crawl(most=FAR_TOO_MANY)
    assert world.skipped["trap"] > 0
    again = world.crawl(most=FAR_TOO_MANY)
    assert len(first.asked) > 100
    assert again.asked == []
    assert [block.state for block in world.blocked_patterns][:1] == ["blocked"]


def test_rules_allow_blocked_urls_and_exclude_others() -> None:
    site = MORE_GENERATORS["endless counter"]()
    allowed = world_of(site, allow=("/home?time=",)).crawl(most=400)
    assert len(allowed.asked) >= 400
    excluded = world_of(site, exclude=(f"{HOST} /article/{{n}}",)).crawl(most=400)
    assert not any("/article/" in url for url in excluded.asked)


def test_removing_a_rule_readmits_its_pages() -> None:
    site = MORE_GENERATORS["endless counter"]()
    world = world_of(site, exclude=("/article/{n}",))
    assert world.crawl(most=400).reached == set()
    world.settings = replace(world.settings, traps=TrapSettings())
    assert len(world.crawl(most=400).reached) == site.real_pages


def test_blocked_pages_are_crawled_once_allowed() -> None:
    site = facet_explosion(products=60)
    world = world_of(site)
    assert world.crawl(most=FAR_TOO_MANY).asked
    assert world.blocked_patterns
    world.settings = replace(world.settings, traps=TrapSettings(allow=("/shop?*",)))
    again = world.crawl(most=100)
    assert len(again.asked) >= 100
    assert all("/shop?" in url for url in again.asked)


def test_a_small_site_is_neither_judged_nor_probed() -> None:
    site = make_site("honest large site", pages=50)
    world = world_of(site)
    web = world.crawl()
    assert len(web.asked) == 50
    assert not world.has_learned


def test_a_crawl_of_endless_calendars_ends() -> None:
    web = SimWeb(3, sites=12, pages_per_site=40, faults=NO_FAULTS)
    calendars = {site for site in range(12) if web.site(site).content.has_calendar}
    assert calendars
    assert make_world(web, shards=2).crawl() is Ended.DONE
    months = [one.path for one in web.log.requests if one.path.startswith("/calendar/")]
    real = {url for url in web.pages() if web.allowed(url)}
    requested = {one.site + one.path for one in web.log.requests}
    assert len(real - requested) <= 0.02 * len(real)
    assert len(set(months)) <= 150 * len(calendars)
    assert web.violations() == []
