"""What a collection says about its freshness: as it is, as a budget would make it, and of one page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


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
class Freshness:
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
class Saved:
    """What did not have to be asked for or sent, as far as the log of visits proves it."""

    not_modified: int = 0
    """Answers that said 304."""
    not_modified_bytes: int = 0
    """Bytes on the wire of the bodies that they spared: those of the last answer with a body."""
    not_due: int = 0
    """Known pages that are not worth a request now."""


@dataclass(frozen=True, slots=True)
class Steering:
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
class Plan:
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
    waiting: int
    """Announcements that are newer than the last visit."""
    last_poll: datetime | None
    last_announced: datetime | None


@dataclass(frozen=True, slots=True)
class Habits:
    """How a page changes, and what follows from it."""

    policy: str
    changes_per_day: float
    words: str
    """The rate and what it rests on, as a sentence."""
    visits: int
    changes: int
    chance_current: float
    """Probability that our copy is the current one."""
    value_days: float | None
    """Days of a current copy that a visit now would bring; None: it has to be made in any case."""
    threshold_days: float
    next_visit: datetime | None
    next_visit_words: str
    announcements: Announcements | None = None
    validators_that_lied: int = 0
