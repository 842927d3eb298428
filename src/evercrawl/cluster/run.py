"""One process as a worker of a collection in a database: from joining to leaving."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from evercrawl.adapters.postgres.membership import Membership, boot_time
from evercrawl.adapters.postgres.store import PostgresStore
from evercrawl.build import build_crawl, store_of
from evercrawl.cluster.link import ClusterLink
from evercrawl.engine.stop import Ended, StopSignal
from evercrawl.errors import EvercrawlError, LeaseLost, StoreUnavailable
from evercrawl.model.report import Progress, Summary
from evercrawl.model.settings import Settings
from evercrawl.report import PROGRESS_EVERY_S, reporting, summary_of
from evercrawl.together import MergedRun, report_of

LOOK_EVERY_S = 1.0
BEATS_IN_A_LEASE = 6
LOOK_FOR_DEAD_S = 1.0
"""Shards without an owner are looked for so often, and at least as often as heartbeats are sent."""
BALANCE_EVERY_S = 10.0
SURPLUS = 1
"""So many shards above its share a worker keeps, so that shards do not wander to and fro."""
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 30.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker is to do."""

    collection: Path
    settings: Settings
    refresh: bool = False
    forever: bool = False


async def run_in_cluster(
    task: Task, *, stop: StopSignal, on_progress: Callable[[Progress], None] | None
) -> Summary:
    """Work until nobody has anything left to do, a limit is reached or the operator stops it."""
    facts = MergedRun()
    async with reporting(facts, on_progress, every_s=PROGRESS_EVERY_S):
        ended = await work(task, facts, stop=stop)
    return summary_of(facts, task.collection, ended)


async def work(task: Task, facts: MergedRun, *, stop: StopSignal) -> Ended:
    """One life after the other: a worker that lost its lease or the database begins anew, by another name."""
    patience_s = task.settings.store.patience.total_seconds()
    waited_s, wait_s = 0.0, FIRST_WAIT_S
    life: Life | None = None
    while True:
        began = boot_time()
        try:
            life = await _born(task, facts, stop=stop, formerly=None if life is None else life.id)
            return await life.live()
        except (LeaseLost, StoreUnavailable) as error:
            facts.bury(0)
            if stop.stage or life is None or waited_s >= patience_s:
                raise
            log.warning("this worker begins anew: %s", error)
            if boot_time() - began > 2 * task.settings.store.lease.total_seconds():
                waited_s, wait_s = 0.0, FIRST_WAIT_S
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.changed(), wait_s)
        waited_s, wait_s = waited_s + wait_s, min(2 * wait_s, LONGEST_WAIT_S)


async def _born(task: Task, facts: MergedRun, *, stop: StopSignal, formerly: UUID | None) -> Life:
    settings = task.settings
    store = store_of(task.collection, settings.store)
    assert isinstance(store, PostgresStore)
    try:
        membership = Membership(
            await store.pool(),
            store.schema.namespace,
            worker=store.id,
            lease=settings.store.lease,
            margin=settings.store.lease / BEATS_IN_A_LEASE / 2,
        )
        capacity = settings.crawl.concurrency
        await membership.join(shards=store.shards, capacity=capacity, formerly=formerly)
    except BaseException:
        await store.close()
        raise
    return Life(task, store, membership, facts, stop)


