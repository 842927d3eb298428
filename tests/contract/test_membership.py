"""Shard ownership in PostgreSQL and in the simulated database gives the same answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from evercrawl.adapters.postgres.membership import ClusterDatabase, Membership, PostgresStore, ShardShare
from evercrawl.adapters.postgres.postgres_pool import DatabaseAddress
from evercrawl.errors import LeaseLost
from evercrawl.model.settings import StoreSettings
from evercrawl.testing.store import MemoryStore
from tests.postgres_server import PostgresServer
from tests.worlds.cluster.connection import Connection, Latency
from tests.worlds.cluster.database import Flaws, Server
from tests.worlds.cluster.monitor import Monitor
from tests.worlds.cluster.pool import SimQueries
from tests.worlds.cluster.process import ProcessLoop, SimProcess, run_processes

SHARDS = 10
LEASE = timedelta(seconds=0.6)
MARGIN = timedelta(seconds=0.05)
Join = Callable[[int], Awaitable[Membership]]
Scenario = Callable[[Join], Coroutine[Any, Any, None]]
RunScenario = Callable[[Scenario], None]


@pytest.fixture(params=["simulated", "postgres"])
def run_scenario(request: pytest.FixtureRequest) -> RunScenario:
    """Run a scenario of workers that join with a capacity."""
    if request.param == "simulated":
        return lambda scenario: run_processes(lambda loop: _simulated(loop, scenario))
    server: PostgresServer = request.getfixturevalue("postgres")
    return lambda scenario: asyncio.run(_real(DatabaseAddress(server.dsn, server.new_namespace()), scenario))


async def _simulated(loop: ProcessLoop, scenario: Scenario) -> None:
    server = Server(loop, MemoryStore(SHARDS), Flaws())
    watch = Monitor(loop.time, lease_s=LEASE.total_seconds(), gap_s=lambda _: 1.0)

    async def join(capacity: int) -> Membership:
        process = SimProcess(loop, 0)
        line = Connection(server, process, Latency(slow_share=0.0), Random(1), watch)
        queries = SimQueries(server, line, process, watch)
        member = Membership(queries, worker=uuid4(), lease=LEASE, margin=MARGIN, now=process.boot_s)
        await member.join(shards=SHARDS, capacity=capacity, previous_id=None)
        return member

    await scenario(join)


async def _real(place: DatabaseAddress, scenario: Scenario) -> None:
    store = PostgresStore(place, StoreSettings(shards=SHARDS))

    async def join(capacity: int) -> Membership:
        queries = ClusterDatabase(await store.pool())
        member = Membership(queries, worker=uuid4(), lease=LEASE, margin=MARGIN)
        await member.join(shards=SHARDS, capacity=capacity, previous_id=None)
        return member

    try:
        await scenario(join)
    finally:
        await store.close()


async def beat(member: Membership) -> None:
    await member.renew(quiet=None, visits=3, wire_bytes=100)


def test_shares_follow_capacity_and_count_missing_shards(run_scenario: RunScenario) -> None:
    async def scenario(join: Join) -> None:
        first = await join(10)
        assert await first.fair_share(10) == ShardShare(10, 10, lacking=10, free=10, members=1)
        assert await first.take(10) == list(range(10))
        second = await join(20)
        assert await first.fair_share(10) == ShardShare(3, 4, lacking=6, free=0, members=2)
        assert await second.fair_share(20) == ShardShare(6, 7, lacking=6, free=0, members=2)
        for shard in (7, 8, 9):
            await first.release(shard)
        assert await second.fair_share(20) == ShardShare(6, 7, lacking=6, free=3, members=2)
        assert await second.take(2) == [7, 8]
        assert await second.take(0) == [7, 8], "owned shards are returned again, because an answer may have been lost"

    run_scenario(scenario)


def test_silent_worker_is_declared_dead_after_its_lease(run_scenario: RunScenario) -> None:
    async def scenario(join: Join) -> None:
        first, second = await join(10), await join(10)
        assert await first.take(6) == [0, 1, 2, 3, 4, 5]
        await second.declare_dead()
        assert 0 < await second.next_expiry() <= LEASE.total_seconds()
        for _ in range(6):
            await asyncio.sleep(LEASE.total_seconds() / 4)
            await beat(second)
            await second.declare_dead()
        assert not first.holds()
        assert second.holds()
        assert await second.take(10) == list(range(10))
        with pytest.raises(LeaseLost):
            await beat(first)

    run_scenario(scenario)


def test_worker_that_left_holds_nothing(run_scenario: RunScenario) -> None:
    async def scenario(join: Join) -> None:
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

    run_scenario(scenario)


def test_requests_and_moved_seeds_reach_other_workers(run_scenario: RunScenario) -> None:
    async def scenario(join: Join) -> None:
        first, second = await join(10), await join(10)
        number = first.id
        await first.queries.rows("send_request", id=number, shard_number=3, request=b"request")
        assert [tuple(row) for row in await second.queries.rows("open_requests", shards=[3])] == [(number, b"request")]
        assert await second.queries.rows("open_requests", shards=[4]) == []
        assert not await second.is_finished()
        await second.queries.rows("answer_request", id=number, answer=b"answer")
        answers = await first.queries.rows("answered_requests", ids=[number])
        assert [tuple(row) for row in answers] == [(number, b"answer")]
        await first.queries.rows("delete_requests", ids=[number])
        assert await first.queries.rows("answered_requests", ids=[number]) == []
        for _ in range(2):
            await first.queries.rows("add_moved_seed", seed="http://a.test/", target="http://b.test/")
        assert [tuple(row) for row in await second.queries.rows("moved_seeds", after=0)] == [
            (1, "http://a.test/", "http://b.test/")
        ]

    run_scenario(scenario)
