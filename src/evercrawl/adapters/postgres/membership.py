"""Workers of a collection and the shards that they own: leases with heartbeats, by the database's clock.
A worker may send requests to sites only while its own clock says that the database cannot have declared it dead; it
counts from before each heartbeat was sent, and its clock runs on while the machine sleeps. No worker is declared dead
within one lease after a restart or promotion of the database: heartbeats of that time may be lost."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple, Protocol
from uuid import UUID

import asyncpg

from evercrawl.adapters.postgres.postgres_pool import application_name, create_once, translate_errors
from evercrawl.adapters.sql.database import Row
from evercrawl.adapters.sql.statements import read_statements
from evercrawl.errors import LeaseLost

_SQL = read_statements(__package__, "cluster.sql")
SURPLUS = 1  # How many shards above its share a worker keeps, so that shards do not move back and forth.


class ClusterQueries(Protocol):
    """Runs the statements of `cluster.sql`."""

    async def create_tables(self) -> None:
        """Create the tables of the cluster if they do not exist."""

    async def rows(self, name: str, **values: object) -> list[Row]:
        """Run one statement; return its rows."""


class ClusterDatabase:
    """Implements `ClusterQueries` over a pool of connections."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool

    async def create_tables(self) -> None:
        """Create the tables of the cluster if they do not exist."""
        with translate_errors():
            await create_once(lambda: self._pool.execute(_SQL["cluster_tables"].text))

    async def rows(self, name: str, **values: object) -> list[Row]:
        """Run one statement; return its rows."""
        with translate_errors():
            rows: list[Row] = await self._pool.fetch(_text(name), *_SQL[name].values(values))
            return rows


@cache
def _text(name: str) -> str:
    places = {parameter: f"${place}" for place, parameter in enumerate(_SQL[name].parameters, start=1)}
    return _SQL[name].render(places.__getitem__)


class MemberView(NamedTuple):
    """A worker as `cluster status` shows it."""

    id: UUID
    host: str
    pid: int
    began: datetime
    until: datetime
    capacity: int
    draining: bool
    quiet: str | None
    visits: int
    wire_bytes: int
    shards: int


class ShardShare(NamedTuple):
    """How many shards a worker should own, and what the other workers lack."""

    least: int
    most: int
    lacking: int  # Shards that workers lack to their least share.
    free: int
    members: int

    def wanted(self, owned: int, *, left_over: bool) -> int:
        """Return how many free shards to take. `left_over` ones were free at the last check too: the worker with a
        claim to them does not take them, so anyone may."""
        share = self.most if self.free > self.lacking or not self.lacking else self.least
        even = -(-self.free // max(1, self.members)) if left_over else 0
        return min(self.free, max(share - owned, even, 0))

    def surplus(self, owned: int) -> int:
        """Return how many shards to release so that others reach their least share. None while shards are free: the
        others take those first, or left-over shards would move back and forth."""
        if self.free:
            return 0
        return max(0, owned - (self.least if self.lacking else self.most + SURPLUS))


class Membership:
    """This process as a worker of a collection."""

    def __init__(
        self,
        queries: ClusterQueries,
        *,
        worker: UUID,
        lease: timedelta,
        margin: timedelta,
        now: Callable[[], float] | None = None,
    ) -> None:
        """`worker`: an id that was never used before; `now`: the machine's clock, in seconds."""
        self.id = worker
        self.draining = False
        self.queries = queries
        self._now = now or boot_time
        self._lease = lease
        self._margin_s = margin.total_seconds()
        self._deadline = 0.0

    def holds(self) -> bool:
        """Whether our shards are still ours, whatever the database may have decided meanwhile."""
        return self.seconds_left() > 0

    def seconds_left(self) -> float:
        """Return how long our shards are ours without another heartbeat."""
        return self._deadline - self._margin_s - self._now()

    async def join(self, *, shards: int, capacity: int, previous_id: UUID | None) -> None:
        """Become a worker of the collection; our former worker id sends no more requests to sites."""
        await self.queries.create_tables()
        await self.queries.rows("create_leases", shards=shards)
        if previous_id is not None:
            await self.queries.rows("leave", worker=previous_id)
        before = self._now()
        await self.queries.rows(
            "register", worker=self.id, lease=self._lease, capacity=capacity, host=socket.gethostname(), pid=os.getpid()
        )
        self._deadline = before + self._lease.total_seconds()

    async def renew(self, *, quiet: str | None, visits: int, wire_bytes: int) -> None:
        """Send a heartbeat; raise LeaseLost if we were declared dead."""
        before = self._now()
        rows = await self.queries.rows(
            "renew", worker=self.id, lease=self._lease, quiet=quiet, visits=visits, wire_bytes=wire_bytes
        )
        if not rows:
            raise LeaseLost("the other workers have declared this one dead")
        self.draining = rows[0][0]
        self._deadline = before + self._lease.total_seconds()

    async def declare_dead(self) -> None:
        """Declare workers with expired leases dead, and terminate their connections to free the locks."""
        await self.queries.rows("note_incarnation")
        dead = await self.queries.rows("declare_dead", lease=self._lease)
        if dead:
            await self.queries.rows("terminate_connections", names=[application_name(row[0]) for row in dead])

    async def take(self, most: int) -> list[int]:
        """Take shards without an owner; return all shards that are ours. Each still has to be claimed in the store."""
        return [row[0] for row in await self.queries.rows("take_shards", worker=self.id, most=most)]

    async def release(self, shard: int) -> None:
        """Let another worker take the shard."""
        await self.queries.rows("free_shard", shard_number=shard, worker=self.id)

    def end(self) -> None:
        """Stop holding our shards at once, whatever the database believes."""
        self._deadline = 0.0

    async def leave(self) -> None:
        """End the membership; other workers may take our shards."""
        self.end()
        await self.queries.rows("leave", worker=self.id)

    async def fair_share(self, capacity: int) -> ShardShare:
        """Return our share of the shards by capacity. The remainder goes to whoever takes it first, but not while a
        worker has less than the whole part of its share."""
        (row,) = await self.queries.rows("shares", lease=self._lease)
        whole, shards, lacking, free, members = map(int, row)
        least, rest = divmod(shards * capacity, max(whole, capacity))
        return ShardShare(least, least + (rest > 0), lacking=lacking, free=free, members=members)

    async def next_expiry(self) -> float:
        """Return the seconds until the next lease of a worker expires."""
        ((left,),) = await self.queries.rows("next_expiry")
        return float(left) if left is not None else 0.0

    async def spent_by_others(self) -> tuple[int, int]:
        """Return visits and bytes of the other workers."""
        ((visits, wire_bytes),) = await self.queries.rows("spent_by_others", worker=self.id)
        return int(visits), int(wire_bytes)

    async def is_finished(self) -> bool:
        """Whether no other worker is busy, no links are on their way, and every shard has an owner."""
        ((is_busy,),) = await self.queries.rows("is_busy", worker=self.id)
        return not is_busy


async def list_members(queries: ClusterQueries) -> list[MemberView]:
    """Return the living workers."""
    return [MemberView._make(row) for row in await queries.rows("members")]


async def drain(queries: ClusterQueries, prefix: str) -> Sequence[UUID]:
    """Ask workers to release their shards and end: those whose id begins with the prefix, or `all`."""
    return [row[0] for row in await queries.rows("drain", prefix=prefix)]


def boot_time() -> float:
    """Return the seconds since the machine started, including those it was suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
