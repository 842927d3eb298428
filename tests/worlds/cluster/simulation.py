"""Simulate a whole cluster in virtual time, with faults from a seed, and report breaches."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from random import Random
from typing import Any

from evercrawl.cluster.database_worker import WorkerIntervals
from evercrawl.core.scope.scope import Scope
from evercrawl.model.settings import Settings
from evercrawl.testing.store import MemoryStore
from tests.worlds.cluster.audit import Audit
from tests.worlds.cluster.connection import Latency
from tests.worlds.cluster.database import Flaws, Server
from tests.worlds.cluster.faults import FAULT_WEIGHTS, ClusterEvent, ClusterFault, next_event
from tests.worlds.cluster.monitor import Breach, BreachKind, Monitor
from tests.worlds.cluster.process import ProcessLoop, SimProcess, run_processes
from tests.worlds.cluster.web import ClusterFetcher, ClusterWeb
from tests.worlds.cluster.worker import ClusterRuntime, SimWorker

CAPACITIES = (32, 64, 64, 128)
SKEW_S = 0.01
"""Typical clock difference of machines with NTP."""
DRIFT = 0.001
DATABASE_SKEW_S = 0.5
RETURN_LEASES = (0.2, 10.0)
"""Bounds, in leases, of the time until an ended worker is started again."""
LEAST_ABLE = 0.5
"""Share of the workers that stay undisturbed, so that some can take over."""
AUDIT_S = 60.0
RESUME_S = 0.5
"""Time until a resumed process has noticed what it missed."""


FAIR = Latency(slow_share=0.02)
RELAXED = WorkerIntervals(poll_s=30.0, report_s=86_400.0)
"""Delivers links every half minute, so that weeks can be simulated. Lease intervals are unchanged."""
FLAWLESS = Flaws()


@dataclass(frozen=True)
class ClusterPlan:
    """Parameters of a simulation. Equal plans produce equal events."""

    seed: int
    workers: int = 100
    sites: int = 10_000
    pages: int = 2
    shards: int = 1024
    days: float = 7.0
    lease_s: float = 30.0
    fault_every_s: float = 900.0
    shortest_s: float = 2 * 86_400.0
    longest_s: float = 5 * 86_400.0
    change_every_s: float = 4 * 86_400.0
    latency: Latency = FAIR
    intervals: WorkerIntervals = RELAXED
    faults: dict[ClusterFault, float] = field(default_factory=lambda: dict(FAULT_WEIGHTS))
    flaws: Flaws = FLAWLESS
    until: BreachKind | None = None
    """End the run early at this breach."""


@dataclass(frozen=True)
class ClusterResult:
    """The result of a simulation."""

    plan: ClusterPlan
    breaches: list[Breach]
    counts: dict[str, int]
    sites_found: int
    pages: int
    takeovers_s: list[float]
    least_spare_s: float


def simulate_cluster(plan: ClusterPlan, *, on_day: Callable[[ClusterResult], None] | None = None) -> ClusterResult:
    """Run the plan to the end of its last day; call `on_day` with the result so far after each day."""
    gc.unfreeze()
    result: ClusterResult = run_processes(lambda loop: SimCluster(plan, loop).run(on_day))
    return result


class SimCluster:
    """Workers join, leave and fail; the seed decides when."""

    def __init__(self, plan: ClusterPlan, loop: ProcessLoop) -> None:
        self._plan = plan
        self._loop = loop
        self._chance = Random(f"{plan.seed}/faults")
        self._web = ClusterWeb(plan.seed, sites=plan.sites, pages=plan.pages, change_every_s=plan.change_every_s)
        self._monitor = Monitor(loop.time, lease_s=plan.lease_s, gap_s=self._web.gap_s)
        self._server = Server(loop, MemoryStore(plan.shards), plan.flaws)
        self._audit = Audit(self._server, self._monitor)
        self._runtime = ClusterRuntime(
            self._server,
            lambda process: ClusterFetcher(self._web, process, self._monitor),
            Scope(self._web.scope()),
            self._monitor,
            _settings(plan, self._web),
            plan.latency,
            plan.intervals,
        )
        self._workers: dict[int, SimWorker] = {}
        self._skews: dict[int, float] = {}
        self._monitor.tolerance_s = self._skew_between
        self._monitor.on_breach = self._on_breach
        self._noticed = asyncio.Event()
        self._started = 0
        self._is_over = False

    async def run(self, on_day: Callable[[ClusterResult], None] | None = None) -> ClusterResult:
        """Start all workers, cause faults, and audit regularly."""
        for _ in range(self._plan.workers):
            self._start()
        duties = [asyncio.create_task(duty()) for duty in (self._cause_faults, self._audit_regularly)]
        for _ in range(max(1, round(self._plan.days))):
            await self._wait(self._plan.days * 86_400 / max(1, round(self._plan.days)))
            self._audit.check_store()
            gc.unfreeze()
            if on_day is not None:
                on_day(self._result())
        self._is_over = True
        for duty in duties:
            duty.cancel()
        await asyncio.gather(*duties, return_exceptions=True)
        await self._end_all()
        return self._result()

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._noticed.wait()

    def _on_breach(self, kind: BreachKind) -> None:
        if kind is self._plan.until:
            self._noticed.set()

    async def _end_all(self) -> None:
        for worker in list(self._workers.values()):
            worker.kill()
        await asyncio.sleep(120)

    def _start(self) -> None:
        """Start one more worker."""
        number, self._started = self._started, self._started + 1
        chance = Random(f"{self._plan.seed}/machine/{number}")
        skew, drift = chance.uniform(-SKEW_S, SKEW_S), chance.uniform(-DRIFT, DRIFT)
        process = SimProcess(self._loop, number, skew_s=skew, drift=drift)
        self._skews[number] = skew
        worker = SimWorker(self._runtime, process, capacity=chance.choice(CAPACITIES), chance=chance)
        self._workers[number] = worker
        self._changed()
        worker.start(self._ended)

    def _ended(self, worker: SimWorker) -> None:
        """Start an ended worker again after a while on another machine."""
        self._workers.pop(worker.process.number, None)
        self._changed()
        if not self._is_over:
            self._monitor.counts["ends"] += 1
            wait_s = self._plan.lease_s * self._chance.uniform(*RETURN_LEASES)
            self._loop.call_later(wait_s, self._start_again)

    def _start_again(self) -> None:
        if not self._is_over and len(self._workers) < self._plan.workers:
            self._start()

    def _changed(self) -> None:
        self._monitor.changed_s = self._loop.time()

    def _skew_between(self, before: int, after: int) -> float:
        return abs(self._skews[before] - self._skews[after]) if before != after else 0.0

    # Faults

    async def _cause_faults(self) -> None:
        plan = self._plan
        while True:
            event = next_event(self._chance, every_s=plan.fault_every_s, lease_s=plan.lease_s, weights=plan.faults)
            await asyncio.sleep(event.pause_s)
            self._cause(event)

    def _cause(self, event: ClusterEvent) -> None:
        fault, lasts_s = event.fault, event.lasts_s
        self._monitor.counts[fault.value] += 1
        if fault in (ClusterFault.RESTART, ClusterFault.FAILOVER):
            self._take_down(lasts_s, promoted=fault is ClusterFault.FAILOVER)
        elif fault is ClusterFault.SLOW:
            self._slow_down(lasts_s)
        elif fault is ClusterFault.JOIN:
            self._start()
        else:
            able = [worker for worker in self._workers.values() if worker.is_able()]
            if len(able) > LEAST_ABLE * self._plan.workers:
                self._disturb(self._chance.choice(able), fault, lasts_s)

    def _disturb(self, worker: SimWorker, fault: ClusterFault, lasts_s: float) -> None:
        """Apply a fault to a worker. If it just resumed from another fault, its silence counts from now."""
        self._monitor.worker_resumed(worker.process.number, worker.works_on())
        self._changed()
        if fault is ClusterFault.KILL:
            worker.kill()
        elif fault is ClusterFault.LEAVE:
            worker.stop.finish()
        else:
            if fault is ClusterFault.FREEZE:
                self._monitor.worker_frozen(worker.process.number)
                worker.process.freeze()
            else:
                self._monitor.worker_stopped_working(worker.process.number)
                worker.connection.is_cut = True
            self._loop.call_later(lasts_s, self._heal, worker)

    def _heal(self, worker: SimWorker) -> None:
        worker.connection.is_cut = False
        worker.process.resume()
        self._loop.call_later(RESUME_S, self._note_return, worker)

    def _note_return(self, worker: SimWorker) -> None:
        """Record that a worker resumed, if it renewed its lease in time."""
        if worker.is_able():
            self._monitor.worker_resumed(worker.process.number, worker.works_on())
        self._changed()

    def _take_down(self, lasts_s: float, *, promoted: bool) -> None:
        if not self._server.is_up:
            return
        self._server.go_down()
        ahead = self._chance.uniform(-DATABASE_SKEW_S, DATABASE_SKEW_S) if promoted else None

        def up() -> None:
            self._server.come_up(promoted=promoted, clock_ahead_s=ahead)
            self._monitor.up_since_s = self._loop.time()

        self._loop.call_later(lasts_s, up)
        self._monitor.up_since_s = self._loop.time() + lasts_s

    def _slow_down(self, lasts_s: float) -> None:
        self._server.slowness = SLOW_FACTOR
        self._monitor.slow_until_s = self._loop.time() + lasts_s + SLOW_TAIL_S
        self._loop.call_later(lasts_s, self._speed_up)

    def _speed_up(self) -> None:
        self._server.slowness = 1.0

    async def _audit_regularly(self) -> None:
        while True:
            await asyncio.sleep(min(AUDIT_S, self._plan.lease_s * 2))
            self._audit.check_ownership(self._workers.values())

    def _result(self) -> ClusterResult:
        store = self._server.store
        states = [store.state_of(shard) for shard in range(store.shards)]
        return ClusterResult(
            plan=self._plan,
            breaches=self._monitor.breaches,
            counts=dict(self._monitor.counts),
            sites_found=sum(len(state.sites) for state in states),
            pages=sum(len(state.records) for state in states),
            takeovers_s=sorted(self._monitor.takeovers_s),
            least_spare_s=self._monitor.least_spare_s,
        )


SLOW_FACTOR = 50.0
SLOW_TAIL_S = 30.0
"""Queries sent to a slow database may return this much later."""


def _settings(plan: ClusterPlan, web: ClusterWeb) -> Settings:
    plain = Settings()
    second = timedelta(seconds=1)
    return replace(
        plain,
        identity=replace(plain.identity, contact="mailto:simulation@example.org"),
        scope=replace(plain.scope, seeds=(web.first,)),
        crawl=replace(plain.crawl, max_pages=None),
        sitemaps=replace(plain.sitemaps, enabled=False),
        traps=replace(plain.traps, enabled=False),
        url_seen=replace(plain.url_seen, cache_entries=1024),
        store=replace(plain.store, shards=plan.shards, lease_timeout=plan.lease_s * second),
        revisit=replace(
            plain.revisit,
            min_interval=plan.shortest_s * second,
            max_interval=plan.longest_s * second,
            min_freshness_gain=second,
        ),
    )


def figures(result: ClusterResult) -> dict[str, Any]:
    """Return the figures of a result, for JSON."""
    counts, waits = result.counts, result.takeovers_s
    return {
        "seed": result.plan.seed,
        "workers": result.plan.workers,
        "sites": result.sites_found,
        "pages": result.pages,
        "days": result.plan.days,
        "faults": {fault.value: counts.get(fault.value, 0) for fault in ClusterFault},
        "requests": counts.get("requests", 0),
        "visits": counts.get("visits", 0),
        "commits": counts.get("commits", 0),
        "claims": counts.get("claims", 0),
        "takeovers": len(waits),
        "takeover_s": round(waits[-1], 2) if waits else None,
        "takeover_median_s": round(waits[len(waits) // 2], 2) if waits else None,
        "least_spare_s": round(result.least_spare_s, 4),
        "share_looks": counts.get("share checks", 0),
        "breaches": len(result.breaches),
        "breach_kinds": sorted({breach.kind.name for breach in result.breaches}),
    }
