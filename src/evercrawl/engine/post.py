"""Links on their way between shards: each parcel is brought until its target has stored it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from evercrawl.engine.runtime import Peers, TaskSet
from evercrawl.engine.shard import Shard
from evercrawl.model.page import LinkBatch


class LinkRouter:
    """The parcels of one process's shards, and those that neighbours bring."""

    def __init__(
        self,
        neighbours: Peers,
        *,
        opened: Mapping[int, Shard],
        open_shard: Callable[[int], Awaitable[Shard]],
        has_news: Callable[[], None],
    ) -> None:
        """`has_news` is called after each delivery."""
        self._neighbours = neighbours
        self._opened = opened
        self._open_shard = open_shard
        self._has_news = has_news
        self.deliveries = TaskSet()
        self.failed: BaseException | None = None
        """What a delivery ended with that did not arrive."""
        self._unconfirmed: dict[tuple[int, int], list[int]] = {}

    def send(self, parcel: LinkBatch) -> None:
        """Links of one of our shards go to another, here or at a neighbour's."""
        if parcel.source in self._opened:
            self._unconfirmed.setdefault((parcel.source, parcel.target), []).append(parcel.seq)
        if self._neighbours.owns(parcel.target) and not self._neighbours.fetches():
            self.bring(parcel)
        else:
            self._neighbours.bring(parcel)

    def bring(self, parcel: LinkBatch) -> None:
        """Links for one of our shards are here, from ourselves or from a neighbour."""
        self.begin_soon(self._take_in(parcel))

    def begin_soon(self, delivery: Coroutine[Any, Any, None]) -> None:
        """Do something for a neighbour; the run does not end before that is done."""
        task = asyncio.create_task(delivery)
        self.deliveries.add(task)
        task.add_done_callback(self._brought)

    async def _take_in(self, parcel: LinkBatch) -> None:
        if self._neighbours.owns(parcel.target):
            await (await self._open_shard(parcel.target)).take_in(parcel)

    def _brought(self, task: asyncio.Task[None]) -> None:
        self.deliveries.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.failed = error
        self._has_news()

    def confirm(self, source: int, target: int, seq: int) -> None:
        """One of our shards has stored what the other sent, up to this parcel."""
        if self._neighbours.owns(source):
            self.confirmed(source, target, seq)
        else:
            self._neighbours.confirm(source, target, seq)

    def confirmed(self, source: int, target: int, seq: int) -> None:
        """The target has stored everything up to this parcel: its sender need not keep it."""
        waiting = self._unconfirmed.get((source, target), [])
        sender = self._opened.get(source)
        while waiting and waiting[0] <= seq and sender is not None:
            sender.delivered(waiting.pop(0))

    async def bring_again(self, is_wanted: Callable[[int], bool]) -> None:
        """Send once more what shards for which `is_wanted` have not confirmed: their owner has died."""
        for shard in list(self._opened.values()):
            for parcel in await shard.store.parcels():
                if is_wanted(parcel.target):
                    self._neighbours.bring(parcel)
