"""All shards of a collection in one PostgreSQL database, in a namespace of their own."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from uuid import UUID, uuid4

import asyncpg

from evercrawl.adapters.postgres.dialect import Schema, schema_of
from evercrawl.adapters.postgres.fault import translating
from evercrawl.adapters.postgres.line import Line, hung_up, made_once
from evercrawl.adapters.postgres.session import Translations
from evercrawl.adapters.postgres.shard import BeforeCommit, PostgresShard
from evercrawl.adapters.sqlite.connection import SCHEMA_VERSION
from evercrawl.adapters.sqlite.statements import OUTLINE_SCHEMA, SCHEMA
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.settings import StoreSettings

DEFAULT_NAMESPACE = "evercrawl"
STATEMENT_S = 60.0
"""A statement that takes longer is given up."""
IDLE_TRANSACTION = timedelta(seconds=10)
"""A client that vanished must not keep the lock of a shard for longer, nor for longer than half a lease."""
FAREWELL_S = 5.0
STATEMENTS_KEPT = 300
"""Prepared statements of a connection: some sixty, and the ways in which those that write come together."""
BY_KEY_ONLY = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
}
"""A worker finds everything by key, some hundreds of rows at a time. So each of its statements is planned
once for a connection, for tables of any size: a plan made while a table was empty must do when it is full.
"""
_NAMESPACE = re.compile(r"[a-z_][a-z0-9_]{0,62}")


class Place(NamedTuple):
    """Where a collection's state lies."""

    dsn: str
    namespace: str = DEFAULT_NAMESPACE


def place_of(text: str) -> Place:
    """The parts of `postgresql://user@host/database?namespace=news`."""
    parts = urlsplit(text)
    if parts.scheme not in ("postgresql", "postgres"):
        raise ConfigError(f"--store {text!r} is not understood; write postgresql://user@host:5432/database")
    options = dict(parse_qsl(parts.query))
    namespace = options.pop("namespace", DEFAULT_NAMESPACE)
    if not _NAMESPACE.fullmatch(namespace):
        raise ConfigError(f"the namespace {namespace!r} may hold lower-case letters, digits and _ only")
    return Place(urlunsplit(parts._replace(query=urlencode(options))), namespace)


class PostgresStore:
    """Implements `Store`. It connects when it is first asked; the tables are made where there are none."""

    def __init__(self, place: Place, settings: StoreSettings, *, connections: int = 8) -> None:
        self.shards = settings.shards
        self.id = uuid4()
        """The worker that uses this store: its connections bear the name, so that the others can end them."""
        self.schema = schema_of(place.namespace, SCHEMA, OUTLINE_SCHEMA)
        self._place = place
        self._settings = settings
        self._connections = connections
        self._translations = Translations(self.schema)
        self._connecting = asyncio.Lock()
        self._line = Line(place.dsn)
        self._pool: asyncpg.Pool | None = None
        self.before_commit: BeforeCommit | None = None
        """What has to be done for a shard before each commit of it."""
        self._open: dict[int, PostgresShard] = {}

    async def pool(self) -> asyncpg.Pool:
        """The connections, made now if there are none."""
        async with self._connecting:
            if self._pool is None:
                self._pool = await connected(
                    self._place, self.schema, self._settings, most=self._connections, line=self._line, worker=self.id
                )
        return self._pool

    async def open_shard(self, shard: int) -> PostgresShard:
        """The shard's state, made empty if it is not there yet; the same object while it is open."""
        if shard not in self._open:
            pool = await self.pool()
            with translating():
                await pool.execute(_FIRST_ROW.format(space=self.schema.namespace), shard)
            self._open[shard] = PostgresShard(
                shard,
                pool=pool,
                translations=self._translations,
                most_refusals=self._settings.max_refusals_per_shard,
                on_close=self._forget,
                before_commit=self.before_commit,
            )
        return self._open[shard]

    async def existing_shards(self) -> list[int]:
        """Shards that hold something."""
        pool = await self.pool()
        with translating():
            rows = await pool.fetch(f"select shard from {self.schema.namespace}.shard order by shard")
        return [row[0] for row in rows]

    async def close(self) -> None:
        """Close everything."""
        self._open.clear()
        if self._pool is not None:
            pool, self._pool = self._pool, None
            await hung_up(pool, within_s=FAREWELL_S)

    def break_off(self) -> None:
        """Everything that waits for the database fails now: whoever owns our shards must not wait for us."""
        self._line.cut()
        if self._pool is not None:
            self._pool.terminate()

    def _forget(self, shard: int) -> None:
        self._open.pop(shard, None)


