"""Workers of a collection and the shards that they own: leases with heartbeats, by the database's clock.
A worker may send requests to sites only while its own clock says that the database cannot have declared it dead; it
counts from before each heartbeat was sent, and its clock runs on while the machine sleeps. No worker is declared dead
within one lease after a restart or promotion of the database: heartbeats of that time may be lost."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple, Protocol
from uuid import UUID, uuid4

import asyncpg

from evercrawl.adapters.postgres.postgres_database import PostgresDatabase
from evercrawl.adapters.postgres.postgres_pool import (
    CLOSE_TIMEOUT_S,
    DatabaseAddress,
    ServerConnector,
    application_name,
    close_pool,
    create_once,
    open_pool,
    translate_errors,
)
from evercrawl.adapters.sql.database import Row, read_statements
from evercrawl.adapters.sql.shard_store import BeforeCommit, SqlShard
from evercrawl.errors import LeaseLost
from evercrawl.model.page import Batch
from evercrawl.model.settings import StoreSettings

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


_FIRST_ROW = """
insert into shard
       (shard, epoch, is_clean, next_id, next_seq, next_site_id, next_link_batch, refusals_kept, refusals_dropped)
values ($1, 0, 1, 1, 1, 1, 1, 0, 0) on conflict do nothing
"""


class PostgresShard(SqlShard):
    """A shard in the database."""

    async def commit(self, epoch: int, batch: Batch) -> None:
        """Apply the batch as `SqlShard` does, and finish even if the caller is cancelled meanwhile.
        Otherwise no one would know whether the batch was stored, and so whether the next one may be."""
        await finish(super().commit(epoch, batch))


async def finish(work: Coroutine[Any, Any, None]) -> None:
    """Run `work` to its end; raise a cancellation of the caller only then."""
    task = asyncio.create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    task.result()
    if cancelled is not None:
        raise cancelled


class PostgresStore:
    """Implements `Store`. It connects at the first use and creates missing tables."""

    def __init__(self, address: DatabaseAddress, settings: StoreSettings, *, connections: int = 8) -> None:
        self.shards = settings.shards
        self.id = uuid4()
        """The worker that uses this store: its connections carry the id, so that other workers can end them."""
        self.before_commit: BeforeCommit | None = None
        self._address = address
        self._settings = settings
        self._connections = connections
        self._connecting = asyncio.Lock()
        self._connector = ServerConnector(address.dsn)
        self._pool: asyncpg.Pool | None = None
        self._open: dict[int, PostgresShard] = {}

    async def pool(self) -> asyncpg.Pool:
        """Return the connections, opened now if needed."""
        async with self._connecting:
            if self._pool is None:
                self._pool = await open_pool(
                    self._address, self._settings, most=self._connections, connector=self._connector, worker=self.id
                )
        return self._pool

    async def open_shard(self, shard: int) -> PostgresShard:
        """Return the shard, created empty if needed; the same object while it is open."""
        if shard not in self._open:
            pool = await self.pool()
            with translate_errors():
                await pool.execute(_FIRST_ROW, shard)
            self._open[shard] = PostgresShard(
                shard,
                PostgresDatabase(pool, shard, on_close=self._forget),
                most_refusals=self._settings.max_refusals_per_shard,
                before_commit=self.before_commit,
            )
        return self._open[shard]

    async def existing_shards(self) -> list[int]:
        """Return the shards that have a row."""
        pool = await self.pool()
        with translate_errors():
            rows = await pool.fetch("select shard from shard order by shard")
        return [row[0] for row in rows]

    async def close(self) -> None:
        """Close every connection."""
        self._open.clear()
        if self._pool is not None:
            pool, self._pool = self._pool, None
            await close_pool(pool, timeout_s=CLOSE_TIMEOUT_S)

    def terminate(self) -> None:
        """Make everything that waits for the database fail: the next owner of our shards must not wait for us."""
        self._connector.stop()
        if self._pool is not None:
            self._pool.terminate()

    def _forget(self, shard: int) -> None:
        self._open.pop(shard, None)
