"""Delete old versions from one shard's file: select them, then delete them in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from evercrawl.adapters.sqlite.sqlite_database import SqliteConnection
from evercrawl.core.document.compression import pack_texts, unpack_texts
from evercrawl.model.page import ArchiveEnd, PackedText
from evercrawl.model.time import from_us

ROWS_AT_A_TIME = 10_000

VersionKey = tuple[int, int]  # Page and number of a version.
KeepVersions = Callable[[Sequence[datetime]], set[int]]
"""Moments of a page's versions, oldest first -> the indexes of those that stay."""
NewLocation = Callable[[str, int], tuple[str, int]]  # File and offset of a record -> its new place.


class PrunedVersion(NamedTuple):
    """A version to delete, and its record."""

    digest: bytes
    record_id: bytes
    length: int


@dataclass(slots=True)
class PrunePlan:
    """The versions of a shard that a rule deletes."""

    versions: dict[VersionKey, PrunedVersion] = field(default_factory=dict)
    kept: int = 0
    kept_for_others: int = 0  # Versions that stay because other versions share their bytes.

    def pages(self) -> list[int]:
        """Return the pages that lose versions."""
        return sorted({page_id for page_id, _ in self.versions})

    def record_bytes(self) -> int:
        """Return the size of the deleted versions' records."""
        return sum(version.length for version in self.versions.values())


def plan_prune(db: SqliteConnection, keeps: KeepVersions) -> PrunePlan:
    """Select the versions that a rule deletes, except the originals of versions that stay."""
    plan = PrunePlan()
    for _, versions in groupby(_versions(db), key=itemgetter(0)):
        rows = list(versions)
        stays = keeps([from_us(row[2]) for row in rows])
        plan.kept += len(stays)
        for place, (page_id, number, _, *version) in enumerate(rows):
            if place not in stays:
                plan.versions[page_id, number] = PrunedVersion._make(version)
    _keep_originals(db, plan)
    return plan


def _versions(db: SqliteConnection) -> Iterator[tuple[int, int, int, bytes, bytes, int]]:
    """Yield all versions, page by page, oldest first."""
    page_id, number = 0, 0
    while rows := db.rows("prune_candidates", page_id=page_id, number=number, most=ROWS_AT_A_TIME):
        yield from rows
        page_id, number = rows[-1][:2]


def _keep_originals(db: SqliteConnection, plan: PrunePlan) -> None:
    originals: dict[bytes, VersionKey] = {}
    for place, version in plan.versions.items():
        if db.row("content_holder", digest=version.digest) == place:
            originals[version.digest] = place
    if not originals:
        return
    for page_id, number, _, digest, *_ in _versions(db):
        if digest in originals and (page_id, number) not in plan.versions:
            del plan.versions[originals.pop(digest)]
            plan.kept += 1
            plan.kept_for_others += 1


def apply_prune(
    db: SqliteConnection, plan: PrunePlan, *, moved: NewLocation, files: Iterable[str], archive_end: ArchiveEnd | None
) -> None:
    """Delete versions, texts and contents, and set the new places of moved records, all in one transaction.
    `files` are those without references afterwards; the shard lists them until they are deleted."""
    dropped = sorted(files)
    with db.transaction():
        for page_id in plan.pages():
            _repack_texts(db, page_id, plan)
        db.run_many("delete_version", plan.versions)
        db.run_many("delete_analysis", plan.versions)
        db.run_many("delete_content", [(version.digest, *place) for place, version in plan.versions.items()])
        db.run_many("insert_dropped_file", [(name,) for name in dropped])
        _move_records(db, dropped, moved)
        if archive_end is not None:
            db.run("set_archive_end", file=archive_end.file, size=archive_end.size)


def _repack_texts(db: SqliteConnection, page_id: int, plan: PrunePlan) -> None:
    rows = db.rows("texts_of_page", page_id=page_id)
    texts = unpack_texts([(number, PackedText(base, frame)) for number, base, frame in rows])
    left = [(number, text) for number, text in texts if (page_id, number) not in plan.versions]
    db.run_many("delete_texts", [(page_id,)])
    db.run_many("insert_text", [(page_id, number, *packed) for number, packed in pack_texts(left)])


def _move_records(db: SqliteConnection, files: list[str], moved: NewLocation) -> None:
    for name in files:
        db.run_many("delete_baselines", [(name,)])
        rows = db.rows("versions_in_file", file=name)
        db.run_many("move_version", [(page_id, number, *moved(name, offset)) for page_id, number, offset in rows])


def archive_end(db: SqliteConnection) -> ArchiveEnd | None:
    """Return how far the shard's archive is acknowledged."""
    *_, file, size = db.rows("read_shard")[0]
    return None if file is None else ArchiveEnd(file, size)


def dropped_files(db: SqliteConnection) -> list[str]:
    """Return the archive files that are still to be deleted."""
    return [name for (name,) in db.rows("dropped_files")]


def delete_dropped_file(db: SqliteConnection, name: str) -> None:
    """Remove a deleted file from the list."""
    db.run_many("delete_dropped_file", [(name,)])
