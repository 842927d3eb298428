from __future__ import annotations

import asyncio
import os
import sqlite3
from pathlib import Path

import pytest

from evercrawl.adapters.sql.state_reader import StateReader
from evercrawl.adapters.sqlite.sqlite_database import MIN_CACHE_BYTES, SqliteStore
from evercrawl.adapters.sqlite.state_file import SCHEMA_VERSION, open_for_reading, open_for_writing, translate_error
from evercrawl.errors import BugFound, StoreUnavailable
from evercrawl.model.page import Batch
from evercrawl.model.settings import StoreSettings
from tests.contract.store_values import a_page, a_site


def pragma(db: sqlite3.Connection, name: str) -> object:
    return db.execute(f"pragma {name}").fetchone()[0]


@pytest.mark.parametrize("durability", ["process", "power"])
def test_a_new_file_is_tuned(tmp_path: Path, durability: str) -> None:
    db = open_for_writing(tmp_path / "state" / "s00.sqlite", durability=durability)
    assert pragma(db, "journal_mode") == "wal"
    assert pragma(db, "synchronous") == 1
    assert pragma(db, "user_version") == SCHEMA_VERSION
    assert pragma(db, "mmap_size") == 0
    db.close()


def test_other_schema_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s00.sqlite"
    db = open_for_writing(path, durability="process")
    db.execute(f"pragma user_version = {SCHEMA_VERSION + 1}")
    db.close()
    for opening in (lambda: open_for_writing(path, durability="process"), lambda: open_for_reading(path)):
        with pytest.raises(
            StoreUnavailable, match=r"s00\.sqlite was written by another version of evercrawl .* install"
        ):
            opening()


def test_old_sqlite_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 37, 2))
    with pytest.raises(StoreUnavailable, match=r"SQLite 3\.39 or newer"):
        open_for_writing(tmp_path / "s00.sqlite", durability="process")


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "s00.sqlite"
    path.write_bytes(b"this was a state file once" * 1000)
    with pytest.raises(StoreUnavailable, match=r"s00\.sqlite is damaged .*; restore it from a backup"):
        open_for_writing(path, durability="process")


def test_a_folder_that_cannot_hold_files(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "s00.sqlite").mkdir()
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        open_for_writing(tmp_path / "state" / "s00.sqlite", durability="process")


def test_a_folder_that_cannot_be_created(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("this is a file")
    with pytest.raises(StoreUnavailable, match=r"state.* cannot be created"):
        open_for_writing(tmp_path / "state" / "s00.sqlite", durability="process")


def test_a_full_disk_keeps_what_was_committed(tmp_path: Path) -> None:
    async def run() -> None:
        store = SqliteStore(tmp_path, StoreSettings(shards=1))
        shard = await store.open_shard(0)
        epoch = (await shard.claim()).epoch
        await shard.commit(epoch, Batch(sites={1: a_site()}, new_pages=[a_page(1)]))
        shard.connection.db.execute(f"pragma max_page_count = {pragma(shard.connection.db, 'page_count')}")
        many = [a_page(number) for number in range(2, 2000)]
        with pytest.raises(StoreUnavailable, match=r"s00\.sqlite .*disk is full.*; free some space"):
            await shard.commit(epoch, Batch(new_pages=many))
        assert [page.id for page in await shard.queue(1, 1, 0, 10)] == [1]
        shard.connection.db.execute("pragma max_page_count = 1000000")
        await shard.commit(epoch, Batch(new_pages=many))
        await store.close()

    asyncio.run(run())


def test_a_file_locked_by_another_program(tmp_path: Path) -> None:
    path = tmp_path / "s00.sqlite"
    ours = open_for_writing(path, durability="process")
    ours.execute("pragma busy_timeout = 0")
    theirs = sqlite3.connect(path, isolation_level=None)
    theirs.execute("begin immediate")
    with pytest.raises(sqlite3.OperationalError) as locked:
        ours.execute("begin immediate")
    assert "is locked by another program" in str(translate_error(locked.value, path))
    theirs.close()
    ours.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written(tmp_path: Path) -> None:
    path = tmp_path / "s00.sqlite"
    open_for_writing(path, durability="process").close()
    path.chmod(0o400)
    with pytest.raises(StoreUnavailable, match="cannot be"):
        open_for_writing(path, durability="process")


def test_a_wrong_statement_is_our_bug(tmp_path: Path) -> None:
    db = sqlite3.connect(":memory:")
    with pytest.raises(sqlite3.Error) as wrong:
        db.execute("select nothing from nowhere")
    db.close()
    assert isinstance(translate_error(wrong.value, tmp_path), BugFound)


def test_the_cache_is_divided_among_open_shards(tmp_path: Path) -> None:
    async def run() -> None:
        store = SqliteStore(tmp_path, StoreSettings(shards=64, cache_bytes=4 * MIN_CACHE_BYTES))
        opened = [await store.open_shard(number) for number in (0, 1)]
        assert [pragma(shard.connection.db, "cache_size") for shard in opened] == [-4096, -4096]
        opened += [await store.open_shard(number) for number in range(2, 8)]
        assert {pragma(shard.connection.db, "cache_size") for shard in opened} == {-MIN_CACHE_BYTES // 1024}
        assert await store.open_shard(0) is opened[0]
        await opened[0].close()
        await opened[0].close()
        assert await store.open_shard(0) is not opened[0]
        await store.close()

    asyncio.run(run())


def test_other_files_are_no_shards(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    for name in ("s07.sqlite", "s07.sqlite-wal", "s123.sqlite", "notes.txt"):
        (tmp_path / "state" / name).touch()
    assert StateReader(tmp_path).shards() == [7, 123]
    assert StateReader(tmp_path / "none").shards() == []
