"""Rows of the lists that people look through: sites, pages, visits, in portions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

from evercrawl.model.change import Change
from evercrawl.model.history import ChangeGroup
from evercrawl.model.page import Version
from evercrawl.model.reason import Outcome, Reason

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class PagedRows(Generic[Row]):
    """Some rows of a list, and where the next begin."""

    rows: tuple[Row, ...]
    next: str | None
    """What to ask with for the next portion; None: this is the last."""


class SiteRow(NamedTuple):
    """A site, as lists show it."""

    id: int
    name: str
    domain: str
    open_us: int
    gap_ms: int
    strain: float
    failures: int
    closed_reason: str | None
    requests: int
    wire_bytes: int
    pages: int
    pending: int
    robots_status: int | None
    robots_us: int | None


class PageRow(NamedTuple):
    """A page, as lists show it."""

    key: bytes
    url: str
    title: str | None
    outcome: str
    reason: str
    status: int | None
    visits: int
    version: int
    last_us: int | None
    due_us: int | None


class DuePage(NamedTuple):
    """A page outside the queue with the moment at which it is due."""

    id: int
    url: str
    due_us: int
    visits: int
    version: int
    last_us: int | None
    interval_s: int


class VisitLogRow(NamedTuple):
    """A line of the log of visits with all that a log for others shows."""

    line: int
    at_us: int
    """When it began."""
    url: str
    outcome: str
    reason: str
    status: int | None
    took_ms: int
    wire_bytes: int
    depth: int
    parent: str | None
    content_type: str | None
    payload_sha1: bytes | None
    """Of the newest version after it."""


class VisitRow(NamedTuple):
    """A line of the log of visits with its page's URL."""

    line: int
    at_us: int
    url: str
    outcome: str
    reason: str
    status: int | None
    took_ms: int
    wire_bytes: int
    version: int


@dataclass(frozen=True, slots=True)
class RecentChangeGroup:
    """A group of changes, with what it is marked by."""

    group: ChangeGroup
    keys: tuple[int, ...]
    """Of its edits."""
    newest_us: int
    parts: tuple[str, ...] = ()
    """What stays the same in the parts that its first edits lie in: patterns by which each can be muted."""


@dataclass(frozen=True, slots=True)
class RecentChanges:
    """The newest changes of known pages, grouped."""

    since: datetime
    until: datetime
    """The oldest change that was read; older ones were left out where there are too many."""
    complete: bool
    changes: int
    groups: tuple[RecentChangeGroup, ...]
    """The most significant."""
    total_groups: int
    newest_us: int
    """The newest change; 0: there is none."""


@dataclass(frozen=True, slots=True)
class SiteLoad:
    """What a site had to bear from us, from the newest part of the log."""

    site: str
    requests: int
    """Ever."""
    wire_bytes: int
    visits: tuple[VisitRow, ...]
    """The newest, newest first."""
    not_modified: int
    """Among them."""
    delays_s: tuple[float, ...]
    """Seconds between two visits in a row."""
    median_ms: int | None
    delay_s: float | None
    """The gap in force."""


@dataclass(frozen=True, slots=True)
class Capture:
    """A version as archives list it: when it was seen, and where its record lies."""

    url: str
    seen_us: int
    version: int
    status: int | None
    content_type: str | None
    payload_sha1: bytes
    length: int
    offset: int
    file: str
    title: str | None


class PageRecord(NamedTuple):
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


class CreditSummary(NamedTuple):
    """What a page counts among those of its shard."""

    credit: float
    """What it holds, in credits; 0 right after a visit."""
    importance: float
    """What links gave to it lately, against the mean of all pages: 1 is an average page."""


class VisitRecord(NamedTuple):
    """One line of the log of visits."""

    at_us: int
    outcome: Outcome
    reason: Reason
    status: int | None
    took_ms: int
    wire_bytes: int
    version: int
    """Number of the newest version after the visit; 0: none."""


class VersionRecord(NamedTuple):
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


class ChangeRecord(NamedTuple):
    """The edits that a visit met."""

    page_id: int
    url: str
    at_us: int
    change: Change


@dataclass(frozen=True, slots=True)
class VersionSelection:
    """What is taken out; None: no matter."""

    site: str | None = None
    """Host (with or without port) or origin."""
    since: datetime | None = None
    until: datetime | None = None
    lang: str | None = None
    """A language such as `en`, which takes in `en-GB` too."""
    all_versions: bool = False
    """Otherwise the newest of each page that is not behind `until`."""
