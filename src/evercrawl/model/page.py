"""Pages, visits and versions, and the batch of one commit. Frequent records are named tuples, to save time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from evercrawl.model import wide
from evercrawl.model.change import Change
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.site import Site


class Page(NamedTuple):
    """A queued page with everything that its next visit needs."""

    id: int
    key: bytes
    url: str
    site_id: int
    depth: int
    hops: int  # Number of redirects in a row that led here.
    priority: int  # Priority level (front queue); 0 is the most urgent.
    seq: int  # Position in the front queue; it only grows within a shard.
    tries: int = 0  # Failed visits in a row.
    visits: int = 0
    version: int = 0  # Number of the newest stored version; 0: none yet.
    etag: str | None = None
    last_modified: str | None = None
    digest: bytes | None = None  # Digest of the last decoded content; it differs from the newest version's after noise.
    interval_s: int = 0  # The current revisit interval; 0: unknown.
    rate_estimate: bytes | None = None  # State of the revisit policy (`core/revisit/visit_schedule.py`), if any.
    last_us: int | None = None  # The last visit.
    credit: int = 0  # Credit without the dividends of its shard (`core/credit/ledger.py`).
    earned: int = 0  # Credit received by links, decayed up to `generation`.
    generation: int = 0
    duplicate_of: int | None = None  # The original of this duplicate, in the same shard; None: not a duplicate.


class NewPage(NamedTuple):
    """A page found for the first time; it is added to the table and the queue together."""

    id: int
    key: bytes
    url: str
    site_id: int
    depth: int
    hops: int
    priority: int
    seq: int
    parent_id: int | None  # The page that links here, if it is in the same shard.
    found_us: int
    credit: int = 0
    earned: int = 0
    generation: int = 0


@wide
class Candidate(NamedTuple):
    """A URL in scope, found on a page, by a redirect or given by the user; it may be known already."""

    url: str
    key: bytes
    depth: int
    hops: int
    parent: str | None  # URL of the page that links here; None: a seed.
    parent_id: int | None  # Its id, if it is in the same shard as the candidate.
    credit: int | None = None  # Credit from the linking page; None: none, as for a seed.
    expected: float = 1.0  # Share of new content that a visit should yield (`core/credit/url_yield.py`).


class CreditShare(NamedTuple):
    """Credit for a known page, added when the batch is applied."""

    page_id: int
    amount: int
    generation: int  # The generation of the shard in which it was earned.


class QueuePosition(NamedTuple):
    """The position of a page in the queue, and its credit without the dividends of its shard."""

    key: bytes
    page_id: int
    site_id: int
    priority: int
    seq: int | None  # None: not queued.
    credit: int


class Promotion(NamedTuple):
    """A move of a queued page to the end of a better priority; no effect if the page has left its position."""

    page_id: int
    site_id: int
    old_priority: int
    old_seq: int
    priority: int
    seq: int


class DuplicateCandidate(NamedTuple):
    """A page that may be the original of a duplicate."""

    page_id: int
    url: str
    version: int
    signature: bytes | None  # Of the main text of its newest version.
    moved_to: str | None
    duplicate_of: int | None
    title: str | None = None
    digest: bytes | None = None  # Of its newest version.
    status: int | None = None  # Of its last response.


class Represented(NamedTuple):
    """A page that turns out to be a view of a plainer URL, which was visited later: it becomes the duplicate."""

    page_id: int
    by: int  # The page with the plainer URL.
    reason: Reason
    detail: str


class Requeue(NamedTuple):
    """A known page to queue again now; its due time is cleared."""

    page_id: int
    site_id: int
    priority: int
    seq: int


class Reschedule(NamedTuple):
    """A new policy state of a page without a visit and, outside the queue, a new due time."""

    page_id: int
    due_us: int | None  # None: as before.
    rate_estimate: bytes | None = None  # None: as before.


class Refusal(NamedTuple):
    """A URL that was found and rejected, with the reason."""

    key: bytes
    url: str
    reason: Reason
    detail: str
    parent: str | None  # URL of the linking or redirecting page; None: a seed.
    at_us: int
    depth: int = 0


class PackedText(NamedTuple):
    """A compressed main text (`core/document/compression.py`)."""

    base: int | None  # The version that the frame is a delta of; None: the frame is complete.
    frame: bytes


class Version(NamedTuple):
    """Content that differs from the previous version, and its position in the archive."""

    number: int
    digest: bytes  # xxh3-128 of the decoded body.
    payload_sha1: bytes
    text_digest: bytes | None
    signature: bytes | None  # Near-duplicate signature of the main text.
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
    record_id: bytes  # The 16 bytes of the response record's UUID.
    truncated: str | None
    change_class: str | None = None
    """How it differs from the previous version (noise, metadata, content); None: first version or unknown."""
    change_size: float | None = None  # Share of the page that differs, 0 to 1.
    text: PackedText | None = None  # The main text; None: no document, or not loaded.
    analysis: str | None = None  # Results of analysers as a JSON object; None: none, or not loaded.


class Baseline(NamedTuple):
    """What the next response of a page is compared with."""

    digest: bytes  # Of the decoded content.
    payload_sha1: bytes
    seen_us: int
    record_id: bytes
    file: str
    offset: int
    length: int
    snapshot: bytes  # Packed by `core/change/snapshot.py`.
    memory: bytes  # The change history of the page, packed by `core/change/change_history.py`.


class CompletedVisit(NamedTuple):
    """The result of one visit: the page leaves the queue and gets its next due time, or none."""

    page_id: int
    site_id: int
    priority: int
    seq: int
    at_us: int
    outcome: Outcome
    reason: Reason
    detail: str
    status: int | None
    took_ms: int
    wire_bytes: int
    due_us: int | None  # None: not visited again unless requested.
    tries: int
    interval_s: int
    version: Version | None = None
    etag: str | None = None
    last_modified: str | None = None
    moved_to: str | None = None
    duplicate_of: int | None = None  # The page with the same content, in the same shard.
    digest: bytes | None = None  # Of the content; None: no content.
    baseline: Baseline | None = None  # The new baseline; None: as before.
    change: Change | None = None  # How the page differs from the baseline; None: not compared, or no difference.
    rate_estimate: bytes | None = None  # The new state of the revisit policy; None: as before.
    outline: bytes | None = None  # Packed headings and links (`core/document/compression.py`); None: as before.
    spent: int = 0  # Credit that the page passes on.


class SettledChange(NamedTuple):
    """The verdict on the change that an earlier visit found, which had to wait for other pages of the site."""

    page_id: int
    at_us: int  # When the visit was.
    change: Change
    schedule: Reschedule | None = None  # How to visit the page again where the change was noise; None: as before.


class OriginalRecord(NamedTuple):
    """The first version with some content, to which revisit records refer."""

    page_id: int
    url: str
    at_us: int
    record_id: bytes
    payload_sha1: bytes
    file: str
    offset: int
    length: int


class Resource(NamedTuple):
    """A stored response that is not a page: a redirect, or an asset that pages need to look right."""

    key: bytes
    digest: bytes  # Of the decoded body; of a redirect, that of its target.
    url: str
    seen_us: int
    last_us: int  # When the same content was seen last.
    fresh_until_us: int  # Until then it is not requested again.
    status: int
    moved_to: str | None
    payload_sha1: bytes
    content_type: str | None
    body_bytes: int
    etag: str | None
    last_modified: str | None
    file: str
    offset: int
    length: int
    record_id: bytes
    truncated: str | None
    refers_to: bytes | None  # The record that holds the body; None: this one does.


class PageToComplete(NamedTuple):
    """A version of a page whose assets are not stored yet."""

    page_id: int
    url: str
    number: int


class ArchiveEnd(NamedTuple):
    """The committed end of a shard's archive; the rest is cut off after a crash."""

    file: str
    size: int


