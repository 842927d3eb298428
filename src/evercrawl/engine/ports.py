"""What the engine needs from the world; each port has a real adapter and one in `sim`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from evercrawl.core.duplicates.minhash import SignatureMatch
from evercrawl.model.document import Document
from evercrawl.model.fetch import Exchange, FetchResult, Headers, Request
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


class Clock(Protocol):
    """Time as a part that can be swapped."""

    def now(self) -> datetime:
        """The present moment, aware, in UTC; never goes backwards within a run."""

    async def sleep_until(self, moment: datetime) -> None:
        """Return at `moment` or at once if it has passed."""


class Fetcher(Protocol):
    """One request, guarded and bounded; no exception of the network leaves it."""

    async def fetch(self, request: Request) -> FetchResult:
        """How the request ended, as a value."""

    async def close(self) -> None:
        """Let go of every connection."""


class Stored(NamedTuple):
    """Where a record lies in the archive."""

    file: str
    offset: int
    length: int
    record_id: bytes


class Archive(Protocol):
    """The WARC files of one shard: append, flush, cut back."""

    def append(
        self,
        url: str,
        exchange: Exchange,
        *,
        truncated: str | None = None,
        payload_sha1: bytes | None = None,
        revisit: OriginalRecord | None = None,
        not_modified: bool = False,
    ) -> Stored:
        """Write request and response of one exchange; as a revisit record when `revisit` says of what."""

    def flush(self) -> ArchiveEnd | None:
        """Hand everything to the operating system and say how far the archive now reaches; None: nothing
        yet.
        """

    def truncate_to(self, end: ArchiveEnd | None) -> int:
        """Remove what lies behind the acknowledged end; called once before the first append.

        Gives back how many acknowledged bytes are missing: 0 unless the disk itself lost them.
        """

    def close(self) -> None:
        """Finish the current file."""

    def read(self, place: OriginalRecord) -> tuple[Headers, bytes] | None:
        """Headers and body, as they came over the wire, of a record that was flushed; None: it cannot be
        read.
        """


class ShardStore(Protocol):
    """The state of one shard. `commit` is the only way to write."""

    async def claim(self) -> ShardState:
        """Become the owner: raise the epoch and say where the shard stands."""

    async def commit(self, epoch: int, batch: Batch) -> None:
        """Apply the batch in one transaction; raises LeaseLost when the epoch is not the current one."""

    async def release(self, epoch: int) -> None:
        """Let go cleanly."""

    async def known(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those of the keys that are pages of this shard."""

    def keys(self) -> AsyncIterator[list[bytes]]:
        """Every key of a page, in portions, for rebuilding the filter."""

    async def sites_named(self, names: Sequence[str]) -> dict[str, Site]:
        """The sites of these names that exist."""

    async def site(self, site_id: int) -> Site | None:
        """One site by its number."""

    async def waiting_sites(self, band: int, after_id: int, most: int) -> list[Site]:
        """Sites with queued pages whose most urgent band is `band`, in order of id, beginning behind
        `after_id`.
        """

    async def queue(self, site_id: int, band: int, after_seq: int, most: int) -> list[Page]:
        """The next queued pages of a site in one band, in order of seq."""

    async def due(self, now_us: int, most: int) -> list[Page]:
        """Pages whose due time has passed, earliest first."""

    async def unseen(self, after_id: int, most: int) -> list[Page]:
        """Pages outside the queue that wait for their time and of which nothing is stored, in order of id,
        beginning behind `after_id`.
        """

    async def repeats(self, page_id: int, most: int) -> list[Page]:
        """Pages outside the queue that are duplicates of this one, in order of id."""

    async def pages(self, keys: Sequence[bytes]) -> list[Page]:
        """The known pages among these keys."""

    async def standings(self, keys: Sequence[bytes]) -> list[QueuePosition]:
        """Queue place and credit of the known pages among these keys."""

    async def twin(self, page: bytes | int) -> DuplicateCandidate | None:
        """What is known of the page of this key or number as one that others may repeat; None: no page."""

    async def next_due(self) -> int | None:
        """The earliest due time of any page, in microseconds."""

    async def originals(self, digests: Sequence[bytes]) -> dict[bytes, OriginalRecord]:
        """For each content digest that was stored before: where."""

    async def version_original(self, page_id: int) -> OriginalRecord | None:
        """The content that was seen last of a page, as something that a revisit record can refer to."""

    async def text(self, page_id: int, number: int) -> str | None:
        """The main text of one version of a page; None: the version is not there, or has no text."""

    async def look(self, page_id: int) -> Baseline | None:
        """What the next answer of a page is compared with; None: its newest version."""

    async def memory(self, site_id: int, kind: str) -> bytes | None:
        """What was learned about a site; None: nothing of this kind yet."""

    async def memory_sites(self, kind: str) -> list[int]:
        """The sites about which something of this kind was learned."""

    async def moved_to(self, key: bytes) -> str | None:
        """Where the page of this key redirects to, as far as we know; None: nowhere, or unknown."""

    async def refusals(self, after: bytes, most: int) -> list[Refusal]:
        """Refused URLs in order of key, beginning behind `after`."""

    async def parcels(self) -> list[LinkBatch]:
        """Parcels sent and not known to be delivered, in order."""

    async def taken(self) -> dict[int, int]:
        """Source shard -> highest parcel number taken in."""

    async def close(self) -> None:
        """Close files or connections."""


class NearTexts(Protocol):
    """Signatures of the main texts of a shard's pages, found without a scan. Losing entries costs verdicts,
    nothing else.
    """

    def find(self, signature: bytes, *, chars: int) -> SignatureMatch | None:
        """The nearest text that says nearly the same as one of this signature and size."""

    def add(self, page: int, signature: bytes, *, chars: int) -> None:
        """Enter the text of a page."""

    def flush(self) -> None:
        """Hand all entries to the operating system."""

    def close(self) -> None:
        """Flush, and let go of every file."""


class Store(Protocol):
    """All shards of a collection."""

    shards: int

    async def open_shard(self, shard: int) -> ShardStore:
        """The shard's state, made empty if it is not there yet."""

    async def existing_shards(self) -> list[int]:
        """Shards that hold something."""

    async def close(self) -> None:
        """Close everything."""


class DocumentHandler(Protocol):
    """Turns the bytes of one media type into a document; found by entry point `evercrawl.handlers`."""

    media_types: tuple[str, ...]

    def parse(self, url: str, headers: Headers, body: bytes) -> Document:
        """The document, without exceptions for bad content."""


OpenArchive = Callable[[int], Archive]
"""Shard number -> its archive."""
OpenNear = Callable[[int], NearTexts]
"""Shard number -> its index of near duplicates."""
