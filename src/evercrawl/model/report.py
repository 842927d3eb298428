"""What a collection tells about itself: progress, summary, status, answers of `why`, `skipped` and `show`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from evercrawl.model.document import Link
from evercrawl.model.fetch import Headers
from evercrawl.model.forecast import Freshness, Habits, Saved, Steering
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.site import SlowedSite
from evercrawl.model.trap import TrapPattern

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
    freshness: Freshness | None = None
    saved: Saved | None = None
    steering: Steering | None = None
    traps: tuple[TrapPattern, ...] = ()
    """Sites that explode: of each the pattern behind a fence that cost most; a few."""
    slowed: tuple[SlowedSite, ...] = ()
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
    slowed_to_s: float | None = None
    """The least gap that the operator has set for its site; None: none."""
    decisions: tuple[PastVisit, ...] = ()
    """Past visits, newest first."""
    habits: Habits | None = None
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
class PageView:
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
