"""Coordinator and outpost in virtual time: withheld pages, the owner's limits, and the PDFC paper's experiment."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from research.papers.pdfc import run_pdfc
from research.papers.pdfc_chart import draw_pdfc

from evercrawl.cluster.crawl_builder import assemble_crawl
from evercrawl.core.http.content_coding import DecodeLimits
from evercrawl.core.http.http1 import ReadLimits, parse_response_head
from evercrawl.core.http.message import RawResponse, fetch_result
from evercrawl.core.politeness import pace_from_settings
from evercrawl.core.url import path_of
from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, FetchResult, Request
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.settings import Settings
from evercrawl.model.time import to_us
from evercrawl.outpost.agent import OutpostAgent
from evercrawl.outpost.agent_state import AgentState
from evercrawl.outpost.channel import Credentials, SecureChannel
from evercrawl.outpost.coordinator import Coordinator
from evercrawl.outpost.fetcher import OutpostFetcher
from evercrawl.outpost.pairing import PairingCode
from evercrawl.testing.sim_world import MemoryArchive, MemoryNear
from evercrawl.testing.store import MemoryStore
from evercrawl.testing.virtual_time import SimClock, run
from tests.worlds.pipe import pipe

SITE = "https://example.org"


class Web:
    """Pages that count their requests; /fast changes each time."""

    def __init__(self, clock: SimClock, name: str) -> None:
        self.clock = clock
        self.name = name
        self.takes_s = 0.05
        self.asked: list[tuple[float, str]] = []

    async def fetch(self, request: Request) -> FetchResult:
        began = self.clock.now()
        path = path_of(request.url)
        self.asked.append((began.timestamp(), request.url))
        await asyncio.sleep(self.takes_s)
        body = {"/robots.txt": b"User-agent: *\nDisallow: /no\n", "/fast": b"%d" % len(self.asked)}.get(
            path, b"<p>Always the same.</p>"
        )
        raw = f"HTTP/1.1 200 OK\r\nX-By: {self.name}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        exchange = Exchange(b"GET", raw, body, None, began, self.clock.now() - began)
        head = parse_response_head(raw, ReadLimits(10_000, 100, 10_000))
        is_cut = path == "/large" and self.name == "outpost"
        return fetch_result(request, RawResponse(head, exchange, is_cut=is_cut), limits=DecodeLimits(10_000, 100.0))

    async def close(self) -> None:
        pass


class Camp:
    """A coordinator, one outpost, and a pipe."""

    def __init__(self, folder: Path, settings: Settings, *, rate_gap: timedelta) -> None:
        self.clock = SimClock()
        self.near, self.far = Web(self.clock, "outpost"), Web(self.clock, "home")
        self.home = Coordinator(folder / "home", settings, self.clock, direct=self.far)
        code, now_us = PairingCode(b"0123456789", bytes(16)), to_us(self.clock.now())
        self.home.state.add_code(code.name, code.key, name="one", routes=[".org"], now_us=now_us, expires_us=2 * now_us)
        row = self.home.state.redeem_code(code.name, bytes(32), now_us=now_us)
        assert row is not None
        self.state = AgentState(folder / "outpost", max_bytes=10**7)
        pace = pace_from_settings(settings.pace, delay_cap=timedelta(seconds=60), anonymous=False)
        fetcher = OutpostFetcher(
            self.near,
            self.state,
            self.clock,
            settings=settings,
            pace=pace,
            allow=("example.org",),
            rate_gap=rate_gap,
            after_crash=False,
        )
        credentials = Credentials(row.id, row.key, bytes(32), None)
        self.agent = OutpostAgent(
            self._connect, credentials, fetcher=fetcher, state=self.state, clock=self.clock, random=Random(1)
        )
        self.serving: list[asyncio.Task[None]] = []

    async def _connect(self) -> SecureChannel:
        ours, theirs = pipe()
        self.serving.append(asyncio.create_task(self.home.serve(*theirs)))
        return SecureChannel(*ours)


def _play(
    folder: Path,
    story: Callable[[Camp], Awaitable[None]],
    *,
    settings: Settings | None = None,
    rate_gap: timedelta = timedelta(0),
) -> None:
    async def whole() -> None:
        camp = Camp(folder, settings or Settings(), rate_gap=rate_gap)
        running = asyncio.create_task(camp.agent.run())
        await camp.agent.is_known.wait()
        await story(camp)
        camp.agent.stop()
        await running
        await asyncio.gather(*camp.serving)
        await camp.home.close()
        camp.state.close()

    run(whole())


def test_a_page_that_always_changes_is_not_always_sent(tmp_path: Path) -> None:
    async def story(camp: Camp) -> None:
        outcomes = []
        for _ in range(16):
            result = await camp.home.fetch(Request(f"{SITE}/fast"))
            outcomes.append(isinstance(result, Fetched))
            if isinstance(result, Failed):
                assert result.fault is Fault.WITHHELD
            await asyncio.sleep(3600)
        # Five changes in a row make it fast; from then on it is sent every sixth hour.
        assert outcomes == [True] * 5 + [False] * 5 + [True] + [False] * 5
        assert camp.far.asked == []

    _play(tmp_path, story)


def test_a_withheld_page_is_not_a_failure(tmp_path: Path) -> None:
    """The page is crawled hourly for two days: it is neither given up nor counted as an error."""
    base = Settings()
    settings = replace(
        base,
        scope=replace(base.scope, seeds=(f"{SITE}/fast",), kind="list"),
        identity=replace(base.identity, contact="mailto:simulation@example.org"),
        sitemaps=replace(base.sitemaps, enabled=False),
        change=replace(base.change, detector="bytes"),
    )
    store, archive = MemoryStore(1), MemoryArchive(0)
    outcomes: Counter[tuple[Outcome, Reason]] = Counter()

    async def story(camp: Camp) -> None:
        for _ in range(48):
            crawl = assemble_crawl(
                settings,
                clock=camp.clock,
                fetcher=OpenFetcher(camp.home),
                store=store,
                open_archive=lambda _: archive,
                open_near=lambda _: MemoryNear(),
            )
            async with crawl:
                await crawl.begin(refresh=True)
                await crawl.run()
            assert crawl.stats.first_error is None
            assert crawl.stats.reached
            outcomes.update(crawl.stats.outcomes)
            await asyncio.sleep(3600)

    _play(tmp_path, story, settings=settings)
    assert outcomes.pop((Outcome.DEFERRED, Reason.WITHHELD)) > 30
    assert {outcome for outcome, _ in outcomes} == {Outcome.FETCHED}
    (record,) = store.state_of(0).records.values()
    assert (record.page.tries, record.page.version > 5) == (0, True)
    assert record.due_us is not None, "it is asked for again"


class OpenFetcher:
    """A fetcher that stays open between runs."""

    def __init__(self, home: Coordinator) -> None:
        self._home = home

    async def fetch(self, request: Request) -> FetchResult:
        return await self._home.fetch(request)

    async def close(self) -> None:
        """Stay open."""


def test_everything_is_sent_if_configured(tmp_path: Path) -> None:
    base = Settings()
    always = replace(base, outposts=replace(base.outposts, resend_interval=None))

    async def story(camp: Camp) -> None:
        for _ in range(10):
            assert isinstance(await camp.home.fetch(Request(f"{SITE}/fast")), Fetched)

    _play(tmp_path, story, settings=always)


def test_an_unchanged_page_costs_few_bytes_and_gives_the_same_result(tmp_path: Path) -> None:
    async def story(camp: Camp) -> None:
        first = await camp.home.fetch(Request(f"{SITE}/"))
        second = await camp.home.fetch(Request(f"{SITE}/"))
        assert isinstance(first, Fetched)
        assert isinstance(second, Fetched)
        assert second.body == first.body == b"<p>Always the same.</p>"
        assert second.exchange.began > first.exchange.began
        counts = camp.home.state.counts(camp.home.state.outposts()[0].id)
        assert (counts["whole"], counts["same"]) == (1, 1)

    _play(tmp_path, story)


def test_the_outpost_obeys_robots_and_its_owners_allowed_hosts(tmp_path: Path) -> None:
    async def story(camp: Camp) -> None:
        refused = await camp.home.fetch(Request(f"{SITE}/no/way"))
        assert isinstance(refused, Failed)
        assert "line 2" in refused.detail
        assert [url for _, url in camp.near.asked] == [f"{SITE}/robots.txt"]
        other = await camp.home.fetch(Request("https://other.org/"))
        assert isinstance(other, Fetched)
        assert b"X-By: home" in other.exchange.response_head
        assert [url for _, url in camp.far.asked] == ["https://other.org/"]

    _play(tmp_path, story)


def test_the_coordinator_fetches_pages_too_large_for_the_outpost_after_the_delay(tmp_path: Path) -> None:
    async def story(camp: Camp) -> None:
        result = await camp.home.fetch(Request(f"{SITE}/large"))
        assert isinstance(result, Fetched)
        assert result.truncated is None
        assert b"X-By: home" in result.exchange.response_head
        (_, near), (far,) = camp.near.asked, camp.far.asked
        assert near[1] == far[1] == f"{SITE}/large"
        assert far[0] - near[0] >= 1.0

    _play(tmp_path, story)


def test_the_owners_rate_and_the_delay_are_kept(tmp_path: Path) -> None:
    async def story(camp: Camp) -> None:
        urls = [f"https://{name}.example.org/{number}" for number in range(3) for name in "abc"]
        await asyncio.gather(*(camp.home.fetch(Request(url)) for url in urls))
        moments = sorted(at for at, _ in camp.near.asked)
        assert len(moments) == len(urls) + 3
        assert all(b - a >= 9.99 for a, b in pairwise(moments))

    _play(tmp_path, story, rate_gap=timedelta(seconds=10))


def test_idle_days_send_nothing(tmp_path: Path) -> None:
    async def story(camp: Camp) -> None:
        await camp.home.fetch(Request(f"{SITE}/"))
        await asyncio.sleep(600)
        channel = camp.agent.channel
        assert channel is not None
        before = channel.bytes_in + channel.bytes_out
        await asyncio.sleep(10 * 86_400)
        assert channel.bytes_in + channel.bytes_out == before
        assert isinstance(await camp.home.fetch(Request(f"{SITE}/")), Fetched)
        assert camp.far.asked == []

    _play(tmp_path, story)


def test_the_rerun_matches_the_paper_and_outposts_need_a_twentieth() -> None:
    found = run_pdfc(days=4)
    existing, plain, packed, ours = found.variants
    assert 9_900 < found.page_bytes < 10_100
    assert existing.pages_sent == 100
    assert 795 < existing.kbit_s < 805
    assert 52 <= plain.pages_sent <= 68  # four days; thirty come within 5 %
    assert packed.bytes_share < 0.4 * plain.bytes_share
    assert ours.bytes_share <= 0.05
    assert ours.freshness == existing.freshness == 1.0
    phase = found.estimator
    assert phase.requests < 90, "F keeps pages from being asked for"
    assert phase.production_requests < 90
    assert phase.groups[0].per_page_day == 1.0, "F = 0 is asked for every day"
    assert phase.listed == pytest.approx(100 - phase.groups[0].page_days / 4)
    assert phase.analysed == pytest.approx(phase.requests - phase.groups[0].requests / 4), "F = 0 skips the analyser"
    picture = draw_pdfc(found)
    assert picture.startswith("<svg")
    assert picture.count("<rect") == 1 + 3 * (3 + 4)
