"""The whole engine on virtual sites with traps: it ends by itself, asks little, reaches the real pages."""

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
from tests.worlds.traps.sites import GENERATORS, HOST, TrapSite, make_site, random_word_maze
from tests.worlds.traps.world import TrapWorld

LEAST_REACHED = 0.95
FAR_TOO_MANY = 6000
BUDGETS = {"symlink cycle": 800}
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
            assert world.fences == []
            assert world.skipped["trap"] == 0


@pytest.mark.parametrize("name", MORE_GENERATORS)
def test_traps_that_the_rules_were_not_made_for(name: str) -> None:
    site = MORE_GENERATORS[name]()
    world = world_of(site)
    web = world.crawl(most=FAR_TOO_MANY)
    assert world.ended is Ended.DONE
    assert len(web.asked) <= BUDGETS.get(name, USUAL_BUDGET)
    assert len(web.reached) >= LEAST_REACHED * site.real_pages


def test_many_requests_at_a_time_do_not_run_past_a_fence() -> None:
    site = GENERATORS["facet explosion"]()
    settings = Settings()
    own = replace(settings.pace, mode="own", own_concurrency=16)
    world = TrapWorld(site, settings=replace(settings, pace=own))
    web = world.crawl(most=FAR_TOO_MANY)
    assert len(web.asked) <= 2000
    assert len(web.reached) >= LEAST_REACHED * site.real_pages


def test_without_it_a_maze_has_no_end() -> None:
    assert world_of(random_word_maze(), enabled=False).crawl(most=400).asked[399:]
    assert len(world_of(random_word_maze()).crawl(most=400).asked) < 150


def test_what_was_learned_counts_in_the_next_run() -> None:
    site = MORE_GENERATORS["slow calendar"]()
    world = world_of(site)
    first = world.crawl(most=FAR_TOO_MANY)
    assert world.skipped["trap"] > 0
    again = world.crawl(most=FAR_TOO_MANY)
    assert len(first.asked) > 100
    assert again.asked == []
    assert [fence.state for fence in world.fences][:1] == ["fenced"]


def test_an_operator_allows_what_is_fenced_and_excludes_what_is_open() -> None:
    site = MORE_GENERATORS["endless counter"]()
    allowed = world_of(site, allow=("/home?time=",)).crawl(most=400)
    assert len(allowed.asked) >= 400
    excluded = world_of(site, exclude=(f"{HOST} /article/{{n}}",)).crawl(most=400)
    assert not any("/article/" in url for url in excluded.asked)


def test_a_rule_taken_back_lets_its_pages_in_again() -> None:
    site = MORE_GENERATORS["endless counter"]()
    world = world_of(site, exclude=("/article/{n}",))
    assert world.crawl(most=400).reached == set()
    world.settings = replace(world.settings, traps=TrapSettings())
    assert len(world.crawl(most=400).reached) == site.real_pages


def test_pages_behind_a_fence_come_back_when_the_operator_allows_them() -> None:
    site = GENERATORS["facet explosion"]()
    world = world_of(site)
    world.crawl(most=FAR_TOO_MANY)
    world.settings = replace(world.settings, traps=TrapSettings(allow=("/shop?*",)))
    again = world.crawl(most=300)
    assert len(again.asked) >= 300
    assert all("/shop?" in url for url in again.asked)


def test_a_small_site_is_neither_judged_nor_tried() -> None:
    site = make_site("honest large site", pages=50)
    world = world_of(site)
    web = world.crawl()
    assert len(web.asked) == 50
    assert not world.has_learned


def test_sites_with_calendars_without_end_are_crawled_to_their_end() -> None:
    web = SimWeb(3, sites=12, pages_per_site=40, faults=NO_FAULTS)
    calendars = {site for site in range(12) if web.site(site).content.has_calendar}
    assert calendars
    assert make_world(web, shards=2).crawl() is Ended.DONE
    months = [asked.path for asked in web.log.requests if asked.path.startswith("/calendar/")]
    real = {url for url in web.pages() if web.allowed(url)}
    asked = {asked.site + asked.path for asked in web.log.requests}
    assert len(real - asked) <= 0.02 * len(real)
    assert len(set(months)) <= 150 * len(calendars)
    assert web.violations() == []
