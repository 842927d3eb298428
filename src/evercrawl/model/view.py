"""What commands show about the state of a collection."""

from __future__ import annotations

from typing import NamedTuple

from evercrawl.model.change import Change
from evercrawl.model.page import Version
from evercrawl.model.reason import Outcome, Reason


class PageView(NamedTuple):
    """All that is known about a page; its parent and its double are given by URL."""

    id: int
    key: bytes
    url: str
    site: str
    depth: int
    hops: int
    band: int
    is_queued: bool
    parent: str | None
    found_us: int
    outcome: Outcome
    reason: Reason
    detail: str
    status: int | None
    last_us: int | None
    due_us: int | None
    visits: int
    tries: int
    interval_s: int
    version: int
    digest: bytes | None
    etag: str | None
    last_modified: str | None
    moved_to: str | None
    duplicate_of: str | None
    belief: bytes | None
    """What the revisit policy knows (`core/freshness/schedule.py`)."""


class CreditView(NamedTuple):
    """What a page counts among those of its shard."""

    credit: float
    """What it holds, in credits; 0 right after a visit."""
    importance: float
    """What links gave to it lately, against the mean of all pages: 1 is an average page."""


class VisitView(NamedTuple):
    """One line of the log of visits."""

    at_us: int
    outcome: Outcome
    reason: Reason
    status: int | None
    took_ms: int
    wire_bytes: int
    version: int
    """Number of the newest version after the visit; 0: none."""


class VersionView(NamedTuple):
    """A version with the span of time in which the page came to be so."""

    seen_us: int
    changed_after_us: int | None
    """The last visit that still saw the version before; None: the first version."""
    status: int | None
    version: Version


class Totals(NamedTuple):
    """Sums over a shard or a collection."""

    sites: int = 0
    pages: int = 0
    pending: int = 0
    requests: int = 0
    wire_bytes: int = 0
    due_now: int = 0
    """Pages outside the queue whose due time has passed."""
    refusals: int = 0
    refusals_dropped: int = 0
    """Refused URLs that were only counted, because the shard remembers no more of them."""
    versions: int = 0


class VersionMoment(NamedTuple):
    """When one version of a page was first seen."""

    page_id: int
    url: str
    found_us: int
    number: int
    seen_us: int
    changed_after_us: int | None
    last_us: int | None
    reason: str | None
    """Of the page's last visit."""


class SampledPage(NamedTuple):
    """What a forecast needs of a page."""

    id: int
    site_id: int
    url: str
    version: int
    visits: int
    found_us: int
    last_us: int | None
    """The last visit that saw it."""
    belief: bytes | None
    outcome: Outcome | None
    """None: not visited yet."""
    reason: Reason | None
    is_waiting: bool
    """In the queue, or due some day."""
    due_us: int | None
    """None: in the queue, or not asked for again."""
    tries: int


class SampledSite(NamedTuple):
    """What a forecast needs of a site."""

    id: int
    name: str
    pages: int
    memory: bytes | None
    """What was learned of the kind that was asked for."""


class RejectedPage(NamedTuple):
    """A page that entered the queue and was refused when its turn came."""

    url: str
    reason: Reason
    detail: str
    parent: str | None
    id: int


Decisions = dict[tuple[Outcome, Reason], int]
"""Number of URLs (pages and remembered refusals) by their last decision."""


class ChangeView(NamedTuple):
    """The edits that a visit met."""

    page_id: int
    url: str
    at_us: int
    change: Change
