"""List and drain the workers of a collection in a database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from evercrawl.adapters.postgres.membership import ClusterDatabase, ClusterQueries, MemberView, drain, list_members
from evercrawl.adapters.postgres.postgres_pool import open_pool, parse_address
from evercrawl.adapters.sqlite.state_file import database_of
from evercrawl.errors import ConfigError

T = TypeVar("T")


def list_workers(collection: Path, address: str | None = None) -> list[MemberView]:
    """Return the live workers, oldest first."""
    return _query_database(collection, address, list_members)


def drain_workers(collection: Path, id_prefix: str, address: str | None = None) -> int:
    """Ask workers by id prefix (or `all`) to save, release their shards and end; return how many were asked."""

    async def run(queries: ClusterQueries) -> int:
        return len(await drain(queries, id_prefix))

    return _query_database(collection, address, run)


def _query_database(collection: Path, address: str | None, query: Callable[[ClusterQueries], Awaitable[T]]) -> T:
    found = address or database_of(collection)
    if found is None:
        raise ConfigError(f"{collection} keeps its state in files, so there is no cluster; see --store")
    place = parse_address(found)

    async def run() -> T:
        pool = await open_pool(place, None, most=1)
        try:
            return await query(ClusterDatabase(pool))
        finally:
            await pool.close()

    return asyncio.run(run())
