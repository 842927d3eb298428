"""The history of pages: versions, statistics, groups of changes, sentiment, read marks and mutes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from evercrawl.model.change import Edit
from evercrawl.model.report import PastVisit

NEVER_VISITED = -1.0  # Frequency of change of a page that was never visited.
EVERY_VISIT = 0.0  # Frequency of change of a page that changed at every visit.


@dataclass(frozen=True, slots=True)
class PastVersion:
    """One version; it appeared between `changed_after` and `seen_at`."""

    version: int
    seen_at: datetime
    changed_after: datetime | None  # The last visit with the previous version; None: the first version.
    seen_until: datetime  # The last visit with this version.
    change_class: str | None  # noise, metadata or content; None: the first version, or not judged.
    size: float | None  # Share of the page that differs from the previous version, 0 to 1.
    digest: str  # xxh3-128 of the decoded body, in hexadecimal.
    status: int | None
    title: str | None
    content_type: str | None
    words: int
    body_bytes: int
    file: str  # The archive file of the response; `offset` is the position in it.
    offset: int
    analysis: Mapping[str, Any] = field(default_factory=dict)  # Results of analysers.


@dataclass(frozen=True, slots=True)
class PageHistory:
    """The versions of a page, oldest first, and its visits, newest first."""

    url: str
    versions: tuple[PastVersion, ...]
    visits: tuple[PastVisit, ...] = ()


@dataclass(frozen=True, slots=True)
class PageStatistics:
    """The statistics of one page: the columns of the mobile-crawler paper and their inputs."""

    url: str
    parent: str | None
    depth: int  # Links from a seed: the level of the page.
    content_type: str | None
    bytes: int  # Size of the newest version's body.
    ascii_count: int | None  # Sum of the byte values of the newest version's body; None: nothing is stored.
    last_modified: str | None  # The Last-Modified header; None: none.
    frequency_of_change: float  # Days between two changes; -1: never visited, 0: changed at every visit.
    file_path: str | None  # The archive file of the newest version, relative to the collection.
    offset: int | None
    version: int
    changes: int
    visits: int
    first_seen: datetime | None
    last_visit: datetime | None
    last_change: datetime | None


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """The same edit on several pages, or all changes of one page."""

    change_class: str
    size: float
    pages: tuple[str, ...]
    example: str  # The edits in a plain form, one per line.
    edits: tuple[Edit, ...] = ()
    omitted: int = 0  # Edits that are not stored because there are too many.
    listings: tuple[str, ...] = ()  # Pages, the last of `pages`, of which only lists have changed.
    parts: tuple[str, ...] = ()  # Of noise and template edits: the patterns that name the part.


class PageEvent(NamedTuple):
    """A page that is new, gone or back."""

    kind: str
    url: str
    at: datetime  # The visit that found it so.
    title: str | None  # Of its newest version.


@dataclass(frozen=True, slots=True)
class PruneReport:
    """What a retention rule deletes, or would delete."""

    rule: str
    done: bool  # False: nothing was deleted yet.
    pages: int = 0  # Pages that lose versions.
    versions: int = 0
    versions_kept: int = 0
    shared_versions: int = 0  # Versions that are kept because other versions share their content.
    archive_files: int = 0  # Archive files that are rewritten.
    archive_bytes: int = 0  # Bytes removed from the archive.
    damaged_files: tuple[str, ...] = ()  # Damaged archive files, which are kept.


@dataclass(frozen=True, slots=True)
class VersionSentiment:
    """The sentiment of one version, -1 to 1, and the number of sentences judged."""

    version: int
    seen_at: datetime
    score: float
    sentences: int


@dataclass(frozen=True, slots=True)
class SiteSentiment:
    """The mean sentiment of the pages of a site; None: no page has a score."""

    site: str
    score: float | None
    pages: int


@dataclass(frozen=True, slots=True)
class PageSentiment:
    """Sentiment of a page over time; no versions: not in English, or the analyser was off."""

    url: str
    versions: tuple[VersionSentiment, ...]
    site: SiteSentiment


class ReadMark(NamedTuple):
    """Marks changes as read up to a time: one edit by its key, a site, or everything."""

    key: int | None
    site: str | None
    until_us: int


class Review(NamedTuple):
    """Read marks that were set together, and can be undone together."""

    id: int
    at_us: int
    who: str
    text: str  # Description for display.


MAX_NOTES = 100


@dataclass(slots=True)
class WatchReport:
    """What was taken from a list or a backup."""

    pages: int = 0
    fields: int = 0
    schedules: int = 0
    snapshots: int = 0
    versions: int = 0
    paused: int = 0  # Watches that were paused, which are not watched here either.
    notes: list[str] = field(default_factory=list)  # What was not taken, with the page.

    def note(self, text: str) -> None:
        """Add a note, up to a limit."""
        if len(self.notes) < MAX_NOTES:
            self.notes.append(text)
