"""A process with few file descriptors: how they are divided, and files that are closed for a while."""

from __future__ import annotations

import asyncio
import resource
from pathlib import Path

import pytest

from evercrawl.adapters.duplicates_index import NearDuplicateIndex
from evercrawl.adapters.sqlite.sqlite_database import SqliteStore
from evercrawl.adapters.system import RESERVED_FILES, SHARD_FILES, OpenFiles, file_shares
from evercrawl.core.duplicates.minhash import text_signature
from evercrawl.model.settings import StoreSettings
from tests.unit.adapters.warc.exchanges import archive, exchange


class User:
    def __init__(self) -> None:
        self.released = 0

    def release_files(self) -> None:
        self.released += 1


def test_the_user_that_was_idle_longest_releases_its_files() -> None:
    files, (a, b, c) = OpenFiles(2), (User(), User(), User())
    for user in (a, b, a, c):
        files.use(user)
    assert (a.released, b.released, c.released) == (0, 1, 0)
    files.forget(a)
    files.use(b)
    assert (a.released, c.released) == (0, 0)


@pytest.mark.parametrize("limit", [48, 64, 100, 256, 600])
def test_few_descriptors_are_enough_for_everything(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    shares = file_shares(concurrency=64, shards=64)
    assert RESERVED_FILES + shares.sockets + SHARD_FILES * shares.shards <= limit
    assert shares.sockets >= 4
    assert shares.shards >= 2


def test_with_many_descriptors_everything_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (4096, 4096))
    assert file_shares(concurrency=64, shards=64) == (5 * 64, 64)


def test_shards_share_few_files(tmp_path: Path) -> None:
    async def check() -> None:
        store = SqliteStore(tmp_path, StoreSettings(shards=8), most_open=2)
        shards = [await store.open_shard(number) for number in range(8)]
        epochs = [(await shard.claim()).epoch for shard in shards]
        assert sum(shard.connection._db is not None for shard in shards) == 2
        assert [(await shard.claim()).epoch for shard in shards] == [epoch + 1 for epoch in epochs]
        await store.close()

    asyncio.run(check())


def test_an_archive_goes_on_in_the_same_file(tmp_path: Path) -> None:
    warc = archive(tmp_path)
    first = warc.append("http://example.org/a", exchange())
    warc.release_files()
    end = warc.flush()
    assert end is not None
    second = warc.append("http://example.org/b", exchange())
    assert (second.file, second.offset) == (first.file, end.size)
    warc.close()
    assert len(list(tmp_path.glob("*.warc.gz"))) == 1


def test_an_index_finds_its_entries_after_a_pause(tmp_path: Path) -> None:
    files = OpenFiles(1)
    text = "many words of a text that is long enough to be compared with others of its kind, again and again " * 5
    one, other = NearDuplicateIndex(tmp_path / "1", files=files), NearDuplicateIndex(tmp_path / "2", files=files)
    one.add(7, text_signature(text), chars=len(text))
    other.add(8, text_signature(text), chars=len(text))
    found = one.find(text_signature(text), chars=len(text))
    assert found is not None
    assert found.page == 7
    one.close()
    other.close()
