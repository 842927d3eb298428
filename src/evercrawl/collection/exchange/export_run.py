"""Which versions of which pages? Read shard by shard, never more than a portion at a time."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from evercrawl.adapters.sql.listing_reader import StoredVersion, VersionFilter, VersionReader, version_reader
from evercrawl.adapters.sql.state_reader import StateReader
from evercrawl.collection.stored_pages import StoredRecord, decode_stored_body, parse_response, read_stored_record
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.document import Document
from evercrawl.model.listing import VersionSelection
from evercrawl.model.settings import Settings
from evercrawl.model.time import to_us


def selected_versions(collection: Path, selection: VersionSelection) -> Iterator[tuple[VersionReader, StoredVersion]]:
    """The selected versions, each with the reader of its shard; those of one page follow each other."""
    bounds = selection_bounds(selection)
    for shard in StateReader(collection).shards():
        with version_reader(collection, shard) as reader:
            for version in reader.stored_versions(bounds):
                yield reader, version


def selection_bounds(selection: VersionSelection) -> VersionFilter:
    """The selection in terms of the store."""
    return VersionFilter(
        site=selection.site.strip().rstrip("/").lower() if selection.site else None,
        since_us=to_us(selection.since) if selection.since else None,
        until_us=to_us(selection.until) if selection.until else None,
        lang=selection.lang.strip().lower() if selection.lang else None,
        newest_only=not selection.all_versions,
    )


MOST_DAMAGE = 100
"""Damaged records that are named one by one; all are counted."""


@dataclass(slots=True)
class ExportReport:
    """What was taken out."""

    path: str | None = None
    """Where it lies; None: it went to standard output."""
    pages: int = 0
    versions: int = 0
    bytes: int = 0
    """Bytes of stored records that were read."""
    damaged: int = 0
    damage: list[str] = field(default_factory=list)
    """What is wrong with the first of them."""


OnProgress = Callable[[ExportReport], None]


class SelectedAnswer(NamedTuple):
    """A version and the answer that it was stored from."""

    version: StoredVersion
    stored: StoredRecord


class ExportedPage(NamedTuple):
    """A version with all that can be read out of it."""

    version: StoredVersion
    stored: StoredRecord
    body: bytes
    document: Document
    analysis: Mapping[str, Any]
    """What analysers said about it when it was new."""


@dataclass(slots=True)
class ExportRun:
    """The versions of one export. Invariant: whatever was given out is counted, whatever was not is named."""

    collection: Path
    settings: Settings
    selection: VersionSelection
    on_progress: OnProgress | None = None
    report: ExportReport = field(default_factory=ExportReport)
    _last_page: tuple[int, int] | None = None

    @property
    def archive(self) -> Path:
        """The folder of the collection's WARC files."""
        return self.collection / "archive"

    def answers(self) -> Iterator[SelectedAnswer]:
        """Every selected version that can be read."""
        for reader, version in selected_versions(self.collection, self.selection):
            try:
                answer = SelectedAnswer(version, read_stored_record(self.archive, reader, version))
            except StoreUnavailable as error:
                self._note_damage(version, error)
                continue
            yield answer
            self._count(reader, version)

    def pages(self) -> Iterator[ExportedPage]:
        """The same, decoded and parsed."""
        for reader, version in selected_versions(self.collection, self.selection):
            try:
                stored = read_stored_record(self.archive, reader, version)
                body = decode_stored_body(version, stored.http)
            except StoreUnavailable as error:
                self._note_damage(version, error)
                continue
            document = parse_response(version.url, stored.http.headers, body, self.settings)
            analysis = reader.analyses(version.page_id).get(version.number, {})
            yield ExportedPage(version, stored, body, document, analysis)
            self._count(reader, version)

    def _count(self, reader: VersionReader, version: StoredVersion) -> None:
        page = id(reader), version.page_id
        self.report.pages += page != self._last_page
        self._last_page = page
        self.report.versions += 1
        self.report.bytes += version.length
        if self.on_progress is not None:
            self.on_progress(self.report)

    def _note_damage(self, version: StoredVersion, error: StoreUnavailable) -> None:
        self.report.damaged += 1
        if len(self.report.damage) < MOST_DAMAGE:
            self.report.damage.append(f"version {version.number} of {version.url}: {error}")


MAPPING = "mapping.jsonl"
"""The file by which a folder is known to be an export of ours."""


def require_writable(target: Path, *, force: bool) -> None:
    """ConfigError where something is in the way that must not be replaced."""
    if not target.parent.is_dir():
        raise ConfigError(f"the folder {target.parent} does not exist; make it first")
    if not os.path.lexists(target):
        return
    if not force:
        raise ConfigError(f"{target} exists; name another place with -o, or replace it with --force")
    if target.is_dir() and not target.is_symlink() and any(target.iterdir()) and not (target / MAPPING).is_file():
        raise ConfigError(f"{target} is a folder that evercrawl did not export; it is never replaced")


@contextmanager
def new_file(target: Path, *, force: bool) -> Iterator[Path]:
    """A file under another name, which becomes `target` when the block ends well and is removed when not."""
    require_writable(target, force=force)
    if target.is_dir():
        raise ConfigError(f"{target} is a folder, and a file was to be written; name it with -o")
    beside = _beside(target)
    try:
        yield beside
        require_writable(target, force=force)
        _in_place(beside, target)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def new_folder(target: Path, *, force: bool) -> Iterator[Path]:
    """The same for a folder."""
    require_writable(target, force=force)
    beside = _beside(target)
    try:
        beside.mkdir()
    except OSError as error:
        raise _unwritable(beside, error) from error
    try:
        yield beside
        require_writable(target, force=force)
        _replace_folder(beside, target)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


@contextmanager
def open_output(path: Path) -> Iterator[BinaryIO]:
    """A new file to write to; what the disk says against it becomes StoreUnavailable."""
    try:
        with path.open("xb") as file:
            yield file
    except OSError as error:
        raise _unwritable(path, error) from error


@contextmanager
def standard_output() -> Iterator[BinaryIO]:
    """Where data goes that has no file."""
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.partial")


def _in_place(beside: Path, target: Path) -> None:
    try:
        beside.replace(target)
    except OSError as error:
        raise _unwritable(target, error) from error


def _replace_folder(beside: Path, target: Path) -> None:
    """A folder cannot be replaced in one step: the old one steps aside and goes when the new one stands."""
    old = _beside(target) if os.path.lexists(target) else None
    if old is not None:
        _in_place(target, old)
    try:
        _in_place(beside, target)
    except BaseException:
        if old is not None:
            _in_place(old, target)
        raise
    if old is not None:
        _remove(old)


def _remove(old: Path) -> None:
    if old.is_dir() and not old.is_symlink():
        shutil.rmtree(old)
    else:
        old.unlink()


def _unwritable(path: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(f"{path} cannot be written: {error.strerror or error}; nothing was left behind")
