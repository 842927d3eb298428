"""The state of one shard in PostgreSQL: the embedded store's own code, which waits for the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import asyncpg
from greenlet import getcurrent

from evercrawl.adapters.postgres.bridge import beside_the_loop, driven
from evercrawl.adapters.postgres.fault import translating
from evercrawl.adapters.postgres.session import Session, Translations
from evercrawl.adapters.sqlite.shard import KEYS_AT_A_TIME, SqliteShard
from evercrawl.adapters.sqlite.statements import SQL
from evercrawl.model.page import Batch, ShardState

T = TypeVar("T")
BeforeCommit = Callable[[int], Awaitable[None]]
"""What is waited for before a shard is committed; if it raises, nothing is."""


class _Inside(SqliteShard):
    """The embedded store's code; each piece of work finds the session that its greenlet was given."""

    def __init__(self, shard: int, *, most_refusals: int) -> None:
        super().__init__(
            shard,
            Path(f"shard {shard}"),
            db=None,  # type: ignore[arg-type]  # see `connection`
            most_refusals=most_refusals,
            on_close=lambda _: None,
        )

    @property
    def connection(self) -> Any:
        return getcurrent().session

    @connection.setter
    def connection(self, _: object) -> None:
        """There is none between two pieces of work."""

    def _each(self, name: str, parameters: Sequence[object]) -> list[Any]:
        found: list[Any] = self.connection.each(SQL[name], parameters)
        return found


class PostgresShard:
    """Implements `ShardStore`. Reads go side by side; a commit has the shard for itself, so that nobody sees
    the moment between what memory has handed over and what the server has stored.
    """

    def __init__(
        self,
        shard: int,
        *,
        pool: asyncpg.Pool,
        translations: Translations,
        most_refusals: int,
        on_close: Callable[[int], None],
        before_commit: BeforeCommit | None = None,
    ) -> None:
        self.shard = shard
        self._before_commit = before_commit
        self._pool = pool
        self._translations = translations
        self._on_close = on_close
        self._inside = _Inside(shard, most_refusals=most_refusals)
        self._readers = 0
        self._writing = asyncio.Lock()
        self._unread = asyncio.Event()
        self._unread.set()

    async def claim(self) -> ShardState:
        """Become the owner: raise the epoch and say where the shard stands."""
        async with self._alone():
            return await self._run(self._inside.claim)

    async def commit(self, epoch: int, batch: Batch) -> None:
        """Apply the batch in one transaction; raises LeaseLost when the epoch is not the current one.

        Once begun it is ended, also for somebody who is told to stop meanwhile: what comes after a batch must
        not be stored where nobody knows whether the batch was.
        """
        writing = asyncio.create_task(self._commit(epoch, batch))
        told_to_stop: asyncio.CancelledError | None = None
        while not writing.done():
            try:
                await asyncio.wait([writing])
            except asyncio.CancelledError as error:
                told_to_stop = error
        writing.result()
        if told_to_stop is not None:
            raise told_to_stop

    async def _commit(self, epoch: int, batch: Batch) -> None:
        async with self._alone():
            if self._before_commit is not None:
                await self._before_commit(self.shard)
            await self._run(self._inside.commit, epoch, batch)

    async def release(self, epoch: int) -> None:
        """Let go cleanly; without effect when somebody else has the shard."""
        async with self._alone():
            await self._run(self._inside.release, epoch)

    async def keys(self) -> AsyncIterator[list[bytes]]:
        """Every key of a page, in portions, for rebuilding the filter."""
        last = b""
        while portion := await self._read(self._portion_of_keys, last):
            last = portion[-1]
            yield portion

    async def _portion_of_keys(self, after: bytes) -> list[bytes]:
        rows = self._inside.connection.execute(SQL["seen_keys"], (after, KEYS_AT_A_TIME))
        return [row[0] for row in rows]

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        """Every other question is one of the embedded store's, in the same words."""
        question = getattr(self._inside, name)

        async def ask(*arguments: Any) -> Any:
            return await self._read(question, *arguments)

        return ask

    async def close(self) -> None:
        """Nothing is asked from here on."""
        self._on_close(self.shard)

    async def _read(self, work: Callable[..., Coroutine[Any, Any, T]], *arguments: Any) -> T:
        async with self._writing:
            self._readers += 1
            self._unread.clear()
        try:
            return await self._run(work, *arguments)
        finally:
            self._readers -= 1
            if not self._readers:
                self._unread.set()

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        async with self._writing:
            await self._unread.wait()
            yield

    async def _run(self, work: Callable[..., Coroutine[Any, Any, T]], *arguments: Any) -> T:
        with translating():
            async with self._pool.acquire() as connection:
                session = Session(connection, self.shard, self._translations)

                def inside() -> T:
                    getcurrent().session = session
                    return driven(work(*arguments))

                return await beside_the_loop(inside)
