"""The state of a collection in SQLite files, one for each shard; they open in any SQLite tool."""

from __future__ import annotations

from evercrawl.adapters.sql.state_reader import ShardReader, StateReader
from evercrawl.adapters.sqlite.shard import SqliteShard
from evercrawl.adapters.sqlite.store import SqliteStore

__all__ = ["ShardReader", "SqliteShard", "SqliteStore", "StateReader"]
