"""Maintain a collection: verify its archive, show and free disk space, and prune old versions."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from evercrawl.adapters.objectstore.bucket import open_bucket
from evercrawl.adapters.objectstore.uploader import UploadStats, archive_address, set_archive_address, upload_pending
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
    database_of,
    open_for_reading,
    open_for_writing,
    shard_path,
    shards_in,
    state_folder,
)
from evercrawl.adapters.system import CollectionLock, sync_folder
from evercrawl.adapters.warc.reader import WarcRecord, archive_path
from evercrawl.adapters.warc.rewrite import RewritePlan, RewriteResult, plan_removal, rewrite_file
from evercrawl.adapters.warc.shard_archive import QUARANTINE_SUFFIX, file_name, shard_files, truncate_archive
from evercrawl.adapters.warc.warc_records import WarcInfo, record_urn
from evercrawl.collection.exchange.export_run import as_version
from evercrawl.collection.exchange.import_run import WORK_FOLDER
from evercrawl.collection.stored_pages import decode_stored_body, read_stored_record
from evercrawl.core.change.version_rules import parse_retention, versions_to_keep
from evercrawl.core.digest import content_digest, payload_sha1
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model import __version__
from evercrawl.model.history import PruneReport
from evercrawl.model.page import ArchiveEnd
from evercrawl.model.sanitize import mask_passwords
from evercrawl.model.settings import ArchiveSettings, Settings

if TYPE_CHECKING:
    from evercrawl.adapters.postgres.table_copy import TransferProgress

MAX_PROBLEMS = 100  # Problems listed per file; all are counted.


@dataclass(slots=True)
class VerifiedFile:
    """An archive file, and the versions, assets and redirects in it."""

    name: str
    bytes: int = 0
    versions: int = 0
    resources: int = 0
    damaged: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass(slots=True)
class VerifyReport:
    """The result for all archive files."""

    versions: int = 0
    resources: int = 0  # Assets and redirects.
    damaged: int = 0
    files: dict[str, VerifiedFile] = field(default_factory=dict)

    def is_sound(self) -> bool:
        """Return whether everything is intact."""
        return self.damaged == 0


OnVerify = Callable[[VerifyReport], None]


def verify(collection: Path, *, on_progress: OnVerify | None = None) -> VerifyReport:
    """Read every version, asset and redirect, and check its digests."""
    report, archive = VerifyReport(), collection / "archive"
    for path in sorted(archive.glob("*.warc.gz")):
        report.files[path.name] = VerifiedFile(path.name, path.stat().st_size)
    for shard in StateReader(collection).shards():
        with version_reader(collection, shard) as reader:
            for version in reader.stored_versions(VersionFilter(newest_only=False)):
                _count(report, version, check_version(archive, reader, version))
                if on_progress is not None:
                    on_progress(report)
            for resource in reader.resources():
                as_one = as_version(resource)
                _count(report, as_one, check_version(archive, reader, as_one), is_resource=True)
    return report


def check_version(archive: Path, reader: VersionReader, version: StoredVersion) -> str | None:
    """Return what is wrong with a version; None: it is intact."""
    try:
        stored = read_stored_record(archive, reader, version)
        if payload_sha1(stored.http.body) != version.payload_sha1:
            return "the payload does not match its SHA-1"
        if (version.number or version.body_bytes) and content_digest(
            decode_stored_body(version, stored.http)
        ) != version.digest:
            return "the decoded body does not match its digest"
    except StoreUnavailable as error:
        return str(error)
    return None


def _count(report: VerifyReport, version: StoredVersion, problem: str | None, *, is_resource: bool = False) -> None:
    file = report.files.setdefault(version.file, VerifiedFile(version.file))
    for counted in (report, file):
        counted.versions += not is_resource
        counted.resources += is_resource
    if problem is None:
        return
    report.damaged += 1
    file.damaged += 1
    if len(file.problems) < MAX_PROBLEMS:
        what = version.url if is_resource else f"version {version.number} of {version.url}"
        file.problems.append(f"{what}: {problem}")


LOG_FILE = "evercrawl.log"
MIN_FREE_PAGES = 16  # State files with fewer free pages are not rewritten.


@dataclass(frozen=True, slots=True)
class DiskUsage:
    """The disk usage of one part of a collection."""

    name: str
    files: int
    bytes: int
    reclaimable: int  # Estimated bytes that `vacuum` frees.


def disk_usage(collection: Path) -> list[DiskUsage]:
    """Return the disk usage of state, archive, log and other files."""
    free = _free_bytes(collection)
    state = [path for path in state_folder(collection).glob("*") if path.is_file()]
    archive = [path for path in (collection / "archive").glob("*") if path.is_file()]
    aside = [path for path in archive if QUARANTINE_SUFFIX in path.name]
    log = [path for path in collection.glob(f"{LOG_FILE}*") if path.is_file()]
    left = [path for folder in _unfinished_imports(collection) for path in folder.rglob("*") if path.is_file()]
    known = {*state, *archive, *log, *left}
    other = [path for path in collection.rglob("*") if path.is_file() and path not in known]
    return [
        _part("state", state, reclaimable=free),
        _part("archive", [path for path in archive if path not in set(aside)]),
        _part("damaged archive", aside),
        _part("log", log),
        _part("unfinished imports", left, reclaimable=sum(path.stat().st_size for path in left)),
        _part("other", other),
    ]


def vacuum(collection: Path, settings: Settings) -> int:
    """Compact the state files and delete the rest of unfinished imports; return the number of bytes freed.
    No stored data is lost. It takes the write lock, so no crawl can run meanwhile."""
    with CollectionLock(collection):
        before = sum(part.bytes for part in disk_usage(collection))
        for shard in shards_in(collection):
            compact(shard_path(collection, shard), durability=settings.store.durability)
        for folder in _unfinished_imports(collection):
            shutil.rmtree(folder)
        return before - sum(part.bytes for part in disk_usage(collection))


def compact(path: Path, *, durability: str, is_forced: bool = False) -> None:
    """Rewrite a state file without its free pages, if there are enough or `is_forced`, and empty its log."""
    db = open_for_writing(path, durability=durability)
    try:
        with TranslateErrors(path):
            if is_forced or db.execute("pragma freelist_count").fetchone()[0] >= MIN_FREE_PAGES:
                db.execute("vacuum")
            db.execute("pragma wal_checkpoint(truncate)").fetchall()
    finally:
        db.close()


def _free_bytes(collection: Path) -> int:
    """Return the size of the free pages in the state files."""
    free = 0
    for shard in shards_in(collection):
        db = open_for_reading(shard_path(collection, shard))
        try:
            pages, size = (db.execute(f"pragma {name}").fetchone()[0] for name in ("freelist_count", "page_size"))
            free += pages * size
        finally:
            db.close()
    return free


def _unfinished_imports(collection: Path) -> list[Path]:
    """Return the folders of killed imports; a running one holds the lock."""
    return [path for path in collection.glob(f"{WORK_FOLDER}*") if path.is_dir()]


def _part(name: str, files: list[Path], *, reclaimable: int = 0) -> DiskUsage:
    return DiskUsage(name, len(files), sum(path.stat().st_size for path in files), reclaimable)


SOFTWARE = f"evercrawl/{__version__}"


def prune(collection: Path, settings: Settings, rule_text: str, *, apply: bool) -> PruneReport:
    """Return what a retention rule deletes; with `apply`, delete it."""
    rule = parse_retention(rule_text)

    def keeps(moments: Sequence[datetime]) -> set[int]:
        return versions_to_keep(moments, rule)

    report = PruneReport(rule_text, done=apply)
    if not apply:
        for shard in shards_in(collection):
            path = shard_path(collection, shard)
            db = SqliteConnection(path, open_for_reading(path))
            try:
                report = _add_planned(report, plan_prune(db, keeps))
            finally:
                db.close()
        return report
    if archive_address(collection / "archive") is not None:
        raise ConfigError("archives on object storage cannot be pruned")
    with CollectionLock(collection):
        for shard in shards_in(collection):
            path = shard_path(collection, shard)
            db = SqliteConnection(path, open_for_writing(path, durability="power"))
            try:
                plan = plan_prune(db, keeps)
                report = _add_deleted(report, plan, _prune_shard(collection / "archive", settings, shard, db, plan))
            finally:
                db.close()
    return report


def _add_planned(report: PruneReport, plan: PrunePlan) -> PruneReport:
    """Add what a plan would delete."""
    return replace(
        report,
        pages=report.pages + len(plan.pages()),
        versions=report.versions + len(plan.versions),
        versions_kept=report.versions_kept + plan.kept,
        shared_versions=report.shared_versions + plan.kept_for_others,
        archive_bytes=report.archive_bytes + plan.record_bytes(),
    )


def _add_deleted(report: PruneReport, plan: PrunePlan, files: RewrittenFiles) -> PruneReport:
    """Add what was deleted."""
    return replace(
        _add_planned(report, plan),
        archive_files=report.archive_files + len(files.plans),
        archive_bytes=report.archive_bytes + sum(rewrite.dropped_bytes for rewrite in files.plans),
        damaged_files=report.damaged_files + tuple(files.damaged),
    )


class RewrittenFiles:
    """The archive files of a shard that are rewritten, and the new places of their records."""

    def __init__(self, plans: Sequence[RewritePlan] = (), damaged: Sequence[str] = ()) -> None:
        self.plans = plans
        self.damaged = damaged  # Damaged files, which are kept.
        self.rewritten: dict[str, RewriteResult] = {}

    def new_position(self, file: str, offset: int, length: int) -> tuple[str, int, int]:
        """Return the new file, offset and length of a kept record."""
        rewritten = self.rewritten[file]
        return rewritten.new, rewritten.place(offset), rewritten.lengths.get(offset, length)

    def write(self, folder: Path, settings: Settings, shard: int) -> ArchiveEnd | None:
        """Write the new files; return the new end of the archive, or None if there are none."""
        first = max(shard_files(folder, shard), default=0) + 1
        end: ArchiveEnd | None = None
        info = warc_info(settings)
        for number, plan in enumerate(self.plans, start=first):
            name = file_name(shard, number)
            done = rewrite_file(plan, name, info, now=datetime.now(UTC), level=settings.archive.gzip_level)
            self.rewritten[plan.path.name] = done
            end = ArchiveEnd(name, done.size)
        if end is not None:
            sync_folder(folder)
        return end


def warc_info(settings: Settings) -> WarcInfo:
    """Return what a rewritten file says about its writer."""
    operator = {"operator": settings.identity.contact} if settings.identity.contact else {}
    return WarcInfo(SOFTWARE, {"robots": "obey", **operator})


def _plan_files(folder: Path, shard: int, plan: PrunePlan) -> RewrittenFiles:
    """Plan to drop the records of versions with their requests, screenshots and revisits."""
    ids = {record_urn(version.record_id).decode() for version in plan.versions.values()}

    def selects(record: WarcRecord) -> bool:
        own, of = record.headers.get("warc-record-id", ""), record.headers.get("warc-refers-to", "")
        belongs_to = record.headers.get("warc-concurrent-to", "") if record.kind == "request" else of
        if own not in ids and (record.kind == "conversion" or belongs_to not in ids):
            return False
        ids.update((own, of) if record.kind == "conversion" else (own,))  # The response follows its rendered document.
        return True

    found = plan_removal(list(shard_files(folder, shard).values()) if ids else [], selects)
    return RewrittenFiles(found.files, found.damaged)


def _prune_shard(folder: Path, settings: Settings, shard: int, db: SqliteConnection, plan: PrunePlan) -> RewrittenFiles:
    delete_dropped(folder, db)
    end = archive_end(db)
    if end is not None:
        truncate_archive(folder, shard, end)
    files = _plan_files(folder, shard, plan if end is not None else PrunePlan())
    if plan.versions:
        new_end = files.write(folder, settings, shard)
        apply_prune(db, plan, moved=files.new_position, files=files.rewritten, archive_end=new_end)
        delete_dropped(folder, db)
    return files


def delete_dropped(folder: Path, db: SqliteConnection) -> None:
    """Delete files that an earlier transaction has replaced, also after a crash."""
    for name in dropped_files(db):
        archive_path(folder, name).unlink(missing_ok=True)
        delete_dropped_file(db, name)


def upload_archive(
    collection: Path, settings: ArchiveSettings, *, on_file: Callable[[UploadStats], None] | None = None
) -> UploadStats:
    """Upload all finished archive files to the object storage of the settings."""
    if settings.url is None:
        raise ConfigError("archive.url is not set; set it with: evercrawl config set archive.url s3://...")
    folder = collection / "archive"
    set_archive_address(folder, settings.url)
    return upload_pending(folder, open_bucket(settings.url), keep_local=settings.keep_local, on_file=on_file)


def move_state(
    collection: Path, settings: Settings, to: str, *, on_progress: Callable[[TransferProgress], None]
) -> tuple[TransferProgress, str]:
    """Move the state to a database or back to files; return the totals and the target without its password."""
    try:
        from evercrawl.cluster.move import move
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"PostgreSQL needs an extra ({error.name} is missing): pip install 'evercrawl[postgres]'"
        ) from error
    return move(collection, settings, to, on_progress=on_progress), mask_passwords(to)


def is_in_database(collection: Path, settings: Settings) -> bool:
    """Return whether the state is in a database and its driver is installed."""
    is_named = settings.store.url is not None or database_of(collection) is not None
    return is_named and find_spec("asyncpg") is not None
