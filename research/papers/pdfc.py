"""Rerun of the PDFC paper's experiment: 100 sites, 30 days, 10 KB pages; pages sent, load and bandwidth.

Four crawlers keep the same copies, one round a day. The existing crawler downloads every page. The paper's crawler,
without and with compression, follows its own rules (ASCII count, deflate as in WinZip). Ours is the production crawler
with outposts in virtual time; every byte between coordinator and outposts counts, TLS included. In these 30 days every
page is requested, as in the paper's measurement, and the frequency change estimator learns F. Then as many days follow
in which F decides which pages are asked for at all: by the paper's rule, and by the production policy `paper-pdfc`.
"""

from __future__ import annotations

import asyncio
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from math import inf
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.worlds.pipe import pipe

from evercrawl.cluster.crawl_builder import assemble_crawl
from evercrawl.core.change.detectors import ascii_count
from evercrawl.core.politeness import pace_from_settings
from evercrawl.core.revisit.interval_rules import PDFC_EVERY_VISIT, PaperPdfc, RuleState, frequency_of_change
from evercrawl.engine.ports import Fetcher
from evercrawl.model.fetch import FetchResult, Request
from evercrawl.model.settings import Settings
from evercrawl.model.time import to_us
from evercrawl.outpost.agent import OutpostAgent
from evercrawl.outpost.agent_state import AgentState
from evercrawl.outpost.answers import split_exchange
from evercrawl.outpost.channel import Credentials, SecureChannel
from evercrawl.outpost.coordinator import Coordinator
from evercrawl.outpost.fetcher import OutpostFetcher
from evercrawl.outpost.pairing import PairingCode
from evercrawl.testing.sim_world import MemoryArchive, MemoryNear
from evercrawl.testing.site_plan import random_stream
from evercrawl.testing.store import MemoryStore
from evercrawl.testing.virtual_time import EPOCH, SimClock, run
from research.papers.pdfc_pages import SITES, SUFFIXES, PaperPage, PaperWeb

DAYS = 30
ROUND_S = 10.0
"""Duration of a round: the paper's load of 800 kbit/s is 100 pages of 10 KB within ten seconds."""
CHANNEL_KBIT_S = 8.0
"""The paper's noiseless channel of 4 kHz."""
DEFLATE_LEVEL = 6
TOLERANCE = 0.05
"""How far pages and loads may differ from the paper's."""
MOST_SHARE = 0.05
"""The most that outposts may need of the existing crawler's bytes."""
PAPER = {"existing": (100.0, 800.0, 100.0), "pdfc": (60.0, 480.0, 60.0), "pdfc-compressed": (60.0, 170.0, 21.0)}
"""The paper's pages sent, kbit/s and seconds."""
PAPER_DIRECT, PAPER_BY_FREQUENCY = 41.0, 19.0
PAPER_COMPRESSION = 0.30
"""The paper's best compression. Its loads of 480 and 170 kbit/s are 0.35."""
PAPER_KHZ = {"existing": 132.0, "pdfc": 110.0}
"""The paper's measured bandwidth. It does not follow from its other figures, so only the chart shows it."""


class PdfcVariant(NamedTuple):
    """Results of one crawler, per day on average."""

    name: str
    pages_sent: float
    kbit_s: float
    seconds: float
    """Time on the paper's channel."""
    bytes_share: float
    """Bytes relative to the existing crawler."""
    freshness: float
    """Share of pages whose copy is current at the end of a round."""
    requests: float
    """Requests for pages."""
    paper: tuple[float, float, float] | None
    """The paper's pages sent, kbit/s and seconds."""


class FrequencyGroup(NamedTuple):
    """Pages with one range of F, and how often they were asked for."""

    label: str
    page_days: int
    requests: int

    @property
    def per_page_day(self) -> float:
        """Requests per page and day."""
        return self.requests / self.page_days if self.page_days else 0.0


