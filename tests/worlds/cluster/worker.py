"""One simulated worker of a cluster, which runs the production worker code."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from evercrawl.adapters.postgres.membership import Membership
from evercrawl.cluster.crawl_builder import assemble_crawl
from evercrawl.cluster.database_peers import DatabasePeers
from evercrawl.cluster.database_worker import CrawlTask, WorkerIntervals, lease_margin, run_worker
from evercrawl.cluster.totals import RunTotals
from evercrawl.core.scope.scope import Scope
from evercrawl.engine.crawl import Crawl
from evercrawl.engine.ports import Fetcher
from evercrawl.engine.runtime import StopSignal
from evercrawl.errors import LeaseLost, StoreUnavailable
from evercrawl.model.settings import Settings
from evercrawl.testing.sim_world import MemoryArchive, MemoryNear
from tests.worlds.cluster.connection import Connection, Latency
from tests.worlds.cluster.database import Server
from tests.worlds.cluster.monitor import BreachKind, Monitor, WorkerLease
from tests.worlds.cluster.pool import SimQueries, SimShard
from tests.worlds.cluster.process import SimProcess

log = logging.getLogger(__name__)


class LeasedFetcher(Fetcher, Protocol):
    """A fetcher that checks the lease before it sends."""

    may_send: Callable[[], bool]


class ClusterRuntime(NamedTuple):
    """What all workers share."""

    server: Server
    client_of: Callable[[SimProcess], LeasedFetcher]
    """Returns the fetcher of a process."""
    scope: Scope
    monitor: Monitor
    settings: Settings
    latency: Latency
    intervals: WorkerIntervals
    forever: bool = True


class RemoteStore:
    """Implements `Store` over one process's line."""

    def __init__(self, runtime: ClusterRuntime, connection: Connection, process: SimProcess) -> None:
        self.shards = runtime.server.store.shards
        self._runtime = runtime
        self._connection = connection
        self._process = process

    async def open_shard(self, shard: int) -> SimShard:
        """Open a shard on the server."""
        runtime = self._runtime
        return SimShard(
            shard, server=runtime.server, connection=self._connection, process=self._process, monitor=runtime.monitor
        )

    async def existing_shards(self) -> list[int]:
        """Return the shards with data."""
        return await self._runtime.server.store.existing_shards()

    async def close(self) -> None:
        """Nothing is held open."""


class SimWorker:
    """One worker on its own machine; implements `Ground`."""

    def __init__(self, runtime: ClusterRuntime, process: SimProcess, *, capacity: int, chance: Random) -> None:
        self.process = process
        self.capacity = capacity
        self.stop = StopSignal()
        self.running: Crawl | None = None
        self.lease_holder: Membership | None = None
        self.shards = runtime.server.store.shards
        self._runtime = runtime
        self._chance = chance
        self.connection = self._new_connection()
        self._main: asyncio.Task[Any] | None = None
        crawl = replace(runtime.settings.crawl, concurrency=capacity)
        self._settings = replace(runtime.settings, crawl=crawl)

    def start(self, on_end: Callable[[SimWorker], None]) -> None:
        """Start the worker; call `on_end` when it ends."""
        self._main = self.process.start(self._live())
        self._main.add_done_callback(lambda _: on_end(self))

    async def _live(self) -> None:
        task = CrawlTask(Path("/nowhere"), self._settings, forever=self._runtime.forever)
        try:
            await run_worker(
                task, RunTotals(), stop=self.stop, open_backend=lambda _: self, intervals=self._runtime.intervals
            )
        except (LeaseLost, StoreUnavailable, asyncio.CancelledError) as error:
            log.info("worker %d ends: %s", self.process.number, error)
        except Exception as error:
            if not self.process.is_dead:
                log.exception("worker %d broke", self.process.number)
                self._runtime.monitor.breach(BreachKind.BROKEN, f"{self.process.number}: {error!r}")

    async def membership(self) -> Membership:
        """Join under a new id."""
        lease = self._settings.store.lease_timeout
        is_cut = self.connection.is_cut
        self.connection = self._new_connection()
        self.connection.is_cut = is_cut
        queries = SimQueries(self._runtime.server, self.connection, self.process, self._runtime.monitor)
        worker = UUID(int=self._chance.getrandbits(128))
        self.lease_holder = Membership(
            queries, worker=worker, lease=lease, margin=lease_margin(lease), now=self.process.boot_s
        )
        self._runtime.monitor.leases[worker] = WorkerLease(self.process.number, self._holds(self.lease_holder))
        return self.lease_holder

    def _new_connection(self) -> Connection:
        runtime = self._runtime
        return Connection(runtime.server, self.process, runtime.latency, self._chance, runtime.monitor)

    def _holds(self, membership: Membership) -> Callable[[], bool]:
        return lambda: not self.process.is_dead and membership.holds()

    def crawl(self, membership: Membership, link: DatabasePeers, stop: StopSignal) -> Crawl:
        """The engine over simulated ports."""
        runtime, client = self._runtime, self._runtime.client_of(self.process)
        if not runtime.server.flaws.unasked_lease:
            client.may_send = link.may_fetch
        self.running = assemble_crawl(
            self._settings,
            clock=self.process,
            fetcher=client,
            store=RemoteStore(runtime, self.connection, self.process),
            open_archive=self._archive,
            open_near=lambda _: MemoryNear(),
            seed=self.process.number,
            stop=stop,
            forever=runtime.forever,
            peers=link,
            after=self._ended,
            scope=runtime.scope,
        )
        return self.running

    def _archive(self, shard: int) -> MemoryArchive:
        """Return a new archive; file names differ per process, so nothing of the previous owner is truncated."""
        return MemoryArchive(shard)

    async def _ended(self) -> None:
        self._runtime.monitor.worker_stopped_working(self.process.number)

    def abort(self) -> None:
        """Fail everything that waits for the database."""
        self.connection.break_off()

    async def close(self) -> None:
        """Nothing is held open."""

    def kill(self) -> None:
        """Kill the process: close every port now and ignore what it still does."""
        self.process.is_dead = True
        self._runtime.monitor.worker_killed(self.process.number)
        self.process.resume()
        self.stop.cancel()
        assert self._main is not None
        self._main.cancel()

    def is_able(self) -> bool:
        """Nothing keeps it from working."""
        return not (self.process.is_frozen or self.connection.is_cut or self.stop.stage)

    def works_on(self) -> set[int]:
        """Shards that it may work on, as far as it knows; also those that it is about to hand over."""
        if self.running is None or self.lease_holder is None or not self.lease_holder.holds():
            return set()
        return set(self.running.shards)
