"""A collection's state moves from its files into a database, or back.

Until the moment of the switch (the marker file appears or goes) the old place is whole and in force; only
behind it the old place is cleared. A move that was broken off is simply called again.
"""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from secrets import randbits

import asyncpg

from evercrawl.adapters.postgres.dialect import Schema, schema_of
from evercrawl.adapters.postgres.marker import mark, marked, unmark
from evercrawl.adapters.postgres.store import Place, place_of
from evercrawl.adapters.postgres.transfer import OnRows, Transferred, drop, empty, fill, one_transaction
from evercrawl.adapters.sqlite.connection import SCHEMA_VERSION
from evercrawl.adapters.sqlite.statements import OUTLINE_SCHEMA, SCHEMA
from evercrawl.adapters.sqlite.store import shard_path, shards_in, state_folder
from evercrawl.adapters.system import CollectionLock, sync_folder
from evercrawl.errors import CollectionBusy, ConfigError, StoreUnavailable
from evercrawl.model.settings import Settings

FILES = "files"
"""What `--to` says for the collection's own state files."""
ARRIVING = "arriving"
"""Folder of state files that are not complete yet."""
TOKEN = "moving"
"""File with the number under which a move writes into a database."""
_TOKEN_BITS = 62


def move(collection: Path, settings: Settings, to: str, *, on_rows: OnRows = lambda done: None) -> Transferred:
    """Copy every row, compare, switch, and clear the old place."""
    with CollectionLock(collection):
        if to == FILES:
            return asyncio.run(_into_files(collection, settings, on_rows))
        return asyncio.run(_into_database(collection, settings, to, on_rows))


# Into a database


async def _into_database(collection: Path, settings: Settings, to: str, on_rows: OnRows) -> Transferred:
    if (now := marked(collection)) is not None:
        raise ConfigError(
            f"the state of {collection} lies in {without_password(now)} already;"
            " move it to its files first: evercrawl store move --to files"
        )
    shards = shards_in(collection)
    if not shards:
        raise ConfigError(f"{collection} has no state yet; crawl into the database: crawl --store {to}")
    if shards[-1] >= settings.store.shards:
        raise ConfigError(
            f"the collection has a shard {shards[-1]}, store.shards says {settings.store.shards};"
            " set it to the number that the collection was made with"
        )
    place = place_of(to)
    schema = schema_of(place.namespace, SCHEMA, OUTLINE_SCHEMA)
    token = _token(collection)
    async with one_transaction(place, "read_committed") as connection:
        await _make_free(connection, schema, token)
        files = {shard: shard_path(collection, shard) for shard in shards}
        done = await fill(connection, schema, files, on_rows)
        facts = {"version": SCHEMA_VERSION, "shards": settings.store.shards, TOKEN: token}
        await connection.executemany(f"insert into {place.namespace}.collection values ($1, $2)", list(facts.items()))
    mark(collection, to)
    sync_folder(state_folder(collection))
    _clear_files(collection)
    return done


def _token(collection: Path) -> int:
    """The number of this move, or of the one before it that did not end."""
    path = state_folder(collection) / TOKEN
    try:
        return int(path.read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        token = randbits(_TOKEN_BITS)
        path.write_text(f"{token}\n", encoding="ascii")
        return token


async def _make_free(connection: asyncpg.Connection, schema: Schema, token: int) -> None:
    """The namespace is ours alone and holds nothing of the collection."""
    space = schema.namespace
    table = f"create table if not exists {space}.collection (name text primary key, value bigint not null)"
    await connection.execute(f"create schema if not exists {space}")
    await connection.execute(table)
    await connection.execute(f"lock table {space}.collection in exclusive mode")
    kept = dict(await connection.fetch(f"select name, value from {space}.collection"))
    if kept and kept.get(TOKEN) != token:
        raise ConfigError(
            f"the database holds a collection in {space} already;"
            " name another namespace with ?namespace=NAME behind the address"
        )
    if kept:
        await _refuse_the_living(connection, space)
        await drop(connection, schema)
        await connection.execute(f"create schema if not exists {space}")
        await connection.execute(table)


def _clear_files(collection: Path) -> None:
    for shard in shards_in(collection):
        path = shard_path(collection, shard)
        for each in (path, *path.parent.glob(f"{path.name}-*")):
            each.unlink(missing_ok=True)
    (state_folder(collection) / TOKEN).unlink(missing_ok=True)


# Into files


async def _into_files(collection: Path, settings: Settings, on_rows: OnRows) -> Transferred:
    address = marked(collection)
    if address is None:
        raise ConfigError(f"the state of {collection} lies in its files already")
    if settings.store.url is not None:
        raise ConfigError("store.url is set, so the state would be looked for there; take it away first")
    place = place_of(address)
    schema = schema_of(place.namespace, SCHEMA, OUTLINE_SCHEMA)
    async with one_transaction(place, "repeatable_read") as connection:
        shards = await _taken_over(connection, place)
        arriving = _fresh_folder(collection)
        files = {shard: shard_path(arriving, shard) for shard in shards}
        done = await empty(connection, schema, files, on_rows)
        _put_in_place(collection, arriving)
        unmark(collection)
        sync_folder(state_folder(collection))
        await drop(connection, schema)
    return done


async def _taken_over(connection: asyncpg.Connection, place: Place) -> list[int]:
    """The shards, locked: nobody joins meanwhile, and a worker that wakes up late finds another epoch."""
    space = place.namespace
    try:
        await connection.execute(f"lock table {space}.collection in exclusive mode")
        kept = dict(await connection.fetch(f"select name, value from {space}.collection"))
    except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError) as error:
        raise StoreUnavailable(f"the database has no collection in {space}") from error
    if kept.get("version") != SCHEMA_VERSION:
        raise StoreUnavailable(
            f"the tables in {space} have schema {kept.get('version')}, this evercrawl knows {SCHEMA_VERSION};"
            " move with the version of evercrawl that made them"
        )
    await _refuse_the_living(connection, space)
    rows = await connection.fetch(f"update {space}.shard set epoch = epoch + 1 returning shard")
    return sorted(row[0] for row in rows)


async def _refuse_the_living(connection: asyncpg.Connection, space: str) -> None:
    if await connection.fetchval("select to_regclass($1)", f"{space}.worker") is None:
        return
    alive = await connection.fetch(
        f"select host, pid from {space}.worker where not dead and until > clock_timestamp() order by began"
    )
    if alive:
        who = ", ".join(f"process {pid} on {host}" for host, pid in alive)
        raise CollectionBusy(f"workers live on the collection: {who}; send them home with: evercrawl cluster drain all")


def _fresh_folder(collection: Path) -> Path:
    """An empty place for state files; what an earlier attempt left is gone."""
    arriving = collection / ARRIVING
    shutil.rmtree(arriving, ignore_errors=True)
    state_folder(arriving).mkdir(parents=True)
    return arriving


def _put_in_place(collection: Path, arriving: Path) -> None:
    """While the marker is there nobody looks at these files, so they may come one by one."""
    _clear_files(collection)
    for shard in shards_in(arriving):
        shard_path(arriving, shard).replace(shard_path(collection, shard))
    shutil.rmtree(arriving)
    sync_folder(state_folder(collection))


def without_password(address: str) -> str:
    """The address as it may be shown."""
    before, at, host = address.rpartition("@")
    scheme, slashes, user = before.partition("://")
    return f"{scheme}{slashes}{user.partition(':')[0]}{at}{host}" if at else address