class EstimatorPhase(NamedTuple):
    """The days in which F decides, per day on average."""

    requests: float
    sent: float
    listed: float
    """Pages in the old database file: those with F > 0."""
    analysed: float
    """Visits whose page the analyser scanned: those with another F than 0."""
    freshness: float
    groups: tuple[FrequencyGroup, ...]
    production_requests: float
    """Requests of the production crawler with outposts and the policy `paper-pdfc`, in the second half of its days."""

    @property
    def falls(self) -> bool:
        """Whether pages with a larger F are asked for less often."""
        rates = [group.per_page_day for group in self.groups if group.page_days]
        return all(before > after for before, after in pairwise(rates))


class PdfcExperiment(NamedTuple):
    """Results of all crawlers."""

    variants: tuple[PdfcVariant, ...]
    page_bytes: float
    direct: float
    """Pages per day that the paper's crawler sends without comparing, because they change at every visit."""
    by_frequency: float
    """Pages per day that it sends because their ASCII count differs."""
    estimator: EstimatorPhase
    matches: bool
    """Whether the paper's figures are reproduced, requests fall with F, and outposts need few bytes at no less
    freshness."""

    @property
    def compression(self) -> float:
        """Size of the sent pages after compression."""
        return self.variants[2].bytes_share / self.variants[1].bytes_share


class _Day(NamedTuple):
    """What one crawler sent on one day."""

    pages: int
    size: int
    fresh: int
    requests: int
    direct: int = 0


