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
from evercrawl.cluster.run_summary import PROGRESS_EVERY_S, reporting, summary_of
from evercrawl.cluster.totals import RunTotals, worker_report
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
"""How long a worker waits before it begins anew; not longer than a third of a lease, for the time in which
nobody is buried begins when the first worker has found the database again.
"""

log = logging.getLogger(__name__)


HEARTBEATS_PER_LEASE = 6
T = TypeVar("T")


class WorkerIntervals(NamedTuple):
    """How often, in seconds, a worker does what is not tied to its lease."""

    look_s: float = 1.0
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
    """What a life stands on: a database, and a crawl over it."""

    @property
    def shards(self) -> int: ...
    async def membership(self) -> Membership:
        """This process as somebody who may join; a new name each time."""

    def crawl(self, membership: Membership, link: DatabasePeers, stop: StopSignal) -> Crawl:
        """The crawl, which closes the store when it ends."""

    def break_off(self) -> None:
        """Everything that waits for the database fails now."""

    async def close(self) -> None:
        """The life did not come about."""


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

    def crawl(self, membership: Membership, link: DatabasePeers, stop: StopSignal) -> Crawl:
        return build_crawl(
            self._task.collection,
            self._task.settings,
            stop=stop,
            forever=self._task.forever,
            neighbours=link,
            store=self._store,
            member=membership.id.hex[:12],
        )

    def break_off(self) -> None:
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
    facts = RunTotals()
    async with reporting(facts, on_progress, every_s=PROGRESS_EVERY_S):
        ended = await run_worker(task, facts, stop=stop)
    return summary_of(facts, task.collection, ended)


async def run_worker(
    task: CrawlTask,
    facts: RunTotals,
    *,
    stop: StopSignal,
    ground_of: Callable[[CrawlTask], WorkerBackend] = PostgresBackend,
    rhythm: WorkerIntervals = DEFAULT_INTERVALS,
) -> Ended:
    """One life after the other: a worker that lost its lease or the database begins anew, by another name."""
    patience_s = task.settings.store.reconnect_timeout.total_seconds()
    longest_s = min(MAX_RETRY_S, task.settings.store.lease_timeout.total_seconds() / 3)
    waited_s, wait_s = 0.0, FIRST_RETRY_S
    loop = asyncio.get_running_loop()
    life: WorkerSession | None = None
    while True:
        began = loop.time()
        try:
            formerly = None if life is None else life.id
            life = await _join(task, facts, ground_of(task), stop=stop, rhythm=rhythm, formerly=formerly)
            return await life.live()
        except (LeaseLost, StoreUnavailable) as error:
            facts.bury(0)
            if stop.stage or life is None or waited_s >= patience_s:
                raise
            log.warning("this worker begins anew: %s", error)
            if loop.time() - began > 2 * task.settings.store.lease_timeout.total_seconds():
                waited_s, wait_s = 0.0, FIRST_RETRY_S
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.changed(), wait_s)
        waited_s, wait_s = waited_s + wait_s, min(2 * wait_s, longest_s)


async def _join(
    task: CrawlTask,
    facts: RunTotals,
    ground: WorkerBackend,
    *,
    stop: StopSignal,
    rhythm: WorkerIntervals,
    formerly: UUID | None,
) -> WorkerSession:
    try:
        membership = await ground.membership()
        capacity = task.settings.crawl.concurrency
        await membership.join(shards=ground.shards, capacity=capacity, formerly=formerly)
    except BaseException:
        await ground.close()
        raise
    return WorkerSession(task, ground, membership, facts, stop=stop, rhythm=rhythm)


