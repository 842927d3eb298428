"""What a collection tells about itself: progress, summary, status, answers of `why`, `skipped` and `show`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from evercrawl.model.document import Link
from evercrawl.model.fetch import Headers
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.site import RateOverride, TrapPattern

Stopped = Literal["done", "limit", "interrupted", "closed"]
"""Why a run ended: nothing left, a limit of the run, Ctrl-C, or every remaining site is closed for now."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A moment of a run. The counts are those of this run; `known` and `queued` are the collection's."""

    fetched: int = 0
    known: int = 0
    queued: int = 0
    in_flight: int = 0
    requests: int = 0
    bytes: int = 0
    errors: int = 0
    skipped: int = 0
    elapsed_s: float = 0.0
    requests_per_s: float = 0.0
    sites_closed: int = 0
    current_site: str | None = None
    closed_note: str | None = None
    """Why the site that is waited for is closed, in words."""
    harvest_ratio: float | None = None
    """The share of pages on topic; None: the run has no focus."""


@dataclass(frozen=True, slots=True)
class Summary:
    """How a run ended and what it did."""

    requests: int = 0
    fetched: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    not_modified: int = 0
    not_needed: int = 0
    """Known pages that were not due."""
    not_needed_by: Mapping[str, int] = field(default_factory=dict)
    """Why they were not asked for -> pages: the words of `core/freshness/held.py`."""
    skipped: int = 0
    errors: int = 0
    bytes: int = 0
    seconds: float = 0.0
    stopped: Stopped = "done"
    skipped_by: Mapping[str, int] = field(default_factory=dict)
    """Reason -> number of URLs refused for it."""
    gone: int = 0
    longest_parallel_per_site: int = 0
    """Most requests that any one site had to serve at a time."""
    median_answer_ms: int | None = None
    remaining: int = 0
    """Pages still in the queue."""
    first_error: str | None = None
    closed_note: str | None = None
    """Which site with pages in the queue is closed, why and until when; of several the first to open."""
    robots_refused_all: bool = False
    nothing_reachable: bool = False
    throttled: bool = False
    url_seen: Mapping[str, float] = field(default_factory=dict)
    """How the URL-seen test worked: links offered, share that the cache of popular URLs answered, share of
    the rest that the filter called new for sure, look-ups in the store, and those of them in vain.
    """
    harvest_ratio: float | None = None
    """The share of pages on topic; None: the run has no focus."""


@dataclass(frozen=True, slots=True)
class ClosedSite:
    """A site that is not asked for now, with the reason in words."""

    site: str
    reason: str
    opens_at: datetime
    pending: int


@dataclass(frozen=True, slots=True)
class Status:
    """A collection at rest (or, read from another process, as of its last commit)."""

    path: str
    pages: int = 0
    queued: int = 0
    refused: int = 0
    sites: int = 0
    requests: int = 0
    bytes: int = 0
    versions: int = 0
    due_now: int = 0
    next_due: datetime | None = None
    by_outcome: Mapping[str, int] = field(default_factory=dict)
    by_reason: Mapping[str, int] = field(default_factory=dict)
    closed_sites: tuple[ClosedSite, ...] = ()
    """Those that close longest first; at most a screenful."""
    archive_files: int = 0
    archive_bytes: int = 0
    state_bytes: int = 0
    freshness: FreshnessEstimate | None = None
    savings: Savings | None = None
    revisit: RevisitStatus | None = None
    traps: tuple[TrapPattern, ...] = ()
    """Sites that explode: of each the pattern behind a fence that cost most; a few."""
    rate_overrides: tuple[RateOverride, ...] = ()
    """Sites that the operator slows down."""


@dataclass(frozen=True, slots=True)
class PastVisit:
    """One visit as it was recorded."""

    at: datetime
    outcome: Outcome
    reason: Reason
    detail: str = ""
    status: int | None = None
    took_ms: int = 0
    wire_bytes: int = 0
    version: int | None = None
    """The version that this visit stored; None: it stored none."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a URL was or was not asked for, and when it will be."""

    url: str
    """In canonical form."""
    known: bool
    outcome: Outcome | None = None
    reason: Reason | None = None
    detail: str = ""
    """In words, with the evidence: the rule, the line of robots.txt, the limit."""
    status: int | None = None
    due: datetime | None = None
    visits: int = 0
    parent: str | None = None
    depth: int | None = None
    site_opens_at: datetime | None = None
    """When the site may be asked next, where that lies ahead."""
    delay_override_s: float | None = None
    """The least gap that the operator has set for its site; None: none."""
    decisions: tuple[PastVisit, ...] = ()
    """Past visits, newest first."""
    forecast: PageForecast | None = None
    """How it changes and what follows from it; None: no visit has seen it."""
    relevance: float | None = None
    """How likely its newest version is on the topic of the focus, 0 to 1; None: no focus has judged it."""
    duplicate_of: str | None = None
    """The page that this one repeats."""
    credit: float | None = None
    importance: float | None = None
    """What links give to the page, against the mean of all pages."""


