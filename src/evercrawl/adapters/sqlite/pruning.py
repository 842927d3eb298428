"""Delete old versions, or a site, a page or a version on request, from one shard's file: select the rows, then delete
them in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from evercrawl.adapters.sqlite.sqlite_database import SqliteConnection
from evercrawl.core.change.change_history import SiteChangeHistory
from evercrawl.core.change.held_changes import unpack_held
from evercrawl.core.credit.ledger import CREDIT_KEY, drop_pages, ledger_bytes, ledger_of
from evercrawl.core.document.compression import pack_texts, unpack_texts
from evercrawl.core.url import key_of
from evercrawl.model.page import ArchiveEnd, PackedText
from evercrawl.model.reason import Reason
from evercrawl.model.time import from_us

ROWS_AT_A_TIME = 10_000

VersionKey = tuple[int, int]  # Page and number of a version.
KeepVersions = Callable[[Sequence[datetime]], set[int]]
"""Moments of a page's versions, oldest first -> the indexes of those that stay."""
NewLocation = Callable[[str, int, int], tuple[str, int, int]]
"""File, offset and length of a record -> its new place."""


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
    for _, versions in groupby(all_versions(db), key=itemgetter(0)):
        rows = list(versions)
        stays = keeps([from_us(row[2]) for row in rows])
        plan.kept += len(stays)
        for place, (page_id, number, _, *version) in enumerate(rows):
            if place not in stays:
                plan.versions[page_id, number] = PrunedVersion._make(version)
    _keep_originals(db, plan)
    return plan


def all_versions(db: SqliteConnection) -> Iterator[tuple[int, int, int, bytes, bytes, int]]:
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
    for page_id, number, _, digest, *_ in all_versions(db):
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
            repack_texts(db, page_id, plan.versions)
        db.run_many("delete_version", plan.versions)
        db.run_many("delete_analysis", plan.versions)
        db.run_many("delete_content", [(version.digest, *place) for place, version in plan.versions.items()])
        db.run_many("insert_dropped_file", [(name,) for name in dropped])
        for name in dropped:
            db.run_many("delete_baselines", [(name,)])
        move_records(db, dropped, moved)
        if archive_end is not None:
            db.run("set_archive_end", file=archive_end.file, size=archive_end.size)


def repack_texts(db: SqliteConnection, page_id: int, removed: Container[VersionKey]) -> None:
    """Write the texts of a page again without those of removed versions, which may be dictionaries of others."""
    rows = db.rows("texts_of_page", page_id=page_id)
    texts = unpack_texts([(number, PackedText(base, frame)) for number, base, frame in rows])
    left = [(number, text) for number, text in texts if (page_id, number) not in removed]
    db.run_many("delete_texts", [(page_id,)])
    db.run_many("insert_text", [(page_id, number, *packed) for number, packed in pack_texts(left)])


def move_records(db: SqliteConnection, files: Iterable[str], moved: NewLocation) -> None:
    """Set the new places of all records in rewritten files."""
    for name in files:
        for rows, move in (
            ("versions_in_file", "move_version"),
            ("resources_in_file", "move_resource"),
            ("baselines_in_file", "move_baseline"),
        ):
            found = db.rows(rows, file=name)
            db.run_many(move, [(*row[:-2], *moved(name, *row[-2:])) for row in found])


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


# Removal on request

FOREVER_US = 2**62
NO_KEY, NO_PREFIX = b"", "\n"  # No URL has this key, and none begins like this.
_CHANGE_STATE = "change"
_OF_PAGE = (
    "remove_baseline", "remove_noise", "remove_outline", "remove_assets_of", "remove_visits", "remove_late_changes",
    "remove_analyses", "delete_texts", "remove_versions", "remove_page",
)  # fmt: skip


class RemovalTarget(NamedTuple):
    """What to remove: a site (its origin), a page (its URL), or with a number one version of a page."""

    name: str
    is_site: bool
    number: int | None = None

    @property
    def key(self) -> bytes:
        """The key of a page."""
        return NO_KEY if self.is_site else key_of(self.name)

    @property
    def prefix(self) -> str:
        """The beginning of all URLs of a site."""
        return f"{self.name}/" if self.is_site else NO_PREFIX


