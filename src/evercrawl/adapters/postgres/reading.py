"""For commands that look: the sessions of a thread that waits for the database in their stead."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from functools import cache
from typing import Any

import asyncpg

from evercrawl.adapters.postgres.dialect import schema_of
from evercrawl.adapters.postgres.fault import translating
from evercrawl.adapters.postgres.session import Session, Translations
from evercrawl.adapters.postgres.store import connected, place_of
from evercrawl.adapters.sqlite.statements import OUTLINE_SCHEMA, SCHEMA

CONNECTIONS = 4
"""Most connections of one process that looks; more looks at a time wait for each other."""
LOOK_S = 120.0


class ReadingSession(Session):
    """A session that is given back when it is closed."""

    def __init__(
        self, connection: asyncpg.Connection, shard: int, translations: Translations, reading: Reading
    ) -> None:
        super().__init__(connection, shard, translations, wait=reading.wait)
        self._reading = reading

    def close(self) -> None:
        """Let others have the connection."""
        self._reading.give_back(self._connection)


class Reading:
    """Connections to one database, in a thread with an event loop of its own."""

    def __init__(self, address: str) -> None:
        place = place_of(address)
        self._place = place
        self._schema = schema_of(place.namespace, SCHEMA, OUTLINE_SCHEMA)
        self._translations = Translations(self._schema)
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="postgres", daemon=True).start()
        self._pool: asyncpg.Pool = self.wait(connected(place, self._schema, None, most=CONNECTIONS))

    def wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        """The result of something that the loop in the other thread does."""
        with translating():
            return asyncio.run_coroutine_threadsafe(_awaited(work), self._loop).result(LOOK_S)

    def session(self, shard: int) -> ReadingSession:
        """One shard, until the session is closed."""
        connection = self.wait(self._pool.acquire())
        return ReadingSession(connection, shard, self._translations, self)

    def give_back(self, connection: asyncpg.Connection) -> None:
        self.wait(self._pool.release(connection))

    def shards(self) -> list[int]:
        """The shards that hold something."""
        rows = self.wait(self._pool.fetch(f"select shard from {self._schema.namespace}.shard order by shard"))
        return [row[0] for row in rows]


async def _awaited(work: Any) -> Any:
    return await work


@cache
def reading(address: str) -> Reading:
    """The connections of this process to one database."""
    return Reading(address)
