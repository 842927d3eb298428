"""Rerun of a paper's crawl (D10): 200 connections, 5 look-ups, depth 15, 35 s between requests to a host.

The production engine and cluster code run on one node and on two in virtual time. At a smaller scale pages, hosts,
connections and bandwidth shrink together, so that the hours stay comparable.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import NamedTuple

from tests.worlds.cluster.connection import Latency
from tests.worlds.cluster.database import Flaws, Server
from tests.worlds.cluster.monitor import Monitor
from tests.worlds.cluster.process import ProcessLoop, SimProcess, run_processes
from tests.worlds.cluster.worker import ClusterRuntime, SimWorker

from evercrawl.cluster.database_worker import WorkerIntervals
from evercrawl.core.scope.scope import Scope
from evercrawl.model.settings import Settings
from evercrawl.testing.store import MemoryStore
from research.papers.d10_web import D10Web, DownloadLog, NodeFetcher, SharedLine

CONNECTIONS, LOOKUPS, DEPTH, INTERVAL_S = 200, 5, 15, 35.0
LINE_BITS = 8e6
PAGES, BYTES = 176_804, 6.16e9
PAPER_HOURS = {1: 2.0, 2: 3.25}
"""By number of nodes. In the paper the second node made the crawl slower."""
HOSTS = 20_000
SHARDS = 64
SPARE = 50
"""Additional visits: some end without a page."""
LONGEST = timedelta(hours=12)
GAIN = 1.5
"""Least speed-up by a second node with its own line."""


class D10Run(NamedTuple):
    """One crawl."""

    name: str
    nodes: int
    lines: int
    pages: int
    gigabytes: float
    hours: float
    too_soon: int
    paper_hours: float | None


class D10Experiment(NamedTuple):
    """Crawls with one node, two on one line, and two with a line each."""

    scale: float
    hosts: int
    pages_there: int
    runs: list[D10Run]

    @property
    def gain(self) -> float:
        """Speed-up of two nodes with a line each."""
        return self.runs[0].hours / self.runs[-1].hours

    @property
    def matches(self) -> bool:
        """Whether the crawls reach the paper's pages in no more time, politely, and a second node pays off."""
        complete = all(run.pages >= round(PAGES * self.scale) and not run.too_soon for run in self.runs)
        in_time = all(run.paper_hours is None or run.hours <= run.paper_hours for run in self.runs)
        return complete and in_time and self.gain >= GAIN


def run_d10(*, seed: int, scale: float) -> D10Experiment:
    """Run the three crawls."""
    hosts = max(20, round(HOSTS * scale))
    web = D10Web(seed, hosts=hosts, page_bytes=round(BYTES / PAGES))
    runs = [
        _run_crawl(web, "one node", seed=seed, scale=scale, nodes=1, lines=1),
        _run_crawl(web, "two nodes, one line", seed=seed, scale=scale, nodes=2, lines=1),
        _run_crawl(web, "two nodes, two lines", seed=seed, scale=scale, nodes=2, lines=2),
    ]
    return D10Experiment(scale, hosts, web.pages_there, runs)


def _run_crawl(web: D10Web, name: str, *, seed: int, scale: float, nodes: int, lines: int) -> D10Run:
    log: DownloadLog = run_processes(lambda loop: _crawl(loop, web, seed=seed, scale=scale, nodes=nodes, lines=lines))
    wanted = round(PAGES * scale)
    done = min(wanted, len(log.page_times))
    paper = PAPER_HOURS[nodes] if lines == 1 else None
    share = done / len(log.page_times)
    hours = sorted(log.page_times)[done - 1] / 3600
    return D10Run(name, nodes, lines, done, log.bytes * share / 1e9, hours, log.too_soon, paper)


async def _crawl(loop: ProcessLoop, web: D10Web, *, seed: int, scale: float, nodes: int, lines: int) -> DownloadLog:
    log = DownloadLog(interval_s=INTERVAL_S)
    own_lines = [SharedLine(loop, LINE_BITS * scale) for _ in range(lines)]
    monitor = Monitor(loop.time, lease_s=30.0, gap_s=lambda _: INTERVAL_S)
    lookups = max(1, math.ceil(LOOKUPS * scale))

    def client_of(process: SimProcess) -> NodeFetcher:
        return NodeFetcher(web, process, own_lines[process.number % lines], log, lookups=lookups)

    runtime = ClusterRuntime(
        Server(loop, MemoryStore(SHARDS), Flaws()),
        client_of,
        Scope(web.scope(DEPTH)),
        monitor,
        _settings(web, scale),
        Latency(),
        WorkerIntervals(report_s=LONGEST.total_seconds()),
        forever=False,
    )
    ended: list[asyncio.Future[None]] = []
    for number in range(nodes):
        process = SimProcess(loop, number)
        connections = max(2, round(CONNECTIONS * scale))
        worker = SimWorker(runtime, process, capacity=connections, chance=Random(f"{seed}/{number}"))
        over = loop.create_future()
        ended.append(over)
        worker.start(lambda _, over=over: over.set_result(None))  # type: ignore[misc]
    await asyncio.wait(ended)
    return log


def _settings(web: D10Web, scale: float) -> Settings:
    plain = Settings()
    return replace(
        plain,
        identity=replace(plain.identity, contact="mailto:simulation@example.org"),
        scope=replace(plain.scope, seeds=(web.first,), max_depth=DEPTH),
        pace=replace(plain.pace, delay=timedelta(seconds=INTERVAL_S), response_time_factor=1.0),
        crawl=replace(plain.crawl, max_pages=round(PAGES * scale) + SPARE, max_time=LONGEST),
        sitemaps=replace(plain.sitemaps, enabled=False),
        traps=replace(plain.traps, enabled=False),
        store=replace(plain.store, shards=SHARDS),
    )
