"""Rows that the store returns for display: sites, pages, visits, versions and totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from evercrawl.model.change import Change
from evercrawl.model.page import Version
from evercrawl.model.reason import Outcome, Reason

if TYPE_CHECKING:
    from evercrawl.model.history import ChangeGroup, PageEvent


class SiteRow(NamedTuple):
    """A site in a list."""

    id: int
    name: str
    domain: str
    open_us: int
    delay_ms: int
    backoff: float
    failures: int
    closed_reason: str | None
    requests: int
    wire_bytes: int
    pages: int
    pending: int
    robots_status: int | None
    robots_us: int | None


class PageRow(NamedTuple):
    """A page in a list."""

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


class VisitLogRow(NamedTuple):
    """A line of the visit log with all fields for an exported log."""

    line: int
    at_us: int  # Start of the visit.
    url: str
    outcome: str
    reason: str
    status: int | None
    took_ms: int
    wire_bytes: int
    depth: int
    parent: str | None
    content_type: str | None
    payload_sha1: bytes | None  # Of the newest version after the visit.


class VisitRow(NamedTuple):
    """A line of the visit log with the URL."""

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
    """A group of changes, with the keys that mark it as read."""

    group: ChangeGroup
    keys: tuple[int, ...]  # Keys of its edits.
    newest_us: int
    parts: tuple[str, ...] = ()  # Patterns that mute its first edits.
    title: str | None = None  # Of its first page.


@dataclass(frozen=True, slots=True)
class RecentChanges:
    """Recent changes of known pages, grouped."""

    since: datetime
    until: datetime  # The oldest change read; older ones are skipped if there are too many.
    complete: bool
    changes: int
    groups: tuple[RecentChangeGroup, ...]  # The most significant groups.
    total_groups: int
    newest_us: int  # The newest change; 0: none.
    events: tuple[PageEvent, ...] = ()  # Pages that are new, gone or back.


@dataclass(frozen=True, slots=True)
class SiteLoad:
    """Our load on a site, from the newest part of the log."""

    site: str
    requests: int  # Ever.
    wire_bytes: int
    visits: tuple[VisitRow, ...]  # The newest visits, newest first.
    not_modified: int  # 304 responses among them.
    delays_s: tuple[float, ...]  # Seconds between successive visits.
    median_ms: int | None
    delay_s: float | None  # The current delay.


@dataclass(frozen=True, slots=True)
class Capture:
    """A version as web archives list it: when it was captured, and the position of its record.
    Redirects and assets have version 0."""

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
    digest: bytes = b""
    last_us: int | None = None  # When the content was seen last; None: unknown.
    moved_to: str | None = None  # The target of a redirect.


class PageRecord(NamedTuple):
    """Everything stored about a page, with the URLs of its parent and its original."""

    id: int
    key: bytes
    url: str
    site: str
    depth: int
    hops: int
    priority: int
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
    rate_estimate: bytes | None  # State of the revisit policy (`core/revisit/visit_schedule.py`).


class CreditSummary(NamedTuple):
    """The credit and importance of a page."""

    credit: float  # Its credit; 0 after a visit.
    importance: float  # Recent credit from links relative to the mean: 1 is an average page.
    history: float = 0.0  # Credit received by links, older generations counting half as much as the next.


class PageBalance(NamedTuple):
    """A page with its credit."""

    url: str
    credit: float
    importance: float
    history: float
    visits: int
    is_queued: bool


class CreditReport(NamedTuple):
    """The credit of a collection, and its richest pages."""

    order: str  # The setting `credit.order`.
    minted: float
    lambda_page: float
    held: float  # By all pages.
    in_transit: float  # Between shards.
    pages: int
    dividend: float  # What Lambda has paid to each page so far, on average.
    generation: int
    richest: tuple[PageBalance, ...]


class VisitRecord(NamedTuple):
    """A line of the visit log."""

    at_us: int
    outcome: Outcome
    reason: Reason
    status: int | None
    took_ms: int
    wire_bytes: int
    version: int  # Number of the newest version after the visit; 0: none.


class VersionRecord(NamedTuple):
    """A version with the time span in which it appeared."""

    seen_us: int
    changed_after_us: int | None  # The last visit with the previous version; None: the first version.
    status: int | None
    version: Version


class Totals(NamedTuple):
    """Totals of a shard or a collection."""

    sites: int = 0
    pages: int = 0
    pending: int = 0
    requests: int = 0
    wire_bytes: int = 0
    due_now: int = 0  # Pages outside the queue whose due time has passed.
    refusals: int = 0
    refusals_dropped: int = 0  # Rejected URLs that were counted but not stored, because of the limit.
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
    reason: str | None  # Of the page's last visit.


class SampledPage(NamedTuple):
    """The fields of a page for a forecast."""

    id: int
    site_id: int
    url: str
    version: int
    visits: int
    found_us: int
    last_us: int | None  # The last successful visit.
    rate_estimate: bytes | None
    outcome: Outcome | None  # None: not visited yet.
    reason: Reason | None
    is_waiting: bool  # Queued, or with a due time.
    due_us: int | None  # None: queued, or not visited again.
    tries: int


class SampledSite(NamedTuple):
    """The fields of a site for a forecast."""

    id: int
    name: str
    pages: int
    memory: bytes | None  # The requested kind of site state.


class PageDecision(NamedTuple):
    """The last decision about a page."""

    url: str
    reason: Reason
    detail: str
    parent: str | None
    id: int
    depth: int
    hops: int
    outcome: Outcome
    moved_to: str | None

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> PageDecision:
        """Return a stored row with its enums."""
        page = cls._make(row)
        return page._replace(reason=Reason(page.reason), outcome=Outcome(page.outcome))


Decisions = dict[tuple[Outcome, Reason], int]  # Number of pages and rejected URLs by their last decision.


class ChangeRecord(NamedTuple):
    """The edits found by a visit."""

    page_id: int
    url: str
    at_us: int
    change: Change
    title: str | None = None


@dataclass(frozen=True, slots=True)
class VersionSelection:
    """Which versions to select; None: no condition."""

    site: str | None = None  # Host (with or without port) or origin.
    since: datetime | None = None
    until: datetime | None = None
    lang: str | None = None  # A language such as `en`, which includes `en-GB`.
    all_versions: bool = False  # If false, only the newest version of each page until `until`.
    usable_for: str | None = None  # Leave out versions whose publisher refuses this use.


class LinkEnd(NamedTuple):
    """The other page of a link, and the anchor text."""

    url: str
    text: str
    nofollow: bool = False


@dataclass(frozen=True, slots=True)
class PageLinks:
    """A page in the link graph."""

    url: str
    incoming: tuple[LinkEnd, ...] = ()
    outgoing: tuple[LinkEnd, ...] = ()
    pagerank: float | None = None  # PageRank, as share of the total; None: the page is not in the graph.
    times_average: float | None = None
    hub: float | None = None
    authority: float | None = None
    clicks: int | None = None  # Minimum number of links from a seed; None: unreachable.
    credit: float | None = None  # Credit by the OPIC rule, 1 for an average page; None: unknown.
    incoming_count: int = 0  # Number of all links to it; the list may be shorter.


class LinkProblem(StrEnum):
    """The problem of a link."""

    DEAD = "dead"  # The target fails or does not exist.
    REDIRECT = "redirect"  # The target redirects; the link should have the new URL.
    CHAIN = "chain"  # Several redirects in a row.
    LOOP = "loop"  # The redirects form a loop.


@dataclass(frozen=True, slots=True)
class BadLink:
    """A link with a problem."""

    url: str  # The page with the link.
    target: str
    text: str
    problem: LinkProblem
    status: int | None = None
    reason: str | None = None
    chain: tuple[str, ...] = ()  # The redirect targets, in order.


@dataclass(frozen=True, slots=True)
class GraphSummary:
    """Figures of the link graph."""

    pages: int
    links: int
    orphans: int  # Known pages that no page links to, without seeds.
    unreached: int  # Pages that cannot be reached from a seed.
    deepest: int
    by_depth: tuple[int, ...]  # Number of pages by clicks from a seed.


class RankedPage(NamedTuple):
    """A page with its score."""

    url: str
    score: float


@dataclass(frozen=True, slots=True)
class SkippedUrl:
    """A URL that was found but not requested."""

    url: str
    reason: Reason
    detail: str = ""
    parent: str | None = None
