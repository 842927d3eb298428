"""One simulated machine of a cluster: a process that runs the cluster's own worker code."""

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
from evercrawl.testing.memory_archive import MemoryArchive, MemoryNear
from tests.worlds.cluster.database import Server
from tests.worlds.cluster.line import Line, Weather
from tests.worlds.cluster.pool import NAMESPACE, SimPool, SimShard
from tests.worlds.cluster.process import SimProcess
from tests.worlds.cluster.watch import Offence, Tenure, Watch

log = logging.getLogger(__name__)


class Client(Fetcher, Protocol):
    """A fetcher that asks before it sends."""

    may_send: Callable[[], bool]


class Surroundings(NamedTuple):
    """What all machines share."""

    server: Server
    client_of: Callable[[SimProcess], Client]
    """How a process asks the web."""
    scope: Scope
    watch: Watch
    settings: Settings
    weather: Weather
    rhythm: WorkerIntervals
    forever: bool = True


class RemoteStore:
    """Implements `Store` over one process's line."""

    def __init__(self, around: Surroundings, line: Line, process: SimProcess) -> None:
        self.shards = around.server.store.shards
        self._around = around
        self._line = line
        self._process = process

    async def open_shard(self, shard: int) -> SimShard:
        """The shard's state at the server."""
        around = self._around
        return SimShard(shard, server=around.server, line=self._line, process=self._process, watch=around.watch)

    async def existing_shards(self) -> list[int]:
        """Shards that hold something."""
        return await self._around.server.store.existing_shards()

    async def close(self) -> None:
        """Nothing is held open."""


class Member:
    """Implements `Ground`, and is the machine around it."""

    def __init__(self, around: Surroundings, process: SimProcess, *, capacity: int, chance: Random) -> None:
        self.process = process
        self.capacity = capacity
        self.stop = StopSignal()
        self.running: Crawl | None = None
        self.tenure: Membership | None = None
        self.shards = around.server.store.shards
        self._around = around
        self._chance = chance
        self.line = self._new_line()
        self._main: asyncio.Task[Any] | None = None
        crawl = replace(around.settings.crawl, concurrency=capacity)
        self._settings = replace(around.settings, crawl=crawl)

    def start(self, on_end: Callable[[Member], None]) -> None:
        """Run until told otherwise."""
        self._main = self.process.start(self._live())
        self._main.add_done_callback(lambda _: on_end(self))

    async def _live(self) -> None:
        task = CrawlTask(Path("/nowhere"), self._settings, forever=self._around.forever)
        try:
            await run_worker(task, RunTotals(), stop=self.stop, ground_of=lambda _: self, rhythm=self._around.rhythm)
        except (LeaseLost, StoreUnavailable, asyncio.CancelledError) as error:
            log.info("worker %d ends: %s", self.process.number, error)
        except Exception as error:
            if not self.process.is_dead:
                log.exception("worker %d broke", self.process.number)
                self._around.watch.breach(Offence.BROKEN, f"{self.process.number}: {error!r}")

    async def membership(self) -> Membership:
        """A new name each time."""
        lease = self._settings.store.lease
        is_cut = self.line.is_cut
        self.line = self._new_line()
        self.line.is_cut = is_cut
        pool = SimPool(self._around.server, self.line, self.process, self._around.watch)
        worker = UUID(int=self._chance.getrandbits(128))
        self.tenure = Membership(
            pool, NAMESPACE, worker=worker, lease=lease, margin=lease_margin(lease), now=self.process.boot_s
        )
        self._around.watch.tenures[worker] = Tenure(self.process.number, self._holds(self.tenure))
        return self.tenure

    def _new_line(self) -> Line:
        around = self._around
        return Line(around.server, self.process, around.weather, self._chance, around.watch)

    def _holds(self, membership: Membership) -> Callable[[], bool]:
        return lambda: not self.process.is_dead and membership.holds()

    def crawl(self, membership: Membership, link: DatabasePeers, stop: StopSignal) -> Crawl:
        """The engine over simulated ports."""
        around, client = self._around, self._around.client_of(self.process)
        if not around.server.flaws.unasked_lease:
            client.may_send = link.may_ask
        self.running = assemble_crawl(
            self._settings,
            clock=self.process,
            fetcher=client,
            store=RemoteStore(around, self.line, self.process),
            open_archive=self._archive,
            open_near=lambda _: MemoryNear(),
            seed=self.process.number,
            stop=stop,
            forever=around.forever,
            neighbours=link,
            after=self._ended,
            scope=around.scope,
        )
        return self.running

    def _archive(self, shard: int) -> MemoryArchive:
        """Names of archive files are new for each process, so nothing of the owner before is cut back."""
        return MemoryArchive(shard)

    async def _ended(self) -> None:
        self._around.watch.gone(self.process.number)

    def break_off(self) -> None:
        """Nothing of this life waits for the database any more."""
        self.line.break_off()

    async def close(self) -> None:
        """There was no crawl."""

    def kill(self) -> None:
        """kill -9: every port is closed at this moment; what is left of it winds up unheard."""
        self.process.is_dead = True
        self._around.watch.died(self.process.number)
        self.process.go_on()
        self.stop.cancel()
        assert self._main is not None
        self._main.cancel()

    def is_able(self) -> bool:
        """Nothing keeps it from working."""
        return not (self.process.is_stopped or self.line.is_cut or self.stop.stage)

    def works_on(self) -> set[int]:
        """Shards that it may work on, as far as it knows; also those that it is about to hand over."""
        if self.running is None or self.tenure is None or not self.tenure.holds():
            return set()
        return set(self.running.shards)
