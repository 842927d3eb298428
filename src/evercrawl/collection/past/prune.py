"""Retention: versions that a rule does not keep leave the collection, with their bytes.

A crash at any moment leaves the collection whole. Archive files that lose records are written anew under
numbers behind the acknowledged end, so that the next start removes them if nothing came of it. One
transaction takes the versions out and points to the new files. Only then the old files are deleted, and a
note of them waits until they are.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from evercrawl.adapters.lock import CollectionLock
from evercrawl.adapters.objectstore.journal import place_of_archive
from evercrawl.adapters.sqlite.connection import open_for_reading, open_for_writing
from evercrawl.adapters.sqlite.prune import (
    Doomed,
    archive_end,
    dropped_files,
    find_doomed,
    forget_dropped_file,
    take_out,
)
from evercrawl.adapters.sqlite.store import shard_path, shards_in
from evercrawl.adapters.warc.files import file_name, shard_files
from evercrawl.adapters.warc.repair import cut_back
from evercrawl.adapters.warc.rewrite import Rewriting, Rewritten, plan_rewriting, write_anew
from evercrawl.adapters.warc.writer import sync_folder
from evercrawl.core.change.versions import kept_versions, parse_rule
from evercrawl.errors import ConfigError
from evercrawl.model import __version__
from evercrawl.model.history import PruneReport
from evercrawl.model.page import ArchiveEnd
from evercrawl.model.settings import Settings

SOFTWARE = f"evercrawl/{__version__}"


def prune(collection: Path, settings: Settings, rule_text: str, *, do: bool) -> PruneReport:
    """What the rule takes away; with `do` it is taken away."""
    rule = parse_rule(rule_text)

    def keeps(moments: Sequence[datetime]) -> set[int]:
        return kept_versions(moments, rule)

    report = PruneReport(rule_text, done=do)
    if not do:
        for shard in shards_in(collection):
            db = open_for_reading(shard_path(collection, shard))
            try:
                report = _planned(report, find_doomed(db, keeps))
            finally:
                db.close()
        return report
    if place_of_archive(collection / "archive") is not None:
        raise ConfigError("files on object storage cannot be pruned: they are never written to again")
    with CollectionLock(collection):
        for shard in shards_in(collection):
            db = open_for_writing(shard_path(collection, shard), durability="power")
            try:
                doomed = find_doomed(db, keeps)
                report = _done(report, doomed, _prune_shard(collection / "archive", settings, shard, db, doomed))
            finally:
                db.close()
    return report


def _planned(report: PruneReport, doomed: Doomed) -> PruneReport:
    return PruneReport(
        report.rule,
        report.done,
        pages=report.pages + len(doomed.pages()),
        versions=report.versions + len(doomed.versions),
        versions_kept=report.versions_kept + doomed.kept,
        kept_for_others=report.kept_for_others + doomed.kept_for_others,
        archive_files=report.archive_files,
        archive_bytes=report.archive_bytes + doomed.record_bytes(),
        untouched_files=report.untouched_files,
    )


def _done(report: PruneReport, doomed: Doomed, files: _Files) -> PruneReport:
    planned = _planned(report, doomed)
    return PruneReport(
        planned.rule,
        planned.done,
        pages=planned.pages,
        versions=planned.versions,
        versions_kept=planned.versions_kept,
        kept_for_others=planned.kept_for_others,
        archive_files=report.archive_files + len(files.plans),
        archive_bytes=report.archive_bytes + sum(plan.dropped_bytes for plan in files.plans),
        untouched_files=report.untouched_files + tuple(files.damaged),
    )


class _Files:
    """The archive files of a shard that lose records, and those that are damaged and stay as they are."""

    def __init__(self, folder: Path, shard: int, doomed: Doomed) -> None:
        self.plans: list[Rewriting] = []
        self.damaged: list[str] = []
        self.rewritten: dict[str, Rewritten] = {}
        ids = {version.record_id for version in doomed.versions.values()}
        for path in shard_files(folder, shard).values() if ids else ():
            try:
                plan = plan_rewriting(path, ids)
            except ValueError:
                self.damaged.append(path.name)
            else:
                if plan is not None:
                    self.plans.append(plan)

    def moved(self, file: str, offset: int) -> tuple[str, int]:
        """Where a record that stayed lies now."""
        rewritten = self.rewritten[file]
        return rewritten.new, rewritten.place(offset)


def _prune_shard(folder: Path, settings: Settings, shard: int, db: sqlite3.Connection, doomed: Doomed) -> _Files:
    _delete_dropped(folder, db)
    end = archive_end(db)
    if end is not None:
        cut_back(folder, shard, end)
    files = _Files(folder, shard, doomed if end is not None else Doomed())
    if doomed.versions:
        new_end = _write_files(folder, settings, shard, files)
        take_out(db, doomed, moved=files.moved, files=files.rewritten, archive_end=new_end)
        _delete_dropped(folder, db)
    return files


def _write_files(folder: Path, settings: Settings, shard: int, files: _Files) -> ArchiveEnd | None:
    """The new files; the last of them is where the archive ends from now on. None: there are none."""
    first = max(shard_files(folder, shard), default=0) + 1
    end: ArchiveEnd | None = None
    about = {"robots": "obey"}
    if settings.identity.contact:
        about["operator"] = settings.identity.contact
    for number, plan in enumerate(files.plans, start=first):
        name = file_name(shard, number)
        rewritten = write_anew(
            plan, name, software=SOFTWARE, about=about, now=datetime.now(UTC), level=settings.archive.level
        )
        files.rewritten[plan.path.name] = rewritten
        end = ArchiveEnd(name, rewritten.size)
    if end is not None:
        sync_folder(folder)
    return end


def _delete_dropped(folder: Path, db: sqlite3.Connection) -> None:
    """Delete the files that an earlier transaction (perhaps of a run that crashed) made superfluous."""
    for name in dropped_files(db):
        (folder / name).unlink(missing_ok=True)
        forget_dropped_file(db, name)
