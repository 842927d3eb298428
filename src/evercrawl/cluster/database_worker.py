"""A worker process of a collection in a database, from joining to leaving."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from evercrawl.adapters.postgres.membership import ClusterDatabase, Membership, PostgresStore, ShardShare
from evercrawl.cluster.crawl_builder import build_crawl, open_store
from evercrawl.cluster.database_peers import DatabasePeers
from evercrawl.cluster.totals import PROGRESS_EVERY_S, RunTotals, report_progress, run_summary, worker_report
from evercrawl.engine.crawl import Crawl
from evercrawl.engine.runtime import Ended, StopSignal
from evercrawl.errors import LeaseLost, StoreUnavailable
from evercrawl.model.run import Progress, Summary
from evercrawl.model.settings import Settings

RELEASE_SHARE = 0.1  # Share of surplus shards (at least one) to release at a time, to avoid mass moves.
RECHECK_S = 0.5  # How soon to check again for expired workers and unclaimed shards.
FIRST_RETRY_S, MAX_RETRY_S = 1.0, 30.0
"""How long to wait before rejoining, at most a third of a lease. The grace period in which no worker is declared dead
starts when the first one reaches the database again."""

log = logging.getLogger(__name__)


HEARTBEATS_PER_LEASE = 6


class WorkerIntervals(NamedTuple):
    """Intervals of periodic work, in seconds."""

    poll_s: float = 1.0
    balance_s: float = 10.0
    report_s: float = PROGRESS_EVERY_S


DEFAULT_INTERVALS = WorkerIntervals()


@dataclass(frozen=True, slots=True)
class CrawlTask:
    """What a worker has to do."""

    collection: Path
    settings: Settings
    refresh: bool = False
    forever: bool = False


class WorkerBackend(Protocol):
    """The database and crawl of a worker; simulations replace it."""

    @property
    def shards(self) -> int: ...
    async def membership(self) -> Membership:
        """Return a new membership under a new id."""

    def crawl(self, membership: Membership, peers: DatabasePeers, stop: StopSignal) -> Crawl:
        """Return the crawl, which closes the store when it ends."""

    def abort(self) -> None:
        """Make everything that waits for the database fail now."""

    async def close(self) -> None:
        """Release the store if the worker could not join."""


class PostgresBackend:
    """PostgreSQL and the collection's folder on this machine."""

    def __init__(self, task: CrawlTask) -> None:
        self._task = task
        store = open_store(task.collection, task.settings.store)
        assert isinstance(store, PostgresStore)
        self._store = store
        self.shards = store.shards

    async def membership(self) -> Membership:
        lease = self._task.settings.store.lease_timeout
        queries = ClusterDatabase(await self._store.pool())
        return Membership(queries, worker=self._store.id, lease=lease, margin=lease_margin(lease))

    def crawl(self, membership: Membership, peers: DatabasePeers, stop: StopSignal) -> Crawl:
        return build_crawl(
            self._task.collection,
            self._task.settings,
            stop=stop,
            forever=self._task.forever,
            peers=peers,
            store=self._store,
            owner=membership.id.hex[:12],
        )

    def abort(self) -> None:
        self._store.terminate()

    async def close(self) -> None:
        await self._store.close()


def lease_margin(lease: timedelta) -> timedelta:
    """Return how long before the end of its lease a worker stops sending requests."""
    return lease / HEARTBEATS_PER_LEASE / 2


async def run_in_cluster(
    task: CrawlTask, *, stop: StopSignal, on_progress: Callable[[Progress], None] | None
) -> Summary:
    """Work until all workers are idle, a limit is reached or the operator stops the run."""
    totals = RunTotals()
    async with report_progress(totals, on_progress, every_s=PROGRESS_EVERY_S):
        ended = await run_worker(task, totals, stop=stop)
    return run_summary(totals, task.collection, ended)


