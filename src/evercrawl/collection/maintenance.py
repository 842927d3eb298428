"""Can every stored version be read back, and is it what was stored? Told file by file."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from evercrawl.adapters.objectstore.uploader import archive_address
from evercrawl.adapters.sql.listing_reader import StoredVersion, VersionFilter, VersionReader, version_reader
from evercrawl.adapters.sql.state_reader import StateReader
from evercrawl.adapters.sqlite.pruning import (
    PrunePlan,
    apply_prune,
    archive_end,
    delete_dropped_file,
    dropped_files,
    plan_prune,
)
from evercrawl.adapters.sqlite.sqlite_database import SqliteConnection
from evercrawl.adapters.sqlite.state_file import (
    TranslateErrors,
    open_for_reading,
    open_for_writing,
    shard_path,
    shards_in,
    state_folder,
)
from evercrawl.adapters.system import CollectionLock, sync_folder
from evercrawl.adapters.warc.rewrite import RewritePlan, RewriteResult, plan_rewrite, rewrite_file
from evercrawl.adapters.warc.shard_archive import QUARANTINE_SUFFIX, file_name, shard_files, truncate_archive
from evercrawl.adapters.warc.warc_records import WarcInfo
from evercrawl.collection.exchange.import_run import WORK_FOLDER
from evercrawl.collection.stored_pages import decode_stored_body, read_stored_record
from evercrawl.core.change.versions import parse_retention, versions_to_keep
from evercrawl.core.digest import content_digest, payload_sha1
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model import __version__
from evercrawl.model.history import PruneReport
from evercrawl.model.page import ArchiveEnd
from evercrawl.model.settings import Settings

MOST_PROBLEMS = 100
"""Problems of one file that are named one by one; all are counted."""


@dataclass(slots=True)
class VerifiedFile:
    """One archive file: the versions whose records lie in it."""

    name: str
    bytes: int = 0
    versions: int = 0
    damaged: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass(slots=True)
class VerifyReport:
    """The whole collection."""

    versions: int = 0
    damaged: int = 0
    files: dict[str, VerifiedFile] = field(default_factory=dict)

    def is_sound(self) -> bool:
        """Every version holds."""
        return self.damaged == 0


OnVerify = Callable[[VerifyReport], None]


def verify(collection: Path, *, on_progress: OnVerify | None = None) -> VerifyReport:
    """Read every version and compute its digests anew."""
    report, archive = VerifyReport(), collection / "archive"
    for path in sorted(archive.glob("*.warc.gz")):
        report.files[path.name] = VerifiedFile(path.name, path.stat().st_size)
    for shard in StateReader(collection).shards():
        with version_reader(collection, shard) as reader:
            for version in reader.stored_versions(VersionFilter(newest_only=False)):
                _note(report, version, check_version(archive, reader, version))
                if on_progress is not None:
                    on_progress(report)
    return report


def check_version(archive: Path, reader: VersionReader, version: StoredVersion) -> str | None:
    """What is wrong with a version; None: nothing."""
    try:
        stored = read_stored_record(archive, reader, version)
        if payload_sha1(stored.http.body) != version.payload_sha1:
            return "the payload is not what its SHA-1 says"
        if content_digest(decode_stored_body(version, stored.http)) != version.digest:
            return "the decoded body is not what its digest says"
    except StoreUnavailable as error:
        return str(error)
    return None


def _note(report: VerifyReport, version: StoredVersion, problem: str | None) -> None:
    file = report.files.setdefault(version.file, VerifiedFile(version.file))
    report.versions += 1
    file.versions += 1
    if problem is None:
        return
    report.damaged += 1
    file.damaged += 1
    if len(file.problems) < MOST_PROBLEMS:
        file.problems.append(f"version {version.number} of {version.url}: {problem}")


LOG_FILE = "evercrawl.log"
LEAST_PAGES_FREE = 16
"""A state file with fewer free pages is left as it is."""


@dataclass(frozen=True, slots=True)
class DiskUsage:
    """One part of a collection on disk."""

    name: str
    files: int
    bytes: int
    reclaimable: int
    """Bytes that `vacuum` would free, as far as that can be told."""


def disk_usage(collection: Path) -> list[DiskUsage]:
    """State, archive, log and the rest."""
    free = _free_bytes(collection)
    state = [path for path in state_folder(collection).glob("*") if path.is_file()]
    archive = [path for path in (collection / "archive").glob("*") if path.is_file()]
    aside = [path for path in archive if QUARANTINE_SUFFIX in path.name]
    log = [path for path in collection.glob(f"{LOG_FILE}*") if path.is_file()]
    left = [path for folder in _left_behind(collection) for path in folder.rglob("*") if path.is_file()]
    known = {*state, *archive, *log, *left}
    other = [path for path in collection.rglob("*") if path.is_file() and path not in known]
    return [
        _part("state", state, reclaimable=free),
        _part("archive", [path for path in archive if path not in set(aside)]),
        _part("archive set aside", aside),
        _part("log", log),
        _part("left by imports", left, reclaimable=sum(path.stat().st_size for path in left)),
        _part("other", other),
    ]


def vacuum(collection: Path, settings: Settings) -> int:
    """Write the state files anew without their gaps, remove what a broken import left; gives the bytes freed.

    Nothing that was stored is touched, and nobody may be crawling meanwhile.
    """
    with CollectionLock(collection):
        before = sum(part.bytes for part in disk_usage(collection))
        for shard in shards_in(collection):
            _vacuum(shard_path(collection, shard), durability=settings.store.durability)
        for folder in _left_behind(collection):
            shutil.rmtree(folder)
        return before - sum(part.bytes for part in disk_usage(collection))


def _vacuum(path: Path, *, durability: str) -> None:
    db = open_for_writing(path, durability=durability)
    try:
        with TranslateErrors(path):
            if db.execute("pragma freelist_count").fetchone()[0] >= LEAST_PAGES_FREE:
                db.execute("vacuum")
            db.execute("pragma wal_checkpoint(truncate)").fetchall()
    finally:
        db.close()


def _free_bytes(collection: Path) -> int:
    """Pages of the state files that hold nothing."""
    free = 0
    for shard in shards_in(collection):
        db = open_for_reading(shard_path(collection, shard))
        try:
            pages, size = (db.execute(f"pragma {name}").fetchone()[0] for name in ("freelist_count", "page_size"))
            free += pages * size
        finally:
            db.close()
    return free


def _left_behind(collection: Path) -> list[Path]:
    """Folders of imports that were killed; one that runs holds the lock."""
    return [path for path in collection.glob(f"{WORK_FOLDER}*") if path.is_dir()]


def _part(name: str, files: list[Path], *, reclaimable: int = 0) -> DiskUsage:
    return DiskUsage(name, len(files), sum(path.stat().st_size for path in files), reclaimable)


SOFTWARE = f"evercrawl/{__version__}"


def prune(collection: Path, settings: Settings, rule_text: str, *, apply: bool) -> PruneReport:
    """What the rule takes away; with `do` it is taken away."""
    rule = parse_retention(rule_text)

    def keeps(moments: Sequence[datetime]) -> set[int]:
        return versions_to_keep(moments, rule)

    report = PruneReport(rule_text, done=apply)
    if not apply:
        for shard in shards_in(collection):
            path = shard_path(collection, shard)
            db = SqliteConnection(path, open_for_reading(path))
            try:
                report = _planned(report, plan_prune(db, keeps))
            finally:
                db.close()
        return report
    if archive_address(collection / "archive") is not None:
        raise ConfigError("files on object storage cannot be pruned: they are never written to again")
    with CollectionLock(collection):
        for shard in shards_in(collection):
            path = shard_path(collection, shard)
            db = SqliteConnection(path, open_for_writing(path, durability="power"))
            try:
                doomed = plan_prune(db, keeps)
                report = _done(report, doomed, _prune_shard(collection / "archive", settings, shard, db, doomed))
            finally:
                db.close()
    return report


def _planned(report: PruneReport, doomed: PrunePlan) -> PruneReport:
    return PruneReport(
        report.rule,
        report.done,
        pages=report.pages + len(doomed.pages()),
        versions=report.versions + len(doomed.versions),
        versions_kept=report.versions_kept + doomed.kept,
        shared_versions=report.shared_versions + doomed.kept_for_others,
        archive_files=report.archive_files,
        archive_bytes=report.archive_bytes + doomed.record_bytes(),
        damaged_files=report.damaged_files,
    )


def _done(report: PruneReport, doomed: PrunePlan, files: _Files) -> PruneReport:
    planned = _planned(report, doomed)
    return PruneReport(
        planned.rule,
        planned.done,
        pages=planned.pages,
        versions=planned.versions,
        versions_kept=planned.versions_kept,
        shared_versions=planned.shared_versions,
        archive_files=report.archive_files + len(files.plans),
        archive_bytes=report.archive_bytes + sum(plan.dropped_bytes for plan in files.plans),
        damaged_files=report.damaged_files + tuple(files.damaged),
    )


class _Files:
    """The archive files of a shard that lose records, and those that are damaged and stay as they are."""

    def __init__(self, folder: Path, shard: int, doomed: PrunePlan) -> None:
        self.plans: list[RewritePlan] = []
        self.damaged: list[str] = []
        self.rewritten: dict[str, RewriteResult] = {}
        ids = {version.record_id for version in doomed.versions.values()}
        for path in shard_files(folder, shard).values() if ids else ():
            try:
                plan = plan_rewrite(path, ids)
            except ValueError:
                self.damaged.append(path.name)
            else:
                if plan is not None:
                    self.plans.append(plan)

    def moved(self, file: str, offset: int) -> tuple[str, int]:
        """Where a record that stayed lies now."""
        rewritten = self.rewritten[file]
        return rewritten.new, rewritten.place(offset)


def _prune_shard(folder: Path, settings: Settings, shard: int, db: SqliteConnection, doomed: PrunePlan) -> _Files:
    _delete_dropped(folder, db)
    end = archive_end(db)
    if end is not None:
        truncate_archive(folder, shard, end)
    files = _Files(folder, shard, doomed if end is not None else PrunePlan())
    if doomed.versions:
        new_end = _write_files(folder, settings, shard, files)
        apply_prune(db, doomed, moved=files.moved, files=files.rewritten, archive_end=new_end)
        _delete_dropped(folder, db)
    return files


def _write_files(folder: Path, settings: Settings, shard: int, files: _Files) -> ArchiveEnd | None:
    """The new files; the last of them is where the archive ends from now on. None: there are none."""
    first = max(shard_files(folder, shard), default=0) + 1
    end: ArchiveEnd | None = None
    fields = {"robots": "obey"}
    if settings.identity.contact:
        fields["operator"] = settings.identity.contact
    info = WarcInfo(SOFTWARE, fields)
    for number, plan in enumerate(files.plans, start=first):
        name = file_name(shard, number)
        rewritten = rewrite_file(plan, name, info, now=datetime.now(UTC), level=settings.archive.gzip_level)
        files.rewritten[plan.path.name] = rewritten
        end = ArchiveEnd(name, rewritten.size)
    if end is not None:
        sync_folder(folder)
    return end


def _delete_dropped(folder: Path, db: SqliteConnection) -> None:
    """Delete the files that an earlier transaction (perhaps of a run that crashed) made superfluous."""
    for name in dropped_files(db):
        (folder / name).unlink(missing_ok=True)
        delete_dropped_file(db, name)
