"""The connection pool and the store of a worker, over a simulated connection."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, TypeVar

from evercrawl.adapters.postgres.bridge import driven

from evercrawl.adapters.postgres.membership import statement_names
from evercrawl.adapters.postgres.postgres_pool import translate_errors
from evercrawl.adapters.postgres.store import PostgresShard
from evercrawl.model.page import Batch, ShardState
from evercrawl.testing.store import MOST_REFUSALS, MemoryShard
from tests.worlds.cluster.connection import Connection
from tests.worlds.cluster.database import Server
from tests.worlds.cluster.monitor import Monitor
from tests.worlds.cluster.process import SimProcess

T = TypeVar("T")
NAMESPACE = "simulated"
_NAMES = statement_names(NAMESPACE)
_TRANSACTIONS = frozenset({"claim", "commit", "release"})


class SimPool:
    """Runs the cluster's statements on `Tables`."""

    def __init__(self, server: Server, connection: Connection, process: SimProcess, monitor: Monitor) -> None:
        self._server = server
        self._connection = connection
        self._process = process
        self._monitor = monitor

    async def fetch(self, statement: str, *arguments: Any) -> list[Any]:
        """Return all rows."""
        name = _NAMES[statement]
        found: list[Any] = await self._connection.run(lambda: self._run(name, arguments))
        return found

    async def execute(self, statement: str, *arguments: Any) -> None:
        """Run a statement without its rows."""
        await self.fetch(statement, *arguments)

    async def fetchrow(self, statement: str, *arguments: Any) -> Any:
        """Return the first row, or None."""
        rows = await self.fetch(statement, *arguments)
        return rows[0] if rows else None

    async def fetchval(self, statement: str, *arguments: Any) -> Any:
        """Return the first value of the first row."""
        rows = await self.fetch(statement, *arguments)
        return rows[0][0] if rows else None

    def _run(self, name: str, arguments: tuple[Any, ...]) -> list[Any]:
        flaws, tables = self._server.flaws, self._server.tables
        if name == "bury" and flaws.hasty_burial:
            arguments = (arguments[0] * 0,)
            tables.make_older(0.5)
        if name == "take":
            before = dict(tables.owners)
            if flaws.double_grant and arguments[1]:
                tables.free.add(self._process.number % len(tables.owners))
            rows = tables.run(name, *arguments)
            new = {row[0]: before[row[0]] for row in rows if before[row[0]] != arguments[0]}
            self._monitor.shards_granted(self._process.number, new)
            return rows
        if name == "let_go":
            self._monitor.shard_released(arguments[0], self._process.number)
        return tables.run(name, *arguments)


class SimShard(PostgresShard):
    """Implements `ShardStore` with the locking of the real one and rows in memory."""

    def __init__(
        self, shard: int, *, server: Server, connection: Connection, process: SimProcess, monitor: Monitor
    ) -> None:
        super().__init__(
            shard,
            pool=None,
            translations=None,  # type: ignore[arg-type]  # nothing is said in SQL here
            most_refusals=MOST_REFUSALS,
            on_close=lambda _: None,
        )
        self._server = server
        self._connection = connection
        self._process = process
        self._monitor = monitor
        self._rows = MemoryShard(shard, server.store.state_of(shard), most_refusals=MOST_REFUSALS)
        self._inside = self._rows  # type: ignore[assignment]

    async def keys(self) -> AsyncIterator[list[bytes]]:
        """Yield the keys of all pages."""
        every: list[bytes] = await self._read(self._all_keys)
        if every:
            yield every

    async def _all_keys(self) -> list[bytes]:
        return sorted(self._server.store.state_of(self.shard).page_ids)

    async def _run(self, work: Callable[..., Coroutine[Any, Any, T]], *arguments: Any) -> T:
        name = work.__name__
        with translate_errors():
            if name not in _TRANSACTIONS:
                read: T = await self._connection.run(lambda: driven(work(*arguments)))
                return read
            step = getattr(self, f"_{name}_there")
            wrote: T = await self._connection.run(lambda: step(*arguments), shard=self.shard)
            return wrote

    # On the server

    def _claim_there(self) -> ShardState:
        facts = driven(self._rows.claim())
        self._monitor.shard_claimed(self.shard, facts.epoch, self._process.number)
        return facts._replace(crashed=False) if self._server.flaws.no_gap_wait else facts

    def _commit_there(self, epoch: int, batch: Batch) -> None:
        state = self._server.store.state_of(self.shard)
        fence = epoch
        if self._server.flaws.unfenced:
            fence, state.is_clean = state.epoch, False
        self._server.note_before(self.shard)
        delivered = [state.outbox[seq] for seq in batch.delivered if seq in state.outbox]
        driven(self._rows.commit(fence, batch))
        self._server.tables.rewrite_outbox(batch.sent, delivered)
        self._monitor.batch_committed(self.shard, epoch, self._process.number, batch)

    def _release_there(self, epoch: int) -> None:
        driven(self._rows.release(epoch))
