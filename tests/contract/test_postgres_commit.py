"""A commit to a server, which takes time: told to stop meanwhile, it is ended all the same."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from evercrawl.adapters.postgres.postgres_pool import parse_address
from evercrawl.adapters.postgres.store import PostgresStore
from evercrawl.errors import StoreUnavailable
from evercrawl.model.page import Batch
from evercrawl.model.settings import StoreSettings
from tests.postgres_server import PostgresServer


def store_in(server: PostgresServer) -> PostgresStore:
    return PostgresStore(
        parse_address(f"{server.dsn}?namespace={server.new_namespace()}"), StoreSettings(shards=4), connections=2
    )


def test_a_commit_that_has_begun_is_ended(postgres: PostgresServer) -> None:
    async def commit_and_cancel() -> dict[int, int]:
        store = store_in(postgres)
        shard = await store.open_shard(0)
        facts = await shard.claim()
        writing = asyncio.create_task(shard.commit(facts.epoch, Batch(taken={7: 3})))
        await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        taken: dict[int, int] = await shard.taken()
        await store.close()
        return taken

    assert asyncio.run(commit_and_cancel()) == {7: 3}


def test_nobody_waits_for_a_database_that_was_given_up(postgres: PostgresServer) -> None:
    async def break_off() -> None:
        store = store_in(postgres)
        shard = await store.open_shard(0)
        facts = await shard.claim()
        other = await asyncpg.connect(postgres.dsn)
        async with other.transaction():
            await other.execute(f"select 1 from {store.schema.namespace}.shard where shard = 0 for update")
            writing = asyncio.create_task(shard.commit(facts.epoch, Batch(taken={7: 3})))
            await asyncio.sleep(0.1)
            store.break_off()
            with pytest.raises(StoreUnavailable):
                await writing
        await other.close()
        with pytest.raises(StoreUnavailable):
            await shard.commit(facts.epoch, Batch(taken={7: 4}))

    asyncio.run(break_off())
