"""What follows a batch that was not stored is not stored either."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from evercrawl.engine.ledger import Ledger
from evercrawl.errors import StoreUnavailable
from evercrawl.sim.archive import MemoryArchive


class Store:
    """Takes commits, fails the first, or hangs in it."""

    def __init__(self, *, hangs: bool) -> None:
        self.hangs = hangs
        self.tries = 0

    async def commit(self, epoch: int, batch: object) -> None:
        self.tries += 1
        if self.tries == 1:
            if self.hangs:
                await asyncio.Event().wait()
            raise StoreUnavailable("away for a moment")


def ledger_over(store: Any) -> Ledger:
    ledger = Ledger(store, MemoryArchive(0), epoch=1, pages=10)
    ledger.batch.delivered.append(1)
    return ledger


def test_after_a_commit_that_failed_there_is_no_other():
    async def story() -> int:
        ledger = ledger_over(store := Store(hangs=False))
        for _ in range(2):
            ledger.batch.delivered.append(1)
            with pytest.raises(StoreUnavailable, match="away"):
                await ledger.commit()
        return store.tries

    assert asyncio.run(story()) == 1


def test_after_a_commit_that_was_broken_off_there_is_no_other():
    async def story() -> int:
        ledger = ledger_over(store := Store(hangs=True))
        task = asyncio.create_task(ledger.commit())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        ledger.batch.delivered.append(2)
        with pytest.raises(StoreUnavailable, match="broken off"):
            await ledger.commit()
        return store.tries

    assert asyncio.run(story()) == 1