class VersionPlace(NamedTuple):
    """The place of a record in the archive."""

    file: str
    offset: int
    length: int


class _Page(NamedTuple):
    id: int
    key: bytes
    site_id: int
    credit: int
    version: int


@dataclass(slots=True)
class RemovalRows:
    """The rows of a shard that a removal deletes."""

    pages: list[_Page] = field(default_factory=list)
    versions: dict[VersionKey, PrunedVersion] = field(default_factory=dict)
    resources: int = 0
    span: tuple[int, int] = (0, FOREVER_US)  # The time of the records to remove, in microseconds.
    first: VersionPlace | None = None  # The record of the removed version,
    following: VersionPlace | None = None  # and that of the next one.
    kept_newest: tuple[int, bytes] | None = None  # The newest version that stays, if the newest one is removed.
    shared: dict[bytes, list[tuple[VersionKey, bytes]]] = field(default_factory=dict)
    """Other versions with the removed content, and their records, by digest."""


def select_rows(db: SqliteConnection, target: RemovalTarget) -> RemovalRows | None:
    """Return what a removal deletes; None: there is no such version."""
    rows = RemovalRows(pages=list(_pages(db, target)))
    for page in rows.pages:
        found = db.rows("versions_to_remove", page_id=page.id)
        if target.number is not None:
            numbers = [row[0] for row in found]
            if target.number not in numbers:
                return None
            _select_version(rows, found, numbers.index(target.number))
            found = [row for row in found if row[0] == target.number]
        rows.versions |= {(page.id, number): PrunedVersion(*rest) for number, _, _, _, *rest in found}
    if target.number is not None and not rows.pages:
        return None
    (rows.resources,) = _one(db, "resources_to_remove", key=target.key, prefix=target.prefix)
    digests = {version.digest for version in rows.versions.values()}
    for page_id, number, _, digest, record_id, _ in all_versions(db) if digests else ():
        if digest in digests and (page_id, number) not in rows.versions:
            rows.shared.setdefault(digest, []).append(((page_id, number), record_id))
    return rows


def _select_version(rows: RemovalRows, found: list[Any], place: int) -> None:
    """Note when a version was the newest one, and which one is then."""
    following = found[place + 1] if place + 1 < len(found) else None
    rows.span = (found[place][1] if place else 0, FOREVER_US if following is None else following[1])
    rows.first = VersionPlace(found[place][2], found[place][3], found[place][6]) if place else None
    rows.following = None if following is None else VersionPlace(following[2], following[3], following[6])
    if place and following is None:
        rows.kept_newest = (found[place - 1][0], found[place - 1][4])


def _pages(db: SqliteConnection, target: RemovalTarget) -> Iterator[_Page]:
    if not target.is_site:
        yield from map(_Page._make, db.rows("page_to_remove", key=target.key))
        return
    after = 0
    while found := db.rows("pages_to_remove", site=target.name, after=after, most=ROWS_AT_A_TIME):
        yield from map(_Page._make, found)
        after = found[-1][0]


def _one(db: SqliteConnection, name: str, **values: object) -> Any:
    return db.row(name, **values)


def delete_rows(
    db: SqliteConnection,
    target: RemovalTarget,
    rows: RemovalRows,
    *,
    moved: NewLocation,
    files: list[str],
    archive_end: ArchiveEnd | None,
    holders: Mapping[bytes, bytes],
    now_us: int,
) -> None:
    """Delete the rows and set the new places of all other records, in one transaction. `holders`: the records that got
    the bodies of removed ones. `files` are without references afterwards and listed until they are deleted."""
    with db.transaction():
        _move_contents(db, rows, set(holders.values()))
        if target.number is None:
            _delete_pages(db, target, rows, now_us=now_us)
        else:
            _delete_version(db, rows)
        for site_id in {page.site_id for page in rows.pages}:
            _drop_held(db, site_id, {page.id for page in rows.pages})
        for key, digest, record_id, refers_to in db.rows("referring_resources"):
            if refers_to in holders:
                holder = holders[refers_to]
                db.run_many("set_referred", [(key, digest, None if holder == record_id else holder)])
        db.run_many("insert_dropped_file", [(name,) for name in files])
        move_records(db, files, moved)
        if archive_end is not None:
            db.run("set_archive_end", file=archive_end.file, size=archive_end.size)