async def run_worker(
    task: CrawlTask,
    totals: RunTotals,
    *,
    stop: StopSignal,
    open_backend: Callable[[CrawlTask], WorkerBackend] = PostgresBackend,
    intervals: WorkerIntervals = DEFAULT_INTERVALS,
) -> Ended:
    """Run sessions until one ends; after a lost lease or database, rejoin under a new id."""
    timeout_s = task.settings.store.reconnect_timeout.total_seconds()
    longest_s = min(MAX_RETRY_S, task.settings.store.lease_timeout.total_seconds() / 3)
    waited_s, wait_s = 0.0, FIRST_RETRY_S
    loop = asyncio.get_running_loop()
    session: WorkerSession | None = None
    while True:
        began = loop.time()
        try:
            previous_id = None if session is None else session.id
            session = await _join(
                task, totals, open_backend(task), stop=stop, intervals=intervals, previous_id=previous_id
            )
            return await session.run()
        except (LeaseLost, StoreUnavailable) as error:
            totals.worker_died(0)
            if stop.stage or session is None or waited_s >= timeout_s:
                raise
            log.warning("worker restarts: %s", error)
            if loop.time() - began > 2 * task.settings.store.lease_timeout.total_seconds():
                waited_s, wait_s = 0.0, FIRST_RETRY_S
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait_for_stage(), wait_s)
        waited_s, wait_s = waited_s + wait_s, min(2 * wait_s, longest_s)


async def _join(
    task: CrawlTask,
    totals: RunTotals,
    backend: WorkerBackend,
    *,
    stop: StopSignal,
    intervals: WorkerIntervals,
    previous_id: UUID | None,
) -> WorkerSession:
    try:
        membership = await backend.membership()
        capacity = task.settings.crawl.concurrency
        await membership.join(shards=backend.shards, capacity=capacity, previous_id=previous_id)
    except BaseException:
        await backend.close()
        raise
    return WorkerSession(task, backend, membership, totals, stop=stop, intervals=intervals)


