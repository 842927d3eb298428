"""The whole engine in virtual time on a synthetic web with faults. A failure prints the seed that repeats
it.
"""

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
"""What is asked beside pages, and may be asked again after a crash."""
SEED = 7
MOST_PAGES = 40
"""The synthetic web has calendars without an end."""


def world_of(web: SimWeb, *, shards: int = 4, patience_h: float = 0.5, traps: bool = True) -> SimWorld:
    """Without `traps` no address is made up to try a site out: which ones depends on what was seen before."""
    settings = Settings()
    crawl = replace(settings.crawl, patience=timedelta(hours=patience_h))
    scope = replace(settings.scope, pages_per_site=MOST_PAGES)
    watch_out = replace(settings.traps, enabled=traps)
    settings = replace(settings, crawl=crawl, scope=scope, traps=watch_out)
    return make_world(web, settings=settings, shards=shards)


def visited_urls(web: SimWeb) -> set[str]:
    return {asked.site + asked.path for asked in web.log.requests if asked.path != "/robots.txt"}


@pytest.mark.slow
def test_a_thousand_sites_with_faults_are_treated_politely():
    web = SimWeb(SEED, sites=1000, pages_per_site=12)
    world_of(web, shards=16).crawl()
    assert len(web.log.requests) > 10_000
    assert web.violations() == [], f"seed {SEED}"


def test_politeness_holds_across_crashes():
    web = SimWeb(SEED, sites=30, pages_per_site=20)
    world = world_of(web)
    for crash in range(12):
        world.crawl(crash_after=timedelta(seconds=3.3 + 1.7 * crash))
    world.crawl()
    assert web.violations(promise_across_crashes) == [], f"seed {SEED}"


def promise_across_crashes(before: LoggedRequest, delay: timedelta | None) -> timedelta:
    """How long an answer took is forgotten when nobody was left to see its end; the rest is not."""
    return max(timedelta(seconds=1), delay or timedelta(0))


def test_who_comes_after_a_short_run_after_a_crash_waits_as_if_it_had_crashed_itself():
    """The short run knew that sites may have been asked in the last moments before the crash, and asked
    few of them: it must not say that everything is written down.
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


def test_a_crash_loses_nothing_and_archives_nothing_twice():
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
def test_the_number_of_shards_changes_nothing_that_a_site_can_see(shards: int):
    web = SimWeb(SEED, sites=12, pages_per_site=20, faults=NO_FAULTS)
    alone = SimWeb(SEED, sites=12, pages_per_site=20, faults=NO_FAULTS)
    world_of(web, shards=shards, traps=False).crawl()
    world_of(alone, shards=1, traps=False).crawl()
    assert visited_urls(web) == visited_urls(alone)
    assert web.violations() == []


def test_the_same_seed_gives_the_same_run_event_for_event():
    logs = []
    for _ in range(2):
        web = SimWeb(SEED, sites=15, pages_per_site=15)
        world_of(web).crawl()
        logs.append(web.log.requests)
    assert logs[0] == logs[1]


def test_a_calm_web_is_crawled_to_its_end_and_not_again_until_due():
    web = SimWeb(SEED, sites=5, pages_per_site=20, faults=NO_FAULTS)
    world = world_of(web)
    assert world.crawl() is Ended.DONE
    asked = len(web.log.requests)
    assert world.crawl() is Ended.DONE
    assert len(web.log.requests) == asked, "nothing is due an hour later"


def test_refresh_visits_every_known_page_once():
    web = SimWeb(SEED, sites=3, pages_per_site=15, faults=NO_FAULTS)
    world = world_of(web)
    world.crawl()
    first = Counter(asked.site + asked.path for asked in web.log.requests)
    asked_before = len(web.log.requests)
    world.crawl(refresh=True)
    second = Counter(asked.site + asked.path for asked in web.log.requests[asked_before:])
    assert max(second.values()) == 1
    answered = {url for url, count in first.items() if count and not url.endswith(("/robots.txt", *SOURCES))}
    assert len(answered - set(second)) <= len(answered) * 0.2, "all but pages that are gone"
    assert web.violations() == []


def test_sites_that_are_down_are_tried_later_and_then_left_alone():
    faults = replace(NO_FAULTS, refusing=1.0)
    web = SimWeb(SEED, sites=3, pages_per_site=5, faults=faults)
    world = world_of(web, patience_h=24 * 20)
    limits = replace(world.settings.crawl, max_time=timedelta(days=20))
    world.settings = replace(world.settings, crawl=limits)
    assert world.crawl() is Ended.LIMIT
    by_site = web.log.by_site()
    assert by_site
    for asked in by_site.values():
        assert 5 <= len(asked) <= 15, "some tries over twenty days, ever more seldom"
        gaps = [later.sent - before.answered for before, later in itertools.pairwise(asked)]
        assert max(gaps) >= timedelta(days=3)


def test_a_site_that_left_the_scope_is_not_asked_for_anything():
    web = SimWeb(SEED, sites=3, pages_per_site=10, faults=NO_FAULTS)
    world = world_of(web)
    world.crawl()
    asked = len(web.log.requests)
    home, *others = world.settings.scope.seeds
    world.settings = replace(world.settings, scope=replace(world.settings.scope, seeds=(home,)))
    world.crawl(refresh=True)
    sites = {asked.site for asked in web.log.requests[asked:]}
    assert sites, "the site that is left is visited"
    assert not any(other.startswith(site) for other in others for site in sites)