class WorkerSession:
    """A worker from its registration to its end. Between them it owns shards, and only while its lease holds
    does it ask anything of a site.
    """

    def __init__(
        self,
        task: CrawlTask,
        ground: WorkerBackend,
        membership: Membership,
        facts: RunTotals,
        *,
        stop: StopSignal,
        rhythm: WorkerIntervals,
    ) -> None:
        self.id = membership.id
        self._task = task
        self._settings = task.settings
        self._membership = membership
        self._facts = facts
        self._outer_stop = stop
        self._stop = StopSignal()
        self._lost: Exception | None = None
        self._capacity = task.settings.crawl.concurrency
        self._link = DatabasePeers(membership)
        self._rhythm = rhythm
        self._ground = ground
        self._chance = Random(membership.id.int)
        self._left_over = False
        """At the last look, shards were free that were not ours to take."""
        self._crawl = ground.crawl(membership, self._link, self._stop)

    async def live(self) -> Ended:
        """Until the run is over; LeaseLost or StoreUnavailable when it was lost on the way."""
        try:
            async with self._crawl, self._beside(self._beat, self._guard, self._obey, self._report):
                ended = await self._work()
                await self._say_farewell()
        finally:
            self._membership.end()
        self._facts.note(0, worker_report(self._crawl, with_times=True))
        return ended

    async def _work(self) -> Ended:
        await self._take_share()
        await self._crawl.begin(refresh=self._task.refresh)
        async with self._beside(self._look, self._balance):
            ended = await self._crawl.run()
        if self._lost is not None:
            raise self._lost
        return ended

    @asynccontextmanager
    async def _beside(self, *duties: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
        """Do these all the time while the block runs."""
        tasks = [asyncio.create_task(self._do(duty)) for duty in duties]
        try:
            yield
        finally:
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _do(self, duty: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """A life without one of its duties would be half a life: it ends."""
        try:
            await duty()
        except ExceptionGroup as errors:
            self._give_up(errors.exceptions[0])
        except Exception as error:
            self._give_up(error)

    async def _guard(self) -> None:
        """See the lease run out, whatever the heartbeat waits for: a frozen network never answers."""
        while True:
            left_s = self._membership.seconds_left()
            if left_s <= 0:
                break
            await asyncio.sleep(left_s)
        self._give_up(LeaseLost("the lease ran out without a word from the database"))

    async def _beat(self) -> None:
        every_s = self._settings.store.lease_timeout.total_seconds() / HEARTBEATS_PER_LEASE
        while True:
            try:
                await self._link.beat(self._crawl)
            except StoreUnavailable as error:
                log.warning("no heartbeat: %s", error)
            if self._membership.draining:
                self._stop.finish()
            await asyncio.sleep(every_s)

    def _give_up(self, error: Exception) -> None:
        """Requests end now, and nothing waits for a database that may not answer."""
        self._lost = self._lost or error
        self._stop.cancel()
        self._ground.break_off()

    async def _obey(self) -> None:
        """What the operator says to the process goes for this life."""
        while True:
            if self._outer_stop.stage:
                self._stop.finish() if self._outer_stop.stage == 1 else self._stop.cancel()
            await self._outer_stop.changed()

    async def _report(self) -> None:
        while True:
            self._facts.note(0, worker_report(self._crawl))
            await asyncio.sleep(self._rhythm.report_s)

    async def _look(self) -> None:
        while True:
            try:
                await self._link.look_around(self._crawl)
            except StoreUnavailable as error:
                log.warning("the others cannot be seen: %s", error)
            await asyncio.sleep(self._rhythm.look_s)

    async def _balance(self) -> None:
        """Take shards of those who died or left; let go of what is more than our share."""
        usual_s = min(self._rhythm.balance_s, self._settings.store.lease_timeout.total_seconds() / 3)
        pause_s = usual_s
        while not self._stop.stage:
            await asyncio.sleep(pause_s)
            pause_s = usual_s
            try:
                share = await self._take_share()
                soonest_s = await self._membership.soonest_end()
            except StoreUnavailable as error:
                log.warning("shards cannot be balanced: %s", error)
                continue
            unopened = sorted(self._link.owned - self._crawl.shards.keys())
            await asyncio.gather(*map(self._crawl.gain, unopened))
            if surplus := share.surplus(len(self._link.owned)):
                await self._let_go(math.ceil(surplus * RELEASE_SHARE))
            if self._left_over or len(self._link.owned) < share.least:
                soonest_s = 0.0
            # Not all at the very moment at which somebody has to be buried.
            pause_s = min(usual_s, max(0.0, soonest_s) + RECHECK_S * self._chance.uniform(0.1, 1.0))

    async def _take_share(self) -> Share:
        await self._membership.bury()
        share = await self._membership.fair_share(self._capacity)
        wanted = share.wanted(len(self._link.owned), left_over=self._left_over)
        self._left_over = share.free > wanted
        self._link.owned.update(await self._membership.take(wanted))
        return share

    async def _let_go(self, count: int) -> None:
        """Those of the highest numbers, side by side."""
        async with asyncio.TaskGroup() as group:
            for number in sorted(self._link.owned)[-count:]:
                self._link.forget(number)
                group.create_task(self._let_one_go(number))

    async def _let_one_go(self, number: int) -> None:
        if number in self._crawl.shards:
            await self._crawl.let_go(number, self._settings.crawl.shutdown_timeout)
        await self._membership.let_go(number)

    async def _say_farewell(self) -> None:
        """Everything is saved and released; the others may have our shards at once."""
        for shard in list(self._crawl.shards.values()):
            await shard.close(cleanly=True)
        self._crawl.shards.clear()
        for number in self._link.owned:
            await self._membership.let_go(number)
        await self._membership.leave()


def list_workers(collection: Path, address: str | None = None) -> list[MemberView]:
    """The workers that live, oldest first."""
    return _query_database(collection, address, members_of)


def drain_workers(collection: Path, which: str, address: str | None = None) -> int:
    """Ask the workers whose id begins so (or `all`) to save, let go and end; the number of those asked."""

    async def ask(pool: asyncpg.Pool, namespace: str) -> int:
        return len(await drain(pool, namespace, which))

    return _query_database(collection, address, ask)


def _query_database(collection: Path, address: str | None, question: Callable[[asyncpg.Pool, str], Awaitable[T]]) -> T:
    found = address or marked(collection)
    if found is None:
        raise ConfigError(f"the state of {collection} lies in its files: there is no cluster; see --store")
    place = place_of(found)

    async def ask() -> T:
        pool = await connected(place, schema_of(place.namespace, SCHEMA), None, most=1)
        try:
            return await question(pool, place.namespace)
        finally:
            await pool.close()

    return asyncio.run(ask())
