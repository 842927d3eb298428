"""Connections to the PostgreSQL database of a collection: its address, its servers, its tables, its errors."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib.resources import files
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from uuid import UUID

import asyncpg

from evercrawl.adapters.sql.database import DuplicateKey
from evercrawl.adapters.sqlite.state_file import SCHEMA_VERSION
from evercrawl.errors import BugFound, ConfigError, StoreUnavailable
from evercrawl.model.sanitize import mask_passwords
from evercrawl.model.settings import StoreSettings

T = TypeVar("T")
SCHEMA = files(__package__).joinpath("schema.sql").read_text(encoding="utf-8")
TABLES: tuple[str, ...] = tuple(re.findall(r"^create table (\w+)", SCHEMA, re.MULTILINE))
DEFAULT_NAMESPACE = "evercrawl"
STATEMENT_TIMEOUT_S = 60.0
CLOSE_TIMEOUT_S = 5.0
CONNECT_TIMEOUT_S = 5.0  # After this time the next server of the address is tried.
IDLE_TRANSACTION = timedelta(seconds=10)
"""The server ends a transaction whose client is silent for this long, or for half a lease: its locks must not last."""
CACHED_STATEMENTS = 300  # Prepared statements per connection: about sixty, and the combinations of those that write.
CREATE_ATTEMPTS = 5
WORKER_SETTINGS = {"plan_cache_mode": "force_generic_plan", "jit": "off"}
"""A worker reads and writes by key, a few hundred rows at a time, so it plans each statement once per connection."""
_NAMESPACE = re.compile(r"[a-z_][a-z0-9_]{0,62}")


class DatabaseAddress(NamedTuple):
    """The database of a collection."""

    dsn: str
    namespace: str = DEFAULT_NAMESPACE  # The schema of the database that holds the tables: one for each collection.


def parse_address(text: str) -> DatabaseAddress:
    """Return the parts of `postgresql://user@host/database?namespace=news`."""
    parts = urlsplit(text)
    if parts.scheme not in ("postgresql", "postgres"):
        raise ConfigError(
            f"--store {mask_passwords(text)!r} is not an address; write postgresql://user@host:5432/database"
        )
    options = dict(parse_qsl(parts.query))
    namespace = options.pop("namespace", DEFAULT_NAMESPACE)
    if not _NAMESPACE.fullmatch(namespace):
        raise ConfigError(f"the namespace {namespace!r} may contain lower-case letters, digits and _ only")
    return DatabaseAddress(urlunsplit(parts._replace(query=urlencode(options))), namespace)


def servers_of(dsn: str) -> list[str]:
    """Return an address for each server of `postgresql://user@one:5432,two:5432/database`."""
    parts = urlsplit(dsn)
    user, at, hosts = parts.netloc.rpartition("@")
    return [urlunsplit(parts._replace(netloc=f"{user}{at}{host}")) for host in hosts.split(",")]


# Connections


class ServerConnector:
    """Connects to the first server of an address that answers in time and takes writes."""

    def __init__(self, dsn: str) -> None:
        self._servers = servers_of(dsn)
        self._is_stopped = False

    def stop(self) -> None:
        """Refuse every connection from now on."""
        self._is_stopped = True

    async def connect(self, _dsn: str, **options: Any) -> asyncpg.Connection:
        """Return a connection to the first server that answers."""
        failure: BaseException = ConnectionError("the connection was closed")
        for server in self._servers:
            if self._is_stopped:
                break
            try:
                return await asyncpg.connect(server, timeout=CONNECT_TIMEOUT_S, **options)
            except (OSError, asyncpg.PostgresConnectionError, asyncpg.OperatorInterventionError) as error:
                failure = error
            except asyncpg.TargetServerAttributeNotMatched as error:
                failure = ConnectionError(str(error))
        raise failure


async def open_pool(
    address: DatabaseAddress,
    settings: StoreSettings | None,
    *,
    most: int = 8,
    connector: ServerConnector | None = None,
    worker: UUID | None = None,
) -> asyncpg.Pool:
    """Connect to a database with the collection's tables; create them if there are none and settings are given."""
    idle = IDLE_TRANSACTION if settings is None else min(IDLE_TRANSACTION, settings.lease_timeout / 2)
    with translate_errors():
        pool = await asyncpg.create_pool(
            address.dsn,
            min_size=0 if settings is None else 1,
            max_size=most,
            connect=(connector or ServerConnector(address.dsn)).connect,
            reset=_roll_back,
            command_timeout=STATEMENT_TIMEOUT_S,
            statement_cache_size=CACHED_STATEMENTS,
            server_settings={
                **({} if worker is None else WORKER_SETTINGS),
                "application_name": application_name(worker),
                "idle_in_transaction_session_timeout": str(int(idle.total_seconds() * 1000)),
                "search_path": address.namespace,
            },
        )
        try:
            await _check_collection(pool, address.namespace, settings)
        except BaseException:
            await pool.close()
            raise
    return pool


