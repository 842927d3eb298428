"""A healthy site is neither closed nor starved: single faults, overload, Retry-After, closing and reopening."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from evercrawl.engine.runtime import Ended
from evercrawl.model.fetch import Fault
from evercrawl.model.time import from_us, to_us
from tests.worlds.faulty_web import (
    ROBOTS,
    Answer,
    FaultyWeb,
    dropped,
    hangs,
    incomplete,
    one_in,
    own_world,
    queued_pages,
    refused,
    run_time,
    sites_of,
    slow,
    status,
)

SITES, PAGES, ONE_IN = 12, 25, 20
BESIDE_PAGES = (ROBOTS, "/sitemap.xml")


def good_pages(web: FaultyWeb, since: int = 0) -> set[str]:
    """Return the pages that were answered with their content."""
    requests = [one for one in web.log.requests[since:] if one.status in (200, 304)]
    return {one.site + one.path for one in requests if not one.path.startswith(BESIDE_PAGES)}


@pytest.fixture(scope="module")
def healthy() -> timedelta:
    web = FaultyWeb(sites=SITES, pages=PAGES)
    world = own_world(web)
    run_time(world)
    return run_time(world, refresh=True)


BROKEN: dict[str, Callable[[Answer], Answer]] = {
    "dropped": dropped,
    "incomplete": incomplete,
    "500": status(500),
    "503": status(503),
    "429": status(429),
    "429 with Retry-After": status(429, retry_s=1),
    "503 with Retry-After": status(503, retry_s=1),
    "slow": slow,
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_refresh_with_one_broken_answer_in_twenty_takes_at_most_three_times_as_long(
    kind: str, healthy: timedelta
) -> None:
    web = FaultyWeb(sites=SITES, pages=PAGES)
    world = own_world(web)
    world.crawl()
    known, since = good_pages(web), len(web.log.requests)
    web.breaker = one_in(ONE_IN, BROKEN[kind])
    took = run_time(world, refresh=True)
    assert took <= 3 * healthy, f"{took} instead of {healthy}"
    assert len(known - good_pages(web, since)) <= 1, "a page may fail three times in a row"
    assert not queued_pages(world)


def test_pages_that_always_fail_hold_nobody_up(healthy: timedelta) -> None:
    web = FaultyWeb(sites=SITES, pages=PAGES)
    world = own_world(web)
    world.crawl()
    since = len(web.log.requests)
    web.breaker = lambda site, path, count, usual: dropped(usual) if path.endswith("7.html") else usual
    assert run_time(world, refresh=True) <= 3 * healthy
    requests = web.log.requests[since:]
    assert max(Counter(one.site + one.path for one in requests if one.fault is not None).values()) == 3
    assert not queued_pages(world)


def test_five_pages_that_hang_at_the_same_time_do_not_close_their_site() -> None:
    web = FaultyWeb(sites=1, pages=300)
    hanging: set[str] = set()

    def breaker(site: str, path: str, count: int, usual: Answer) -> Answer:
        if path != "/" and len(hanging) < 5:
            hanging.add(path)
        return hangs(usual) if path in hanging else usual

    web.breaker = breaker
    world = own_world(web)
    assert world.crawl() is Ended.DONE
    assert len(hanging) == 5
    assert len(good_pages(web)) > 100
    (site,) = [site for site in sites_of(world) if site.requests > 10]
    assert (site.failures, site.closed_reason) == (0, None)
    assert site.open_us <= to_us(world.clock.start)


@pytest.mark.parametrize("gentle", [True, False])
def test_retry_after_is_kept_exactly_and_the_crawl_goes_on(gentle: bool) -> None:
    web = FaultyWeb(sites=1, pages=40, breaker=every_tenth(status(429, retry_s=3)))
    world = own_world(web, gentle=gentle)
    assert world.crawl() is Ended.DONE
    assert not queued_pages(world)
    requests = sorted(web.log.requests, key=lambda one: one.sent)
    asked = [one for one in requests if one.retry_after is not None]
    assert len(asked) >= 3
    for one in asked:
        after = [other.sent - one.answered for other in requests if other.sent >= one.answered]
        assert min(after, default=timedelta(seconds=3)) >= timedelta(seconds=3)
        assert gentle or min(after, default=timedelta(seconds=3)) <= timedelta(seconds=4)


def every_tenth(broken: Callable[[Answer], Answer]) -> Callable[[str, str, int, Answer], Answer]:
    """Break every tenth answer of all, but no page twice."""
    answers = itertools.count(1)
    return lambda site, path, count, usual: broken(usual) if next(answers) % 10 == 0 and count == 1 else usual


def test_a_server_that_fails_again_and_again_is_slowed_down_and_crawled_to_the_end() -> None:
    web = FaultyWeb(sites=1, pages=60)
    broken = set(range(20, 32))
    answers = itertools.count(1)
    web.breaker = lambda site, path, count, usual: status(500)(usual) if next(answers) in broken else usual
    world = own_world(web, gentle=True)
    assert world.crawl() is Ended.DONE
    assert not queued_pages(world)
    assert len(good_pages(web)) > 40
    sent = sorted(one.sent for one in web.log.requests)
    gaps = [(later - earlier).total_seconds() for earlier, later in itertools.pairwise(sent)]
    assert max(gaps) > 15, "it is left alone for a while"
    assert gaps[-1] < 10, "and trusted again"


def test_a_slow_server_with_four_threads_is_crawled_completely_in_one_run() -> None:
    def breaker(site: str, path: str, count: int, usual: Answer) -> Answer:
        return usual._replace(after_s=1.5)

    web = FaultyWeb(sites=1, pages=450, breaker=breaker, threads=4)
    healthy = FaultyWeb(sites=1, pages=450)
    own_world(healthy).crawl()
    world = own_world(web, concurrency=64)
    world.settings = replace(world.settings, pace=replace(world.settings.pace, unlimited_concurrency=64))
    assert world.crawl() is Ended.DONE
    assert good_pages(healthy) == good_pages(web)
    assert web.most_at_once <= 32, "the queue of the server stays short"
    assert not [one for one in web.log.requests if one.fault is not None]


def test_a_site_that_stops_answering_is_closed_and_an_explicit_run_opens_it_again() -> None:
    web = FaultyWeb(sites=1, pages=60)
    is_down = [False]
    answers = itertools.count(1)

    def breaker(site: str, path: str, count: int, usual: Answer) -> Answer:
        is_down[0] |= next(answers) == 20
        return refused(usual) if is_down[0] else usual

    web.breaker = breaker
    world = own_world(web, gentle=True, idle_timeout=timedelta(seconds=30))
    assert world.crawl() is Ended.CLOSED
    left = queued_pages(world)
    assert left
    (site,) = [site for site in sites_of(world) if site.requests > 10]
    assert (site.closed_reason or "").startswith("site_down: connection refused")
    assert timedelta(0) < from_us(site.open_us) - world.clock.start <= timedelta(minutes=1)
    count = len(web.log.requests)
    assert world.crawl() is Ended.CLOSED
    assert len(web.log.requests) == count + 1, "one request finds out that it is still down"
    web.breaker = None
    assert world.crawl() is Ended.DONE
    assert not queued_pages(world)
    (site,) = [site for site in sites_of(world) if site.requests > 10]
    assert (site.failures, site.closed_reason) == (0, None)


def test_a_pause_that_a_site_asked_for_is_not_cut_short_by_an_explicit_run() -> None:
    web = FaultyWeb(sites=1, pages=30, has_robots=True)
    answers = itertools.count(1)
    web.breaker = lambda site, path, count, usual: status(503, retry_s=3600)(usual) if next(answers) == 8 else usual
    world = own_world(web, gentle=True)
    assert world.crawl() is Ended.CLOSED
    count = len(web.log.requests)
    assert world.crawl(refresh=True) is Ended.CLOSED
    assert len(web.log.requests) == count
    assert web.violations() == []


def test_sites_behind_one_address_share_a_limit() -> None:
    web = FaultyWeb(sites=40, pages=6, has_robots=True)
    world = own_world(web, gentle=True)
    world.resolve = one_address
    world.crawl()
    sent = sorted(one.sent for one in web.log.requests if one.fault is not Fault.DNS)
    gaps = [later - earlier for earlier, later in itertools.pairwise(sent)]
    assert min(gaps) >= timedelta(milliseconds=100)
    assert len({one.site for one in web.log.requests}) >= 40
    assert web.violations() == []


async def one_address(site: str) -> str | None:
    return "192.0.2.7"
