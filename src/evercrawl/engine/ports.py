"""The ports of the engine. Each has a real adapter, and one for tests in `evercrawl.testing` or `tests/worlds`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from evercrawl.core.duplicates.minhash import SignatureMatch
from evercrawl.model.document import Document
from evercrawl.model.fetch import Exchange, Fetched, FetchResult, Headers, RenderResult, Request
from evercrawl.model.fields import FieldRepair, FieldRule
from evercrawl.model.page import (
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
from evercrawl.model.settings import ParseSettings
from evercrawl.model.site import Site


class Clock(Protocol):
    """The source of time."""

    def now(self) -> datetime:
        """Return the current time in UTC; it never goes backwards within a run."""

    async def sleep_until(self, moment: datetime) -> None:
        """Return at `moment`, or at once if it has passed."""


class Fetcher(Protocol):
    """Sends one request within its limits; network errors are results, not exceptions."""

    async def fetch(self, request: Request) -> FetchResult:
        """Send a request; return its result or failure."""

    async def close(self) -> None:
        """Close every connection."""


FetchForPage = Callable[[Request], Awaitable[FetchResult]]
"""Fetches what a rendered page asks for, within robots.txt, pace, scope, limits and the private-address guard."""


class Renderer(Protocol):
    """Runs the scripts of pages in a browser that has no network of its own."""

    async def render(self, page: Fetched, fetch: FetchForPage, *, wants_screenshot: bool = False) -> RenderResult:
        """Return the document after its scripts ran. The page itself is not requested again; everything else that it
        asks for goes through `fetch`."""

    async def close(self) -> None:
        """End the browser."""


class RenderedRecord(NamedTuple):
    """A rendered document to archive."""

    dom: bytes
    screenshot: bytes | None


class Stored(NamedTuple):
    """The place of a record in the archive."""

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
        rendered: RenderedRecord | None = None,
    ) -> Stored:
        """Write request and response of one exchange; with `revisit`, as a revisit record of that original.
        With `rendered`, that document is written too, and its place is returned."""

    def flush(self) -> ArchiveEnd | None:
        """Write everything to the operating system; return the end of the archive. None: it is empty."""

    async def sync(self) -> None:
        """Wait until what was flushed survives a power cut, if that is wanted."""

    def truncate_to(self, end: ArchiveEnd | None) -> int:
        """Remove what follows the acknowledged end, or set it aside if a store knew it; once before the first append.
        Return how many acknowledged bytes are missing: 0 unless the disk itself lost them."""

    def acknowledge(self, end: ArchiveEnd) -> None:
        """Note that the store now refers to records up to this end."""

    def close(self) -> None:
        """Finish the current file."""

    def read(self, place: OriginalRecord) -> tuple[Headers, bytes] | None:
        """Return headers and body of a flushed record as they were sent; None: it cannot be read."""


class PageQueue(Protocol):
    """The queued and due pages of one shard."""

    async def queue(self, site_id: int, priority: int, after_seq: int, most: int) -> list[Page]:
        """Return the next queued pages of a site in one priority, in order of seq."""

    async def waiting_sites(self, priority: int, after_id: int, most: int) -> list[Site]:
        """Return the next sites with queued pages whose most urgent priority is `priority`, in order of id."""

    async def due(self, now_us: int, most: int) -> list[Page]:
        """Return pages whose due time has passed, earliest first."""

    async def next_due(self) -> int | None:
        """Return the earliest due time of any page, in microseconds."""

    async def unfetched(self, after_id: int, most: int) -> list[Page]:
        """Return the next pages that have a due time and no stored version, in order of id."""


class PageStore(Protocol):
    """The known pages of one shard, by key."""

    async def known(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return the keys that belong to pages of this shard."""

    def keys(self) -> AsyncIterator[list[bytes]]:
        """Yield the keys of all pages, in portions."""

    async def pages(self, keys: Sequence[bytes]) -> list[Page]:
        """Return the known pages among these keys, in order of key."""

    async def queue_positions(self, keys: Sequence[bytes]) -> list[QueuePosition]:
        """Return queue position and credit of the known pages among these keys, in order of key."""

    async def moved_to(self, key: bytes) -> str | None:
        """Return the redirect target of a page; None: it does not redirect, or is unknown."""

    async def duplicate_candidate(self, page: bytes | int) -> DuplicateCandidate | None:
        """Return what is needed to compare another page with this one, by key or number; None: no such page."""

    async def duplicates_of(self, page_id: int, most: int) -> list[Page]:
        """Return pages outside the queue that are duplicates of this one, in order of id."""


class SiteStore(Protocol):
    """The sites of one shard and what was learned about them."""

    async def sites_named(self, names: Sequence[str]) -> dict[str, Site]:
        """Return the known sites among these names."""

    async def site(self, site_id: int) -> Site | None:
        """Return a site by its number."""

    async def site_state(self, site_id: int, kind: str) -> bytes | None:
        """Return the learned state of one kind of a site; None: there is none yet."""

    async def sites_with_state(self, kind: str) -> list[int]:
        """Return the sites with learned state of this kind."""


