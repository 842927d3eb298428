"""What a shard will acknowledge with its next commit, and the commit itself."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import NamedTuple

from evercrawl.core.duplicates.url_seen import BloomChain
from evercrawl.core.visit.link_batch import LinkBatchContents, chain_of, chained, unpack_links
from evercrawl.engine.ports import Archive, ShardStore
from evercrawl.errors import EvercrawlError
from evercrawl.model.page import Batch, CompletedVisit, CreditShare, LinkBatch, OriginalRecord, Page, ShardState
from evercrawl.model.site import Site

CONTENT_FILTER_BYTES = 16 * 1024 * 1024
"""For all shards of a process; enough for nine million contents, and behind that the store is asked more
often.
"""


class Committed(NamedTuple):
    """A batch that is stored now, and how many requests of each site ended within it."""

    batch: Batch
    answers: Counter[int]


class CommitBuffer:
    """The batch that is being filled.

    Invariant: what is in `batch` is not yet acknowledged; what left it is in the store, together with the
    archive records that it points to.
    """

    def __init__(
        self,
        store: ShardStore,
        archive: Archive,
        *,
        epoch: int,
        pages: int,
        closing: Callable[[Batch], None] = lambda _: None,
        contents: BloomChain | None = None,
    ) -> None:
        """`closing` is told when a batch is closed, and may put last things into it. `contents`: knows all
        content that the store holds; None: only the store does.
        """
        self._known_contents = contents
        self.batch = Batch()
        self._store = store
        self._archive = archive
        self._epoch = epoch
        self._closing = closing
        self._pages = pages
        self._answers: Counter[int] = Counter()
        self._contents: dict[bytes, OriginalRecord] = {}
        self._failed: EvercrawlError | None = None
        """Why a batch is lost. What came after it counts on it and must not be stored without it."""
        self._committing = asyncio.Lock()
        self._dirty = asyncio.Event()
        self._urgent = asyncio.Event()

    def write_visited(self, page: Page, visited: CompletedVisit) -> None:
        """A visit is decided."""
        self.batch.visited.append(visited)
        version = visited.version
        if version is not None:
            place = (version.record_id, version.payload_sha1, version.file, version.offset, version.length)
            self._contents.setdefault(version.digest, OriginalRecord(page.id, page.url, visited.at_us, *place))
            if self._known_contents is not None:
                self._known_contents.add(version.digest)
        if len(self.batch.visited) >= self._pages:
            self._urgent.set()
        self.touch()

    def write_share(self, page: Page, amount: int, *, generation: int) -> None:
        """Credit for a page; none is not written."""
        if amount:
            self.batch.shares.append(CreditShare(page.id, amount, generation))

    def note_site(self, site: Site) -> None:
        """The site's row is written again."""
        self.batch.sites[site.id] = site
        self.touch()

    def count_answer(self, site_id: int) -> None:
        """A request (or a decision without one) of this site belongs to the batch."""
        self._answers[site_id] += 1

    def touch(self) -> None:
        """There is something to commit."""
        self._dirty.set()

    def hurry(self) -> None:
        """Commit at once: what a site demands must survive a crash."""
        self._urgent.set()
        self.touch()

    async def until_due(self, every: timedelta) -> None:
        """Return when a commit is due: some time after the first change, or at once if it is urgent."""
        await self._dirty.wait()
        self._dirty.clear()
        try:
            async with asyncio.timeout(every.total_seconds()):
                await self._urgent.wait()
        except TimeoutError:
            pass
        self._urgent.clear()

    async def recall(self, digest: bytes) -> OriginalRecord | None:
        """The version that holds this content already, committed or not."""
        waiting = self._contents.get(digest)
        if waiting is not None:
            return waiting
        if self._known_contents is not None and not self._known_contents.may_know(digest):
            return None
        return (await self._store.originals([digest])).get(digest)

    async def commit(self) -> Committed | None:
        """Acknowledge everything so far: first the archive, then, in one transaction, what points into it."""
        async with self._committing:
            if self._failed is not None:
                raise self._failed
            if self.batch.is_empty():
                return None
            batch, self.batch = self.batch, Batch()
            self._closing(batch)
            answers, self._answers = self._answers, Counter()
            self._contents = {}
            try:
                batch.archive_end = self._archive.flush()
                await self._store.commit(self._epoch, batch)
            except EvercrawlError as error:
                self._failed = error
                raise
        return Committed(batch, answers)


class LinkChannel:
    """The parcels of one shard; what is sent and taken goes into the shard's batch."""

    def __init__(
        self,
        facts: ShardState,
        store: ShardStore,
        ledger: CommitBuffer,
        *,
        open_parcel: Callable[[LinkBatchContents], Awaitable[None]],
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
                await self._open(unpack_links(parcel.links))
                self._taken[parcel.source] = parcel.seq
            self._ledger.batch.taken[parcel.source] = self._taken[parcel.source]
        self._ledger.touch()
