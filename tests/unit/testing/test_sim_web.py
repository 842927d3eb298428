"""The synthetic web: the same seed gives the same web, everything a crawler must survive occurs in it."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta

import pytest

from evercrawl.model.fetch import Failed, Fault, Fetched, Moved, NotModified, Request, Truncation, header
from evercrawl.testing import EPOCH, NO_FAULTS, SimClock, SimWeb, SiteFaults, run
from evercrawl.testing.site_plan import PageKind

ALL_TROUBLES = SiteFaults(*[0.3] * 9)


def everything(web: SimWeb) -> list[str]:
    """Every URL that is planned, and every robots.txt."""
    pages = [url for kind in PageKind for url in web.pages(kind)]
    return pages + [home + "robots.txt" for home in web.home_pages()] + web.aliases()


async def fetch_all(web: SimWeb, urls: list[str], *, lanes: int = 1):
    results = {}

    async def lane(part: list[str]) -> None:
        for url in part:
            results[url] = await web.fetch(Request(url))

    await asyncio.gather(*(lane(urls[start::lanes]) for start in range(lanes)))
    return results


def one(web: SimWeb, url: str, *, after: timedelta = timedelta(0), **conditions: str):
    async def later():
        await SimClock().sleep_until(EPOCH + after)
        return await web.fetch(Request(url, **conditions))

    return run(later())


def test_the_same_seed_gives_the_same_run_event_for_event():
    def events(seed: int):
        web = SimWeb(seed, sites=15, pages_per_site=10)
        run(fetch_all(web, everything(web), lanes=7))
        return web.log.requests

    assert events(3) == events(3) != events(4)


def test_a_page_does_not_depend_on_what_was_asked_before():
    web = SimWeb(5, sites=8, pages_per_site=10, faults=NO_FAULTS)
    urls = web.pages()
    after = timedelta(days=40)
    alone = {url: one(SimWeb(5, sites=8, pages_per_site=10, faults=NO_FAULTS), url, after=after) for url in urls[:20]}
    for url in reversed(urls[:20]):
        assert one(web, url, after=after) == alone[url]


def test_every_way_to_end_occurs():
    web = SimWeb(1, sites=60, pages_per_site=25, faults=ALL_TROUBLES)

    async def week():
        ends = Counter()
        for day in range(3):
            await SimClock().sleep_until(EPOCH + timedelta(days=day))
            for result in (await fetch_all(web, everything(web), lanes=50)).values():
                ends[result.fault if isinstance(result, Failed) else type(result)] += 1
        return ends

    faults = {Fault.DNS, Fault.CONNECT, Fault.TIMEOUT, Fault.RESET, Fault.EMPTY_REPLY, Fault.THROTTLED}
    answers = {Fault.SERVER_ERROR, Fault.NOT_FOUND, Fault.GONE, Fault.HTTP_ERROR}
    assert set(run(week())) == {Fetched, Moved} | faults | answers


def test_a_calm_web_breaks_nowhere():
    web = SimWeb(1, sites=30, pages_per_site=20, faults=NO_FAULTS)
    results = run(fetch_all(web, everything(web), lanes=30))
    faults = {result.fault for result in results.values() if isinstance(result, Failed)}
    assert faults == {Fault.NOT_FOUND, Fault.GONE}
    assert all(isinstance(results[url], Fetched) for url in web.pages())


def test_pages_change_over_time_and_validators_tell():
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


def test_the_same_body_lies_under_two_addresses():
    web = SimWeb(3, sites=10, pages_per_site=60, faults=NO_FAULTS)
    copies = web.pages(PageKind.COPY)
    bodies = Counter(result.body for result in run(fetch_all(web, web.pages() + copies)).values())
    assert copies
    assert sum(count - 1 for count in bodies.values()) >= len(copies) / 2


def test_redirects_lead_to_pages_and_loops_lead_nowhere():
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


def test_a_twin_leads_to_its_site():
    web = SimWeb(1, sites=30, faults=NO_FAULTS)
    twin = web.aliases()[0]
    moved = one(web, twin + "robots.txt")
    assert isinstance(moved, Moved)
    assert moved.target in [home + "robots.txt" for home in web.home_pages()]


def test_the_calendar_has_no_end():
    web = SimWeb(1, sites=30, faults=NO_FAULTS)
    trap = next(web.site(n) for n in range(30) if web.site(n).content.has_calendar)
    page = one(web, f"{trap.origin}/calendar/2026/12")
    assert b'href="/calendar/2027/1"' in page.body
    assert b'href="/calendar/10000/1"' in one(web, f"{trap.origin}/calendar/9999/12").body


def test_every_ordinary_page_can_be_reached_over_ordinary_pages():
    web = SimWeb(6, sites=5, pages_per_site=80, faults=NO_FAULTS)
    for index in range(5):
        plan = web.site(index).content.plan
        seen, waiting = {0}, [plan.pages[0]]
        while waiting:
            linked = [page for page in plan.linked(waiting.pop()) if page.number not in seen]
            seen |= {page.number for page in linked}
            waiting += [page for page in linked if page.kind is PageKind.PAGE]
        assert seen == {page.number for page in plan.pages}


def test_big_pages_are_cut_at_the_limit_that_the_request_names():
    web = SimWeb(3, sites=20, pages_per_site=60, faults=NO_FAULTS)
    big = next(url for url in web.pages(PageKind.BIG) if len(one(web, url).exchange.wire_body) > 50_000)
    cut = run(web.fetch(Request(big, body_limit=1000)))
    assert isinstance(cut, Fetched)
    assert cut.truncated is Truncation.WIRE
    assert len(cut.exchange.wire_body) == 1000


def test_packed_sites_send_packed_bytes():
    web = SimWeb(3, sites=20, faults=NO_FAULTS)
    results = run(fetch_all(web, web.home_pages())).values()
    packed = [result for result in results if header(result.headers, "content-encoding") == "gzip"]
    assert packed
    for result in packed:
        assert result.exchange.wire_body[:2] == b"\x1f\x8b"
        assert result.body.startswith(b"<!DOCTYPE html>")


def test_answers_take_the_time_that_they_say():
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


def test_a_request_that_is_given_up_is_on_record():
    web = SimWeb(1, faults=NO_FAULTS)

    async def give_up():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.001):
                await web.fetch(Request(web.home_pages()[0]))

    run(give_up())
    (asked,) = web.log.requests
    assert (asked.status, asked.fault, asked.answered - asked.sent) == (None, None, timedelta(milliseconds=1))
