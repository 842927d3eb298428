"""The synthetic web is reproducible, contains everything a crawler must survive, and finds every impolite request."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta

import pytest

from evercrawl.model.fetch import Failed, Fault, Fetched, Moved, NotModified, Request, Truncation, header
from evercrawl.testing import EPOCH, NO_FAULTS, LoggedRequest, SimClock, SimWeb, SiteFaults, run
from evercrawl.testing.sim_web import ViolationKind, default_delay
from evercrawl.testing.site_plan import PageKind, RobotsKind

ALL_FAULTS = SiteFaults(*[0.3] * 9)


def everything(web: SimWeb) -> list[str]:
    """Return every planned URL and every robots.txt."""
    pages = [url for kind in PageKind for url in web.pages(kind)]
    return pages + [home + "robots.txt" for home in web.home_pages()] + web.aliases()


async def fetch_all(web: SimWeb, urls: list[str], *, workers: int = 1):
    results = {}

    async def work(part: list[str]) -> None:
        for url in part:
            results[url] = await web.fetch(Request(url))

    await asyncio.gather(*(work(urls[start::workers]) for start in range(workers)))
    return results


def one(web: SimWeb, url: str, *, after: timedelta = timedelta(0), **conditions: str):
    async def later():
        await SimClock().sleep_until(EPOCH + after)
        return await web.fetch(Request(url, **conditions))

    return run(later())


def test_the_same_seed_gives_the_same_events():
    def events(seed: int):
        web = SimWeb(seed, sites=15, pages_per_site=10)
        run(fetch_all(web, everything(web), workers=7))
        return web.log.requests

    assert events(3) == events(3) != events(4)


def test_a_page_does_not_depend_on_earlier_requests():
    web = SimWeb(5, sites=8, pages_per_site=10, faults=NO_FAULTS)
    urls = web.pages()
    after = timedelta(days=40)
    alone = {url: one(SimWeb(5, sites=8, pages_per_site=10, faults=NO_FAULTS), url, after=after) for url in urls[:20]}
    for url in reversed(urls[:20]):
        assert one(web, url, after=after) == alone[url]


def test_every_kind_of_result_occurs():
    web = SimWeb(1, sites=60, pages_per_site=25, faults=ALL_FAULTS)

    async def week():
        ends = Counter()
        for day in range(3):
            await SimClock().sleep_until(EPOCH + timedelta(days=day))
            for result in (await fetch_all(web, everything(web), workers=50)).values():
                ends[result.fault if isinstance(result, Failed) else type(result)] += 1
        return ends

    faults = {Fault.DNS, Fault.CONNECT, Fault.TIMEOUT, Fault.RESET, Fault.EMPTY_REPLY, Fault.THROTTLED}
    answers = {Fault.SERVER_ERROR, Fault.NOT_FOUND, Fault.GONE, Fault.HTTP_ERROR}
    assert set(run(week())) == {Fetched, Moved} | faults | answers


def test_a_web_without_faults_has_none():
    web = SimWeb(1, sites=30, pages_per_site=20, faults=NO_FAULTS)
    results = run(fetch_all(web, everything(web), workers=30))
    faults = {result.fault for result in results.values() if isinstance(result, Failed)}
    assert faults == {Fault.NOT_FOUND, Fault.GONE}
    assert all(isinstance(results[url], Fetched) for url in web.pages())


def test_pages_change_over_time_and_validators_agree():
    web = SimWeb(2, sites=25, pages_per_site=10, faults=NO_FAULTS)

    async def revisit():
        kinds, changed = Counter(), 0
        first = await fetch_all(web, web.pages())
        versions = {url: web.version(url) for url in first}
        await SimClock().sleep_until(EPOCH + timedelta(days=30))
        for url, before in first.items():
            etag, date = header(before.headers, "etag"), header(before.headers, "last-modified")
            again = await web.fetch(Request(url, etag=etag, last_modified=date))
            kinds[type(again)] += 1
            changed += web.version(url) != versions[url]
            if isinstance(again, NotModified):
                assert web.version(url) == versions[url]
        return kinds, changed

    kinds, changed = run(revisit())
    assert kinds[NotModified] > 20
    assert kinds[Fetched] > 20
    assert 20 < changed < len(web.pages())


def test_some_pages_are_copies():
    web = SimWeb(3, sites=10, pages_per_site=60, faults=NO_FAULTS)
    copies = web.pages(PageKind.COPY)
    bodies = Counter(result.body for result in run(fetch_all(web, web.pages() + copies)).values())
    assert copies
    assert sum(count - 1 for count in bodies.values()) >= len(copies) / 2


def test_redirects_reach_pages_and_loops_do_not():
    web = SimWeb(4, sites=10, pages_per_site=60, faults=NO_FAULTS)

    async def hops(url: str) -> int:
        for hop in range(6):
            result = await web.fetch(Request(url))
            if isinstance(result, Fetched):
                return hop
            assert isinstance(result, Moved)
            url = result.target
        return 99

    async def walk():
        return [await hops(url) for url in web.pages(PageKind.MOVED)], [
            await hops(url) for url in web.pages(PageKind.LOOP)
        ]

    chains, loops = run(walk())
    assert set(chains) == {1, 2, 3}
    assert set(loops) == {99}


def test_an_alias_redirects_to_its_site():
    web = SimWeb(1, sites=30, faults=NO_FAULTS)
    alias = web.aliases()[0]
    moved = one(web, alias + "robots.txt")
    assert isinstance(moved, Moved)
    assert moved.target in [home + "robots.txt" for home in web.home_pages()]


def test_the_calendar_is_endless():
    web = SimWeb(1, sites=30, faults=NO_FAULTS)
    trap = next(web.site(n) for n in range(30) if web.site(n).content.has_calendar)
    page = one(web, f"{trap.origin}/calendar/2026/12")
    assert b'href="/calendar/2027/1"' in page.body
    assert b'href="/calendar/10000/1"' in one(web, f"{trap.origin}/calendar/9999/12").body


def test_every_page_is_reachable_over_ordinary_pages():
    web = SimWeb(6, sites=5, pages_per_site=80, faults=NO_FAULTS)
    for index in range(5):
        plan = web.site(index).content.plan
        seen, waiting = {0}, [plan.pages[0]]
        while waiting:
            linked = [page for page in plan.linked(waiting.pop()) if page.number not in seen]
            seen |= {page.number for page in linked}
            waiting += [page for page in linked if page.kind is PageKind.PAGE]
        assert seen == {page.number for page in plan.pages}


def test_big_pages_are_truncated_at_the_limit_of_the_request():
    web = SimWeb(3, sites=20, pages_per_site=60, faults=NO_FAULTS)
    big = next(url for url in web.pages(PageKind.BIG) if len(one(web, url).exchange.wire_body) > 50_000)
    cut = run(web.fetch(Request(big, body_limit=1000)))
    assert isinstance(cut, Fetched)
    assert cut.truncated is Truncation.WIRE
    assert len(cut.exchange.wire_body) == 1000


def test_compressing_sites_send_gzip():
    web = SimWeb(3, sites=20, faults=NO_FAULTS)
    results = run(fetch_all(web, web.home_pages())).values()
    packed = [result for result in results if header(result.headers, "content-encoding") == "gzip"]
    assert packed
    for result in packed:
        assert result.exchange.wire_body[:2] == b"\x1f\x8b"
        assert result.body.startswith(b"<!DOCTYPE html>")


def test_responses_take_the_reported_time():
    web = SimWeb(8, sites=40, pages_per_site=5)
    urls = web.pages()

    async def timed():
        for url in urls:
            start = SimClock().now()
            result = await web.fetch(Request(url))
            took = result.took if isinstance(result, Failed) else result.exchange.took
            assert SimClock().now() - start == took > timedelta(0)

    run(timed())


def test_unknown_hosts_do_not_resolve_and_unknown_paths_are_404():
    web = SimWeb(1, faults=NO_FAULTS)
    assert one(web, "https://nowhere.test/").fault is Fault.DNS
    missing = one(web, web.home_pages()[0] + "no/such/page")
    assert (missing.fault, missing.status) == (Fault.NOT_FOUND, 404)
    assert web.version("https://nowhere.test/") is None


def test_a_cancelled_request_is_logged():
    web = SimWeb(1, faults=NO_FAULTS)

    async def give_up():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.001):
                await web.fetch(Request(web.home_pages()[0]))

    run(give_up())
    (request,) = web.log.requests
    assert (request.status, request.fault, request.answered - request.sent) == (None, None, timedelta(milliseconds=1))


def second(number: float):
    return EPOCH + timedelta(seconds=number)


def logged(sent: float, answered: float, path: str = "/", status: int | None = 200, **more) -> LoggedRequest:
    return LoggedRequest(second(sent), second(answered), SITE, path, status, more.pop("fault", None), **more)


WEB = SimWeb(1, sites=40, pages_per_site=30, faults=NO_FAULTS)
SITE = next(
    WEB.site(n).origin
    for n in range(40)
    if WEB.site(n).robots.kind is RobotsKind.DELAY and WEB.site(n).robots.delay_s == 5.0
)
ROBOTS = logged(0, 0.1, "/robots.txt")


def violation_kinds(*requests: LoggedRequest) -> list[ViolationKind]:
    WEB.log.requests = list(requests)
    return [violation.kind for violation in WEB.violations()]


def test_polite_requests_are_no_violation():
    assert violation_kinds(ROBOTS, logged(5.1, 5.2), logged(10.2, 10.3, "/news/x")) == []


def test_crawl_delay_is_checked():
    assert WEB.crawl_delay(SITE + "/") == timedelta(seconds=5)
    assert violation_kinds(ROBOTS, logged(5.0, 5.2)) == [ViolationKind.TOO_SOON]


def test_a_slow_answer_requires_a_longer_delay():
    assert violation_kinds(ROBOTS, logged(10, 12), logged(31, 31.1)) == [ViolationKind.TOO_SOON]
    assert violation_kinds(ROBOTS, logged(10, 12), logged(32, 32.1)) == []
    assert default_delay(logged(0, 30), None) == timedelta(minutes=1)
    assert default_delay(logged(0, 0.01), None) == timedelta(seconds=1)


def test_concurrent_requests_are_found_in_any_order():
    assert violation_kinds(ROBOTS, logged(11, 11.5), logged(10, 12)) == [ViolationKind.CONCURRENT]


def test_retry_after_is_checked():
    busy = logged(10, 10.1, status=429, retry_after=timedelta(minutes=10))
    assert violation_kinds(ROBOTS, busy, logged(600, 600.1)) == [ViolationKind.RETRY_AFTER]
    assert violation_kinds(ROBOTS, busy, logged(611, 611.1)) == []


def test_disallowed_paths_are_found():
    assert not WEB.allowed(SITE + "/private/1")
    assert WEB.allowed(SITE + "/private/open/1")
    assert violation_kinds(ROBOTS, logged(10, 10.1, "/private/1")) == [ViolationKind.ROBOTS]


def test_pages_before_robots_txt_are_found():
    assert violation_kinds(logged(0, 0.1)) == [ViolationKind.ROBOTS_UNREAD]
    assert violation_kinds(logged(0, 0.1, "/robots.txt", 500), logged(10, 10.1)) == [ViolationKind.ROBOTS_UNREAD]
    assert violation_kinds(logged(0, 0.1), logged(10, 10.1, "/robots.txt")) == [ViolationKind.ROBOTS_UNREAD]


def test_requests_that_never_reached_the_site_do_not_count():
    assert violation_kinds(ROBOTS, logged(5.1, 5.2), logged(5.3, 5.4, status=None, fault=Fault.DNS)) == []


def test_an_alias_has_the_rules_of_its_site():
    for alias in WEB.aliases():
        index = int(alias.removeprefix("http://site")[:4])
        assert WEB.allowed(alias + "private/1") == WEB.site(index).robots.allows("/private/1")
    assert WEB.allowed("https://nowhere.test/private/1")


def test_throttling_sites_send_retry_after():
    web = SimWeb(2, sites=30, pages_per_site=2, faults=SiteFaults(throttling=1.0))
    homes = web.home_pages()

    async def days():
        for hour in range(72):
            await SimClock().sleep_until(EPOCH + timedelta(hours=hour))
            await asyncio.gather(*(web.fetch(Request(home)) for home in homes))

    run(days())
    sent = [one for home in homes for one in web.log.by_site().get(home.removesuffix("/"), []) if one.retry_after]
    closed = [(one.answered, one.answered + one.retry_after) for one in sent]
    assert len(closed) > 10
    assert all(timedelta(0) < end - start <= timedelta(hours=2, seconds=1) for start, end in closed)
    assert {request.status for request in web.log.requests if request.retry_after} == {429, 503}


def test_a_careful_crawler_of_a_faulty_web_commits_no_violation():
    """Crawl slowly with a tiny crawler of its own: robots.txt first, then one page at a time."""
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