class Life:
    """A worker from its registration to its end. Between them it owns shards, and only while its lease holds
    does it ask anything of a site.
    """

    def __init__(
        self, task: Task, store: PostgresStore, membership: Membership, facts: MergedRun, stop: StopSignal
    ) -> None:
        self.id = membership.id
        self._task = task
        self._settings = task.settings
        self._store = store
        self._membership = membership
        self._facts = facts
        self._outer_stop = stop
        self._stop = StopSignal()
        self._lost: EvercrawlError | None = None
        self._capacity = task.settings.crawl.concurrency
        self._link = ClusterLink(membership)
        self._crawl = build_crawl(
            task.collection,
            task.settings,
            stop=self._stop,
            forever=task.forever,
            neighbours=self._link,
            store=store,
            member=membership.id.hex[:12],
        )

    async def live(self) -> Ended:
        """Until the run is over; LeaseLost or StoreUnavailable when it was lost on the way."""
        async with self._crawl, self._beside(self._beat, self._guard, self._obey, self._report):
            await self._take_share()
            await self._crawl.begin(refresh=self._task.refresh)
            async with self._beside(self._look, self._inherit, self._balance):
                ended = await self._crawl.run()
            if self._lost is not None:
                raise self._lost
            await self._say_farewell()
        self._facts.note(0, report_of(self._crawl, with_times=True))
        return ended

    @asynccontextmanager
    async def _beside(self, *duties: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
        """Do these all the time while the block runs."""
        tasks = [asyncio.create_task(duty()) for duty in duties]
        try:
            yield
        finally:
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _beat(self) -> None:
        """The heartbeat. Without it, everything is broken off before the others may take our shards."""
        every_s = self._settings.store.lease.total_seconds() / BEATS_IN_A_LEASE
        while True:
            try:
                await self._link.beat(self._crawl)
            except LeaseLost as error:
                self._give_up(error)
                return
            except StoreUnavailable as error:
                log.warning("no heartbeat: %s", error)
            if self._membership.draining:
                self._stop.finish()
            await asyncio.sleep(every_s)

    async def _guard(self) -> None:
        """See the lease run out, whatever the heartbeat waits for: a frozen network never answers."""
        while True:
            left_s = self._membership.seconds_left()
            if left_s <= 0:
                break
            await asyncio.sleep(left_s)
        self._give_up(LeaseLost("the lease ran out without a word from the database"))

    def _give_up(self, error: EvercrawlError) -> None:
        """Requests end now, and nothing waits for a database that may not answer."""
        self._lost = self._lost or error
        self._stop.cancel()
        self._store.break_off()

    async def _obey(self) -> None:
        """What the operator says to the process goes for this life."""
        while True:
            if self._outer_stop.stage:
                self._stop.finish() if self._outer_stop.stage == 1 else self._stop.cancel()
            await self._outer_stop.changed()

    async def _report(self) -> None:
        while True:
            self._facts.note(0, report_of(self._crawl))
            await asyncio.sleep(PROGRESS_EVERY_S)

    async def _look(self) -> None:
        while True:
            try:
                await self._link.look_around(self._crawl)
            except StoreUnavailable as error:
                log.warning("the others cannot be seen: %s", error)
            await asyncio.sleep(LOOK_EVERY_S)

    async def _inherit(self) -> None:
        """Take shards of those who died or left."""
        every_s = min(LOOK_FOR_DEAD_S, self._settings.store.lease.total_seconds() / BEATS_IN_A_LEASE)
        while True:
            await asyncio.sleep(every_s)
            try:
                await asyncio.gather(*map(self._crawl.gain, await self._take_share()))
            except StoreUnavailable as error:
                self._give_up(error)  # what we own is not sure any more
                return

    async def _balance(self) -> None:
        """Let go of what is more than our share."""
        while True:
            await asyncio.sleep(min(BALANCE_EVERY_S, self._settings.store.lease.total_seconds() / 3))
            try:
                await self._let_surplus_go()
            except StoreUnavailable as error:
                self._give_up(error)
                return

    async def _take_share(self) -> list[int]:
        await self._membership.bury()
        share = await self._membership.fair_share(self._capacity)
        taken = await self._membership.take(max(0, share - len(self._link.owned)))
        self._link.owned.update(taken)
        return taken

    async def _let_surplus_go(self) -> None:
        share = await self._membership.fair_share(self._capacity)
        if len(self._link.owned) <= share + SURPLUS:
            return
        number = max(self._link.owned)
        self._link.forget(number)
        if number in self._crawl.shards:
            await self._crawl.let_go(number, self._settings.crawl.shutdown)
        await self._membership.let_go(number)

    async def _say_farewell(self) -> None:
        """Everything is saved and released; the others may have our shards at once."""
        for shard in list(self._crawl.shards.values()):
            await shard.close(cleanly=True)
        self._crawl.shards.clear()
        for number in self._link.owned:
            await self._membership.let_go(number)
        await self._membership.leave()
