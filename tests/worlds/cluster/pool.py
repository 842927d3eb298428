"""The cluster's queries and the store of a worker, over a simulated connection."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, TypeVar

from evercrawl.adapters.postgres.membership import finish
from evercrawl.adapters.postgres.postgres_database import ReadWriteLock
from evercrawl.adapters.postgres.postgres_pool import translate_errors
from evercrawl.model.page import Batch, ShardState
from evercrawl.testing.store import MOST_REFUSALS, MemoryShard
from tests.worlds.cluster.connection import Connection
from tests.worlds.cluster.database import Server
from tests.worlds.cluster.monitor import Monitor
from tests.worlds.cluster.process import SimProcess

T = TypeVar("T")


def run_at_once(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that never waits."""
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    raise AssertionError("the store in memory waited")


class SimQueries:
    """Implements `ClusterQueries` on `Tables`."""

    def __init__(self, server: Server, connection: Connection, process: SimProcess, monitor: Monitor) -> None:
        self._server = server
        self._connection = connection
        self._process = process
        self._monitor = monitor

    async def create_tables(self) -> None:
        """Take as long as a query: the tables are there."""
        with translate_errors():
            await self._connection.run(lambda: None)

    async def rows(self, name: str, **values: Any) -> list[Any]:
        """Run one statement; return its rows."""
        with translate_errors():
            found: list[Any] = await self._connection.run(lambda: self._run(name, values))
            return found

    def _run(self, name: str, values: dict[str, Any]) -> list[Any]:
        flaws, tables = self._server.flaws, self._server.tables
        if name == "declare_dead" and flaws.hasty_burial:
            values = {"lease": values["lease"] * 0}
            tables.make_older(0.5)
        if name == "take_shards":
            before = dict(tables.owners)
            if flaws.double_grant and values["most"]:
                tables.free.add(self._process.number % len(tables.owners))
            rows = tables.run(name, **values)
            new = {row[0]: before[row[0]] for row in rows if before[row[0]] != values["worker"]}
            self._monitor.shards_granted(self._process.number, new)
            return rows
        if name == "free_shard":
            self._monitor.shard_released(values["shard_number"], self._process.number)
        return tables.run(name, **values)


class SimShard:
    """Implements `ShardStore` with the locking of the real one and rows in memory."""

    def __init__(
        self, shard: int, *, server: Server, connection: Connection, process: SimProcess, monitor: Monitor
    ) -> None:
        self.shard = shard
        self._server = server
        self._connection = connection
        self._process = process
        self._monitor = monitor
        self._lock = ReadWriteLock()
        self._rows = MemoryShard(shard, server.store.state_of(shard), most_refusals=MOST_REFUSALS)

    async def claim(self) -> ShardState:
        """Become the owner."""
        return await self._write(self._claim_there)

    async def commit(self, epoch: int, batch: Batch) -> None:
        """Apply the batch; finish even if the caller is cancelled meanwhile."""
        await finish(self._write(lambda: self._commit_there(epoch, batch)))

    async def release(self, epoch: int) -> None:
        """Release the shard cleanly."""
        await self._write(lambda: run_at_once(self._rows.release(epoch)))

    async def keys(self) -> AsyncIterator[list[bytes]]:
        """Yield the keys of all pages."""
        every = await self._read(lambda: sorted(self._server.store.state_of(self.shard).page_ids))
        if every:
            yield every

    async def close(self) -> None:
        """Nothing is open."""

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        """Every other method reads."""
        method = getattr(self._rows, name)

        async def read(*arguments: Any) -> Any:
            return await self._read(lambda: run_at_once(method(*arguments)))

        return read

    async def _read(self, work: Callable[[], T]) -> T:
        async with self._lock.reading():
            with translate_errors():
                result: T = await self._connection.run(work)
                return result

    async def _write(self, work: Callable[[], T]) -> T:
        async with self._lock.writing():
            with translate_errors():
                result: T = await self._connection.run(work, shard=self.shard)
                return result

    # On the server

    def _claim_there(self) -> ShardState:
        facts = run_at_once(self._rows.claim())
        self._monitor.shard_claimed(self.shard, facts.epoch, self._process.number)
        return facts._replace(crashed=False) if self._server.flaws.no_gap_wait else facts

    def _commit_there(self, epoch: int, batch: Batch) -> None:
        state = self._server.store.state_of(self.shard)
        fence = epoch
        if self._server.flaws.unfenced:
            fence, state.is_clean = state.epoch, False
        self._server.note_before(self.shard)
        delivered = [state.outbox[seq] for seq in batch.delivered if seq in state.outbox]
        run_at_once(self._rows.commit(fence, batch))
        self._server.tables.rewrite_outbox(batch.sent, delivered)
        self._monitor.batch_committed(self.shard, epoch, self._process.number, batch)
