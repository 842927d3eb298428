"""Taking versions out of one shard's file: which, and then all of it in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from evercrawl.adapters.sqlite.connection import transaction
from evercrawl.adapters.sqlite.statements import SQL
from evercrawl.core.document.compression import pack_texts, unpack_texts
from evercrawl.model.page import ArchiveEnd, PackedText
from evercrawl.model.time import from_us

ROWS_AT_A_TIME = 10_000

VersionKey = tuple[int, int]
"""Page and number of a version."""
KeepVersions = Callable[[Sequence[datetime]], set[int]]
"""First sights of a page's versions, oldest first -> the places of those that stay."""
NewLocation = Callable[[str, int], tuple[str, int]]
"""File and offset of a record -> where it lies now."""


class PrunedVersion(NamedTuple):
    """A version that goes, and its record."""

    digest: bytes
    record_id: bytes
    length: int


@dataclass(slots=True)
class PrunePlan:
    """The versions of a shard that a rule takes away."""

    versions: dict[VersionKey, PrunedVersion] = field(default_factory=dict)
    kept: int = 0
    kept_for_others: int = 0
    """Versions that stay because versions that stay share their bytes."""

    def pages(self) -> list[int]:
        """The pages that lose something."""
        return sorted({page_id for page_id, _ in self.versions})

    def record_bytes(self) -> int:
        """What the answers of these versions take in the archive."""
        return sum(version.length for version in self.versions.values())


def plan_prune(db: sqlite3.Connection, keeps: KeepVersions) -> PrunePlan:
    """What a rule takes away; an original of something that stays is not among it."""
    doomed = PrunePlan()
    for rows in _pages(db):
        stays = keeps([from_us(row[2]) for row in rows])
        doomed.kept += len(stays)
        for place, (page_id, number, _, *version) in enumerate(rows):
            if place not in stays:
                doomed.versions[page_id, number] = PrunedVersion._make(version)
    _rescue_originals(db, doomed)
    return doomed


def _pages(db: sqlite3.Connection) -> Iterator[list[tuple[int, int, int, bytes, bytes, int]]]:
    """The versions of each page, oldest first, page by page."""
    page: list[tuple[int, int, int, bytes, bytes, int]] = []
    for row in _versions(db):
        if page and page[0][0] != row[0]:
            yield page
            page = []
        page.append(row)
    if page:
        yield page


def _versions(db: sqlite3.Connection) -> Iterator[tuple[int, int, int, bytes, bytes, int]]:
    after = (0, 0)
    while portion := db.execute(SQL["prune_versions"], (*after, ROWS_AT_A_TIME)).fetchall():
        yield from portion
        after = portion[-1][:2]


def _rescue_originals(db: sqlite3.Connection, doomed: PrunePlan) -> None:
    originals: dict[bytes, VersionKey] = {}
    for place, version in doomed.versions.items():
        if db.execute(SQL["content_holder"], (version.digest,)).fetchone() == place:
            originals[version.digest] = place
    if not originals:
        return
    for page_id, number, _, digest, *_ in _versions(db):
        if digest in originals and (page_id, number) not in doomed.versions:
            del doomed.versions[originals.pop(digest)]
            doomed.kept += 1
            doomed.kept_for_others += 1


def apply_prune(
    db: sqlite3.Connection,
    doomed: PrunePlan,
    *,
    moved: NewLocation,
    files: Iterable[str],
    archive_end: ArchiveEnd | None,
) -> None:
    """Versions, texts and contents go, records that stay get their new places: all in one transaction.

    `files` are those that nothing points into afterwards; they are noted until they are deleted.
    """
    dropped = sorted(files)
    with transaction(db):
        for page_id in doomed.pages():
            _pack_texts_anew(db, page_id, doomed)
        db.executemany(SQL["delete_version"], doomed.versions)
        db.executemany(SQL["delete_analysis"], doomed.versions)
        contents = [(version.digest, *place) for place, version in doomed.versions.items()]
        db.executemany(SQL["delete_content"], contents)
        db.executemany(SQL["note_dropped_file"], [(name,) for name in dropped])
        _move_records(db, dropped, moved)
        if archive_end is not None:
            db.execute(SQL["set_archive_end"], archive_end)


def _pack_texts_anew(db: sqlite3.Connection, page_id: int, doomed: PrunePlan) -> None:
    rows = db.execute(SQL["texts_of_page"], (page_id,)).fetchall()
    texts = unpack_texts([(number, PackedText(base, frame)) for number, base, frame in rows])
    left = [(number, text) for number, text in texts if (page_id, number) not in doomed.versions]
    db.execute(SQL["delete_texts"], (page_id,))
    db.executemany(SQL["insert_text"], [(page_id, number, *packed) for number, packed in pack_texts(left)])


def _move_records(db: sqlite3.Connection, files: list[str], moved: NewLocation) -> None:
    for name in files:
        db.execute(SQL["forget_looks"], (name,))
        rows = db.execute(SQL["versions_in_file"], (name,)).fetchall()
        updates = [(*moved(name, offset), page_id, number) for page_id, number, offset in rows]
        db.executemany(SQL["move_version"], updates)


def archive_end(db: sqlite3.Connection) -> ArchiveEnd | None:
    """How far the shard's archive is acknowledged."""
    *_, file, size = db.execute(SQL["read_shard"]).fetchone()
    return None if file is None else ArchiveEnd(file, size)


def dropped_files(db: sqlite3.Connection) -> list[str]:
    """Archive files that are still to be deleted."""
    return [name for (name,) in db.execute(SQL["dropped_files"])]


def delete_dropped_file(db: sqlite3.Connection, name: str) -> None:
    """The file is deleted."""
    db.execute(SQL["forget_dropped_file"], (name,))
