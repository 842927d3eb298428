"""Move a collection's state from its files into a database, or back.
The file `state/postgres` decides which place counts. Until it appears or disappears, the old place is complete; it is
cleared only afterwards. Run an interrupted move again."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from secrets import randbits

import asyncpg

from evercrawl.adapters.postgres.postgres_pool import DatabaseAddress, lock_collection, parse_address
from evercrawl.adapters.postgres.table_copy import (
    OnProgress,
    TransferProgress,
    copy_to_database,
    copy_to_files,
    drop_collection,
    open_transaction,
)
from evercrawl.adapters.sqlite.state_file import (
    SCHEMA_VERSION,
    database_of,
    set_database,
    shard_path,
    shards_in,
    state_folder,
    unset_database,
)
from evercrawl.adapters.system import CollectionLock, sync_folder
from evercrawl.errors import CollectionBusy, ConfigError, StoreUnavailable
from evercrawl.model.sanitize import mask_passwords
from evercrawl.model.settings import Settings

FILES = "files"  # The value of `--to` for the collection's own state files.
INCOMPLETE_FOLDER = "arriving"  # Folder of state files that are not complete yet.
TOKEN = "moving"  # File with the number under which a move writes into a database.
_TOKEN_BITS = 62


def move(
    collection: Path, settings: Settings, to: str, *, on_progress: OnProgress = lambda done: None
) -> TransferProgress:
    """Copy every row, compare, switch, and clear the old place."""
    with CollectionLock(collection):
        if to == FILES:
            return asyncio.run(_move_to_files(collection, settings, on_progress))
        return asyncio.run(_move_to_database(collection, settings, to, on_progress))


# Into a database


async def _move_to_database(collection: Path, settings: Settings, to: str, on_progress: OnProgress) -> TransferProgress:
    if (now := database_of(collection)) is not None:
        raise ConfigError(
            f"the state of {collection} is already in {mask_passwords(now)};"
            " move it to its files first: evercrawl store move --to files"
        )
    shards = shards_in(collection)
    if not shards:
        raise ConfigError(f"{collection} has no state yet; crawl into the database: crawl --store {mask_passwords(to)}")
    if shards[-1] >= settings.store.shards:
        raise ConfigError(
            f"the collection has a shard {shards[-1]}, store.shards says {settings.store.shards};"
            " set it to the number that the collection was created with"
        )
    address = parse_address(to)
    token = _token(collection)
    async with open_transaction(address, "read_committed") as connection:
        await _prepare_namespace(connection, address.namespace, token)
        files = {shard: shard_path(collection, shard) for shard in shards}
        done = await copy_to_database(connection, files, on_progress)
        facts = {"version": SCHEMA_VERSION, "shards": settings.store.shards, TOKEN: token}
        await connection.executemany("insert into collection values ($1, $2)", list(facts.items()))
    set_database(collection, to)
    sync_folder(state_folder(collection))
    _clear_files(collection)
    return done


def _token(collection: Path) -> int:
    """Return the number of this move, or of an earlier one that did not finish."""
    path = state_folder(collection) / TOKEN
    try:
        return int(path.read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        token = randbits(_TOKEN_BITS)
        path.write_text(f"{token}\n", encoding="ascii")
        return token


async def _prepare_namespace(connection: asyncpg.Connection, namespace: str, token: int) -> None:
    """Lock the namespace, and remove what an earlier attempt of this move left in it."""
    facts = await lock_collection(connection, namespace)
    if facts and facts.get(TOKEN) != token:
        raise ConfigError(
            f"the database already has a collection in {namespace};"
            " choose another namespace with ?namespace=NAME after the address"
        )
    if facts:
        await _refuse_if_in_use(connection)
        await drop_collection(connection, namespace)
        await lock_collection(connection, namespace)


def _clear_files(collection: Path) -> None:
    for shard in shards_in(collection):
        path = shard_path(collection, shard)
        for each in (path, *path.parent.glob(f"{path.name}-*")):
            each.unlink(missing_ok=True)
    (state_folder(collection) / TOKEN).unlink(missing_ok=True)


# Into files


async def _move_to_files(collection: Path, settings: Settings, on_progress: OnProgress) -> TransferProgress:
    stored = database_of(collection)
    if stored is None:
        raise ConfigError(f"the state of {collection} is already in its files")
    if settings.store.url is not None:
        raise ConfigError("store.url is set, so the state would be looked for there; remove it first")
    address = parse_address(stored)
    async with open_transaction(address, "repeatable_read") as connection:
        shards = await _take_over(connection, address)
        incomplete = _create_folder(collection)
        files = {shard: shard_path(incomplete, shard) for shard in shards}
        done = await copy_to_files(connection, files, on_progress)
        _replace_files(collection, incomplete)
        unset_database(collection)
        sync_folder(state_folder(collection))
        await drop_collection(connection, address.namespace)
    return done


async def _take_over(connection: asyncpg.Connection, address: DatabaseAddress) -> list[int]:
    """Lock the collection and raise every epoch: no worker joins, and a late one is fenced off. Return the shards."""
    namespace = address.namespace
    try:
        await connection.execute("lock table collection in exclusive mode")
        facts = dict(await connection.fetch("select name, value from collection"))
    except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError) as error:
        raise StoreUnavailable(f"the database has no collection in {namespace}") from error
    if facts.get("version") != SCHEMA_VERSION:
        raise StoreUnavailable(
            f"the tables in {namespace} have schema {facts.get('version')}, this evercrawl uses {SCHEMA_VERSION};"
            " move with the version of evercrawl that created them"
        )
    await _refuse_if_in_use(connection)
    rows = await connection.fetch("update shard set epoch = epoch + 1 returning shard")
    return sorted(row[0] for row in rows)


async def _refuse_if_in_use(connection: asyncpg.Connection) -> None:
    if await connection.fetchval("select to_regclass('worker')") is None:
        return
    alive = await connection.fetch(
        "select host, pid from worker where not dead and until > clock_timestamp() order by began"
    )
    if alive:
        workers = ", ".join(f"process {pid} on {host}" for host, pid in alive)
        raise CollectionBusy(f"workers use the collection: {workers}; stop them with: evercrawl cluster drain all")


def _create_folder(collection: Path) -> Path:
    """Create an empty folder for state files; delete what an earlier attempt left."""
    incomplete = collection / INCOMPLETE_FOLDER
    shutil.rmtree(incomplete, ignore_errors=True)
    state_folder(incomplete).mkdir(parents=True)
    return incomplete


def _replace_files(collection: Path, incomplete: Path) -> None:
    """Move the new files into place one by one; no one reads them while the state counts as being in the database."""
    _clear_files(collection)
    for shard in shards_in(incomplete):
        shard_path(incomplete, shard).replace(shard_path(collection, shard))
    shutil.rmtree(incomplete)
    sync_folder(state_folder(collection))