class ContentStore(Protocol):
    """The stored content of one shard's pages."""

    async def originals(self, digests: Sequence[bytes]) -> dict[bytes, OriginalRecord]:
        """Return the first record of each content that was stored before."""

    async def version_original(self, page_id: int) -> OriginalRecord | None:
        """Return the record of the content seen last, possibly of another page that had it first."""

    async def earlier_original(self, page_id: int, number: int) -> OriginalRecord | None:
        """Return the record of the content of one version, possibly of another page that had it first."""

    async def text(self, page_id: int, number: int) -> str | None:
        """Return the main text of a version; None: no such version, or it has no text."""

    async def baseline(self, page_id: int) -> Baseline | None:
        """Return what the next answer of a page is compared with; None: its newest version."""

    async def outline(self, page_id: int) -> bytes | None:
        """Return headings and links of the newest content of a page, packed; None: there are none."""


class ResourceStore(Protocol):
    """Redirects and assets of one shard."""

    async def resource(self, key: bytes) -> Resource | None:
        """Return the newest content of a URL that is not a page; None: nothing is stored."""

    async def resource_original(self, digest: bytes) -> OriginalRecord | None:
        """Return the record of a resource with this content; None: there is none."""

    async def pages_without_assets(self, after_id: int, most: int) -> list[PageToComplete]:
        """Return the next pages whose newest version needs its assets, in order of id."""


class LinkStore(Protocol):
    """Refused links of one shard, and links between shards."""

    async def refusals(self, after: bytes, most: int) -> list[Refusal]:
        """Return the next refused URLs in order of key."""

    async def outbox(self) -> list[LinkBatch]:
        """Return the batches that were sent and not confirmed yet, in order."""

    async def received(self) -> dict[int, int]:
        """Return the highest batch number received from each source shard."""


class ShardStore(PageQueue, PageStore, SiteStore, ContentStore, ResourceStore, LinkStore, Protocol):
    """The state of one shard and its ownership. `commit` is the only way to write."""

    async def claim(self) -> ShardState:
        """Become the owner: raise the epoch and return the state of the shard."""

    async def follow_clock(self, now_us: int) -> int:
        """Move times of the future to the present if the last visit lies in the future, because the clock was ahead
        then or is behind now: pages wait from now on as long as they would have waited. Return how far ahead it was, in
        microseconds; 0: nothing was moved. Versions and the log of visits keep their times."""

    async def commit(self, epoch: int, batch: Batch) -> None:
        """Apply the batch in one transaction; raise LeaseLost if the epoch is not the current one."""

    async def release(self, epoch: int) -> None:
        """Release the shard cleanly; no effect if it has another owner."""

    async def close(self) -> None:
        """Release files or connections."""


class NearTexts(Protocol):
    """An index of the text signatures of a shard's pages. Lost entries only cost missed duplicates."""

    def find(self, signature: bytes, *, chars: int) -> SignatureMatch | None:
        """Return the most similar text to one with this signature and size; None: none is similar enough."""

    def add(self, page: int, signature: bytes, *, chars: int) -> None:
        """Add the text of a page."""

    def flush(self) -> None:
        """Write all entries to the operating system."""

    def close(self) -> None:
        """Flush, and close every file."""


class Store(Protocol):
    """All shards of a collection."""

    shards: int

    async def open_shard(self, shard: int) -> ShardStore:
        """Return the state of a shard, created empty if needed."""

    async def existing_shards(self) -> list[int]:
        """Return the shards that are not empty."""

    async def close(self) -> None:
        """Close everything."""


class FieldRules(Protocol):
    """The fields of a collection and the repairs of their selectors."""

    def rules(self) -> tuple[FieldRule, ...]:
        """Return the rules, with the repairs up to now."""

    def add_repair(self, repair: FieldRepair) -> None:
        """Store a new selector of a field: used from now on if it is sure, else proposed to the user."""


class DocumentHandler(Protocol):
    """Parses one media type; found by the entry point group `evercrawl.handlers`."""

    media_types: tuple[str, ...]

    def parse(self, url: str, headers: Headers, body: bytes) -> Document:
        """Return the document; bad content raises no exception."""


class ParseTask(NamedTuple):
    """A body to parse, and what is wanted of it."""

    url: str
    headers: Headers
    body: bytes
    kind: str  # Media type.
    agent: str
    limits: ParseSettings
    all_details: bool = True
    wants_snapshot: bool = False
    wants_outline: bool = False


class LongCall(NamedTuple):
    """A call of a function of a module that may take long, such as a comparison."""

    what: str  # The verb in the message if a limit is reached: "comparing".
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    limits: ParseSettings


class DocumentParser(Protocol):
    """Does what may take long, outside the event loop and within limits of CPU time and memory."""

    async def parse(self, task: ParseTask) -> Document | None:
        """Return the document; if a limit was reached, what was parsed until then, with the reason in `stopped`.
        None: no handler knows the media type."""

    async def call(self, call: LongCall) -> tuple[Any, str | None]:
        """Return what the function returns, or None and the limit that was reached."""

    def close(self) -> None:
        """Give up what is in progress."""


OpenArchive = Callable[[int], Archive]  # Shard number -> its archive.
OpenNear = Callable[[int], NearTexts]  # Shard number -> its index of near duplicates.
