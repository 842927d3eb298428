"""What a worker's life stands on: PostgreSQL and a folder, or what a simulation has in their place."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from evercrawl.adapters.postgres.membership import Membership
from evercrawl.adapters.postgres.store import PostgresStore
from evercrawl.cluster.build import build_crawl, store_of
from evercrawl.cluster.link import ClusterLink
from evercrawl.engine.crawl import Crawl
from evercrawl.engine.runtime import StopSignal
from evercrawl.model.settings import Settings

BEATS_IN_A_LEASE = 6


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker is to do."""

    collection: Path
    settings: Settings
    refresh: bool = False
    forever: bool = False


class Ground(Protocol):
    """What a life stands on: a database, and a crawl over it."""

    @property
    def shards(self) -> int: ...
    async def membership(self) -> Membership:
        """This process as somebody who may join; a new name each time."""

    def crawl(self, membership: Membership, link: ClusterLink, stop: StopSignal) -> Crawl:
        """The crawl, which closes the store when it ends."""

    def break_off(self) -> None:
        """Everything that waits for the database fails now."""

    async def close(self) -> None:
        """The life did not come about."""


class RealGround:
    """PostgreSQL, and the collection's folder on this machine."""

    def __init__(self, task: Task) -> None:
        self._task = task
        store = store_of(task.collection, task.settings.store)
        assert isinstance(store, PostgresStore)
        self._store = store
        self.shards = store.shards

    async def membership(self) -> Membership:
        lease = self._task.settings.store.lease
        namespace = self._store.schema.namespace
        return Membership(
            await self._store.pool(), namespace, worker=self._store.id, lease=lease, margin=margin_of(lease)
        )

    def crawl(self, membership: Membership, link: ClusterLink, stop: StopSignal) -> Crawl:
        return build_crawl(
            self._task.collection,
            self._task.settings,
            stop=stop,
            forever=self._task.forever,
            neighbours=link,
            store=self._store,
            member=membership.id.hex[:12],
        )

    def break_off(self) -> None:
        self._store.break_off()

    async def close(self) -> None:
        await self._store.close()


def margin_of(lease: timedelta) -> timedelta:
    """So long before its lease ends a worker asks nothing any more."""
    return lease / BEATS_IN_A_LEASE / 2
