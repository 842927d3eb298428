"""The way to the database: which of several servers takes writes, and how long each may take to answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

import asyncpg

T = TypeVar("T")
MAKING_TRIES = 5
CONNECT_S = 5.0
"""A server that has not greeted us by then is passed over for the next one of the address."""


class Line:
    """Makes connections until it is cut; the servers of an address are tried in order, each for its time."""

    def __init__(self, dsn: str) -> None:
        self._servers = one_by_one(dsn)
        self._is_cut = False

    def cut(self) -> None:
        """From now on nobody is called."""
        self._is_cut = True

    async def connect(self, _dsn: str, **options: Any) -> asyncpg.Connection:
        """A connection to the first server that will do."""
        failed: BaseException = ConnectionError("the connection was given up")
        for server in self._servers:
            if self._is_cut:
                break
            try:
                return await asyncpg.connect(server, timeout=CONNECT_S, **options)
            except (OSError, asyncpg.PostgresConnectionError, asyncpg.OperatorInterventionError) as error:
                failed = error
            except asyncpg.TargetServerAttributeNotMatched as error:
                failed = ConnectionError(str(error))
        raise failed


def one_by_one(dsn: str) -> list[str]:
    """An address for each server of `postgresql://user@one:5432,two:5432/database`."""
    parts = urlsplit(dsn)
    user, at, hosts = parts.netloc.rpartition("@")
    return [urlunsplit(parts._replace(netloc=f"{user}{at}{host}")) for host in hosts.split(",")]


async def hung_up(pool: asyncpg.Pool, *, within_s: float) -> None:
    """Close the connections; one that does not answer in time is cut off."""
    try:
        async with asyncio.timeout(within_s):
            await pool.close()
    except TimeoutError:
        pool.terminate()


async def made_once(make: Callable[[], Awaitable[T]]) -> T:
    """The result of making tables. `if not exists` does not help two processes that make one at the same
    moment: the later one fails at the catalogue's own index, and finds the table at its next try.
    """
    for _ in range(MAKING_TRIES - 1):
        try:
            return await make()
        except (asyncpg.UniqueViolationError, asyncpg.DuplicateSchemaError, asyncpg.DuplicateTableError):
            continue
    return await make()
