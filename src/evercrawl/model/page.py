"""A page and what we learn about it. Records that are made by the million are named tuples, for their
cost.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from evercrawl.model.change import Change
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.site import Site


class Page(NamedTuple):
    """A page in the queue, with all that its next visit needs."""

    id: int
    key: bytes
    url: str
    site_id: int
    depth: int
    hops: int
    """Redirects in a row that led here."""
    band: int
    """Front queue, 0 is the most urgent."""
    seq: int
    """Place inside the front queue; grows for ever within a shard."""
    tries: int = 0
    """Failed visits in a row."""
    visits: int = 0
    version: int = 0
    """Number of the newest stored version; 0: none yet."""
    etag: str | None = None
    last_modified: str | None = None
    digest: bytes | None = None
    """Digest of the decoded content that was seen last; it may differ from the newest version's in noise."""
    interval_s: int = 0
    """The revisit interval in force; 0: not learned yet."""
    belief: bytes | None = None
    """What the revisit policy knows about the page (`core/freshness/schedule.py`); None: nothing yet."""
    last_us: int | None = None
    """The last visit."""
    credit: int = 0
    """What the page holds but for the dividends of its shard (`core/credit/ledger.py`)."""
    earned: int = 0
    """What links gave to the page, faded, as of `generation`."""
    generation: int = 0
    duplicate_of: int | None = None
    """Page (in the same shard) that says the same; None: it stands for itself."""


class NewPage(NamedTuple):
    """A page met for the first time; it enters the table and the queue together."""

    id: int
    key: bytes
    url: str
    site_id: int
    depth: int
    hops: int
    band: int
    seq: int
    parent_id: int | None
    """The page that links here, when it is in the same shard."""
    found_us: int
    credit: int = 0
    earned: int = 0
    generation: int = 0


class Candidate(NamedTuple):
    """A URL inside the scope that a page, a redirect or the operator led us to; perhaps known already."""

    url: str
    key: bytes
    depth: int
    hops: int
    parent: str | None
    """URL of the page that led here; None: a seed."""
    parent_id: int | None
    """Its number, when it is in the same shard as the candidate."""
    credit: int | None = None
    """The share of the page that led here; None: nobody pays, as for a seed."""


class CreditShare(NamedTuple):
    """Credit for a known page, added to what it holds when the batch is applied."""

    page_id: int
    amount: int
    generation: int
    """The shard's generation in which it was earned."""


class QueuePosition(NamedTuple):
    """Where a page stands in the queue, and its credit but for the dividends of its shard."""

    key: bytes
    page_id: int
    site_id: int
    band: int
    seq: int | None
    """None: it is not queued."""
    credit: int


class Promotion(NamedTuple):
    """A queued page that moves to the end of a better band; without effect when it has left its place."""

    page_id: int
    site_id: int
    old_band: int
    old_seq: int
    band: int
    seq: int


class DuplicateCandidate(NamedTuple):
    """What is known of a page that another one may say the same as."""

    page_id: int
    url: str
    version: int
    signature: bytes | None
    """Of the main text of its newest version."""
    moved_to: str | None
    duplicate_of: int | None
    title: str | None = None
    digest: bytes | None = None
    """Of its newest version."""
    status: int | None = None
    """Of its last answer."""


class Requeue(NamedTuple):
    """A known page that goes back into the queue now; its due time is cleared."""

    page_id: int
    site_id: int
    band: int
    seq: int


class Reschedule(NamedTuple):
    """A known page that is not in the queue: its due time, and what is known about it, without a visit."""

    page_id: int
    due_us: int | None
    """None: as before."""
    belief: bytes | None = None
    """None: as before."""


class Refusal(NamedTuple):
    """A URL that we met and will not ask for, with the reason."""

    key: bytes
    url: str
    reason: Reason
    detail: str
    parent: str | None
    """URL of the page (or redirect) that led here; None: a seed."""
    at_us: int
    depth: int = 0


class PackedText(NamedTuple):
    """A main text as it is stored: `core/document/compression.py` packs and unpacks it."""

    base: int | None
    """The version whose text the frame was made against; None: the frame stands alone."""
    frame: bytes


