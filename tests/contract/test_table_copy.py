"""Move several shards into a database and back: awkward values, continued numbers, unknown tables."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from evercrawl.adapters.postgres.postgres_pool import parse_address
from evercrawl.adapters.sqlite.state_file import database_of, open_for_writing, shard_path, shards_in
from evercrawl.cluster.move import move
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.settings import Settings
from tests.postgres_server import PostgresServer

SHARDS = (0, 7, 63)
SITE = "insert into site values (?, ?, 'example.org', 1, 1000, 0.25, 0, null, 0, 0, 0, 0, 0, ?)"
VISIT = (
    "insert into visit (page_id, at_us, outcome, reason, status, took_ms, wire_bytes, version, shard)"
    " values (1, ?, 'stored', 'new', null, 1, 1, 1, ?)"
)


@pytest.fixture
def dsn(postgres: PostgresServer) -> str:
    return f"{postgres.dsn}?namespace={postgres.new_namespace()}"


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    for shard in SHARDS:
        db = open_for_writing(shard_path(tmp_path, shard), durability="process")
        db.execute(SITE, (1, f"https://{shard}.example.org", shard))
        db.executemany(VISIT, [(number, shard) for number in range(2500)])
        db.execute("insert into site_state values (1, 'odd', ?, ?)", (bytes(range(256)), shard))
        db.execute("insert into change values (1, 2, ?, 0.1, '[]', ?)", ("größer \U0001f5ff ' \\ \n", shard))
        db.close()
    return tmp_path


def rows_of(collection: Path, table: str) -> list[Any]:
    found = []
    for shard in shards_in(collection):
        db = sqlite3.connect(shard_path(collection, shard))
        found += [(shard, *row) for row in db.execute(f"select * from {table}")]
        db.close()
    return found


async def ask(dsn: str, statement: str) -> list[Any]:
    place = parse_address(dsn)
    connection = await asyncpg.connect(place.dsn)
    try:
        return [tuple(row) for row in await connection.fetch(statement.format(space=place.namespace))]
    finally:
        await connection.close()


def test_several_shards_move_there_and_back(collection: Path, dsn: str) -> None:
    before = {table: rows_of(collection, table) for table in ("site", "visit", "site_state", "change")}
    done = move(collection, Settings(), dsn)
    assert (done.shards, done.by_table["visit"]) == (3, 3 * 2500)
    assert (database_of(collection), shards_in(collection)) == (dsn, [])
    assert asyncio.run(ask(dsn, "select shard, count(*) from {space}.visit group by 1 order by 1")) == [
        (shard, 2500) for shard in SHARDS
    ]
    added = VISIT.replace("into visit", "into {space}.visit").replace("?, 'stored'", "9, 'stored'").replace("?", "7")
    assert asyncio.run(ask(dsn, added + " returning id")) == [(2501,)]
    asyncio.run(ask(dsn, "delete from {space}.visit where id = 2501"))
    move(collection, Settings(), "files")
    assert {table: rows_of(collection, table) for table in before} == before
    assert [row[2] for row in rows_of(collection, "shard")] == [1, 1, 1], "a late worker is fenced off"
    assert asyncio.run(ask(dsn, "select 1 from pg_namespace where nspname = '{space}'")) == []


def test_text_that_a_database_cannot_store_is_replaced(collection: Path, dsn: str) -> None:
    db = sqlite3.connect(shard_path(collection, 7))
    db.execute("update change set edits = ?", ("a\0b",))
    db.commit()
    db.close()
    move(collection, Settings(), dsn)
    assert asyncio.run(ask(dsn, "select edits from {space}.change where shard = 7")) == [("a\ufffdb",)]


def test_unknown_table_stops_the_move(collection: Path, dsn: str) -> None:
    db = sqlite3.connect(shard_path(collection, 63))
    db.execute("create table stranger (id integer)")
    db.close()
    with pytest.raises(StoreUnavailable, match="stranger"):
        move(collection, Settings(), dsn)
    assert (database_of(collection), shards_in(collection)) == (None, list(SHARDS))


def test_used_or_empty_places_are_refused(collection: Path, tmp_path: Path, dsn: str) -> None:
    with pytest.raises(ConfigError, match="already in its files"):
        move(collection, Settings(), "files")
    move(collection, Settings(), dsn)
    other = tmp_path / "other"
    open_for_writing(shard_path(other, 0), durability="process").close()
    with pytest.raises(ConfigError, match="already has a collection"):
        move(other, Settings(), dsn)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ConfigError, match="no state yet"):
        move(empty, Settings(), dsn)