class WorkerSession:
    """A worker from joining to leaving. It owns shards, and contacts sites only while its lease lasts."""

    def __init__(
        self,
        task: CrawlTask,
        backend: WorkerBackend,
        membership: Membership,
        totals: RunTotals,
        *,
        stop: StopSignal,
        intervals: WorkerIntervals,
    ) -> None:
        self.id = membership.id
        self._task = task
        self._settings = task.settings
        self._membership = membership
        self._totals = totals
        self._outer_stop = stop
        self._stop = StopSignal()
        self._error: Exception | None = None
        self._capacity = task.settings.crawl.concurrency
        self._peers = DatabasePeers(membership)
        self._intervals = intervals
        self._backend = backend
        self._random = Random(membership.id.int)
        self._unclaimed = False
        """Whether the last check found free shards beyond this worker's share."""
        self._crawl = backend.crawl(membership, self._peers, self._stop)

    async def run(self) -> Ended:
        """Work until the run is over; raise LeaseLost or StoreUnavailable if the session is lost."""
        try:
            async with (
                self._crawl,
                self._in_background(self._send_heartbeats, self._watch_lease, self._follow_stops, self._report),
            ):
                ended = await self._work()
                await self._leave()
        finally:
            self._membership.end()
        self._totals.update(0, worker_report(self._crawl, with_times=True))
        return ended

    async def _work(self) -> Ended:
        await self._take_share()
        await self._crawl.begin(refresh=self._task.refresh)
        async with self._in_background(self._poll_peers, self._balance_shards):
            ended = await self._crawl.run()
        if self._error is not None:
            raise self._error
        return ended

    @asynccontextmanager
    async def _in_background(self, *jobs: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
        """Run these jobs while the block runs."""
        tasks = [asyncio.create_task(self._supervise(job)) for job in jobs]
        try:
            yield
        finally:
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _supervise(self, job: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """End the session if one of its jobs fails."""
        try:
            await job()
        except ExceptionGroup as errors:
            self._abort(errors.exceptions[0])
        except Exception as error:
            self._abort(error)

    async def _watch_lease(self) -> None:
        """End the session when the lease expires, even if a heartbeat hangs."""
        while True:
            left_s = self._membership.seconds_left()
            if left_s <= 0:
                break
            await asyncio.sleep(left_s)
        self._abort(LeaseLost("the lease expired: no reply from the database"))

    async def _send_heartbeats(self) -> None:
        every_s = self._settings.store.lease_timeout.total_seconds() / HEARTBEATS_PER_LEASE
        while True:
            try:
                await self._peers.send_heartbeat(self._crawl)
            except StoreUnavailable as error:
                log.warning("heartbeat failed: %s", error)
            if self._membership.draining:
                self._stop.finish()
            await asyncio.sleep(every_s)

    def _abort(self, error: Exception) -> None:
        """Cancel requests and everything that waits for the database."""
        self._error = self._error or error
        self._stop.cancel()
        self._backend.abort()

    async def _follow_stops(self) -> None:
        """Forward the operator's stop signals to this session."""
        while True:
            if self._outer_stop.stage:
                self._stop.finish() if self._outer_stop.stage == 1 else self._stop.cancel()
            await self._outer_stop.wait_for_stage()

    async def _report(self) -> None:
        while True:
            self._totals.update(0, worker_report(self._crawl))
            await asyncio.sleep(self._intervals.report_s)

    async def _poll_peers(self) -> None:
        while True:
            try:
                await self._peers.exchange_messages(self._crawl)
            except StoreUnavailable as error:
                log.warning("cannot exchange messages with other workers: %s", error)
            await asyncio.sleep(self._intervals.poll_s)

    async def _balance_shards(self) -> None:
        """Claim shards of dead or departed workers, and release those beyond our share."""
        usual_s = min(self._intervals.balance_s, self._settings.store.lease_timeout.total_seconds() / 3)
        pause_s = usual_s
        while not self._stop.stage:
            await asyncio.sleep(pause_s)
            pause_s = usual_s
            try:
                share = await self._take_share()
                soonest_s = await self._membership.next_expiry()
            except StoreUnavailable as error:
                log.warning("cannot balance shards: %s", error)
                continue
            unopened = sorted(self._peers.owned - self._crawl.shards.keys())
            await asyncio.gather(*map(self._crawl.add_shard, unopened))
            if surplus := share.surplus(len(self._peers.owned)):
                await self._release_shards(math.ceil(surplus * RELEASE_SHARE))
            if self._unclaimed or len(self._peers.owned) < share.least:
                soonest_s = 0.0
            # Jitter, so that workers do not all act when a lease expires.
            pause_s = min(usual_s, max(0.0, soonest_s) + RECHECK_S * self._random.uniform(0.1, 1.0))

    async def _take_share(self) -> ShardShare:
        await self._membership.declare_dead()
        share = await self._membership.fair_share(self._capacity)
        wanted = share.wanted(len(self._peers.owned), left_over=self._unclaimed)
        self._unclaimed = share.free > wanted
        self._peers.owned.update(await self._membership.take(wanted))
        return share

    async def _release_shards(self, count: int) -> None:
        """Release the shards with the highest numbers, concurrently."""
        async with asyncio.TaskGroup() as group:
            for number in sorted(self._peers.owned)[-count:]:
                self._peers.release_shard(number)
                group.create_task(self._release(number))

    async def _release(self, number: int) -> None:
        if number in self._crawl.shards:
            await self._crawl.release_shard(number, self._settings.crawl.shutdown_timeout)
        await self._membership.release(number)

    async def _leave(self) -> None:
        """Release all shards after everything is saved, so that others can claim them immediately."""
        for shard in list(self._crawl.shards.values()):
            await shard.close(cleanly=True)
        self._crawl.shards.clear()
        for number in self._peers.owned:
            await self._membership.release(number)
        await self._membership.leave()
