"""Commits to PostgreSQL take time: cancelled callers and terminated connections."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from evercrawl.adapters.postgres.membership import PostgresStore
from evercrawl.adapters.postgres.postgres_pool import DatabaseAddress
from evercrawl.errors import StoreUnavailable
from evercrawl.model.page import Batch
from evercrawl.model.settings import StoreSettings
from tests.postgres_server import PostgresServer


def open_store(server: PostgresServer, namespace: str) -> PostgresStore:
    address = DatabaseAddress(server.dsn, namespace)
    return PostgresStore(address, StoreSettings(shards=4), connections=2)


def test_commit_finishes_although_its_caller_is_cancelled(postgres: PostgresServer) -> None:
    async def commit_and_cancel() -> dict[int, int]:
        namespace = postgres.new_namespace()
        store = open_store(postgres, namespace)
        shard = await store.open_shard(0)
        facts = await shard.claim()
        writing = asyncio.create_task(shard.commit(facts.epoch, Batch(received={7: 3})))
        await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        taken: dict[int, int] = await shard.received()
        await store.close()
        return taken

    assert asyncio.run(commit_and_cancel()) == {7: 3}


def test_terminated_store_fails_everything_that_waits(postgres: PostgresServer) -> None:
    async def terminate() -> None:
        namespace = postgres.new_namespace()
        store = open_store(postgres, namespace)
        shard = await store.open_shard(0)
        facts = await shard.claim()
        other = await asyncpg.connect(postgres.dsn)
        async with other.transaction():
            await other.execute(f"select 1 from {namespace}.shard where shard = 0 for update")
            writing = asyncio.create_task(shard.commit(facts.epoch, Batch(received={7: 3})))
            await asyncio.sleep(0.1)
            store.terminate()
            with pytest.raises(StoreUnavailable):
                await writing
        await other.close()
        with pytest.raises(StoreUnavailable):
            await shard.commit(facts.epoch, Batch(received={7: 4}))

    asyncio.run(terminate())
