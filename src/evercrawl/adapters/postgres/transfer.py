"""Every row of a collection from state files into a database, and back: counted and compared on both sides.

The tables and their columns are read from the schema itself, so a new column travels without a word here.
Everything in the database happens in one transaction: whoever breaks it off leaves the database as it was.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import asyncpg
from xxhash import xxh3_64_intdigest

from evercrawl.adapters.postgres.dialect import Schema
from evercrawl.adapters.postgres.fault import translating
from evercrawl.adapters.postgres.session import storable
from evercrawl.adapters.postgres.store import Place
from evercrawl.adapters.sqlite.connection import open_for_reading, open_for_writing, transaction
from evercrawl.adapters.sqlite.fault import Translating
from evercrawl.errors import BugFound, StoreUnavailable

PORTION = 2000
"""Rows that are in memory at a time."""
CLUSTER_TABLES = ("worker", "lease", "incarnation", "errand", "adopted")
"""What `cluster.sql` makes beside the tables of the state."""
_SUM_OF = 1 << 64

Row = Sequence[Any]


@dataclass(slots=True)
class Transferred:
    """What has been copied so far."""

    shards: int = 0
    rows: int = 0
    by_table: dict[str, int] = field(default_factory=dict)

    def note(self, table: str, rows: int) -> None:
        self.rows += rows
        self.by_table[table] = self.by_table.get(table, 0) + rows


OnRows = Callable[[Transferred], None]


@dataclass(slots=True)
class Print:
    """Number of rows, and a sum over their contents that does not depend on their order."""

    rows: int = 0
    sum: int = 0

    def add(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self.rows += 1
            self.sum = (self.sum + xxh3_64_intdigest(repr(tuple(row)).encode("utf-8", "replace"))) % _SUM_OF


@asynccontextmanager
async def one_transaction(
    place: Place, isolation: Literal["read_committed", "repeatable_read"]
) -> AsyncIterator[asyncpg.Connection]:
    """A connection whose changes stay when the block ends well, and are as never made otherwise.

    Statements are not kept: the same words about the same cursor mean another table each time.
    """
    with translating():
        connection = await asyncpg.connect(place.dsn, statement_cache_size=0)
        try:
            async with connection.transaction(isolation=isolation):
                yield connection
        finally:
            await connection.close()


# From files into the database


async def fill(connection: asyncpg.Connection, schema: Schema, files: dict[int, Path], on_rows: OnRows) -> Transferred:
    """The tables, made anew, hold what the state files hold."""
    await connection.execute(schema.script)
    done = Transferred()
    for shard, path in files.items():
        with Translating(path), closing(open_for_reading(path)) as db:
            _refuse_unknown(db, schema)
            for table in schema.tables:
                await _fill_table(connection, schema.namespace, table, shard=shard, db=db, done=done)
                on_rows(done)
        done.shards += 1
    await _number_on(connection, schema)
    return done


async def _fill_table(
    connection: asyncpg.Connection, space: str, table: str, *, shard: int, db: sqlite3.Connection, done: Transferred
) -> None:
    columns = _columns(db, table)
    if not columns:  # a file from before there was such a table
        return
    read = Print()
    for portion in _portions(db, table, columns):
        read.add(portion)
        await connection.copy_records_to_table(
            table, schema_name=space, columns=["shard", *columns], records=[(shard, *row) for row in portion]
        )
    written = Print()
    async for portion in _stored_portions(connection, space, table, shard=shard, columns=columns):
        written.add(portion)
    _compare(read, written, f"table {table} of shard {shard}")
    done.note(table, read.rows)


def _portions(db: sqlite3.Connection, table: str, columns: list[str]) -> Iterator[list[Row]]:
    rows = db.execute(f"select {_quoted(columns)} from {table}")
    while portion := rows.fetchmany(PORTION):
        yield [tuple(map(storable, row)) for row in portion]


async def _number_on(connection: asyncpg.Connection, schema: Schema) -> None:
    """Numbers that the database gives out begin behind those that are in use."""
    space = schema.namespace
    numbered = await connection.fetch(
        "select table_name from information_schema.columns"
        " where table_schema = $1 and column_name = 'id' and is_identity = 'YES'",
        space,
    )
    for (table,) in numbered:
        if table in schema.tables:
            last = await connection.fetchval(f"select coalesce(max(id), 0) from {space}.{table}")
            await connection.execute(f"alter table {space}.{table} alter column id restart with {last + 1}")


# From the database into files


async def empty(connection: asyncpg.Connection, schema: Schema, files: dict[int, Path], on_rows: OnRows) -> Transferred:
    """State files, made anew at these places, hold what the tables hold."""
    done = Transferred()
    present = await _tables_in(connection, schema.namespace)
    for shard, path in files.items():
        with Translating(path), closing(open_for_writing(path, durability="power")) as db:
            _refuse_unknown(db, schema)
            for table in (table for table in schema.tables if table in present):
                await _empty_table(connection, schema.namespace, table, shard=shard, db=db, done=done)
                on_rows(done)
        done.shards += 1
    return done


async def _empty_table(
    connection: asyncpg.Connection, space: str, table: str, *, shard: int, db: sqlite3.Connection, done: Transferred
) -> None:
    columns = _columns(db, table)
    insert = f"insert into {table} ({_quoted(columns)}) values ({', '.join('?' * len(columns))})"
    read, written = Print(), Print()
    with transaction(db):
        db.execute(f"delete from {table}")
        async for portion in _stored_portions(connection, space, table, shard=shard, columns=columns):
            read.add(portion)
            db.executemany(insert, map(tuple, portion))
    for portion in _portions(db, table, columns):
        written.add(portion)
    _compare(read, written, f"table {table} of shard {shard}")
    done.note(table, read.rows)


async def drop(connection: asyncpg.Connection, schema: Schema) -> None:
    """The collection is not in the database any more; what others keep in the namespace stays."""
    space = schema.namespace
    for table in (*schema.tables, *CLUSTER_TABLES, "collection"):
        await connection.execute(f"drop table if exists {space}.{table}")
    if not await _tables_in(connection, space):
        await connection.execute(f"drop schema if exists {space}")


# Both ways


def _refuse_unknown(db: sqlite3.Connection, schema: Schema) -> None:
    """A table that one side has and the other does not know would be lost in silence."""
    rows = db.execute("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'")
    unknown = {row[0] for row in rows} - set(schema.tables)
    if unknown:
        raise BugFound(f"the tables {', '.join(sorted(unknown))} cannot be moved into a database yet")


async def _tables_in(connection: asyncpg.Connection, space: str) -> set[str]:
    rows = await connection.fetch("select tablename from pg_tables where schemaname = $1", space)
    return {row[0] for row in rows}


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in db.execute(f"pragma table_info({table})")]


def _quoted(columns: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)


async def _stored_portions(
    connection: asyncpg.Connection, space: str, table: str, *, shard: int, columns: list[str]
) -> AsyncIterator[list[Row]]:
    """Through a cursor that is closed at the end: a table with an open one cannot be dropped."""
    query = f"select {_quoted(columns)} from {space}.{table} where shard = {shard:d}"
    await connection.execute(f"declare moving no scroll cursor for {query}")
    while portion := await connection.fetch(f"fetch {PORTION} from moving"):
        yield portion
    await connection.execute("close moving")


def _compare(read: Print, written: Print, what: str) -> None:
    if read != written:
        raise StoreUnavailable(
            f"{what} was not copied faithfully: {read.rows} rows were read, {written.rows} are there,"
            " or their contents differ; nothing was moved"
        )
