"""Executes the store's statements for one shard in PostgreSQL.
Rows of a batch statement travel as one array for each column, and writes to different tables travel together in one
message: a Bind and Execute for every row would cost both sides more than the work itself."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, TypeVar

import asyncpg

from evercrawl.adapters.postgres.postgres_pool import (
    CLOSE_TIMEOUT_S,
    DatabaseAddress,
    close_pool,
    open_pool,
    parse_address,
    translate_errors,
)
from evercrawl.adapters.sql.database import SHARD, SQL, Column, Row, Statement

T = TypeVar("T")
READER_CONNECTIONS = 4  # Most connections of one process that reads; further reads wait.
READ_TIMEOUT_S = 120.0
_SHARD = "$1::integer"
_TEXT = "text"


class ReadWriteLock:
    """Lets reads run concurrently, and a writer only alone."""

    def __init__(self) -> None:
        self._readers = 0
        self._writing = asyncio.Lock()
        self._no_readers = asyncio.Event()
        self._no_readers.set()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """Wait until no one writes."""
        async with self._writing:
            self._readers += 1
            self._no_readers.clear()
        try:
            yield
        finally:
            self._readers -= 1
            if not self._readers:
                self._no_readers.set()

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Wait until no one reads or writes."""
        async with self._writing:
            await self._no_readers.wait()
            yield


class PostgresDatabase:
    """Implements `ShardDatabase`. Each call borrows a connection of the pool."""

    def __init__(self, pool: asyncpg.Pool, shard: int, *, on_close: Callable[[int], None]) -> None:
        self._pool = pool
        self._shard = shard
        self._on_close = on_close
        self._lock = ReadWriteLock()

    async def all(self, name: str, **values: object) -> list[Row]:
        arguments = query_arguments(SQL[name], self._shard, values)
        async with self._lock.reading():
            return await self._fetch(single_text(name), arguments)

    async def one(self, name: str, **values: object) -> Row | None:
        rows = await self.all(name, **values)
        return rows[0] if rows else None

    async def each(self, name: str, rows: Sequence[tuple[object, ...]]) -> list[Row]:
        if not rows:
            return []
        async with self._lock.reading():
            return await self._fetch(lateral_text(name), [self._shard, *transpose(SQL[name], rows)])

    async def _fetch(self, text: str, arguments: Sequence[object]) -> list[Row]:
        with translate_errors():
            rows: list[Row] = await self._pool.fetch(text, *arguments)
            return rows

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        async with self._lock.writing():
            yield

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[PostgresTransaction]:
        """Begin a transaction that locks the row of the shard: the fence compares epochs under this lock."""
        with translate_errors():
            async with self._pool.acquire() as connection:
                await connection.execute(f"begin; select 1 from shard where shard = {self._shard:d} for update")
                try:
                    database = PostgresTransaction(connection, self._shard)
                    yield database
                    await database.flush()
                    await connection.execute("commit")
                except BaseException:
                    if not connection.is_closed():
                        await connection.execute("rollback")
                    raise

    async def close(self) -> None:
        """Forget the shard; the pool stays open."""
        self._on_close(self._shard)