class Version(NamedTuple):
    """Content that differs from the version before, and where its bytes lie in the archive."""

    number: int
    digest: bytes
    """xxh3-128 of the decoded body."""
    payload_sha1: bytes
    text_digest: bytes | None
    signature: bytes | None
    """Near-duplicate signature of the main text."""
    content_type: str | None
    encoding: str | None
    title: str | None
    lang: str | None
    body_bytes: int
    words: int
    etag: str | None
    last_modified: str | None
    file: str
    offset: int
    length: int
    record_id: bytes
    """The 16 bytes of the response record's UUID."""
    truncated: str | None
    change_class: str | None = None
    """How it differs from the version before (noise, metadata, content); None: the first, or not judged."""
    change_size: float | None = None
    """How much of the page differs, from 0 to 1."""
    text: PackedText | None = None
    """The main text; None: no document, or read without it."""
    analysis: str | None = None
    """What analysers say, as a JSON object; None: nothing, or read without it."""


class Baseline(NamedTuple):
    """The last sight of a page whose bytes have differed: what the next answer is compared with."""

    digest: bytes
    """Of the decoded content that was seen."""
    payload_sha1: bytes
    seen_us: int
    record_id: bytes
    file: str
    offset: int
    length: int
    snapshot: bytes
    """`core/change/snapshot.py` packs and unpacks it."""
    memory: bytes
    """The stored form of the page's `PageMemory`."""


class CompletedVisit(NamedTuple):
    """The outcome of one visit; it leaves the queue, and gets its next due time or none."""

    page_id: int
    site_id: int
    band: int
    seq: int
    at_us: int
    outcome: Outcome
    reason: Reason
    detail: str
    status: int | None
    took_ms: int
    wire_bytes: int
    due_us: int | None
    """None: not to be visited again unless asked."""
    tries: int
    interval_s: int
    version: Version | None = None
    etag: str | None = None
    last_modified: str | None = None
    moved_to: str | None = None
    duplicate_of: int | None = None
    """Page (in the same shard) that has the same content."""
    digest: bytes | None = None
    """Of the content that was seen; None: the visit brought none."""
    baseline: Baseline | None = None
    """What later answers are compared with; None: as before."""
    change: Change | None = None
    """How the page differs from the last sight of it; None: nothing was compared, or nothing differs."""
    belief: bytes | None = None
    """What the revisit policy knows now; None: as before."""
    outline: bytes | None = None
    """Headings and links in their stored form (`core/document/compression.py`); None: as before."""
    spent: int = 0
    """Credit that leaves the page."""


class OriginalRecord(NamedTuple):
    """The first version that held some content: what a revisit record refers to."""

    page_id: int
    url: str
    at_us: int
    record_id: bytes
    payload_sha1: bytes
    file: str
    offset: int
    length: int


class ArchiveEnd(NamedTuple):
    """How far a shard's archive is acknowledged: everything behind this is cut off after a crash."""

    file: str
    size: int


class LinkBatch(NamedTuple):
    """Links that belong to another shard, on their way; delivered at least once, taken in once."""

    seq: int
    source: int
    target: int
    links: bytes


class ShardState(NamedTuple):
    """What a worker must know when it takes a shard over."""

    shard: int
    epoch: int
    crashed: bool
    """The owner before did not let go cleanly: wait out every gap."""
    next_id: int
    next_seq: int
    next_site_id: int
    next_parcel: int
    archive_end: ArchiveEnd | None
    pages: int
    pending: int


@dataclass(slots=True)
class Batch:
    """The changes since the last commit, in the order in which they are to be applied."""

    sites: dict[int, Site] = field(default_factory=dict)
    """Site rows to insert or replace, by id. `pages` and `pending` in them are ignored: the store counts."""
    new_pages: list[NewPage] = field(default_factory=list)
    requeued: list[Requeue] = field(default_factory=list)
    rescheduled: list[Reschedule] = field(default_factory=list)
    visited: list[CompletedVisit] = field(default_factory=list)
    shares: list[CreditShare] = field(default_factory=list)
    """Credit for pages that were known before."""
    promoted: list[Promotion] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    sent: list[LinkBatch] = field(default_factory=list)
    """Parcels for other shards, stored until they are delivered."""
    delivered: list[int] = field(default_factory=list)
    """Numbers of own parcels that their target has committed."""
    received: dict[int, int] = field(default_factory=dict)
    """Source shard -> highest parcel number taken in with this batch."""
    site_states: dict[tuple[int, str], bytes] = field(default_factory=dict)
    """Site and kind -> what was learned about the site; what is not written yet may be lost in a crash."""
    archive_end: ArchiveEnd | None = None

    def is_empty(self) -> bool:
        """Nothing to write."""
        return not (
            self.sites
            or self.new_pages
            or self.requeued
            or self.rescheduled
            or self.visited
            or self.shares
            or self.promoted
            or self.refusals
            or self.sent
            or self.delivered
            or self.received
            or self.site_states
        )
