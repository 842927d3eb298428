"""What a collection remembers of pages: versions, statistics, and what changed on many at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from evercrawl.model.report import PastVisit

NEVER_VISITED = -1.0
"""Frequency of change of a page that was never seen."""
EVERY_VISIT = 0.0
"""Frequency of change of a page that was another one at every visit."""


@dataclass(frozen=True, slots=True)
class PastVersion:
    """One version; the page came to be so between `changed_after` and `seen_at`."""

    version: int
    seen_at: datetime
    changed_after: datetime | None
    """The last visit that still saw the version before; None: the first version."""
    seen_until: datetime
    """The last visit that found the page so."""
    change_class: str | None
    """noise, metadata or content; None: the first version, or one stored before changes were judged."""
    size: float | None
    """How much of the page differs from the version before, from 0 to 1."""
    digest: str
    """xxh3-128 of the decoded body, in hexadecimal."""
    status: int | None
    title: str | None
    content_type: str | None
    words: int
    body_bytes: int
    file: str
    """Where the answer lies: a file of the archive, and the place in it."""
    offset: int
    analysis: Mapping[str, Any] = field(default_factory=dict)
    """What analysers said about it."""


@dataclass(frozen=True, slots=True)
class PageHistory:
    """The versions of a page, oldest first, and its visits, newest first."""

    url: str
    versions: tuple[PastVersion, ...]
    visits: tuple[PastVisit, ...] = ()


@dataclass(frozen=True, slots=True)
class PageStatistics:
    """The statistics of one page (the columns of the mobile-crawler paper, and what makes them up)."""

    url: str
    parent: str | None
    ascii_count: int | None
    """Sum of the byte values of the newest version's body; None: nothing is stored."""
    last_modified: str | None
    """What the server said; None: it said nothing."""
    frequency_of_change: float
    """Days between two changes: -1 never visited, 0 another one at every visit."""
    file_path: str | None
    """The archive file that holds the newest version's answer, below the collection's folder."""
    offset: int | None
    version: int
    changes: int
    visits: int
    first_seen: datetime | None
    last_visit: datetime | None
    last_change: datetime | None


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """The same edit on some pages, or all that changed on one."""

    change_class: str
    size: float
    pages: tuple[str, ...]
    example: str
    """A difference in a few lines, from the first of the pages."""


@dataclass(frozen=True, slots=True)
class PruneReport:
    """What a retention rule takes away (or would take)."""

    rule: str
    done: bool
    """False: this is what would go."""
    pages: int = 0
    """Pages that lose versions."""
    versions: int = 0
    versions_kept: int = 0
    shared_versions: int = 0
    """Versions that the rule would take, but whose bytes other versions share."""
    archive_files: int = 0
    """Archive files that are written anew."""
    archive_bytes: int = 0
    """Bytes that the archive loses."""
    damaged_files: tuple[str, ...] = ()
    """Archive files that are damaged and therefore were left alone."""


@dataclass(frozen=True, slots=True)
class VersionSentiment:
    """How friendly one version of a page was, -1 to 1, by so many sentences."""

    version: int
    seen_at: datetime
    score: float
    sentences: int


@dataclass(frozen=True, slots=True)
class SiteSentiment:
    """The mean over the pages of a site that have a score; None: none has."""

    site: str
    score: float | None
    pages: int


@dataclass(frozen=True, slots=True)
class PageSentiment:
    """How friendly a page was over time; no versions: not in English, or nobody asked when they were new."""

    url: str
    versions: tuple[VersionSentiment, ...]
    site: SiteSentiment


class ReadMark(NamedTuple):
    """Looked at up to a moment: one edit by its key, all of a site, or, without either, everything."""

    key: int | None
    site: str | None
    until_us: int


class Review(NamedTuple):
    """What was marked at once, and can be taken back at once."""

    id: int
    at_us: int
    who: str
    text: str
    """What it was about, for people."""


class Mute(NamedTuple):
    """A part that nobody wants to be told of any more, and that can be taken back."""

    id: int
    at_us: int
    who: str
    place: str
    """A page's URL, or the origin of a site."""
    pattern: str
    """What stays the same in the part; `*` stands for anything."""
