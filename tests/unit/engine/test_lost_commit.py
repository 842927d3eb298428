"""What a failed commit means for those after it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from evercrawl.engine.commits import CommitBuffer
from evercrawl.errors import StoreUnavailable
from evercrawl.model.page import Batch


class ForgetfulStore:
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


def test_nothing_is_stored_after_a_batch_that_was_lost() -> None:
    async def commit_twice() -> ForgetfulStore:
        store: Any = ForgetfulStore()
        archive: Any = NoArchive()
        ledger = CommitBuffer(store, archive, epoch=1, pages=10)
        for seq in (1, 2):
            ledger.batch.delivered.append(seq)
            with pytest.raises(StoreUnavailable, match="the database is away"):
                await ledger.commit()
        forgetful: ForgetfulStore = store
        return forgetful

    assert asyncio.run(commit_twice()).kept == []