class LinkBatch(NamedTuple):
    """Links for another shard; delivered at least once, applied once."""

    seq: int
    source: int
    target: int
    links: bytes


MAX_CLOCK_STEP_US = 10 * 60 * 1_000_000  # Clocks of several machines may differ by this much.
MAX_SITE_WAIT_US = 24 * 3600 * 1_000_000  # How long a site may stay closed whose opening the wrong clock hides.


class ShardState(NamedTuple):
    """What a worker needs to take over a shard."""

    shard: int
    epoch: int
    crashed: bool  # The previous owner crashed, so every delay must be waited out.
    next_id: int
    next_seq: int
    next_site_id: int
    next_link_batch: int
    archive_end: ArchiveEnd | None
    pages: int
    pending: int


@dataclass(slots=True)
class Batch:
    """The changes since the last commit, in the order of application."""

    sites: dict[int, Site] = field(default_factory=dict)
    """Site rows to insert or replace, by id. Their `pages` and `pending` are ignored; the store counts."""
    new_pages: list[NewPage] = field(default_factory=list)
    requeued: list[Requeue] = field(default_factory=list)
    rescheduled: list[Reschedule] = field(default_factory=list)
    visited: list[CompletedVisit] = field(default_factory=list)
    represented: list[Represented] = field(default_factory=list)
    settled: list[SettledChange] = field(default_factory=list)
    shares: list[CreditShare] = field(default_factory=list)  # Credit for known pages.
    promoted: list[Promotion] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    sent: list[LinkBatch] = field(default_factory=list)
    """Link batches for other shards, stored until they are delivered."""
    delivered: list[int] = field(default_factory=list)  # Numbers of link batches that their target has committed.
    received: dict[int, int] = field(default_factory=dict)
    """Highest number of the link batches received with this batch, by source shard."""
    site_states: dict[tuple[int, str], bytes] = field(default_factory=dict)
    """Site state by site and kind; a crash may lose unwritten state."""
    resources: list[Resource] = field(default_factory=list)
    completed: dict[int, tuple[int, bytes]] = field(default_factory=dict)
    """Page -> the version whose assets are all stored (0: some are not), and their marks."""
    archive_end: ArchiveEnd | None = None

    def is_empty(self) -> bool:
        """Return whether there is nothing to write."""
        return not (
            self.sites
            or self.new_pages
            or self.requeued
            or self.rescheduled
            or self.visited
            or self.represented
            or self.settled
            or self.shares
            or self.promoted
            or self.refusals
            or self.sent
            or self.delivered
            or self.received
            or self.site_states
            or self.resources
            or self.completed
        )
