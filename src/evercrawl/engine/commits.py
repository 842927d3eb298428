"""The next commit of a shard, and the link batches between shards that commits contain."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from datetime import timedelta
from typing import Any, NamedTuple, Protocol

from evercrawl.core.duplicates.url_seen import BloomChain
from evercrawl.core.visit.links import LinkBatchContents, chain_batch, chain_of, unpack_links
from evercrawl.engine.ports import Archive, LinkStore, ShardStore
from evercrawl.engine.runtime import Peers, TaskSet
from evercrawl.errors import EvercrawlError
from evercrawl.model.page import Batch, CompletedVisit, CreditShare, LinkBatch, OriginalRecord, Page, ShardState
from evercrawl.model.site import Site


class CommitResult(NamedTuple):
    """A stored batch, and how many requests of each site ended within it."""

    batch: Batch
    answers: Counter[int]


class CommitBuffer:
    """The batch that is being filled.

    Invariant: nothing in `batch` is committed; what has left it is in the store, and the archive records that it
    refers to are flushed.
    """

    def __init__(
        self,
        store: ShardStore,
        archive: Archive,
        *,
        epoch: int,
        pages: int,
        on_close: Callable[[Batch], None] = lambda _: None,
        contents: BloomChain | None = None,
    ) -> None:
        """`on_close` is called when a batch is closed, and may add to it. `contents` knows all content in the store;
        None: only the store does.
        """
        self._known_contents = contents
        self.batch = Batch()
        self._store = store
        self._archive = archive
        self._epoch = epoch
        self._on_close = on_close
        self._pages = pages
        self._answers: Counter[int] = Counter()
        self._contents: dict[bytes, OriginalRecord] = {}
        self._committing_contents: dict[bytes, OriginalRecord] = {}
        self._failed: EvercrawlError | None = None
        """Why a batch was lost. Later batches depend on it and must not be stored without it."""
        self._committing = asyncio.Lock()
        self._dirty = asyncio.Event()
        self._urgent = asyncio.Event()

    def write_visit(self, page: Page, visited: CompletedVisit) -> None:
        """Write the row of a visit."""
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
        """Write credit for a page."""
        if amount:
            self.batch.shares.append(CreditShare(page.id, amount, generation))

    def note_site(self, site: Site) -> None:
        """Write the row of a site."""
        self.batch.sites[site.id] = site
        self.touch()

    def count_answer(self, site_id: int) -> None:
        """Count a request of this site, or a decision without one, for this batch."""
        self._answers[site_id] += 1

    def touch(self) -> None:
        """Note that there is something to commit."""
        self._dirty.set()

    def commit_soon(self) -> None:
        """Make the next commit due now: what a site demands must survive a crash."""
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

    async def original_of(self, digest: bytes) -> OriginalRecord | None:
        """Return the version that holds this content already, committed or not."""
        waiting = self._contents.get(digest) or self._committing_contents.get(digest)
        if waiting is not None:
            return waiting
        if self._known_contents is not None and not self._known_contents.may_know(digest):
            return None
        return (await self._store.originals([digest])).get(digest)

    async def commit(self) -> CommitResult | None:
        """Commit everything so far: first the archive, then, in one transaction, what points into it."""
        async with self._committing:
            if self._failed is not None:
                raise self._failed
            if self.batch.is_empty():
                return None
            batch, self.batch = self.batch, Batch()
            self._on_close(batch)
            answers, self._answers = self._answers, Counter()
            self._committing_contents, self._contents = self._contents, {}
            try:
                batch.archive_end = self._archive.flush()
                await self._archive.sync()
                await self._store.commit(self._epoch, batch)
                if batch.archive_end is not None:
                    self._archive.acknowledge(batch.archive_end)
            except EvercrawlError as error:
                self._failed = error
                raise
            self._committing_contents = {}
        return CommitResult(batch, answers)

    async def cancel(self, *tasks: asyncio.Future[None]) -> None:
        """Cancel tasks, but none within a commit: others have put into its batch, too."""
        async with self._committing:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


class LinkChannel:
    """Link batches of one shard, sent and received exactly once and in order; they are part of its commits."""

    def __init__(
        self,
        facts: ShardState,
        store: LinkStore,
        buffer: CommitBuffer,
        *,
        receive: Callable[[LinkBatchContents], Awaitable[None]],
    ) -> None:
        self._number = facts.shard
        self._store = store
        self._buffer = buffer
        self._receive = receive
        self._next_seq = facts.next_link_batch
        self._last_sent: dict[int, int] = {}
        self._receiving = asyncio.Lock()
        self._received: dict[int, int] | None = None
        """Source shard -> the last batch received; None: the store was not read yet."""

    def send(self, target: int, links: bytes) -> None:
        """Send packed links and credit to another shard with the next commit."""
        links = chain_batch(links, self._last_sent.get(target, 0))
        self._buffer.batch.sent.append(LinkBatch(self._next_seq, self._number, target, links))
        self._last_sent[target] = self._next_seq
        self._next_seq += 1

    def restore_outbox(self, batches: list[LinkBatch]) -> None:
        """Remember the undelivered batches of an earlier owner; new ones are queued behind them."""
        for batch in batches:
            self._last_sent[batch.target] = max(batch.seq, self._last_sent.get(batch.target, 0))

    async def receive(self, batch: LinkBatch) -> None:
        """Receive links and credit from another shard, in the order sent.
        A repeated batch changes nothing. A batch that arrives too early is ignored: it will be sent again."""
        async with self._receiving:
            if self._received is None:
                self._received = await self._store.received()
            if self._received.get(batch.source, 0) < chain_of(batch.links):
                return
            if batch.seq > self._received.get(batch.source, 0):
                await self._receive(unpack_links(batch.links))
                self._received[batch.source] = batch.seq
            self._buffer.batch.received[batch.source] = self._received[batch.source]
        self._buffer.touch()


class LinkEndpoint(Protocol):
    """A shard as the router sees it."""

    store: ShardStore

    async def receive(self, batch: LinkBatch) -> None:
        """Enter links and credit from another shard."""

    def mark_delivered(self, seq: int) -> None:
        """Note that the target has stored one of its link batches."""


class LinkRouter:
    """Delivers the link batches of one process's shards, and those of peers, until their target has stored them."""

    def __init__(
        self,
        peers: Peers,
        *,
        opened: Mapping[int, LinkEndpoint],
        open_shard: Callable[[int], Awaitable[LinkEndpoint]],
        on_delivery: Callable[[], None],
    ) -> None:
        """`on_delivery` is called after each delivery."""
        self._peers = peers
        self._opened = opened
        self._open_shard = open_shard
        self._on_delivery = on_delivery
        self.deliveries = TaskSet()
        self.failed: BaseException | None = None
        """The error of a delivery that has failed."""
        self._unconfirmed: dict[tuple[int, int], list[int]] = {}

    def send(self, batch: LinkBatch) -> None:
        """Send links of one of our shards to another, here or at a peer."""
        if batch.source in self._opened:
            self._unconfirmed.setdefault((batch.source, batch.target), []).append(batch.seq)
        if self._peers.owns(batch.target) and not self._peers.polls_outbox():
            self.receive(batch)
        else:
            self._peers.send_links(batch)

    def receive(self, batch: LinkBatch) -> None:
        """Deliver links to one of our shards, from ourselves or from a peer."""
        self.start(self._deliver(batch))

    def start(self, delivery: Coroutine[Any, Any, None]) -> None:
        """Start a delivery or a request of a peer; the run does not end before it is done."""
        task = asyncio.create_task(delivery)
        self.deliveries.add(task)
        task.add_done_callback(self._ended)

    async def _deliver(self, batch: LinkBatch) -> None:
        if self._peers.owns(batch.target):
            await (await self._open_shard(batch.target)).receive(batch)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.deliveries.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.failed = error
        self._on_delivery()

    def confirm(self, source: int, target: int, seq: int) -> None:
        """Tell the source that one of our shards has stored its batches up to this one."""
        if self._peers.owns(source):
            self.drop_confirmed(source, target, seq)
        else:
            self._peers.confirm_links(source, target, seq)

    def drop_confirmed(self, source: int, target: int, seq: int) -> None:
        """Forget the batches up to this one: their target has stored them."""
        waiting = self._unconfirmed.get((source, target), [])
        sender = self._opened.get(source)
        while waiting and waiting[0] <= seq and sender is not None:
            sender.mark_delivered(waiting.pop(0))

    async def resend(self, is_wanted: Callable[[int], bool]) -> None:
        """Send the unconfirmed batches for shards that `is_wanted` selects again: their owner has died."""
        for shard in list(self._opened.values()):
            for batch in await shard.store.outbox():
                if is_wanted(batch.target):
                    self._peers.send_links(batch)
