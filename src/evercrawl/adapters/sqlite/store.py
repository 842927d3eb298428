"""The state of a collection in SQLite files, one for each shard, in the `state` folder."""

from __future__ import annotations

import sqlite3
from functools import partial
from pathlib import Path

from evercrawl.adapters.sql.shard_store import SqlShard
from evercrawl.adapters.sqlite.sqlite_database import SqliteConnection, SqliteDatabase
from evercrawl.adapters.sqlite.state_file import TranslateErrors, open_for_writing, set_cache, shard_path, shards_in
from evercrawl.adapters.system import OpenFiles
from evercrawl.model.settings import StoreSettings

MIN_CACHE_BYTES = 2 * 1024 * 1024  # The page cache of a shard never gets smaller, whatever the number of open shards.


class SqliteShard(SqlShard):
    """A shard in its file."""

    database: SqliteDatabase

    @property
    def connection(self) -> SqliteConnection:
        """The open file."""
        return self.database.connection


class SqliteStore:
    """Implements `Store`. The open shards divide the page cache of the settings among them."""

    def __init__(self, collection: Path, settings: StoreSettings, *, most_open: int | None = None) -> None:
        """`most_open`: files of at most this many shards are open at the same time."""
        self._files = None if most_open is None or most_open >= settings.shards else OpenFiles(most_open)
        self.shards = settings.shards
        self._collection = collection
        self._settings = settings
        self._open: dict[int, SqliteShard] = {}

    async def open_shard(self, shard: int) -> SqliteShard:
        """Return the shard, created empty if needed; the same object while it is open."""
        if shard not in self._open:
            path = shard_path(self._collection, shard)
            reopen = partial(self._open_file, path)
            connection = SqliteConnection(path, reopen(), reopen=reopen, files=self._files)
            is_durable = self._settings.durability == "power"
            database = SqliteDatabase(connection, on_close=self._forget, is_durable=is_durable)
            self._open[shard] = SqliteShard(shard, database, most_refusals=self._settings.max_refusals_per_shard)
            self._divide_cache()
        return self._open[shard]

    def _open_file(self, path: Path) -> sqlite3.Connection:
        db = open_for_writing(path, durability=self._settings.durability)
        set_cache(db, self._cache_share())
        return db

    async def existing_shards(self) -> list[int]:
        """Return the shards that have a file."""
        return shards_in(self._collection)

    async def close(self) -> None:
        """Close every open shard."""
        for shard in list(self._open.values()):
            await shard.close()

    def _forget(self, shard: int) -> None:
        self._open.pop(shard, None)

    def _cache_share(self) -> int:
        return max(MIN_CACHE_BYTES, self._settings.cache_bytes // max(1, len(self._open)))

    def _divide_cache(self) -> None:
        if self._files is not None:
            return  # Few files are open, and each gets its share when it is opened.
        share = self._cache_share()
        for shard in self._open.values():
            with TranslateErrors(shard.connection.path):
                set_cache(shard.connection.db, share)