class PostgresTransaction:
    """Implements `Transaction` over one connection. Batch writes are collected, at most until the next read."""

    def __init__(self, connection: asyncpg.Connection, shard: int) -> None:
        self._connection = connection
        self._shard = shard
        self._pending: dict[str, tuple[str, list[Any]]] = {}
        """Table -> statement and its arrays."""

    async def all(self, name: str, **values: object) -> list[Row]:
        await self.flush()
        rows: list[Row] = await self._connection.fetch(
            single_text(name), *query_arguments(SQL[name], self._shard, values)
        )
        return rows

    async def one(self, name: str, **values: object) -> Row | None:
        rows = await self.all(name, **values)
        return rows[0] if rows else None

    async def each(self, name: str, rows: Sequence[tuple[object, ...]]) -> list[Row]:
        await self.flush()
        if not rows:
            return []
        found: list[Row] = await self._connection.fetch(lateral_text(name), self._shard, *transpose(SQL[name], rows))
        return found

    async def execute(self, name: str, **values: object) -> None:
        await self.all(name, **values)

    async def write(self, name: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Run a batch statement together with others: before the next read, or the next write to the same table."""
        statement = SQL[name]
        assert statement.target is not None
        for part in _distinct_parts(statement, list(rows)):
            if statement.target in self._pending:
                await self.flush()
            self._pending[statement.target] = (name, transpose(statement, part))

    async def count(self, name: str, rows: Sequence[tuple[object, ...]]) -> int:
        await self.flush()
        status: str = await self._connection.execute(combined_text((name,)), self._shard, *transpose(SQL[name], rows))
        return int(status.rpartition(" ")[2])

    async def flush(self) -> None:
        """Send the collected writes in one message."""
        if not self._pending:
            return
        pending, self._pending = list(self._pending.values()), {}
        text = combined_text(tuple(name for name, _ in pending))
        arrays = [array for _, some in pending for array in some]
        await self._connection.fetch(text, self._shard, *arrays)


# Blocking reads, for commands


class PostgresReader:
    """Connections to one database, in a thread with an event loop of its own."""

    def __init__(self, address: DatabaseAddress) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="postgres", daemon=True)
        self._thread.start()
        self._pool: asyncpg.Pool = self._wait(open_pool(address, None, most=READER_CONNECTIONS))

    def shard(self, shard: int) -> BlockingShard:
        """Return the queries of one shard."""
        return BlockingShard(self, shard)

    def shards(self) -> list[int]:
        """Return the shards that have a row."""
        return [row[0] for row in self.fetch("select shard from shard order by shard")]

    def close(self) -> None:
        """Close the connections and end the thread."""
        self._wait(close_pool(self._pool, timeout_s=CLOSE_TIMEOUT_S))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def fetch(self, text: str, *arguments: object) -> list[Row]:
        """Return the rows of a query."""
        return self._wait(self._fetch(text, arguments))

    async def _fetch(self, text: str, arguments: Sequence[object]) -> list[Row]:
        rows: list[Row] = await self._pool.fetch(text, *arguments)
        return rows

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        with translate_errors():
            return asyncio.run_coroutine_threadsafe(work, self._loop).result(READ_TIMEOUT_S)


class BlockingShard:
    """Implements `BlockingQueries` for one shard."""

    def __init__(self, reader: PostgresReader, shard: int) -> None:
        self._reader = reader
        self._shard = shard

    def rows(self, name: str, **values: object) -> list[Row]:
        return self._reader.fetch(single_text(name), *query_arguments(SQL[name], self._shard, values))

    def select(self, statement: Statement, **values: object) -> list[Row]:
        return self._reader.fetch(numbered_text(statement), *query_arguments(statement, self._shard, values))

    def row(self, name: str, **values: object) -> Row | None:
        rows = self.rows(name, **values)
        return rows[0] if rows else None

    def rows_for(self, name: str, rows: Sequence[tuple[object, ...]]) -> list[Row]:
        return self._reader.fetch(lateral_text(name), self._shard, *transpose(SQL[name], rows)) if rows else []

    def close(self) -> None:
        """Do nothing: each call returns its connection."""


@cache
def reader_of(address: str) -> PostgresReader:
    """Return the connections of this process to one database."""
    return PostgresReader(parse_address(address))


# Texts


@cache
def single_text(name: str) -> str:
    """Return the text of a statement with single values."""
    return numbered_text(SQL[name])


def numbered_text(statement: Statement) -> str:
    """Return the text of a statement with numbered parameters."""
    places = {parameter: f"${place}" for place, parameter in enumerate(statement.parameters, start=2)}
    return statement.render({**places, SHARD: _SHARD}.__getitem__)


@cache
def lateral_text(name: str) -> str:
    """Return the text of a batch query for arrays of its inputs."""
    statement = SQL[name]
    return f"select found.* from {_source(statement.columns)} cross join lateral ({_row_text(statement)} limit 1) found"


@cache
def combined_text(names: tuple[str, ...]) -> str:
    """Return one text for batch statements that change different tables; their arrays follow each other."""
    texts, taken = [], 0
    for name in names:
        texts.append(_bulk_text(SQL[name], taken))
        taken += len(SQL[name].columns)
    if len(texts) == 1:
        return texts[0]
    parts = ", ".join(f"write{place} as ({text})" for place, text in enumerate(texts))
    return f"with {parts} select 1"


def _bulk_text(statement: Statement, taken: int) -> str:
    """The statement for arrays: an insert selects from them; an update or delete finds its rows from them.
    `offset 0` keeps the planner from turning the search into a join: it may plan while a table is still empty, and a
    scan that is cheap then is not when the table has grown."""
    text, source = _row_text(statement), _source(statement.columns, taken)
    if text.startswith("insert"):
        head, _, rest = text.partition("values (")
        values, _, tail = rest.partition(")")
        return f"{head}select {values} from {source}{tail}"
    table = statement.target
    head, _, condition = text.rpartition("\n where ")
    join = "from" if text.startswith("update") else "using"
    search = f"select {table}.ctid as place from {table} where {condition} offset 0"
    return f"{head} {join} {source} cross join lateral ({search}) found where {table}.ctid = found.place"


def _row_text(statement: Statement) -> str:
    """The statement about one row of the arrays."""
    places = {column.name: f"batch.p{place}" for place, column in enumerate(statement.columns)}
    return statement.render({**places, SHARD: _SHARD}.__getitem__)


def _source(columns: Sequence[Column], taken: int = 0) -> str:
    arrays = ", ".join(f"${place}::{column.type}[]" for place, column in enumerate(columns, start=taken + 2))
    names = ", ".join(f"p{place}" for place in range(len(columns)))
    return f"unnest({arrays}) as batch ({names})"


# Values


def transpose(statement: Statement, rows: Sequence[tuple[object, ...]]) -> list[Any]:
    """Return the rows of a batch as one array for each column."""
    arrays = zip(*rows, strict=True)
    return [
        list(map(storable, array)) if column.type == _TEXT else array
        for column, array in zip(statement.columns, arrays, strict=True)
    ]


def query_arguments(statement: Statement, shard: int, values: dict[str, object]) -> list[object]:
    """Return the arguments of a single statement."""
    return [shard, *map(storable, statement.values(values))]


def _distinct_parts(statement: Statement, rows: list[tuple[object, ...]]) -> list[list[tuple[object, ...]]]:
    """Split rows so that no part changes a row twice, which one statement cannot do; the order of changes is kept."""
    keys = [place for place, column in enumerate(statement.columns) if column.is_key]
    if not rows or not keys or len({tuple([row[place] for place in keys]) for row in rows}) == len(rows):
        return [rows] if rows else []
    parts: list[list[tuple[object, ...]]] = []
    repeated: dict[tuple[object, ...], int] = {}
    for row in rows:
        key = tuple([row[place] for place in keys])
        turn = repeated.get(key, 0)
        repeated[key] = turn + 1
        if turn == len(parts):
            parts.append([])
        parts[turn].append(row)
    return parts


def storable(value: object) -> object:
    """Replace what PostgreSQL cannot store in a text: zero characters and lone surrogates."""
    if not isinstance(value, str):
        return value
    if not value.isascii():
        value = value.encode("utf-8", "replace").decode("utf-8")
    return value.replace("\0", "\ufffd") if "\0" in value else value