async def close_pool(pool: asyncpg.Pool, *, timeout_s: float) -> None:
    """Close the connections; terminate those that do not answer in time."""
    try:
        async with asyncio.timeout(timeout_s):
            await pool.close()
    except TimeoutError:
        pool.terminate()


def application_name(worker: UUID | None) -> str:
    """Return the name of our connections on the server."""
    return "evercrawl" if worker is None else f"evercrawl {worker}"


async def _roll_back(connection: asyncpg.Connection) -> None:
    """Undo an interrupted transaction; our connections leave no other state, so nothing else needs a reset."""
    if connection.is_in_transaction():
        await connection.execute("rollback")


# Tables


async def _check_collection(pool: asyncpg.Pool, namespace: str, settings: StoreSettings | None) -> None:
    """Create the tables if needed. The first process fixes the number of shards."""
    if settings is None:
        facts = await _read_facts(pool, namespace)
    else:
        facts = await create_once(lambda: _create_tables(pool, namespace, settings))
    if facts["version"] != SCHEMA_VERSION:
        raise StoreUnavailable(
            f"the tables in {namespace} have schema {facts['version']}, this evercrawl uses {SCHEMA_VERSION};"
            " install the version of evercrawl that created them"
        )
    if settings is not None and facts["shards"] != settings.shards:
        raise ConfigError(
            f"the collection in {namespace} has {facts['shards']} shards, the settings say {settings.shards};"
            f" set it: evercrawl config set store.shards {facts['shards']}"
        )


async def _read_facts(pool: asyncpg.Pool, namespace: str) -> dict[str, int]:
    try:
        return dict(await pool.fetch("select name, value from collection"))
    except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError) as error:
        raise StoreUnavailable(
            f"the database has no collection in {namespace}; crawl into it first, or check --store"
        ) from error


async def _create_tables(pool: asyncpg.Pool, namespace: str, settings: StoreSettings) -> dict[str, int]:
    async with pool.acquire() as connection, connection.transaction():
        facts = await lock_collection(connection, namespace)
        if not facts:
            await connection.execute(SCHEMA)
            facts = {"version": SCHEMA_VERSION, "shards": settings.shards}
            await connection.executemany("insert into collection values ($1, $2)", facts.items())
    return facts


async def lock_collection(connection: asyncpg.Connection, namespace: str) -> dict[str, int]:
    """Lock the table with the collection's facts, created if needed; return the facts."""
    await connection.execute(f"create schema if not exists {namespace}")
    await connection.execute("create table if not exists collection (name text primary key, value bigint not null)")
    await connection.execute("lock table collection in exclusive mode")
    return dict(await connection.fetch("select name, value from collection"))


async def create_once(create: Callable[[], Awaitable[T]]) -> T:
    """Create tables, and try again if another process creates them at the same moment.
    `if not exists` does not prevent the conflict: the later process fails at the catalogue's own index."""
    for _ in range(CREATE_ATTEMPTS - 1):
        try:
            return await create()
        except (asyncpg.UniqueViolationError, asyncpg.DuplicateSchemaError, asyncpg.DuplicateTableError):
            continue
    return await create()


# Errors

_WRONG_STATEMENT = (asyncpg.SyntaxOrAccessError, asyncpg.DataError)
_LOST = ("closed", "closing", "released back to the pool")
"""The driver's words for a connection that broke during use; it has no exception class for that."""


@contextmanager
def translate_errors() -> Iterator[None]:
    """A context in which the driver's exceptions become ours."""
    try:
        yield
    except asyncpg.UniqueViolationError as error:
        raise DuplicateKey(str(error)) from error
    except asyncpg.InsufficientPrivilegeError as error:
        raise StoreUnavailable(f"the database denies access ({error}); grant the user of --store its rights") from error
    except asyncpg.DiskFullError as error:
        raise StoreUnavailable(
            f"the disk of the database is full ({error}); free some space and crawl again;"
            " everything up to the last commit is stored"
        ) from error
    except (OSError, asyncpg.PostgresConnectionError, asyncpg.OperatorInterventionError) as error:
        raise StoreUnavailable(
            f"the database cannot be reached ({error}); check that it runs and that --store is right;"
            " everything up to the last commit is stored"
        ) from error
    except asyncpg.InterfaceError as error:
        if not any(word in str(error) for word in _LOST):
            raise BugFound(f"we used the database driver wrongly: {error}") from error
        raise StoreUnavailable(f"the connection to the database was closed ({error})") from error
    except asyncpg.InternalClientError as error:
        # The driver's error for a connection that was terminated in the middle of an answer.
        raise StoreUnavailable(f"the connection to the database was closed ({error})") from error
    except _WRONG_STATEMENT as error:
        raise BugFound(f"the database rejected one of our statements: {error}") from error
    except asyncpg.PostgresError as error:
        raise StoreUnavailable(f"the database failed: {error}") from error
