"""The whole engine in virtual time on a synthetic web with faults. A failure prints the seed that repeats it."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from evercrawl.engine.runtime import Ended
from evercrawl.model.settings import CreditSettings, Settings
from evercrawl.testing import NO_FAULTS, LoggedRequest, SimWeb
from evercrawl.testing.sim_world import SimWorld, make_world

SOURCES = ("/sitemap.xml?XTND", "/sitemap.xml")
"""Requested in addition to pages, and possibly again after a crash."""
SEED = 7
MOST_PAGES = 40
"""The synthetic web has endless calendars."""


def world_of(web: SimWeb, *, shards: int = 4, patience_h: float = 0.5, traps: bool = True) -> SimWorld:
    """Create a world; without `traps` there are no probes, whose URLs depend on earlier visits."""
    settings = Settings()
    crawl = replace(settings.crawl, idle_timeout=timedelta(hours=patience_h))
    scope = replace(settings.scope, max_pages_per_site=MOST_PAGES)
    trap_settings = replace(settings.traps, enabled=traps)
    settings = replace(settings, crawl=crawl, scope=scope, traps=trap_settings)
    return make_world(web, settings=settings, shards=shards)


def visited_urls(web: SimWeb) -> set[str]:
    return {one.site + one.path for one in web.log.requests if one.path != "/robots.txt"}


@pytest.mark.slow
@pytest.mark.parametrize("sites", [120, pytest.param(1000, marks=pytest.mark.long)])
def test_many_sites_with_faults_are_treated_politely(sites: int):
    web = SimWeb(SEED, sites=sites, pages_per_site=12)
    world_of(web, shards=16).crawl()
    assert len(web.log.requests) > 10 * sites
    assert web.violations() == [], f"seed {SEED}"


def test_politeness_holds_across_crashes():
    web = SimWeb(SEED, sites=30, pages_per_site=20)
    world = world_of(web)
    for crash in range(12):
        world.crawl(crash_after=timedelta(seconds=3.3 + 1.7 * crash))
    world.crawl()
    assert web.violations(promise_across_crashes) == [], f"seed {SEED}"


def promise_across_crashes(previous: LoggedRequest, delay: timedelta | None) -> timedelta:
    """Return the promised delay; a crash loses only how long the last response took."""
    return max(timedelta(seconds=1), delay or timedelta(0))


def test_a_short_run_after_a_crash_does_not_count_as_clean():
    """Requests sent right before a crash are not recorded. A short run afterwards that visits few of those sites must
    not mark the shard as clean.
    """
    world = world_of(SimWeb(SEED, sites=30, pages_per_site=20, faults=NO_FAULTS), shards=2)
    world.crawl(crash_after=timedelta(seconds=5))
    limits = world.settings.crawl
    world.settings = replace(world.settings, crawl=replace(limits, max_time=timedelta(seconds=2)))
    assert world.crawl() is Ended.LIMIT
    assert not any(world.store.state_of(shard).is_clean for shard in range(2))
    world.settings = replace(world.settings, crawl=replace(limits, max_time=timedelta(minutes=10)))
    world.crawl()
    assert all(world.store.state_of(shard).is_clean for shard in range(2))


def test_a_crash_loses_no_page_and_archives_none_twice():
    def pages_of(world: SimWorld) -> set[str]:
        entries = [entry for archive in world.archives.values() for entry in archive.entries]
        return {entry.url for entry in entries if not entry.url.endswith(SOURCES)}

    calm, rough = (world_of(SimWeb(SEED, sites=8, pages_per_site=25, faults=NO_FAULTS), traps=False) for _ in range(2))
    for world in (calm, rough):
        # Which pages of a full site come first must not depend on the moment of a crash.
        world.settings = replace(world.settings, credit=CreditSettings(order="breadth-first"))
    calm.crawl()
    for crash in range(10):
        rough.crawl(crash_after=timedelta(seconds=2.1 + 2.9 * crash))
    rough.crawl()
    assert pages_of(rough) == pages_of(calm), f"seed {SEED}"
    for archive in rough.archives.values():
        pages = [entry.url for entry in archive.entries if not entry.url.endswith(("/robots.txt", *SOURCES))]
        counts = Counter(pages)
        assert max(counts.values(), default=0) <= 1


@pytest.mark.parametrize("shards", [1, 4, 16])
def test_the_number_of_shards_changes_no_request(shards: int):
    web = SimWeb(SEED, sites=12, pages_per_site=20, faults=NO_FAULTS)
    alone = SimWeb(SEED, sites=12, pages_per_site=20, faults=NO_FAULTS)
    world_of(web, shards=shards, traps=False).crawl()
    world_of(alone, shards=1, traps=False).crawl()
    assert visited_urls(web) == visited_urls(alone)
    assert web.violations() == []


def test_the_same_seed_gives_the_same_events():
    logs = []
    for _ in range(2):
        web = SimWeb(SEED, sites=15, pages_per_site=15)
        world_of(web).crawl()
        logs.append(web.log.requests)
    assert logs[0] == logs[1]


def test_a_web_without_faults_is_crawled_once_until_pages_are_due():
    web = SimWeb(SEED, sites=5, pages_per_site=20, faults=NO_FAULTS)
    world = world_of(web)
    assert world.crawl() is Ended.DONE
    count = len(web.log.requests)
    assert world.crawl() is Ended.DONE
    assert len(web.log.requests) == count, "nothing is due an hour later"


def test_refresh_visits_every_known_page_once():
    web = SimWeb(SEED, sites=3, pages_per_site=15, faults=NO_FAULTS)
    world = world_of(web)
    world.crawl()
    first = Counter(one.site + one.path for one in web.log.requests)
    count = len(web.log.requests)
    world.crawl(refresh=True)
    second = Counter(one.site + one.path for one in web.log.requests[count:])
    assert max(second.values()) == 1
    answered = {url for url, count in first.items() if count and not url.endswith(("/robots.txt", *SOURCES))}
    assert len(answered - set(second)) <= len(answered) * 0.2, "all but pages that are gone"
    assert web.violations() == []


def test_sites_that_are_down_are_retried_ever_more_rarely():
    faults = replace(NO_FAULTS, refusing=1.0)
    web = SimWeb(SEED, sites=3, pages_per_site=5, faults=faults)
    world = world_of(web, patience_h=24 * 20)
    limits = replace(world.settings.crawl, max_time=timedelta(days=20))
    world.settings = replace(world.settings, crawl=limits)
    assert world.crawl() is Ended.LIMIT
    by_site = web.log.by_site()
    assert by_site
    for requests in by_site.values():
        assert 5 <= len(requests) <= 15, "some attempts over twenty days"
        gaps = [later.sent - earlier.answered for earlier, later in itertools.pairwise(requests)]
        assert max(gaps) >= timedelta(days=3)


def test_a_site_that_left_the_scope_gets_no_request():
    web = SimWeb(SEED, sites=3, pages_per_site=10, faults=NO_FAULTS)
    world = world_of(web)
    world.crawl()
    count = len(web.log.requests)
    home, *others = world.settings.scope.seeds
    world.settings = replace(world.settings, scope=replace(world.settings.scope, seeds=(home,)))
    world.crawl(refresh=True)
    sites = {request.site for request in web.log.requests[count:]}
    assert sites, "the remaining site is visited"
    assert not any(other.startswith(site) for other in others for site in sites)
