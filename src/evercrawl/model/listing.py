"""Rows of the lists that people look through: sites, pages, visits, in portions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

from evercrawl.model.past import ChangeGroup

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Portion(Generic[Row]):
    """Some rows of a list, and where the next begin."""

    rows: tuple[Row, ...]
    next: str | None
    """What to ask with for the next portion; None: this is the last."""


class ListedSite(NamedTuple):
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


class ListedPage(NamedTuple):
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


class LoggedVisit(NamedTuple):
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


class ListedVisit(NamedTuple):
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
class NewsGroup:
    """A group of changes, with what it is marked by."""

    group: ChangeGroup
    keys: tuple[int, ...]
    """Of its edits."""
    newest_us: int
    parts: tuple[str, ...] = ()
    """What stays the same in the parts that its first edits lie in: patterns by which each can be muted."""


@dataclass(frozen=True, slots=True)
class News:
    """The newest changes of known pages, grouped."""

    since: datetime
    until: datetime
    """The oldest change that was read; older ones were left out where there are too many."""
    complete: bool
    changes: int
    groups: tuple[NewsGroup, ...]
    """The most significant."""
    groups_in_all: int
    newest_us: int
    """The newest change; 0: there is none."""


@dataclass(frozen=True, slots=True)
class SiteLoad:
    """What a site had to bear from us, from the newest part of the log."""

    site: str
    requests: int
    """Ever."""
    wire_bytes: int
    visits: tuple[ListedVisit, ...]
    """The newest, newest first."""
    not_modified: int
    """Among them."""
    gaps_s: tuple[float, ...]
    """Seconds between two visits in a row."""
    median_ms: int | None
    asked_gap_s: float | None
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