_FIRST_ROW = """
insert into {space}.shard (shard, only_row, epoch, is_clean, next_id, next_seq, next_site_id, next_parcel,
                           refusals_kept, refusals_dropped)
values ($1, 1, 0, 1, 1, 1, 1, 1, 0, 0) on conflict do nothing
"""


async def connected(
    place: Place,
    schema: Schema,
    settings: StoreSettings | None,
    *,
    most: int = 8,
    line: Line | None = None,
    worker: UUID | None = None,
) -> asyncpg.Pool:
    """Connections to a database that has the collection's tables; without settings no table is made."""
    idle = IDLE_TRANSACTION if settings is None else min(IDLE_TRANSACTION, settings.lease_timeout / 2)
    with translating():
        pool = await asyncpg.create_pool(
            place.dsn,
            min_size=1,
            max_size=most,
            connect=(line or Line(place.dsn)).connect,
            init=_tune,
            reset=_leave_as_it_is,
            command_timeout=STATEMENT_S,
            statement_cache_size=STATEMENTS_KEPT,
            server_settings={
                **({} if worker is None else BY_KEY_ONLY),
                "application_name": application_of(worker),
                "idle_in_transaction_session_timeout": str(int(idle.total_seconds() * 1000)),
            },
        )
        try:
            await _bring_up(pool, schema, settings)
        except BaseException:
            await pool.close()
            raise
    return pool


def application_of(worker: UUID | None) -> str:
    """How the server calls our connections."""
    return "evercrawl" if worker is None else f"evercrawl {worker}"


async def _tune(connection: asyncpg.Connection) -> None:
    """Sums of whole numbers are whole numbers, as in the embedded store."""
    await connection.set_type_codec("numeric", encoder=str, decoder=_number, schema="pg_catalog", format="text")


async def _leave_as_it_is(connection: asyncpg.Connection) -> None:
    """Our sessions change nothing that the next one could find, so nothing is asked of the server; a piece of
    work that was broken off within a transaction is taken back.
    """
    if connection.is_in_transaction():
        await connection.execute("rollback")


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


async def _bring_up(pool: asyncpg.Pool, schema: Schema, settings: StoreSettings | None) -> None:
    """Make the tables if need be. The number of shards is fixed when the first process comes."""
    space = schema.namespace
    if settings is None:
        kept = await _kept(pool, space)
    else:
        kept = await made_once(lambda: _made(pool, schema, settings))
    if kept["version"] != SCHEMA_VERSION:
        raise StoreUnavailable(
            f"the tables in {space} have schema {kept['version']}, this evercrawl knows {SCHEMA_VERSION};"
            " use the version of evercrawl that made them, or move the collection"
        )
    if settings is not None and kept["shards"] != settings.shards:
        raise ConfigError(
            f"the collection in {space} has {kept['shards']} shards, the settings say {settings.shards};"
            f" set it: evercrawl config store.shards {kept['shards']}"
        )


async def _kept(pool: asyncpg.Pool, space: str) -> dict[str, int]:
    """What the database says about the collection."""
    try:
        return dict(await pool.fetch(f"select name, value from {space}.collection"))
    except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError) as error:
        raise StoreUnavailable(
            f"the database has no collection in {space}; crawl into it first, or check --store"
        ) from error


async def _made(pool: asyncpg.Pool, schema: Schema, settings: StoreSettings) -> dict[str, int]:
    """The same, after the tables were made where there were none."""
    space = schema.namespace
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute(f"create schema if not exists {space}")
        await connection.execute(
            f"create table if not exists {space}.collection (name text primary key, value bigint not null)"
        )
        await connection.execute(f"lock table {space}.collection in exclusive mode")
        kept = dict(await connection.fetch(f"select name, value from {space}.collection"))
        # Younger than the other tables, and derived from the archive: made where it is missing.
        await connection.execute(schema_of(space, OUTLINE_SCHEMA).script)
        if not kept:
            await connection.execute(schema.script)
            kept = {"version": SCHEMA_VERSION, "shards": settings.shards}
            await connection.executemany(f"insert into {space}.collection values ($1, $2)", kept.items())
    return kept
