"""One process as a worker of a collection in a database: from joining to leaving."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, Protocol, TypeVar
from uuid import UUID

import asyncpg

from evercrawl.adapters.postgres.dialect import schema_of
from evercrawl.adapters.postgres.marker import marked
from evercrawl.adapters.postgres.membership import Membership, MemberView, Share, drain, members_of
from evercrawl.adapters.postgres.store import PostgresStore, connected, place_of
from evercrawl.adapters.sqlite.statements import SCHEMA
from evercrawl.cluster.crawl_builder import build_crawl, open_store
from evercrawl.cluster.database_peers import DatabasePeers
from evercrawl.cluster.totals import PROGRESS_EVERY_S, RunTotals, report_progress, run_summary, worker_report
from evercrawl.engine.crawl import Crawl
from evercrawl.engine.runtime import Ended, StopSignal
from evercrawl.errors import ConfigError, LeaseLost, StoreUnavailable
from evercrawl.model.report import Progress, Summary
from evercrawl.model.settings import Settings

RELEASE_SHARE = 0.1
"""The part of its surplus, and at least one shard, that a worker lets go at a time: no storm."""
RECHECK_S = 0.5
"""Who should be buried, and what nobody has taken, is looked at again after so long."""
FIRST_RETRY_S, MAX_RETRY_S = 1.0, 30.0
"""How long a worker waits before it begins anew; not longer than a third of a lease, for the time in id_prefix
nobody is buried begins when the first worker has found the database again.
"""

log = logging.getLogger(__name__)


HEARTBEATS_PER_LEASE = 6
T = TypeVar("T")


class WorkerIntervals(NamedTuple):
    """How often, in seconds, a worker does what is not tied to its lease."""

    poll_s: float = 1.0
    balance_s: float = 10.0
    report_s: float = PROGRESS_EVERY_S


DEFAULT_INTERVALS = WorkerIntervals()


@dataclass(frozen=True, slots=True)
class CrawlTask:
    """What a worker is to do."""

    collection: Path
    settings: Settings
    refresh: bool = False
    forever: bool = False


class WorkerBackend(Protocol):
    """What a session stands on: a database, and a crawl over it."""

    @property
    def shards(self) -> int: ...
    async def membership(self) -> Membership:
        """This process as somebody who may join; a new name each time."""

    def crawl(self, membership: Membership, peers: DatabasePeers, stop: StopSignal) -> Crawl:
        """The crawl, id_prefix closes the store when it ends."""

    def abort(self) -> None:
        """Everything that waits for the database fails now."""

    async def close(self) -> None:
        """The session did not come about."""


class PostgresBackend:
    """PostgreSQL, and the collection's folder on this machine."""

    def __init__(self, task: CrawlTask) -> None:
        self._task = task
        store = open_store(task.collection, task.settings.store)
        assert isinstance(store, PostgresStore)
        self._store = store
        self.shards = store.shards

    async def membership(self) -> Membership:
        lease = self._task.settings.store.lease_timeout
        namespace = self._store.schema.namespace
        return Membership(
            await self._store.pool(), namespace, worker=self._store.id, lease=lease, margin=lease_margin(lease)
        )

    def crawl(self, membership: Membership, peers: DatabasePeers, stop: StopSignal) -> Crawl:
        return build_crawl(
            self._task.collection,
            self._task.settings,
            stop=stop,
            forever=self._task.forever,
            neighbours=peers,
            store=self._store,
            member=membership.id.hex[:12],
        )

    def abort(self) -> None:
        self._store.break_off()

    async def close(self) -> None:
        await self._store.close()


def lease_margin(lease: timedelta) -> timedelta:
    """So long before its lease ends a worker asks nothing any more."""
    return lease / HEARTBEATS_PER_LEASE / 2


async def run_in_cluster(
    task: CrawlTask, *, stop: StopSignal, on_progress: Callable[[Progress], None] | None
) -> Summary:
    """Work until nobody has anything left to do, a limit is reached or the operator stops it."""
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
    """One session after the other: a worker that lost its lease or the database begins anew, by another name."""
    timeout_s = task.settings.store.reconnect_timeout.total_seconds()
    longest_s = min(MAX_RETRY_S, task.settings.store.lease_timeout.total_seconds() / 3)
    waited_s, wait_s = 0.0, FIRST_RETRY_S
    loop = asyncio.get_running_loop()
    session: WorkerSession | None = None
    while True:
        began = loop.time()
        try:
            previous_id = None if session is None else session.id
            session = await _join(task, totals, open_backend(task), stop=stop, intervals=intervals, previous_id=previous_id)
            return await session.run()
        except (LeaseLost, StoreUnavailable) as error:
            totals.worker_died(0)
            if stop.stage or session is None or waited_s >= timeout_s:
                raise
            log.warning("worker restarts: %s", error)
            if loop.time() - began > 2 * task.settings.store.lease_timeout.total_seconds():
                waited_s, wait_s = 0.0, FIRST_RETRY_S
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.changed(), wait_s)
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
        await membership.join(shards=backend.shards, capacity=capacity, formerly=previous_id)
    except BaseException:
        await backend.close()
        raise
    return WorkerSession(task, backend, membership, totals, stop=stop, intervals=intervals)


