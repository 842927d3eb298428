"""Copy every row of a collection from state files into a database, or back, and compare both sides.
The columns come from the schema of the files, so a new column needs no change here. Everything in the database happens
in one transaction: an interrupted move leaves the database as it was."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import asyncpg
from xxhash import xxh3_64_intdigest

from evercrawl.adapters.postgres.postgres_database import storable
from evercrawl.adapters.postgres.postgres_pool import SCHEMA, TABLES, DatabaseAddress, translate_errors
from evercrawl.adapters.sqlite.hardened_file import transaction
from evercrawl.adapters.sqlite.state_file import TranslateErrors, open_for_reading, open_for_writing
from evercrawl.errors import BugFound, StoreUnavailable

ROWS_AT_A_TIME = 2000
CLUSTER_TABLES = ("worker", "lease", "incarnation", "request", "moved_seed")  # The tables of `cluster.sql`.
_CHECKSUM_SIZE = 1 << 64

TableRow = Sequence[Any]


@dataclass(slots=True)
class TransferProgress:
    """What has been copied so far."""

    shards: int = 0
    rows: int = 0
    by_table: dict[str, int] = field(default_factory=dict)

    def add(self, table: str, rows: int) -> None:
        """Count copied rows."""
        self.rows += rows
        self.by_table[table] = self.by_table.get(table, 0) + rows


OnProgress = Callable[[TransferProgress], None]


@dataclass(slots=True)
class TableChecksum:
    """Number of rows, and a sum over their contents that does not depend on their order."""

    rows: int = 0
    sum: int = 0

    def add(self, rows: Iterable[TableRow]) -> None:
        """Include rows."""
        for row in rows:
            self.rows += 1
            self.sum = (self.sum + xxh3_64_intdigest(repr(tuple(row)).encode("utf-8", "replace"))) % _CHECKSUM_SIZE


@asynccontextmanager
async def open_transaction(
    address: DatabaseAddress, isolation: Literal["read_committed", "repeatable_read"]
) -> AsyncIterator[asyncpg.Connection]:
    """Open a connection with one transaction for the block.
    Statements are not cached: the same text with the same cursor means another table each time."""
    with translate_errors():
        connection = await asyncpg.connect(
            address.dsn, statement_cache_size=0, server_settings={"search_path": address.namespace}
        )
        try:
            async with connection.transaction(isolation=isolation):
                yield connection
        finally:
            await connection.close()


# From files into the database


async def copy_to_database(
    connection: asyncpg.Connection, files: dict[int, Path], on_progress: OnProgress
) -> TransferProgress:
    """Create the tables and copy the state files into them."""
    await connection.execute(SCHEMA)
    done = TransferProgress()
    for shard, path in files.items():
        with TranslateErrors(path), closing(open_for_reading(path)) as db:
            _check_tables(db)
            for table in TABLES:
                await _copy_table_to_database(connection, table, shard=shard, db=db, done=done)
                on_progress(done)
        done.shards += 1
    await _continue_numbers(connection)
    return done


async def _copy_table_to_database(
    connection: asyncpg.Connection, table: str, *, shard: int, db: sqlite3.Connection, done: TransferProgress
) -> None:
    columns = _columns(db, table)
    read, written = TableChecksum(), TableChecksum()
    for portion in _file_portions(db, table, columns):
        read.add(portion)
        await connection.copy_records_to_table(table, columns=columns, records=portion)
    async for rows in _database_portions(connection, table, shard=shard, columns=columns):
        written.add(rows)
    _compare(read, written, f"table {table} of shard {shard}")
    done.add(table, read.rows)


def _file_portions(db: sqlite3.Connection, table: str, columns: list[str]) -> Iterator[list[TableRow]]:
    rows = db.execute(f"select {_quoted(columns)} from {table}")
    while portion := rows.fetchmany(ROWS_AT_A_TIME):
        yield [tuple(map(storable, row)) for row in portion]


async def _continue_numbers(connection: asyncpg.Connection) -> None:
    """Let the database number new visits and verdicts after those that were copied."""
    for table in ("visit", "late_change"):
        last = await connection.fetchval(f"select coalesce(max(id), 0) from {table}")
        await connection.execute(f"alter table {table} alter column id restart with {last + 1}")


# From the database into files


async def copy_to_files(
    connection: asyncpg.Connection, files: dict[int, Path], on_progress: OnProgress
) -> TransferProgress:
    """Create state files at these paths and copy the tables into them."""
    done = TransferProgress()
    for shard, path in files.items():
        with TranslateErrors(path), closing(open_for_writing(path, durability="power")) as db:
            _check_tables(db)
            for table in TABLES:
                await _copy_table_to_file(connection, table, shard=shard, db=db, done=done)
                on_progress(done)
        done.shards += 1
    return done


async def _copy_table_to_file(
    connection: asyncpg.Connection, table: str, *, shard: int, db: sqlite3.Connection, done: TransferProgress
) -> None:
    columns = _columns(db, table)
    insert = f"insert into {table} ({_quoted(columns)}) values ({', '.join('?' * len(columns))})"
    read, written = TableChecksum(), TableChecksum()
    with transaction(db):
        db.execute(f"delete from {table}")
        async for rows in _database_portions(connection, table, shard=shard, columns=columns):
            read.add(rows)
            db.executemany(insert, map(tuple, rows))
    for portion in _file_portions(db, table, columns):
        written.add(portion)
    _compare(read, written, f"table {table} of shard {shard}")
    done.add(table, read.rows)


async def drop_collection(connection: asyncpg.Connection, namespace: str) -> None:
    """Drop the tables of the collection, and the namespace if it has no other tables."""
    await connection.execute("drop view if exists site_row")
    for table in (*TABLES, *CLUSTER_TABLES, "collection"):
        await connection.execute(f"drop table if exists {table}")
    if not await connection.fetch("select 1 from pg_tables where schemaname = $1", namespace):
        await connection.execute(f"drop schema if exists {namespace}")


# Both ways


def _check_tables(db: sqlite3.Connection) -> None:
    """Refuse a file with a table that the database does not have: its rows would be lost."""
    rows = db.execute("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'")
    unknown = {row[0] for row in rows} - set(TABLES)
    if unknown:
        raise BugFound(f"the tables {', '.join(sorted(unknown))} cannot be moved into a database yet")


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in db.execute(f"pragma table_info({table})")]


def _quoted(columns: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)


async def _database_portions(
    connection: asyncpg.Connection, table: str, *, shard: int, columns: list[str]
) -> AsyncIterator[list[TableRow]]:
    """Yield rows through a cursor, and close it at the end: a table with an open cursor cannot be dropped."""
    query = f"select {_quoted(columns)} from {table} where shard = {shard:d}"
    await connection.execute(f"declare moving no scroll cursor for {query}")
    while portion := await connection.fetch(f"fetch {ROWS_AT_A_TIME} from moving"):
        yield portion
    await connection.execute("close moving")


def _compare(read: TableChecksum, written: TableChecksum, what: str) -> None:
    if read != written:
        raise StoreUnavailable(
            f"{what} was not copied correctly: {read.rows} rows were read and {written.rows} were written,"
            " or their contents differ; nothing was moved"
        )
