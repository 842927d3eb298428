"""The state of a collection in one PostgreSQL database, in a namespace of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any
from uuid import uuid4

import asyncpg

from evercrawl.adapters.postgres.postgres_database import PostgresDatabase
from evercrawl.adapters.postgres.postgres_pool import (
    CLOSE_TIMEOUT_S,
    DatabaseAddress,
    ServerConnector,
    close_pool,
    open_pool,
    translate_errors,
)
from evercrawl.adapters.sql.shard_store import BeforeCommit, SqlShard
from evercrawl.model.page import Batch
from evercrawl.model.settings import StoreSettings

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
