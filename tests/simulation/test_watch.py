"""Months of watching in virtual time: the budget is held, the estimate is honest, nobody is pressed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from evercrawl.core.revisit.visit_schedule import POLICIES
from evercrawl.engine.runtime import Ended
from evercrawl.model.settings import Settings
from evercrawl.testing.sim_web import SimWeb
from evercrawl.testing.sim_world import make_world
from evercrawl.testing.site_plan import NO_FAULTS
from evercrawl.testing.virtual_time import EPOCH
from tests.worlds.long_watch import freshness_of, run_long_watch

SEED = 11


def test_two_months_with_faults_and_a_budget():
    vigil = run_long_watch(SEED, sites=14, days=60, per_day=45)
    assert vigil.violations == 0
    assert 0.95 * vigil.allowed <= vigil.requests <= 1.05 * vigil.allowed
    assert abs(vigil.estimate_error) <= 0.03 + 2 * vigil.estimate_noise
    assert vigil.spread > 0.6, "visits to a page wander over the day"


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_keeps_going_and_none_is_impolite(policy: str):
    web = SimWeb(SEED, sites=3, pages_per_site=8, faults=NO_FAULTS)
    base = Settings()
    settings = replace(
        base,
        revisit=replace(base.revisit, policy=policy, budget=30.0),
        scope=replace(base.scope, exclude=("/calendar/",)),
    )
    world = make_world(web, settings=settings, shards=2)
    assert world.watch(timedelta(days=40)) is Ended.INTERRUPTED
    pages = [record.page for shard in range(2) for record in world.store.state_of(shard).records.values()]
    seen = [page for page in pages if page.version]
    assert len(seen) > 10
    assert all(page.visits > 1 for page in seen), "no page is given up"
    assert web.violations() == []


def test_more_budget_buys_more_freshness():
    fresh = []
    for per_day in (6.0, 60.0):
        web = SimWeb(SEED, sites=4, pages_per_site=12, faults=NO_FAULTS)
        base = Settings()
        world = make_world(web, settings=replace(base, revisit=replace(base.revisit, budget=per_day)), shards=2)
        world.watch(timedelta(days=40))
        fresh.append(freshness_of(world).true)
    assert fresh[1] > fresh[0] + 0.1


def test_nothing_is_asked_in_quiet_hours():
    web = SimWeb(SEED, sites=3, pages_per_site=10, faults=NO_FAULTS)
    base = Settings()
    revisit = replace(base.revisit, quiet=("22:00-06:00",), longest=timedelta(hours=12), budget=400.0)
    world = make_world(web, settings=replace(base, revisit=revisit), shards=2)
    world.watch(timedelta(days=5))
    hours = {asked.sent.hour for asked in web.log.requests if asked.sent > EPOCH + timedelta(minutes=1)}
    assert hours
    assert hours <= set(range(6, 22))


def test_a_site_gets_no_more_than_its_budget():
    web = SimWeb(SEED, sites=3, pages_per_site=10, faults=NO_FAULTS)
    base = Settings()
    revisit = replace(base.revisit, site_budget=48.0, longest=timedelta(hours=6))
    world = make_world(web, settings=replace(base, revisit=revisit), shards=2)
    world.watch(timedelta(days=4))
    for site, asked in web.log.by_site().items():
        assert len(asked) <= 4 * 48 + 2, site
        assert len(asked) > 10, site
