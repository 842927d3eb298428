"""Code that waits for nobody, over a database that is waited for."""

from __future__ import annotations

import asyncio

import pytest

from evercrawl.adapters.postgres.bridge import to_its_end


def test_what_must_not_be_broken_off_goes_to_its_end_and_then_the_cancelled_one_hears_of_it():
    async def story() -> list[str]:
        told: list[str] = []

        async def work() -> None:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            told.append("done")

        task = asyncio.create_task(to_its_end(work()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return told

    assert asyncio.run(story()) == ["done"]


def test_a_failure_is_heard_before_the_cancellation():
    async def story() -> None:
        async def work() -> None:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            raise OSError("gone")

        task = asyncio.create_task(to_its_end(work()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(OSError, match="gone"):
            await task

    asyncio.run(story())
