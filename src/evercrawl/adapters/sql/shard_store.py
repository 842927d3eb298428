"""The state of one shard in SQL, as the engine uses it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from evercrawl.adapters.sql.commit import write_batch
from evercrawl.adapters.sql.database import DuplicateKey, ShardDatabase, refusal_from, site_from, text_of
from evercrawl.core.document.compression import MAX_CHAIN
from evercrawl.errors import BugFound, LeaseLost
from evercrawl.model.page import (
    MAX_CLOCK_STEP_US,
    MAX_SITE_WAIT_US,
    ArchiveEnd,
    Baseline,
    Batch,
    DuplicateCandidate,
    LinkBatch,
    OriginalRecord,
    Page,
    PageToComplete,
    QueuePosition,
    Refusal,
    Resource,
    ShardState,
)
from evercrawl.model.site import Site

KEYS_AT_A_TIME = 10_000
BeforeCommit = Callable[[int], Awaitable[None]]
"""Called with the shard before each commit of it; an exception prevents the commit."""


class SqlShard:
    """Implements `ShardStore`. `commit` stores a batch in one transaction, all of it or nothing."""

    def __init__(
        self, shard: int, database: ShardDatabase, *, most_refusals: int, before_commit: BeforeCommit | None = None
    ) -> None:
        self.shard = shard
        self.database = database
        self._most_refusals = most_refusals
        self._before_commit = before_commit

    async def claim(self) -> ShardState:
        """Become the owner: raise the epoch and return the state of the shard."""
        async with self.database.exclusive(), self.database.transaction() as db:
            before = await db.one("read_shard")
            await db.execute("claim_shard")
            sums = await db.one("sum_sites")
        if before is None or sums is None:
            raise BugFound(f"shard {self.shard} has no row in the store")
        epoch, is_clean, next_id, next_seq, next_site_id, next_link_batch, file, size = before
        pages, pending = sums
        return ShardState(
            shard=self.shard,
            epoch=epoch + 1,
            crashed=not is_clean,
            next_id=next_id,
            next_seq=next_seq,
            next_site_id=next_site_id,
            next_link_batch=next_link_batch,
            archive_end=None if file is None else ArchiveEnd(file, size),
            pages=pages,
            pending=pending,
        )

    async def follow_clock(self, now_us: int) -> int:
        """Move times of the future to the present if the clock was set back; return by how much it was."""
        async with self.database.exclusive(), self.database.transaction() as db:
            row = await db.one("last_visit")
            if row is None or row[0] - now_us <= MAX_CLOCK_STEP_US:
                return 0
            await db.execute("set_back_sites", now_us=now_us, last_us=row[0], most_us=MAX_SITE_WAIT_US)
            for name in ("set_back_pages", "set_back_robots", "set_back_resources"):
                await db.execute(name, now_us=now_us)
        ahead_us: int = row[0] - now_us
        return ahead_us

    async def commit(self, epoch: int, batch: Batch) -> None:
        """Apply the batch in one transaction; raise LeaseLost if the epoch is not the current one.
        The engine's new pages are new as far as it knows, so the first attempt inserts them without a lookup. If a key
        is known after all (links may arrive twice), the index rejects it and the second attempt filters them."""
        async with self.database.exclusive():
            if self._before_commit is not None:
                await self._before_commit(self.shard)
            try:
                await self._write(epoch, batch, skip_known=False)
            except DuplicateKey:
                await self._write_unknown(epoch, batch)

    async def _write_unknown(self, epoch: int, batch: Batch) -> None:
        try:
            await self._write(epoch, batch, skip_known=True)
        except DuplicateKey as error:
            raise BugFound(f"a batch for shard {self.shard} repeats a key: {error}") from error

    async def _write(self, epoch: int, batch: Batch, *, skip_known: bool) -> None:
        async with self.database.transaction() as db:
            row = await db.one("read_shard")
            current, is_clean = (None, None) if row is None else row[:2]
            if current != epoch or is_clean:
                raise LeaseLost(f"shard {self.shard} is at epoch {current}; epoch {epoch} may no longer write")
            await write_batch(db, batch, skip_known=skip_known, most_refusals=self._most_refusals)

    async def release(self, epoch: int) -> None:
        """Release the shard cleanly; no effect if it has another owner."""
        async with self.database.exclusive(), self.database.transaction() as db:
            await db.execute("release_shard", epoch=epoch)

    # Pages

    async def known(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return the keys that belong to pages of this shard."""
        # In order of the keys, so that neighbours are found on the same page of the index.
        return {row[0] for row in await self.database.each("is_seen", [(key,) for key in sorted(keys)])}

    async def keys(self) -> AsyncIterator[list[bytes]]:
        """Yield the keys of all pages, in portions."""
        last = b""
        while rows := await self.database.all("seen_keys", after=last, most=KEYS_AT_A_TIME):
            last = rows[-1][0]
            yield [row[0] for row in rows]

    async def pages(self, keys: Sequence[bytes]) -> list[Page]:
        """Return the known pages among these keys, in order of key."""
        return list(map(Page._make, await self._in_key_order("page_by_key", keys, place=1)))

    async def queue_positions(self, keys: Sequence[bytes]) -> list[QueuePosition]:
        """Return queue position and credit of the known pages among these keys, in order of key."""
        return list(map(QueuePosition._make, await self._in_key_order("queue_position", keys, place=0)))

    async def _in_key_order(self, name: str, keys: Sequence[bytes], *, place: int) -> list[Any]:
        rows = await self.database.each(name, [(key,) for key in sorted(keys)])
        return sorted(rows, key=lambda row: row[place])

    async def duplicate_candidate(self, page: bytes | int) -> DuplicateCandidate | None:
        """Return what is needed to compare another page with this one, by key or number; None: no such page."""
        if isinstance(page, bytes):
            row = await self.database.one("duplicate_candidate_by_key", key=page)
        else:
            row = await self.database.one("duplicate_candidate_by_id", page_id=page)
        return None if row is None else DuplicateCandidate._make(row)

    async def duplicates_of(self, page_id: int, most: int) -> list[Page]:
        """Return pages outside the queue that are duplicates of this one, in order of id."""
        return list(map(Page._make, await self.database.all("duplicates_of", page_id=page_id, most=most)))

    async def moved_to(self, key: bytes) -> str | None:
        """Return the redirect target of a page; None: it does not redirect, or is unknown."""
        row = await self.database.one("moved_to", key=key)
        return None if row is None else row[0]

    # The queue

    async def queue(self, site_id: int, priority: int, after_seq: int, most: int) -> list[Page]:
        """Return the next queued pages of a site in one priority, in order of seq."""
        rows = await self.database.all("queue", site_id=site_id, priority=priority, after_seq=after_seq, most=most)
        return list(map(Page._make, rows))

    async def waiting_sites(self, priority: int, after_id: int, most: int) -> list[Site]:
        """Return the next sites with queued pages whose most urgent priority is `priority`, in order of id."""
        rows = await self.database.all("waiting_sites", priority=priority, after_id=after_id, most=most)
        return list(map(site_from, rows))

    async def due(self, now_us: int, most: int) -> list[Page]:
        """Return pages whose due time has passed, earliest first."""
        return list(map(Page._make, await self.database.all("due", now_us=now_us, most=most)))

    async def next_due(self) -> int | None:
        """Return the earliest due time of any page, in microseconds."""
        row = await self.database.one("next_due")
        return None if row is None else row[0]

    async def unfetched(self, after_id: int, most: int) -> list[Page]:
        """Return the next pages that have a due time and no stored version, in order of id."""
        return list(map(Page._make, await self.database.all("unfetched", after_id=after_id, most=most)))

    # Sites

    async def sites_named(self, names: Sequence[str]) -> dict[str, Site]:
        """Return the known sites among these names."""
        rows = await self.database.each("site_named", [(name,) for name in names])
        return {row[1]: site_from(row) for row in rows}

    async def site(self, site_id: int) -> Site | None:
        """Return a site by its number."""
        row = await self.database.one("site_by_id", site_id=site_id)
        return None if row is None else site_from(row)

    async def site_state(self, site_id: int, kind: str) -> bytes | None:
        """Return the learned state of one kind of a site; None: there is none yet."""
        row = await self.database.one("site_state", site_id=site_id, kind=kind)
        return None if row is None else row[0]

    async def sites_with_state(self, kind: str) -> list[int]:
        """Return the sites with learned state of this kind."""
        return [row[0] for row in await self.database.all("sites_with_state", kind=kind)]

    # Content

    async def originals(self, digests: Sequence[bytes]) -> dict[bytes, OriginalRecord]:
        """Return the first record of each content that was stored before."""
        rows = await self.database.each("original", [(digest,) for digest in digests])
        return {digest: OriginalRecord._make(rest) for digest, *rest in rows}

    async def version_original(self, page_id: int) -> OriginalRecord | None:
        """Return the record of the content seen last, possibly of another page that had it first."""
        row = await self.database.one("version_original", page_id=page_id)
        if row is not None and not row[-1]:
            return OriginalRecord._make(row[:-1])
        newer = await self.database.one("baseline_original", page_id=page_id)
        row = newer or (row and row[:-1])
        return None if row is None else OriginalRecord._make(row)

    async def earlier_original(self, page_id: int, number: int) -> OriginalRecord | None:
        """Return the record of the content of one version, possibly of another page that had it first."""
        row = await self.database.one("earlier_original", page_id=page_id, number=number)
        return None if row is None else OriginalRecord._make(row)

    async def text(self, page_id: int, number: int) -> str | None:
        """Return the main text of a version; None: no such version, or it has no text."""
        rows = await self.database.all("text_chain", page_id=page_id, number=number, most=MAX_CHAIN)
        return text_of(rows, page_id, number)

    async def baseline(self, page_id: int) -> Baseline | None:
        """Return what the next answer of a page is compared with; None: its newest version."""
        row = await self.database.one("baseline", page_id=page_id)
        return None if row is None else Baseline._make(row)

    async def outline(self, page_id: int) -> bytes | None:
        """Return headings and links of the newest content of a page, packed; None: there are none."""
        row = await self.database.one("page_outline", page_id=page_id)
        return None if row is None else row[0]

    async def resource(self, key: bytes) -> Resource | None:
        """Return the newest content of a URL that is not a page; None: nothing is stored."""
        row = await self.database.one("resources_of", key=key)
        return None if row is None else Resource._make(row)

    async def resource_original(self, digest: bytes) -> OriginalRecord | None:
        """Return the record of a resource with this content; None: there is none."""
        row = await self.database.one("resource_original", digest=digest)
        return None if row is None else OriginalRecord._make(row)

    async def pages_without_assets(self, after_id: int, most: int) -> list[PageToComplete]:
        """Return the next pages whose newest version needs its assets, in order of id."""
        rows = await self.database.all("pages_without_assets", after_id=after_id, most=most)
        return list(map(PageToComplete._make, rows))

    # Refusals and links

    async def refusals(self, after: bytes, most: int) -> list[Refusal]:
        """Return the next refused URLs in order of key."""
        return list(map(refusal_from, await self.database.all("refusals", after=after, most=most)))

    async def outbox(self) -> list[LinkBatch]:
        """Return the batches in the outbox, in order."""
        return list(map(LinkBatch._make, await self.database.all("outbox")))

    async def received(self) -> dict[int, int]:
        """Return the highest batch number received from each source shard."""
        return dict(await self.database.all("received"))

    async def close(self) -> None:
        """Release the file or connection."""
        await self.database.close()
