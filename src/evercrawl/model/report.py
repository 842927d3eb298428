"""Reports about a collection: status, freshness, and the results of `why`, `skipped` and `show`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from evercrawl.model.document import Link
from evercrawl.model.fetch import Headers
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.site import RateOverride, TrapPattern


@dataclass(frozen=True, slots=True)
class ClosedSite:
    """A site that is not visited now, with the reason."""

    site: str
    reason: str
    opens_at: datetime
    pending: int


@dataclass(frozen=True, slots=True)
class SlowedSite:
    """A site with queued pages that gets requests rarely, with the reason."""

    site: str
    reason: str
    delay_s: float  # Time between two requests in seconds.
    pending: int


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a collection as of its last commit."""

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
    closed_sites: tuple[ClosedSite, ...] = ()  # The longest closed first; at most a screenful.
    slowed_sites: tuple[SlowedSite, ...] = ()  # The slowest first; at most a screenful.
    archive_files: int = 0
    archive_bytes: int = 0
    state_bytes: int = 0
    freshness: FreshnessEstimate | None = None
    savings: Savings | None = None
    revisit: RevisitStatus | None = None
    traps: tuple[TrapPattern, ...] = ()  # The costliest blocked patterns of a few large sites.
    rate_overrides: tuple[RateOverride, ...] = ()  # Sites with a minimum delay of their own.


@dataclass(frozen=True, slots=True)
class PastVisit:
    """A past visit."""

    at: datetime
    outcome: Outcome
    reason: Reason
    detail: str = ""
    status: int | None = None
    took_ms: int = 0
    wire_bytes: int = 0
    version: int | None = None  # The version that the visit stored; None: none.


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a URL was or was not visited, and when it is due."""

    url: str  # The canonical URL.
    known: bool
    outcome: Outcome | None = None
    reason: Reason | None = None
    detail: str = ""  # The explanation with the evidence: the rule, the line of robots.txt, the limit.
    status: int | None = None
    due: datetime | None = None
    visits: int = 0
    parent: str | None = None
    depth: int | None = None
    site_opens_at: datetime | None = None  # When the site can be visited next, if that is in the future.
    site_closed: str | None = None  # Why the site is paused or closed until then; None: it only has a delay.
    delay_override_s: float | None = None  # The minimum delay that you set for its site; None: none.
    schedule: str | None = None  # The user's schedule, which decides the due time; None: it is learned.
    decisions: tuple[PastVisit, ...] = ()  # Past visits, newest first.
    forecast: PageForecast | None = None
    """How the page changes and when it is visited next; None: it was never fetched."""
    relevance: float | None = None  # Relevance of its newest version to the focus, 0 to 1; None: not judged.
    duplicate_of: str | None = None  # The original of this duplicate.
    credit: float | None = None
    importance: float | None = None  # Importance by links, relative to the mean of all pages.
    usage: Mapping[str, Any] = field(default_factory=dict)
    """What the publisher said about the use of its newest version; empty: nothing."""


@dataclass(frozen=True, slots=True)
class PageContent:
    """A stored version of a page."""

    url: str
    status: int
    fetched_at: datetime
    version: int = 1
    title: str | None = None
    author: str | None = None  # Author and dates stated on the page; None: not stated.
    published: str | None = None
    modified: str | None = None
    content_type: str | None = None
    lang: str | None = None
    encoding: str = "utf-8"
    base_url: str | None = None  # The URL that relative links refer to; None: its own.
    headers: Headers = ()
    text: str = ""
    html: bytes = b""  # The decoded body.
    links: tuple[Link, ...] = ()
    raw: bytes = b""  # The archived response: head and body as sent.
    analysis: Mapping[str, Any] = field(default_factory=dict)  # Results of analysers for this version.
    usage: Mapping[str, Any] = field(default_factory=dict)  # What the publisher says about its use; empty: nothing.


@dataclass(frozen=True, slots=True)
class SiteFreshness:
    """The freshness of one site; the uncertainty is one standard error."""

    site: str
    pages: int
    freshness: float
    uncertainty: float
    requests_per_day: float | None = None  # None: not part of a plan.


@dataclass(frozen=True, slots=True)
class FreshnessEstimate:
    """The estimated share of pages with a current copy; the uncertainty is one standard error."""

    freshness: float
    uncertainty: float
    of_copies: float  # The share among pages with a copy.
    pages: int  # All pages except redirects, rejected and gone ones.
    without_copy: int  # Pages that were not fetched yet; they count as not fresh.
    sampled: int  # Number of pages in the sample.
    sites: tuple[SiteFreshness, ...] = ()  # The largest sites.


@dataclass(frozen=True, slots=True)
class Savings:
    """Saved requests and bytes, counted from the visit log."""

    not_modified: int = 0  # Number of 304 responses.
    not_modified_bytes: int = 0  # Bytes that they saved, by the size of the last body.
    not_due: int = 0  # Known pages that are not due.


@dataclass(frozen=True, slots=True)
class RevisitStatus:
    """The current revisit policy, budget and threshold."""

    policy: str
    budget_per_day: float | None
    threshold_days: float  # Days of freshness that a visit must gain.


@dataclass(frozen=True, slots=True)
class PlannedVisit:
    """A page to visit now."""

    url: str
    value_days: float | None  # Expected gain in days of freshness; None: the visit is necessary.


@dataclass(frozen=True, slots=True)
class RevisitPlan:
    """What a request budget would achieve."""

    policy: str
    budget_per_day: float | None
    requests_per_day: float
    expected_freshness: float
    uncertainty: float  # One standard error.
    freshness_now: float
    threshold_days: float | None
    """Days of freshness that a visit must gain; None: the budget does not cover the longest interval."""
    pages: int
    pages_due: int  # Pages that are due now.
    without_copy: int  # Pages that must be fetched once before the forecast holds.
    sampled: int
    first: tuple[PlannedVisit, ...] = ()  # The pages of the sample to visit first.
    sites: tuple[SiteFreshness, ...] = ()  # The sites with the most requests.


@dataclass(frozen=True, slots=True)
class Announcements:
    """The change announcements of a site (sitemaps, feeds), and how reliable they are."""

    trusted: bool
    recall: float | None  # Estimated share of changes that are announced; None: no change was found yet.
    false_share: float | None  # Share of the announcements that proved false; None: none was checked yet.
    changes_found: int  # Changes found since the site announces changes.
    changes_announced: int
    checked: int  # Announcements that led to a visit.
    false: int
    pending: int  # Announcements after the last visit.
    last_poll: datetime | None
    last_announced: datetime | None


@dataclass(frozen=True, slots=True)
class PageForecast:
    """How a page changes, and when it is visited next."""

    policy: str
    changes_per_day: float
    rate_text: str  # The change rate and its basis, as text.
    visits: int
    changes: int
    probability_current: float  # Probability that the copy is current.
    value_days: float | None  # Days of freshness that a visit now would gain; None: the visit is necessary.
    threshold_days: float
    next_visit: datetime | None
    next_visit_text: str
    announcements: Announcements | None = None
    false_validators: int = 0
    rule_text: str = ""  # What the rule of a paper says about the page.
