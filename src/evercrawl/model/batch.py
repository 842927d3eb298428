"""What one commit of a shard writes, all of it or nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from evercrawl.model.page import CompletedVisit, CreditShare, NewPage, Promotion, Refusal, Requeue, Reschedule
from evercrawl.model.site import Site


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
    taken: dict[int, int] = field(default_factory=dict)
    """Source shard -> highest parcel number taken in with this batch."""
    memories: dict[tuple[int, str], bytes] = field(default_factory=dict)
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
            or self.taken
            or self.memories
        )