def _move_contents(db: SqliteConnection, rows: RemovalRows, holders: set[bytes]) -> None:
    """Let another version hold the content of each removed one, best the one that got its body."""
    for place, version in rows.versions.items():
        if db.row("content_holder", digest=version.digest) != place:
            continue
        others = sorted(rows.shared.get(version.digest, ()), key=lambda other: other[1] not in holders)
        if others:
            db.run_many("set_content_holder", [(version.digest, *others[0][0])])
        else:
            db.run_many("delete_content", [(version.digest, *place)])


def _delete_pages(db: SqliteConnection, target: RemovalTarget, rows: RemovalRows, *, now_us: int) -> None:
    ids = [(page.id,) for page in rows.pages]
    db.run_many("release_duplicates", [(page.id, now_us) for page in rows.pages])
    db.run_many("remove_changes", [(page.id, 0, FOREVER_US) for page in rows.pages])
    db.run_many("remove_seen", [(page.key,) for page in rows.pages])
    for name in _OF_PAGE:
        db.run_many(name, ids)
    db.run("remove_resources", key=target.key, prefix=target.prefix)
    db.run("remove_refusals", key=target.key, prefix=target.prefix)
    if not target.is_site:  # So that `why` and `skipped` know the URL, whether or not a link leads to it.
        refusal = (target.key, target.name, Reason.REMOVED.value, "removed on request", None, now_us, 0)
        db.run_many("write_refusal", [refusal])
    ledger = ledger_of(_value(db, *CREDIT_KEY))
    if ids and ledger.pages:
        after = drop_pages(ledger, [page.credit for page in rows.pages])
        db.run_many("write_site_state", [(*CREDIT_KEY, ledger_bytes(after))])
    for site in {page.site_id for page in rows.pages}:
        db.run("recount_site", site_id=site)
    if target.is_site and (site_row := db.row("site_to_remove", site=target.name)) is not None:
        for name in ("remove_site_state", "delete_robots", "remove_site"):
            db.run_many(name, [site_row])
    for name in ("clear_tally", "tally_pages", "tally_refusals", "recount_refusals"):
        db.run(name)


def _delete_version(db: SqliteConnection, rows: RemovalRows) -> None:
    (page,) = rows.pages
    repack_texts(db, page.id, rows.versions)
    db.run_many("delete_version", rows.versions)
    db.run_many("delete_analysis", rows.versions)
    db.run_many("remove_changes", [(page.id, *rows.span)])
    for name in ("remove_baseline", "remove_noise"):
        db.run_many(name, [(page.id,)])
    if rows.kept_newest is not None:
        db.run_many("set_newest_version", [(page.id, *rows.kept_newest)])
        db.run_many("remove_outline", [(page.id,)])


def _drop_held(db: SqliteConnection, site_id: int, pages: set[int]) -> None:
    """Drop the changes of removed pages that wait for a verdict."""
    stored = _value(db, site_id, _CHANGE_STATE)
    if stored is None:
        return
    state = SiteChangeHistory.from_bytes(stored)
    held = tuple(one for one in state.held if (change := unpack_held(one)) is not None and change.page_id not in pages)
    if held != state.held:
        after = SiteChangeHistory(state.pages, state.visits, state.locations, state.texts, state.edits, held)
        db.run_many("write_site_state", [(site_id, _CHANGE_STATE, after.to_bytes())])


def _value(db: SqliteConnection, site_id: int, kind: str) -> bytes | None:
    row = db.row("site_state", site_id=site_id, kind=kind)
    return None if row is None else row[0]
