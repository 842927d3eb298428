"""The web's record finds every kind of impoliteness, and none where there is none."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from evercrawl.model.fetch import Fault, Request
from evercrawl.testing import EPOCH, NO_FAULTS, LoggedRequest, SimClock, SimWeb, SiteFaults, run
from evercrawl.testing.sim_web import ViolationKind, default_delay
from evercrawl.testing.site_plan import PageKind, RobotsKind


def second(number: float):
    return EPOCH + timedelta(seconds=number)


def asked(sent: float, answered: float, path: str = "/", status: int | None = 200, **more) -> LoggedRequest:
    return LoggedRequest(second(sent), second(answered), SITE, path, status, more.pop("fault", None), **more)


WEB = SimWeb(1, sites=40, pages_per_site=30, faults=NO_FAULTS)
SITE = next(
    WEB.site(n).origin
    for n in range(40)
    if WEB.site(n).robots.kind is RobotsKind.DELAY and WEB.site(n).robots.delay_s == 5.0
)
ROBOTS = asked(0, 0.1, "/robots.txt")


def offences(*requests: LoggedRequest) -> list[ViolationKind]:
    WEB.log.requests = list(requests)
    return [violation.offence for violation in WEB.violations()]


def test_a_polite_visitor_is_not_accused():
    assert offences(ROBOTS, asked(5.1, 5.2), asked(10.2, 10.3, "/news/x")) == []


def test_the_crawl_delay_counts():
    assert WEB.crawl_delay(SITE + "/") == timedelta(seconds=5)
    assert offences(ROBOTS, asked(5.0, 5.2)) == [ViolationKind.TOO_SOON]


def test_a_slow_answer_makes_the_gap_longer():
    assert offences(ROBOTS, asked(10, 12), asked(31, 31.1)) == [ViolationKind.TOO_SOON]
    assert offences(ROBOTS, asked(10, 12), asked(32, 32.1)) == []
    assert default_delay(asked(0, 30), None) == timedelta(minutes=1)
    assert default_delay(asked(0, 0.01), None) == timedelta(seconds=1)


def test_two_at_once_are_seen_whatever_order_they_end_in():
    assert offences(ROBOTS, asked(11, 11.5), asked(10, 12)) == [ViolationKind.AT_ONCE]


def test_retry_after_closes_the_site():
    busy = asked(10, 10.1, status=429, retry_after=timedelta(minutes=10))
    assert offences(ROBOTS, busy, asked(600, 600.1)) == [ViolationKind.RETRY_AFTER]
    assert offences(ROBOTS, busy, asked(611, 611.1)) == []


def test_what_robots_forbids_is_seen():
    assert not WEB.allowed(SITE + "/private/1")
    assert WEB.allowed(SITE + "/private/open/1")
    assert offences(ROBOTS, asked(10, 10.1, "/private/1")) == [ViolationKind.ROBOTS]


def test_a_page_before_robots_txt_is_seen():
    assert offences(asked(0, 0.1)) == [ViolationKind.ROBOTS_UNREAD]
    assert offences(asked(0, 0.1, "/robots.txt", 500), asked(10, 10.1)) == [ViolationKind.ROBOTS_UNREAD]
    assert offences(asked(0, 0.1), asked(10, 10.1, "/robots.txt")) == [ViolationKind.ROBOTS_UNREAD]


def test_what_never_reached_the_site_does_not_count():
    assert offences(ROBOTS, asked(5.1, 5.2), asked(5.3, 5.4, status=None, fault=Fault.DNS)) == []


def test_the_rules_of_a_twin_are_those_of_its_site():
    for twin in WEB.aliases():
        index = int(twin.removeprefix("http://site")[:4])
        assert WEB.allowed(twin + "private/1") == WEB.site(index).robots.allows("/private/1")
    assert WEB.allowed("https://nowhere.test/private/1")


def test_throttling_sites_say_until_when():
    web = SimWeb(2, sites=30, pages_per_site=2, faults=SiteFaults(throttling=1.0))
    homes = web.home_pages()

    async def days():
        for hour in range(72):
            await SimClock().sleep_until(EPOCH + timedelta(hours=hour))
            await asyncio.gather(*(web.fetch(Request(home)) for home in homes))

    run(days())
    closed = [span for home in homes for span in web.retry_after_spans(home.removesuffix("/"))]
    assert len(closed) > 10
    assert all(timedelta(0) < end - start <= timedelta(hours=2, seconds=1) for start, end in closed)
    assert {asked.status for asked in web.log.requests if asked.retry_after} == {429, 503}


def test_a_careful_visitor_of_a_troubled_web_is_not_accused():
    """A minute crawler of its own, slower than need be, that reads robots.txt and asks one page at a time."""
    web = SimWeb(9, sites=25, pages_per_site=8)
    allowed = [url for kind in (PageKind.PAGE, PageKind.TEXT) for url in web.pages(kind) if web.allowed(url)]

    async def visit(home: str) -> int:
        robots = await web.fetch(Request(home + "robots.txt"))
        seen = 0
        for url in [url for url in allowed if url.startswith(home)]:
            if getattr(robots, "status", None) not in (200, 404):
                break
            await asyncio.sleep(3 * 3600)
            await web.fetch(Request(url))
            seen += 1
        return seen

    async def crawl() -> int:
        return sum(await asyncio.gather(*(visit(home) for home in web.home_pages())))

    assert run(crawl()) > 60
    assert web.violations() == []
