"""Who owns which shard, as PostgreSQL decides it and as the simulated database does: the same answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from evercrawl.adapters.postgres.membership import Membership, ShardShare
from evercrawl.adapters.postgres.postgres_pool import DatabaseAddress
from evercrawl.adapters.postgres.store import PostgresStore
from evercrawl.errors import LeaseLost
from evercrawl.model.settings import StoreSettings
from evercrawl.testing.store import MemoryStore
from tests.postgres_server import PostgresServer
from tests.worlds.cluster.connection import Connection, Latency
from tests.worlds.cluster.database import Flaws, Server
from tests.worlds.cluster.monitor import Monitor
from tests.worlds.cluster.pool import NAMESPACE, SimPool
from tests.worlds.cluster.process import ProcessLoop, SimProcess, run_processes

SHARDS = 10
LEASE = timedelta(seconds=0.6)
MARGIN = timedelta(seconds=0.05)
Join = Callable[[int], Awaitable[Membership]]
Story = Callable[[Join], Coroutine[Any, Any, None]]
Told = Callable[[Story], None]


@pytest.fixture(params=["simulated", "postgres"])
def told(request: pytest.FixtureRequest) -> Told:
    """Tells a story of workers, who join with a capacity."""
    if request.param == "simulated":
        return lambda story: run_processes(lambda loop: _simulated(loop, story))
    server: PostgresServer = request.getfixturevalue("postgres")
    return lambda story: asyncio.run(_real(DatabaseAddress(server.dsn, server.new_namespace()), story))


async def _simulated(loop: ProcessLoop, story: Story) -> None:
    server = Server(loop, MemoryStore(SHARDS), Flaws())
    watch = Monitor(loop.time, lease_s=LEASE.total_seconds(), gap_s=lambda _: 1.0)

    async def join(capacity: int) -> Membership:
        process = SimProcess(loop, 0)
        line = Connection(server, process, Latency(slow_share=0.0), Random(1), watch)
        pool = SimPool(server, line, process, watch)
        member = Membership(pool, NAMESPACE, worker=uuid4(), lease=LEASE, margin=MARGIN, now=process.boot_s)
        await member.join(shards=SHARDS, capacity=capacity, formerly=None)
        return member

    await story(join)


async def _real(place: DatabaseAddress, story: Story) -> None:
    store = PostgresStore(place, StoreSettings(shards=SHARDS))

    async def join(capacity: int) -> Membership:
        pool = await store.pool()
        member = Membership(pool, place.namespace, worker=uuid4(), lease=LEASE, margin=MARGIN)
        await member.join(shards=SHARDS, capacity=capacity, formerly=None)
        return member

    try:
        await story(join)
    finally:
        await store.close()


async def beat(member: Membership) -> None:
    await member.renew(quiet=None, visits=3, wire_bytes=100)


def test_shares_follow_capacity_and_say_who_lacks_what(told: Told) -> None:
    async def story(join: Join) -> None:
        first = await join(10)
        assert await first.fair_share(10) == ShardShare(10, 10, lacking=10, free=10, members=1)
        assert await first.take(10) == list(range(10))
        second = await join(20)
        assert await first.fair_share(10) == ShardShare(3, 4, lacking=6, free=0, members=2)
        assert await second.fair_share(20) == ShardShare(6, 7, lacking=6, free=0, members=2)
        for shard in (7, 8, 9):
            await first.let_go(shard)
        assert await second.fair_share(20) == ShardShare(6, 7, lacking=6, free=3, members=2)
        assert await second.take(2) == [7, 8]
        assert await second.take(0) == [7, 8], "what is ours is told again, should an answer have been lost"

    told(story)


def test_who_is_silent_is_buried_after_its_lease_and_never_renews(told: Told) -> None:
    async def story(join: Join) -> None:
        first, second = await join(10), await join(10)
        assert await first.take(6) == [0, 1, 2, 3, 4, 5]
        await second.bury()
        assert 0 < await second.soonest_end() <= LEASE.total_seconds()
        for _ in range(6):
            await asyncio.sleep(LEASE.total_seconds() / 4)
            await beat(second)
            await second.bury()
        assert not first.holds()
        assert second.holds()
        assert await second.take(10) == list(range(10))
        with pytest.raises(LeaseLost):
            await beat(first)

    told(story)


def test_who_leaves_holds_nothing_any_more(told: Told) -> None:
    async def story(join: Join) -> None:
        first, second = await join(10), await join(10)
        await first.take(4)
        await beat(first)
        assert await second.spent_by_others() == (3, 100)
        await first.leave()
        assert not first.holds()
        assert await second.spent_by_others() == (0, 0)
        assert (await second.fair_share(10)).free == SHARDS
        with pytest.raises(LeaseLost):
            await beat(first)

    told(story)


def test_errands_and_new_homes_go_from_one_to_the_other(told: Told) -> None:
    async def story(join: Join) -> None:
        first, second = await join(10), await join(10)
        number = first.id
        await first.rows("ask", number, 3, b"request")
        assert [tuple(row) for row in await second.rows("errands_for", [3])] == [(number, b"request")]
        assert await second.rows("errands_for", [4]) == []
        assert not await second.all_rest()
        await second.rows("answer", number, b"answer")
        assert [tuple(row) for row in await first.rows("answered", [number])] == [(number, b"answer")]
        await first.rows("forget_errands", [number])
        assert await first.rows("answered", [number]) == []
        for _ in range(2):
            await first.rows("adopt", "http://a.test/", "http://b.test/")
        assert [tuple(row) for row in await second.rows("adopted_since", 0)] == [
            (1, "http://a.test/", "http://b.test/")
        ]

    told(story)
