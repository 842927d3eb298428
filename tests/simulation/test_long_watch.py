"""Weeks of watching in virtual time keep the budget, estimate freshness well and stay polite."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count, pairwise
from typing import Any

import pytest

from evercrawl.cluster.crawl_builder import assemble_crawl
from evercrawl.core.revisit.visit_schedule import POLICIES
from evercrawl.engine.crawl import Crawl, Overrides
from evercrawl.engine.runtime import Ended
from evercrawl.model.settings import Settings, SiteSettings
from evercrawl.testing.sim_web import SimWeb
from evercrawl.testing.sim_world import make_world
from evercrawl.testing.site_plan import NO_FAULTS
from evercrawl.testing.virtual_time import EPOCH
from tests.worlds.long_watch import freshness_of, run_long_watch

SEED = 11


@pytest.mark.regression_pin
@pytest.mark.parametrize("days", [25, pytest.param(60, marks=pytest.mark.long)])
def test_weeks_with_faults_and_a_budget(days: int):
    result = run_long_watch(SEED, sites=14, days=days, per_day=45)
    assert result.violations == 0
    assert 0.95 * result.allowed <= result.requests <= 1.05 * result.allowed
    assert abs(result.estimate_error) <= 0.03 + 2 * result.estimate_noise
    assert result.spread > 0.6, "visits to a page spread over the day"


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_keeps_visiting_politely(policy: str):
    web = SimWeb(SEED, sites=3, pages_per_site=8, faults=NO_FAULTS)
    base = Settings()
    settings = replace(
        base,
        revisit=replace(base.revisit, policy=policy, budget=30.0),
        scope=replace(base.scope, exclude=("/calendar/",)),
    )
    world = make_world(web, settings=settings, shards=2)
    days = 40 if policy == "nutch" else 20  # Nutch visits a page again after 30 days.
    assert world.watch(timedelta(days=days)) is Ended.INTERRUPTED
    pages = [record.page for shard in range(2) for record in world.store.state_of(shard).records.values()]
    seen = [page for page in pages if page.version]
    assert len(seen) > 10
    assert all(page.visits > 1 for page in seen), "every page is revisited"
    assert web.violations() == []


def test_more_budget_buys_more_freshness():
    fresh = []
    for per_day in (6.0, 60.0):
        web = SimWeb(SEED, sites=3, pages_per_site=12, faults=NO_FAULTS)
        base = Settings()
        world = make_world(web, settings=replace(base, revisit=replace(base.revisit, budget=per_day)), shards=2)
        world.watch(timedelta(days=25))
        fresh.append(freshness_of(world).true)
    assert fresh[1] > fresh[0] + 0.1


def test_no_request_is_sent_in_quiet_hours():
    web = SimWeb(SEED, sites=3, pages_per_site=10, faults=NO_FAULTS)
    base = Settings()
    revisit = replace(base.revisit, quiet_hours=("22:00-06:00",), max_interval=timedelta(hours=12), budget=400.0)
    world = make_world(web, settings=replace(base, revisit=revisit), shards=2)
    world.watch(timedelta(days=5))
    hours = {request.sent.hour for request in web.log.requests if request.sent > EPOCH + timedelta(minutes=1)}
    assert hours
    assert hours <= set(range(6, 22))


def test_a_paused_crawl_sends_nothing_and_goes_on_when_it_is_resumed():
    web = SimWeb(SEED, sites=2, pages_per_site=12, faults=NO_FAULTS)
    world = make_world(web, shards=2)
    begin, end = EPOCH + timedelta(seconds=8), EPOCH + timedelta(minutes=10)
    world.is_paused = lambda: begin <= world.clock.now() < end
    assert world.crawl() is Ended.DONE
    sent = [request.sent for request in web.log.requests]
    # It is noticed within two seconds, and requests in flight end.
    assert [at for at in sent if begin + timedelta(seconds=3) < at < end] == []
    assert min(sent) < begin
    assert max(sent) > end
    assert len(sent) >= len(set(web.pages()))


def test_a_site_gets_no_more_than_its_budget():
    web = SimWeb(SEED, sites=3, pages_per_site=10, faults=NO_FAULTS)
    base = Settings()
    revisit = replace(base.revisit, site_budget=48.0, max_interval=timedelta(hours=6))
    world = make_world(web, settings=replace(base, revisit=revisit), shards=2)
    world.watch(timedelta(days=4))
    for site, requests in web.log.by_site().items():
        assert 10 < len(requests) <= 4 * 48 + 2, site


def test_pages_are_visited_at_the_times_of_the_users_schedule():
    web = SimWeb(SEED, sites=2, pages_per_site=6, faults=NO_FAULTS)
    first, second = [url.removesuffix("/") for url in web.home_pages()]
    schedules = {first: "weekdays at 9, 17:30", second: "every 3 hours"}
    sites = tuple(SiteSettings(pattern=f"{name}/", schedule=text) for name, text in schedules.items())
    world = make_world(web, settings=Settings(), shards=2)
    world.watch(timedelta(days=3))
    began = web.log.requests[-1].sent
    world.settings = replace(world.settings, sites=sites)  # The schedules are new to pages that are known.
    world.watch(timedelta(days=10))
    visits: dict[str, list[datetime]] = {}
    known = set(web.pages())
    for request in web.log.requests:
        url = f"{request.site}{request.path}"
        if url in known and request.sent > began and not request.path.startswith("/calendar/"):
            visits.setdefault(url, []).append(request.sent)
    assert len(visits) > 6
    for url, sent in visits.items():
        repeated = [moment for before, moment in pairwise(sent) if moment - before > timedelta(minutes=30)]
        assert len(repeated) > 8, url
        if url.startswith(first):
            at = [(9, 0) if moment.hour < 17 else (17, 30) for moment in repeated]
            late = [
                moment - moment.replace(hour=hour, minute=minute, second=0)
                for moment, (hour, minute) in zip(repeated, at, strict=True)
            ]
            assert all(timedelta(0) <= wait < timedelta(minutes=20) for wait in late), (url, repeated)
            assert all(moment.weekday() < 5 for moment in repeated)
        else:
            gaps = [after - before for before, after in pairwise(repeated)]
            assert all(timedelta(hours=3) <= gap < timedelta(hours=3, minutes=20) for gap in gaps), (url, gaps)
    assert web.violations() == []


def test_a_running_crawl_follows_a_new_schedule(monkeypatch: pytest.MonkeyPatch):
    web = SimWeb(SEED, sites=1, pages_per_site=3, faults=NO_FAULTS)
    (page,) = web.home_pages()
    polls = count()

    def new_overrides() -> Overrides | None:
        return ((), (), ((f"{page}$", "every 20 minutes"),)) if next(polls) == 300 else None

    def assemble(*given: Any, **parts: Any) -> Crawl:
        return assemble_crawl(*given, **(parts | {"new_rules": lambda: None, "new_overrides": new_overrides}))

    monkeypatch.setattr("evercrawl.testing.sim_world.assemble_crawl", assemble)
    world = make_world(web, settings=Settings(), shards=1)
    world.watch(timedelta(hours=5))
    sent: dict[str, list[datetime]] = {}
    for request in web.log.requests:
        sent.setdefault(f"{request.site}{request.path}", []).append(request.sent)
    assert 12 <= len(sent[page]) <= 16, "every 20 minutes, since ten minutes after the start"
