"""The next commit of a shard: what it recalls, and what a failed commit means for those after it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from evercrawl.core.digest import content_digest, payload_sha1
from evercrawl.core.duplicates.url_seen import BloomChain
from evercrawl.core.visit.outcome import judge_fetched
from evercrawl.engine.apply import visit_row
from evercrawl.engine.commits import CommitBuffer
from evercrawl.engine.decision import Content, Decision
from evercrawl.engine.ports import Stored
from evercrawl.errors import StoreUnavailable
from evercrawl.model.fetch import Exchange, Fetched
from evercrawl.model.page import Batch, CompletedVisit, OriginalRecord, Page

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PAGE = Page(1, b"k" * 16, "http://site.test/", 1, 0, 0, 0, 0)


class RecordingStore:
    """Records the digests that are looked up, and holds what was committed."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self.held: dict[bytes, OriginalRecord] = {}

    async def originals(self, digests: Sequence[bytes]) -> dict[bytes, OriginalRecord]:
        self.asked += digests
        return {digest: self.held[digest] for digest in digests if digest in self.held}

    async def commit(self, epoch: int, batch: Batch) -> None:
        for visited in batch.visited:
            if visited.version is not None:
                self.held[visited.version.digest] = OriginalRecord(visited.page_id, PAGE.url, 0, b"", b"", "a", 0, 1)


class EmptyArchive:
    def flush(self) -> None:
        return None

    async def sync(self) -> None:
        """There is no disk."""


def buffer_over(store: RecordingStore, contents: BloomChain | None) -> CommitBuffer:
    return CommitBuffer(cast(Any, store), cast(Any, EmptyArchive()), epoch=1, pages=100, contents=contents)


def visited(body: bytes) -> CompletedVisit:
    exchange = Exchange(b"GET", b"HTTP/1.1 200 OK\r\n\r\n", body, "192.0.2.1", NOW, timedelta(0))
    result = Fetched(PAGE.url, 200, (), body, exchange)
    outcome = judge_fetched(PAGE, result, change=None, copy_of=None)
    decision = Decision(outcome, result, Content(content_digest(body), payload_sha1(body)))
    return visit_row(PAGE, decision, now=NOW, stored=Stored("a", 0, 1, b"r" * 16))


def test_content_that_is_new_for_sure_is_not_looked_up():
    store = RecordingStore()
    buffer = buffer_over(store, BloomChain(1 << 20))
    assert asyncio.run(buffer.original_of(content_digest(b"new"))) is None
    assert store.asked == []


@pytest.mark.parametrize("has_filter", [True, False])
def test_content_is_recalled_before_and_after_its_commit(has_filter: bool):
    store, digest = RecordingStore(), content_digest(b"held")
    buffer = buffer_over(store, BloomChain(1 << 20) if has_filter else None)
    buffer.write_visit(PAGE, visited(b"held"))
    assert asyncio.run(buffer.original_of(digest)) is not None
    assert store.asked == []
    asyncio.run(buffer.commit())
    assert asyncio.run(buffer.original_of(digest)) is not None
    assert store.asked == [digest]


def test_without_a_filter_the_store_is_asked():
    store = RecordingStore()
    assert asyncio.run(buffer_over(store, None).original_of(content_digest(b"new"))) is None
    assert store.asked == [content_digest(b"new")]


class FailingStore:
    """Fails once, then works again."""

    def __init__(self) -> None:
        self.kept: list[Batch] = []
        self.fails = True

    async def commit(self, epoch: int, batch: Batch) -> None:
        if self.fails:
            self.fails = False
            raise StoreUnavailable("the database is away")
        self.kept.append(batch)


class NoArchive:
    def flush(self) -> None:
        return None

    async def sync(self) -> None:
        """There is no disk."""


def test_nothing_is_stored_after_a_batch_that_was_lost() -> None:
    async def commit_twice() -> FailingStore:
        store: Any = FailingStore()
        archive: Any = NoArchive()
        buffer = CommitBuffer(store, archive, epoch=1, pages=10)
        for seq in (1, 2):
            buffer.batch.delivered.append(seq)
            with pytest.raises(StoreUnavailable, match="the database is away"):
                await buffer.commit()
        forgetful: FailingStore = store
        return forgetful

    assert asyncio.run(commit_twice()).kept == []


def test_a_batch_is_stored_before_the_task_that_commits_it_is_cancelled():
    class SlowArchive(EmptyArchive):
        async def sync(self) -> None:
            await asyncio.sleep(0.01)

    async def story() -> None:
        store, digest = RecordingStore(), content_digest(b"held")
        buffer = CommitBuffer(cast(Any, store), cast(Any, SlowArchive()), epoch=1, pages=100)
        buffer.write_visit(PAGE, visited(b"held"))
        committing: asyncio.Future[Any] = asyncio.create_task(buffer.commit())
        await asyncio.sleep(0)
        await buffer.cancel(committing)
        assert digest in store.held

    asyncio.run(story())