class WorkerSession:
    """A worker from its registration to its end. Between them it owns shards, and only while its lease holds
    does it ask anything of a site.
    """

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
        """At the last look, shards were free that were not ours to take."""
        self._crawl = backend.crawl(membership, self._peers, self._stop)

    async def run(self) -> Ended:
        """Until the run is over; LeaseLost or StoreUnavailable when it was lost on the way."""
        try:
            async with self._crawl, self._in_background(self._send_heartbeats, self._watch_lease, self._follow_stops, self._report):
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
        """Do these all the time while the block runs."""
        tasks = [asyncio.create_task(self._supervise(job)) for job in jobs]
        try:
            yield
        finally:
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _supervise(self, job: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """A session without one of its jobs would be half a session: it ends."""
        try:
            await job()
        except ExceptionGroup as errors:
            self._abort(errors.exceptions[0])
        except Exception as error:
            self._abort(error)

    async def _watch_lease(self) -> None:
        """See the lease run out, whatever the heartbeat waits for: a frozen network never answers."""
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
        """Requests end now, and nothing waits for a database that may not answer."""
        self._error = self._error or error
        self._stop.cancel()
        self._backend.abort()

    async def _follow_stops(self) -> None:
        """What the operator says to the process goes for this session."""
        while True:
            if self._outer_stop.stage:
                self._stop.finish() if self._outer_stop.stage == 1 else self._stop.cancel()
            await self._outer_stop.changed()

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
        """Take shards of those who died or left; let go of what is more than our share."""
        usual_s = min(self._intervals.balance_s, self._settings.store.lease_timeout.total_seconds() / 3)
        pause_s = usual_s
        while not self._stop.stage:
            await asyncio.sleep(pause_s)
            pause_s = usual_s
            try:
                share = await self._take_share()
                soonest_s = await self._membership.soonest_end()
            except StoreUnavailable as error:
                log.warning("cannot balance shards: %s", error)
                continue
            unopened = sorted(self._peers.owned - self._crawl.shards.keys())
            await asyncio.gather(*map(self._crawl.gain, unopened))
            if surplus := share.surplus(len(self._peers.owned)):
                await self._release_shards(math.ceil(surplus * RELEASE_SHARE))
            if self._unclaimed or len(self._peers.owned) < share.least:
                soonest_s = 0.0
            # Jitter, so that workers do not all act when a lease expires.
            pause_s = min(usual_s, max(0.0, soonest_s) + RECHECK_S * self._random.uniform(0.1, 1.0))

    async def _take_share(self) -> Share:
        await self._membership.bury()
        share = await self._membership.fair_share(self._capacity)
        wanted = share.wanted(len(self._peers.owned), left_over=self._unclaimed)
        self._unclaimed = share.free > wanted
        self._peers.owned.update(await self._membership.take(wanted))
        return share

    async def _release_shards(self, count: int) -> None:
        """Those of the highest numbers, side by side."""
        async with asyncio.TaskGroup() as group:
            for number in sorted(self._peers.owned)[-count:]:
                self._peers.release_shard(number)
                group.create_task(self._release(number))

    async def _release(self, number: int) -> None:
        if number in self._crawl.shards:
            await self._crawl.let_go(number, self._settings.crawl.shutdown_timeout)
        await self._membership.let_go(number)

    async def _leave(self) -> None:
        """Everything is saved and released; the others may have our shards at once."""
        for shard in list(self._crawl.shards.values()):
            await shard.close(cleanly=True)
        self._crawl.shards.clear()
        for number in self._peers.owned:
            await self._membership.let_go(number)
        await self._membership.leave()


def list_workers(collection: Path, address: str | None = None) -> list[MemberView]:
    """The workers that run, oldest first."""
    return _query_database(collection, address, members_of)


def drain_workers(collection: Path, id_prefix: str, address: str | None = None) -> int:
    """Ask the workers whose id begins so (or `all`) to save, let go and end; the number of those asked."""

    async def run(pool: asyncpg.Pool, namespace: str) -> int:
        return len(await drain(pool, namespace, id_prefix))

    return _query_database(collection, address, run)


def _query_database(collection: Path, address: str | None, query: Callable[[asyncpg.Pool, str], Awaitable[T]]) -> T:
    found = address or marked(collection)
    if found is None:
        raise ConfigError(f"{collection} keeps its state in files, so there is no cluster; see --store")
    place = place_of(found)

    async def run() -> T:
        pool = await connected(place, schema_of(place.namespace, SCHEMA), None, most=1)
        try:
            return await query(pool, place.namespace)
        finally:
            await pool.close()

    return asyncio.run(run())