def run_pdfc(*, seed: int = 1, days: int = DAYS, most_edited: int = 3, outposts: int = len(SUFFIXES)) -> PdfcExperiment:
    """Run all four crawlers. Equal arguments give equal pages and changes."""
    pages = [PaperPage(seed, place, most_edited=most_edited) for place in range(SITES)]
    existing = [_existing(pages, day) for day in range(1, days + 1)]
    states = [PaperPdfc().after_visit(RuleState(), now=0.0, changed=True) for _ in pages]
    paper = _paper_days(pages, days, states)
    ours = run(_our_days(pages, days, outposts))
    asked = run(_our_days(pages, days, outposts, policy="paper-pdfc"))[days // 2 :]
    production = sum(day.requests for day in asked) / len(asked)
    estimator = _estimator_days(pages, days, states, production=production)
    whole = sum(day.size for day in existing)
    variants = (
        _variant("existing", existing, whole),
        _variant("pdfc", [plain for plain, _ in paper], whole),
        _variant("pdfc-compressed", [packed for _, packed in paper], whole),
        _variant("outposts", ours, whole),
    )
    direct = sum(day.direct for day, _ in paper) / days
    by_frequency = variants[1].pages_sent - direct
    matches = _matches_paper(variants) and estimator.falls and estimator.requests < SITES
    return PdfcExperiment(variants, whole / days / SITES, direct, by_frequency, estimator, matches)


def _variant(name: str, days: Sequence[_Day], whole: int) -> PdfcVariant:
    size = sum(day.size for day in days)
    kbit = size / len(days) * 8 / 1000
    return PdfcVariant(
        name,
        sum(day.pages for day in days) / len(days),
        kbit / ROUND_S,
        kbit / ROUND_S / CHANNEL_KBIT_S,
        size / whole,
        sum(day.fresh for day in days) / len(days) / SITES,
        sum(day.requests for day in days) / len(days),
        PAPER.get(name),
    )


def _matches_paper(variants: Sequence[PdfcVariant]) -> bool:
    for one in variants:
        if one.paper is not None:
            found = one.pages_sent, one.kbit_s, one.seconds
            if any(abs(a / b - 1.0) > TOLERANCE for a, b in zip(found, one.paper, strict=True)):
                return False
    existing, ours = variants[0], variants[-1]
    return ours.bytes_share <= MOST_SHARE and ours.freshness >= existing.freshness


# The paper's crawlers


def _existing(pages: Sequence[PaperPage], day: int) -> _Day:
    return _Day(len(pages), sum(len(page.body(day)) for page in pages), len(pages), len(pages))


def _paper_days(pages: Sequence[PaperPage], days: int, states: list[RuleState]) -> list[tuple[_Day, _Day]]:
    """Return each day without and with compression; the first copies are made one day before.
    Every page is requested every day, and `states` learn F from what is found."""
    rule = PaperPdfc()
    counts = [ascii_count(page.body(0)) for page in pages]
    copies = [page.body(0) for page in pages]
    found = []
    for day in range(1, days + 1):
        plain = packed = sent = direct = 0
        for at, page in enumerate(pages):
            body = page.body(day)
            count = ascii_count(body)
            is_direct = frequency_of_change(states[at], now=float(day)) <= PDFC_EVERY_VISIT
            states[at] = rule.after_visit(states[at], now=float(day), changed=count != counts[at])
            direct += is_direct
            if is_direct or count != counts[at]:
                sent += 1
                plain += len(body)
                packed += len(zlib.compress(body, DEFLATE_LEVEL))
                copies[at] = body
            counts[at] = count
        fresh = sum(copies[at] == page.body(day) for at, page in enumerate(pages))
        requests = len(pages)
        found.append((_Day(sent, plain, fresh, requests, direct), _Day(sent, packed, fresh, requests, direct)))
    return found


FREQUENCY_RANGES = (("0", 0.0), ("1", 1.0), ("2", 2.0), ("3 to 4", 4.0), ("5 to 9", 9.0), ("10 or more", inf))


def _estimator_days(
    pages: Sequence[PaperPage], days: int, states: list[RuleState], *, production: float
) -> EstimatorPhase:
    """Return the days after the measurement, in which F decides which pages are asked for (section 5)."""
    rule = PaperPdfc()
    copies = [page.body(days) for page in pages]
    page_days, asked = Counter[str](), Counter[str]()
    sent = listed = analysed = fresh = 0
    for day in range(days + 1, 2 * days + 1):
        for at, page in enumerate(pages):
            frequency, now = states[at].interval, float(day)
            label = next(name for name, most in FREQUENCY_RANGES if frequency <= most)
            page_days[label] += 1
            listed += frequency > PDFC_EVERY_VISIT
            if frequency <= PDFC_EVERY_VISIT or now - states[at].visited > frequency:
                asked[label] += 1
                body = page.body(day)
                is_changed = True
                if frequency != PDFC_EVERY_VISIT:
                    analysed += 1
                    is_changed = ascii_count(body) != ascii_count(copies[at])
                sent += is_changed
                copies[at] = body if is_changed else copies[at]
                states[at] = rule.after_visit(states[at], now=now, changed=is_changed)
            fresh += copies[at] == page.body(day)
    groups = tuple(FrequencyGroup(name, page_days[name], asked[name]) for name, _ in FREQUENCY_RANGES)
    return EstimatorPhase(
        asked.total() / days, sent / days, listed / days, analysed / days, fresh / days / SITES, groups, production
    )


# Our crawler


class _SharedFetcher:
    """A Fetcher that stays open between runs of the crawler."""

    def __init__(self, home: Fetcher) -> None:
        self._home = home

    async def fetch(self, request: Request) -> FetchResult:
        """Fetch through the coordinator."""
        return await self._home.fetch(request)

    async def close(self) -> None:
        """Stay open."""


async def _our_days(pages: Sequence[PaperPage], days: int, outposts: int, *, policy: str | None = None) -> list[_Day]:
    """Return the days of the production crawler: every page each day, or what a revisit policy asks for."""
    with TemporaryDirectory(prefix="evercrawl-lab-") as folder:
        run_ = _OutpostRun(list(pages), Path(folder), outposts, policy)
        try:
            return [await run_.round(day) for day in range(days + 1)][1:]
        finally:
            await run_.close()


class _OutpostRun:
    """A coordinator, its outposts, and the connections between them."""

    def __init__(self, pages: list[PaperPage], folder: Path, outposts: int, policy: str | None) -> None:
        self.pages = pages
        self.is_refresh = policy is None
        self.clock = SimClock()
        self.web = PaperWeb(pages, self.clock)
        self.settings = _settings(pages, policy or Settings().revisit.policy)
        self.home = Coordinator(folder / "home", self.settings, self.clock, direct=self.web)
        self.store = MemoryStore(4)
        self.archives: dict[int, MemoryArchive] = {}
        self.links: list[SecureChannel] = []
        self.states: list[AgentState] = []
        self.serving: list[asyncio.Task[None]] = []
        self.agents = [self._agent(folder, number, outposts) for number in range(outposts)]
        self.running = [asyncio.create_task(agent.run()) for agent in self.agents]

    def _agent(self, folder: Path, number: int, outposts: int) -> OutpostAgent:
        own = [page.origin for page in self.pages[number::outposts]]
        code = PairingCode(number.to_bytes(10, "big"), bytes(16))
        now_us = to_us(self.clock.now())
        routes = [f".{SUFFIXES[number]}"] if outposts == len(SUFFIXES) else own
        self.home.state.add_code(
            code.name, code.key, name=f"outpost-{number}", routes=routes, now_us=now_us, expires_us=2 * now_us
        )
        row = self.home.state.redeem_code(code.name, bytes(32), now_us=now_us)
        if row is None:
            raise RuntimeError("cannot pair an outpost of the experiment")
        state = AgentState(folder / str(number), max_bytes=256 * 1024 * 1024)
        self.states.append(state)
        fetcher = OutpostFetcher(
            self.web,
            state,
            self.clock,
            settings=self.settings,
            pace=pace_from_settings(
                self.settings.pace, delay_cap=self.settings.robots.max_crawl_delay, anonymous=False
            ),
            allow=tuple(own),
            rate_gap=timedelta(0),
            after_crash=False,
        )
        credentials = Credentials(row.id, row.key, bytes(32), None)
        chance = Random(random_stream(number, "agent").random())
        return OutpostAgent(self._connect, credentials, fetcher=fetcher, state=state, clock=self.clock, random=chance)

    async def _connect(self) -> SecureChannel:
        ours, theirs = pipe()
        self.serving.append(asyncio.create_task(self.home.serve(*theirs)))
        self.links.append(SecureChannel(*ours))
        return self.links[-1]

    async def round(self, day: int) -> _Day:
        """Visit every page once, or those that are due, at noon of the day."""
        await self.clock.sleep_until(EPOCH + timedelta(days=day, hours=12))
        size, requests, sent = self._bytes(), self.web.page_requests, self._sent()
        crawl = assemble_crawl(
            self.settings,
            clock=self.clock,
            fetcher=_SharedFetcher(self.home),
            store=self.store,
            open_archive=lambda shard: self.archives.setdefault(shard, MemoryArchive(shard)),
            open_near=lambda _: MemoryNear(),
        )
        async with crawl:
            await crawl.begin(refresh=self.is_refresh)
            await crawl.run()
        await asyncio.sleep(60.0)  # let the outposts finish the round
        fresh = sum(self._copy(page) == page.body(day) for page in self.pages)
        return _Day(self._sent() - sent, self._bytes() - size, fresh, self.web.page_requests - requests)

    def _copy(self, page: PaperPage) -> bytes | None:
        shared = self.home.state.exchange(f"{page.origin}/")
        return None if shared is None else split_exchange(shared.data)[2]

    def _bytes(self) -> int:
        return sum(link.bytes_in + link.bytes_out for link in self.links)

    def _sent(self) -> int:
        """Return the number of pages sent as changed or whole."""
        counts = [self.home.state.counts(row.id) for row in self.home.state.outposts()]
        return sum(one["changed"] + one["whole"] for one in counts)

    async def close(self) -> None:
        """Stop the outposts and the coordinator."""
        for agent in self.agents:
            agent.stop()
        await asyncio.gather(*self.running, return_exceptions=True)
        await self.home.close()
        for task in self.serving:
            task.cancel()
        await asyncio.gather(*self.serving, return_exceptions=True)
        for state in self.states:
            state.close()


def _settings(pages: Sequence[PaperPage], policy: str) -> Settings:
    base = Settings()
    seeds = tuple(f"{page.origin}/" for page in pages)
    return replace(
        base,
        scope=replace(base.scope, seeds=seeds, kind="list"),
        crawl=replace(base.crawl, max_pages=None, concurrency=2 * SITES),
        identity=replace(base.identity, contact="mailto:lab@example.org"),
        change=replace(base.change, detector="bytes"),
        sitemaps=replace(base.sitemaps, enabled=False),
        revisit=replace(base.revisit, policy=policy, unconditional_share=0.0, jitter=0.0),
        outposts=replace(base.outposts, resend_interval=None),
    )
