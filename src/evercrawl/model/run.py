"""A run of a crawl: its progress and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

Stopped = Literal["done", "limit", "interrupted", "closed"]
"""Why a run ended: nothing left, a limit, Ctrl-C, or every remaining site is closed."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run. The counts are those of the run; `known` and `queued` are those of the collection."""

    fetched: int = 0
    new: int = 0
    changed: int = 0
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
    closed_note: str | None = None  # Why the next site is closed.
    harvest_ratio: float | None = None  # Share of pages on topic; None: the run has no focus.


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of a run."""

    requests: int = 0
    fetched: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    not_modified: int = 0
    not_needed: int = 0  # Known pages that were not due.
    not_needed_by: Mapping[str, int] = field(default_factory=dict)
    """Number of these pages by cause (`core/revisit/visit_schedule.py`)."""
    skipped: int = 0
    errors: int = 0
    bytes: int = 0
    seconds: float = 0.0
    stopped: Stopped = "done"
    skipped_by: Mapping[str, int] = field(default_factory=dict)  # Number of rejected URLs by reason.
    gone: int = 0
    withheld: int = 0  # Pages that outposts keep back because they change at every visit.
    max_concurrent_per_site: int = 0  # Maximum number of concurrent requests to one site.
    median_response_ms: int | None = None
    remaining: int = 0  # Number of queued pages.
    next_visit: datetime | None = None  # When the next page is due.
    first_error: str | None = None
    closed_note: str | None = None
    """Which site with queued pages is closed, why and until when; of several, the first to open."""
    robots_refused_all: bool = False
    nothing_reachable: bool = False
    throttled: bool = False
    url_seen: Mapping[str, float] = field(default_factory=dict)
    """Figures of the URL-seen test: links checked, share answered by the cache, share of the rest that the filter
    reported as new, lookups in the store, and lookups without a match."""
    harvest_ratio: float | None = None  # Share of pages on topic; None: the run has no focus.
