"""What a shard sends to others and takes in from them, each parcel once and in the order sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from evercrawl.core.parcel import Contents, chain_of, chained, unpack
from evercrawl.engine.ledger import Ledger
from evercrawl.engine.ports import ShardStore
from evercrawl.model.batch import LinkBatch, ShardState


class Mailbox:
    """The parcels of one shard; what is sent and taken goes into the shard's batch."""

    def __init__(
        self,
        facts: ShardState,
        store: ShardStore,
        ledger: Ledger,
        *,
        open_parcel: Callable[[Contents], Awaitable[None]],
    ) -> None:
        self._number = facts.shard
        self._store = store
        self._ledger = ledger
        self._open = open_parcel
        self._next_parcel = facts.next_parcel
        self._last_sent: dict[int, int] = {}
        self._taking = asyncio.Lock()
        self._taken: dict[int, int] | None = None
        """Source shard -> the last parcel taken in; None: the store was not asked yet."""

    def send(self, target: int, links: bytes) -> None:
        """Packed links and credit go to another shard with the next commit."""
        links = chained(links, self._last_sent.get(target, 0))
        self._ledger.batch.sent.append(LinkBatch(self._next_parcel, self._number, target, links))
        self._last_sent[target] = self._next_parcel
        self._next_parcel += 1

    def recall_sent(self, parcels: list[LinkBatch]) -> None:
        """Parcels of an earlier owner that are still on their way: what we send comes behind them."""
        for parcel in parcels:
            self._last_sent[parcel.target] = max(parcel.seq, self._last_sent.get(parcel.target, 0))

    async def take_in(self, parcel: LinkBatch) -> None:
        """Take in links and credit from another shard, in the order sent; a parcel that comes twice changes
        nothing, and one that comes before its time is left to come again.
        """
        async with self._taking:
            if self._taken is None:
                self._taken = await self._store.taken()
            if self._taken.get(parcel.source, 0) < chain_of(parcel.links):
                return
            if parcel.seq > self._taken.get(parcel.source, 0):
                await self._open(unpack(parcel.links))
                self._taken[parcel.source] = parcel.seq
            self._ledger.batch.taken[parcel.source] = self._taken[parcel.source]
        self._ledger.touch()
