"""The state of one shard in one SQLite file; calls do their work at once, without threads."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

from evercrawl.adapters.sqlite.commit import write_batch
from evercrawl.adapters.sqlite.connection import snapshot, transaction
from evercrawl.adapters.sqlite.fault import Translating
from evercrawl.adapters.sqlite.rows import refusal_from, site_from, text_of
from evercrawl.adapters.sqlite.statements import SQL
from evercrawl.core.document.compression import MAX_CHAIN
from evercrawl.errors import LeaseLost
from evercrawl.model.page import (
    ArchiveEnd,
    Baseline,
    Batch,
    DuplicateCandidate,
    LinkBatch,
    OriginalRecord,
    Page,
    QueuePosition,
    Refusal,
    ShardState,
)
from evercrawl.model.site import Site

KEYS_AT_A_TIME = 10_000


class SqliteShard:
    """Implements `ShardStore`. What `commit` acknowledged is in the file, all of a batch or none of it."""

    def __init__(
        self, shard: int, path: Path, *, db: sqlite3.Connection, most_refusals: int, on_close: Callable[[int], None]
    ) -> None:
        self.shard = shard
        self.path = path
        self.connection = db
        self._most_refusals = most_refusals
        self._on_close = on_close
        self._translating = Translating(path)
        self._is_open = True

    async def claim(self) -> ShardState:
        """Become the owner: raise the epoch and say where the shard stands."""
        with self._translating, transaction(self.connection):
            before = self.connection.execute(SQL["read_shard"]).fetchone()
            self.connection.execute(SQL["claim_shard"])
            pages, pending = self.connection.execute(SQL["sum_sites"]).fetchone()
        epoch, is_clean, next_id, next_seq, next_site_id, next_parcel, file, size = before
        return ShardState(
            shard=self.shard,
            epoch=epoch + 1,
            crashed=not is_clean,
            next_id=next_id,
            next_seq=next_seq,
            next_site_id=next_site_id,
            next_parcel=next_parcel,
            archive_end=None if file is None else ArchiveEnd(file, size),
            pages=pages,
            pending=pending,
        )

    async def commit(self, epoch: int, batch: Batch) -> None:
        """Apply the batch in one transaction; raises LeaseLost when the epoch is not the current one.

        The engine hands over pages that are new to the best of its knowledge, so they are written without a
        look. A key that is known after all (parcels may repeat) breaks the index's rule; then the batch is
        written again, with care.
        """
        with self._translating:
            try:
                self._write(epoch, batch, careful=False)
            except sqlite3.IntegrityError:
                self._write(epoch, batch, careful=True)

    def _write(self, epoch: int, batch: Batch, *, careful: bool) -> None:
        with transaction(self.connection):
            current, is_clean, *_ = self.connection.execute(SQL["read_shard"]).fetchone()
            if current != epoch or is_clean:
                raise LeaseLost(f"shard {self.shard} is at epoch {current}; epoch {epoch} may not write any more")
            write_batch(self.connection, batch, careful=careful, most_refusals=self._most_refusals)

    async def release(self, epoch: int) -> None:
        """Let go cleanly; without effect when somebody else has the shard."""
        with self._translating:
            self.connection.execute(SQL["release_shard"], (epoch,))

    async def known(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those of the keys that are pages of this shard."""
        # In order of the keys, so that neighbours are found on the same page of the index.
        return {row[0] for row in self._each("is_seen", sorted(keys)) if row is not None}

    async def keys(self) -> AsyncIterator[list[bytes]]:
        """Every key of a page, in portions, for rebuilding the filter."""
        last = b""
        while portion := self._all("seen_keys", last, KEYS_AT_A_TIME):
            last = portion[-1][0]
            yield [row[0] for row in portion]

    async def sites_named(self, names: Sequence[str]) -> dict[str, Site]:
        """The sites of these names that exist."""
        return {row[1]: site_from(row) for row in self._each("site_named", names) if row is not None}

    async def site(self, site_id: int) -> Site | None:
        """One site by its number."""
        row = self._one("site_by_id", site_id)
        return None if row is None else site_from(row)

    async def waiting_sites(self, band: int, after_id: int, most: int) -> list[Site]:
        """Sites with queued pages whose most urgent band is `band`, in order of id, behind `after_id`."""
        return [site_from(row) for row in self._all("waiting_sites", band, after_id, most)]

    async def queue(self, site_id: int, band: int, after_seq: int, most: int) -> list[Page]:
        """The next queued pages of a site in one band, in order of seq."""
        return [Page._make(row) for row in self._all("queue", site_id, band, after_seq, most)]

    async def due(self, now_us: int, most: int) -> list[Page]:
        """Pages whose due time has passed, earliest first."""
        return [Page._make(row) for row in self._all("due", now_us, most)]

    async def unseen(self, after_id: int, most: int) -> list[Page]:
        """Pages outside the queue that wait for their time and of which nothing is stored, in order of id."""
        return [Page._make(row) for row in self._all("unseen", after_id, most)]

    async def repeats(self, page_id: int, most: int) -> list[Page]:
        """Pages outside the queue that are duplicates of this one."""
        return [Page._make(row) for row in self._all("repeats", page_id, most)]

    async def pages(self, keys: Sequence[bytes]) -> list[Page]:
        """The known pages among these keys."""
        found = self._each("page_by_key", sorted(keys))
        return [Page._make(row) for row in found if row is not None]

    async def standings(self, keys: Sequence[bytes]) -> list[QueuePosition]:
        """Queue place and credit of the known pages among these keys."""
        found = self._each("standing", sorted(keys))
        return [QueuePosition._make(row) for row in found if row is not None]

    async def twin(self, page: bytes | int) -> DuplicateCandidate | None:
        """What is known of the page of this key or number as one that others may repeat."""
        row = self._one("twin_by_key", page) if isinstance(page, bytes) else self._one("twin_by_id", page)
        return None if row is None else DuplicateCandidate._make(row)

    async def next_due(self) -> int | None:
        """The earliest due time of any page, in microseconds."""
        row = self._one("next_due")
        return None if row is None else row[0]

    async def originals(self, digests: Sequence[bytes]) -> dict[bytes, OriginalRecord]:
        """For each content digest that was stored before: where."""
        found = zip(digests, self._each("original", digests), strict=True)
        return {digest: OriginalRecord._make(row) for digest, row in found if row is not None}

    async def version_original(self, page_id: int) -> OriginalRecord | None:
        """Where the content that was seen last lies, perhaps under another page that had it first."""
        row = self._one("look_original", page_id) or self._one("version_original", page_id)
        return None if row is None else OriginalRecord._make(row)

    async def text(self, page_id: int, number: int) -> str | None:
        """The main text of one version of a page; None: the version is not there, or has no text."""
        return text_of(self._all("text_chain", page_id, number, MAX_CHAIN), page_id, number)

    async def look(self, page_id: int) -> Baseline | None:
        """What the next answer of a page is compared with; None: its newest version."""
        row = self._one("look", page_id)
        return None if row is None else Baseline._make(row)

    async def memory(self, site_id: int, kind: str) -> bytes | None:
        """What was learned about a site; None: nothing of this kind yet."""
        row = self._one("memory", site_id, kind)
        return None if row is None else row[0]

    async def memory_sites(self, kind: str) -> list[int]:
        """The sites about which something of this kind was learned."""
        return [row[0] for row in self._all("memory_sites", kind)]

    async def moved_to(self, key: bytes) -> str | None:
        """Where the page of this key redirects to, as far as we know; None: nowhere, or unknown."""
        row = self._one("moved_to", key)
        return None if row is None else row[0]

    async def refusals(self, after: bytes, most: int) -> list[Refusal]:
        """Refused URLs in order of key, beginning behind `after`."""
        return [refusal_from(row) for row in self._all("refusals", after, most)]

    async def parcels(self) -> list[LinkBatch]:
        """Parcels sent and not known to be delivered, in order."""
        return [LinkBatch._make(row) for row in self._all("parcels")]

    async def taken(self) -> dict[int, int]:
        """Source shard -> highest parcel number taken in."""
        return dict(self._all("taken"))

    async def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._is_open:
            self._is_open = False
            with self._translating:
                self.connection.close()
            self._on_close(self.shard)

    def _one(self, name: str, *parameters: object) -> Any:
        with self._translating:
            return self.connection.execute(SQL[name], parameters).fetchone()

    def _each(self, name: str, parameters: Sequence[object]) -> list[Any]:
        """The first row for each parameter, None where there is none."""
        if len(parameters) == 1:
            return [self._one(name, parameters[0])]
        statement, execute = SQL[name], self.connection.execute
        with self._translating, snapshot(self.connection):
            return [execute(statement, (parameter,)).fetchone() for parameter in parameters]

    def _all(self, name: str, *parameters: object) -> list[Any]:
        with self._translating:
            return self.connection.execute(SQL[name], parameters).fetchall()
