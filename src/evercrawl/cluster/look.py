"""Who works on a collection in a database, and how one of them is sent home."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import asyncpg

from evercrawl.adapters.postgres.dialect import schema_of
from evercrawl.adapters.postgres.marker import marked
from evercrawl.adapters.postgres.membership import MemberView, drain, members_of
from evercrawl.adapters.postgres.store import connected, place_of
from evercrawl.adapters.sqlite.statements import SCHEMA
from evercrawl.errors import ConfigError

T = TypeVar("T")


def members(collection: Path, address: str | None = None) -> list[MemberView]:
    """The workers that live, oldest first."""
    return _asked(collection, address, members_of)


def send_home(collection: Path, which: str, address: str | None = None) -> int:
    """Ask the workers whose id begins so (or `all`) to save, let go and end; the number of those asked."""

    async def ask(pool: asyncpg.Pool, namespace: str) -> int:
        return len(await drain(pool, namespace, which))

    return _asked(collection, address, ask)


def _asked(collection: Path, address: str | None, question: Callable[[asyncpg.Pool, str], Awaitable[T]]) -> T:
    found = address or marked(collection)
    if found is None:
        raise ConfigError(f"the state of {collection} lies in its files: there is no cluster; see --store")
    place = place_of(found)

    async def ask() -> T:
        pool = await connected(place, schema_of(place.namespace, SCHEMA), None, most=1)
        try:
            return await question(pool, place.namespace)
        finally:
            await pool.close()

    return asyncio.run(ask())
