"""All shards of a collection, each in a SQLite file of its own below the `state` folder."""

from __future__ import annotations

import re
from pathlib import Path

from evercrawl.adapters.sqlite.connection import open_for_writing, set_cache
from evercrawl.adapters.sqlite.fault import Translating
from evercrawl.adapters.sqlite.shard import SqliteShard
from evercrawl.model.settings import StoreSettings

LEAST_CACHE_BYTES = 2 * 1024 * 1024
"""A shard's page cache never gets smaller, whatever the number of open shards."""
_SHARD_FILE = re.compile(r"s(\d{2,})\.sqlite")


def state_folder(collection: Path) -> Path:
    """Where the state files of a collection lie."""
    return collection / "state"


def shard_path(collection: Path, shard: int) -> Path:
    """The state file of one shard."""
    return state_folder(collection) / f"s{shard:02}.sqlite"


def shards_in(collection: Path) -> list[int]:
    """The shards that have a state file."""
    folder = state_folder(collection)
    if not folder.is_dir():
        return []
    return sorted(int(match[1]) for path in folder.iterdir() if (match := _SHARD_FILE.fullmatch(path.name)))


class SqliteStore:
    """Implements `Store`. The page cache of the settings is divided among the shards that are open."""

    def __init__(self, collection: Path, settings: StoreSettings) -> None:
        self.shards = settings.shards
        self._collection = collection
        self._settings = settings
        self._open: dict[int, SqliteShard] = {}

    async def open_shard(self, shard: int) -> SqliteShard:
        """The shard's state, made empty if it is not there yet; the same object while it is open."""
        if shard not in self._open:
            path = shard_path(self._collection, shard)
            db = open_for_writing(path, durability=self._settings.durability)
            self._open[shard] = SqliteShard(
                shard, path, db=db, most_refusals=self._settings.max_refusals_per_shard, on_close=self._forget
            )
            self._divide_cache()
        return self._open[shard]

    async def existing_shards(self) -> list[int]:
        """Shards that hold something."""
        return shards_in(self._collection)

    async def close(self) -> None:
        """Close everything."""
        for shard in list(self._open.values()):
            await shard.close()

    def _forget(self, shard: int) -> None:
        self._open.pop(shard, None)

    def _divide_cache(self) -> None:
        share = max(LEAST_CACHE_BYTES, self._settings.cache_bytes // len(self._open))
        for shard in self._open.values():
            with Translating(shard.path):
                set_cache(shard.connection, share)