@dataclass(frozen=True, slots=True)
class SkippedUrl:
    """A URL that we met and did not ask for."""

    url: str
    reason: Reason
    detail: str = ""
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class PageContent:
    """A stored version of a page."""

    url: str
    status: int
    fetched_at: datetime
    version: int = 1
    title: str | None = None
    author: str | None = None
    """Author and dates as the page states them; None: it does not."""
    published: str | None = None
    modified: str | None = None
    content_type: str | None = None
    headers: Headers = ()
    text: str = ""
    html: bytes = b""
    """The decoded body as the server sent it."""
    links: tuple[Link, ...] = ()
    raw: bytes = b""
    """The answer as it lies in the archive: head and body as sent."""
    analysis: Mapping[str, Any] = field(default_factory=dict)
    """What analysers said about this version."""


@dataclass(frozen=True, slots=True)
class SiteFreshness:
    """One site's part; the uncertainty is one standard error."""

    site: str
    pages: int
    freshness: float
    uncertainty: float
    requests_per_day: float | None = None
    """None: as things are, no plan."""


@dataclass(frozen=True, slots=True)
class FreshnessEstimate:
    """The estimated share of pages whose copy is current; the uncertainty is one standard error."""

    freshness: float
    uncertainty: float
    of_copies: float
    """The same among the pages that there is a copy of."""
    pages: int
    """Pages that are to be kept fresh: all but redirects, refused and vanished ones."""
    without_copy: int
    """Those that have not been fetched yet; they count as not fresh."""
    sampled: int
    """Pages that were looked at for it; fewer than there are in a large collection."""
    sites: tuple[SiteFreshness, ...] = ()
    """The largest."""


@dataclass(frozen=True, slots=True)
class Savings:
    """What did not have to be asked for or sent, as far as the log of visits proves it."""

    not_modified: int = 0
    """Answers that said 304."""
    not_modified_bytes: int = 0
    """Bytes on the wire of the bodies that they spared: those of the last answer with a body."""
    not_due: int = 0
    """Known pages that are not worth a request now."""


@dataclass(frozen=True, slots=True)
class RevisitStatus:
    """What decides about visits at the moment."""

    policy: str
    budget_per_day: float | None
    threshold_days: float
    """Days of a current copy that a visit should bring."""


@dataclass(frozen=True, slots=True)
class PlannedVisit:
    """A page that would be fetched now."""

    url: str
    value_days: float | None
    """Days of a current copy that the visit is expected to bring; None: it has to be made in any case."""


@dataclass(frozen=True, slots=True)
class RevisitPlan:
    """What a budget would buy; nothing was sent."""

    policy: str
    budget_per_day: float | None
    requests_per_day: float
    expected_freshness: float
    uncertainty: float
    """One standard error."""
    freshness_now: float
    threshold_days: float | None
    """Days of a current copy that a visit should bring; None: the budget does not even pay for the longest
    interval, so that every page comes in turn.
    """
    pages: int
    pages_due: int
    """Pages that are worth a request now."""
    without_copy: int
    """Pages that have to be fetched once before what is expected can hold."""
    sampled: int
    first: tuple[PlannedVisit, ...] = ()
    """Of the pages that were looked at, those that would be fetched first."""
    sites: tuple[SiteFreshness, ...] = ()
    """Those that most requests would go to."""


@dataclass(frozen=True, slots=True)
class Announcements:
    """What the site itself says about its changes, and how far it is to be believed."""

    trusted: bool
    recall: float
    """Share of changes that are announced."""
    false_share: float
    """Share of this page's announcements that are false."""
    pending: int
    """Announcements that are newer than the last visit."""
    last_poll: datetime | None
    last_announced: datetime | None


@dataclass(frozen=True, slots=True)
class PageForecast:
    """How a page changes, and what follows from it."""

    policy: str
    changes_per_day: float
    rate_text: str
    """The rate and what it rests on, as a sentence."""
    visits: int
    changes: int
    probability_current: float
    """Probability that our copy is the current one."""
    value_days: float | None
    """Days of a current copy that a visit now would bring; None: it has to be made in any case."""
    threshold_days: float
    next_visit: datetime | None
    next_visit_text: str
    announcements: Announcements | None = None
    false_validators: int = 0
