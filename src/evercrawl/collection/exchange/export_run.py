"""One export: select versions, read them shard by shard, count damaged ones, and write files atomically."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from evercrawl.adapters.sql.listing_reader import StoredVersion, VersionFilter, VersionReader, version_reader
from evercrawl.adapters.sql.state_reader import StateReader
from evercrawl.collection.stored_pages import StoredRecord, decode_stored_body, parse_response, read_stored_record
from evercrawl.core.url import site_of, site_parts
from evercrawl.engine.assets import asset_mark, asset_marks
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.document import USAGE_KEY, Document, UsageTerms, require_use, terms_from
from evercrawl.model.listing import VersionSelection
from evercrawl.model.page import Resource
from evercrawl.model.settings import Settings
from evercrawl.model.time import to_us


def selected_versions(
    collection: Path, selection: VersionSelection, on_refused: Callable[[], None] = lambda: None
) -> Iterator[tuple[VersionReader, StoredVersion]]:
    """Yield the selected versions with the reader of their shard, page by page.
    `on_refused` is called for each that is left out because its publisher refuses the use."""
    bounds, use = selection_bounds(selection), selection.usable_for
    require_use(use)
    for shard in StateReader(collection).shards():
        with version_reader(collection, shard) as reader:
            for version in reader.stored_versions(bounds):
                if use is not None and usage_of(reader, version).refusal(use) is not None:
                    on_refused()
                else:
                    yield reader, version


def usage_of(reader: VersionReader, version: StoredVersion) -> UsageTerms:
    """Return what the publisher said about the use of a version."""
    return terms_from(reader.analyses(version.page_id).get(version.number, {}).get(USAGE_KEY))


def selection_bounds(selection: VersionSelection) -> VersionFilter:
    """Return the selection as a filter of the store."""
    return VersionFilter(
        site=selection.site.strip().rstrip("/").lower() if selection.site else None,
        since_us=to_us(selection.since) if selection.since else None,
        until_us=to_us(selection.until) if selection.until else None,
        lang=selection.lang.strip().lower() if selection.lang else None,
        newest_only=not selection.all_versions,
    )


def as_version(resource: Resource) -> StoredVersion:
    """Return a resource as a version with the number 0."""
    return StoredVersion(
        page_id=0,
        url=resource.url,
        number=0,
        seen_us=resource.seen_us,
        status=resource.status,
        digest=resource.digest,
        payload_sha1=resource.payload_sha1,
        content_type=resource.content_type,
        encoding=None,
        title=None,
        lang=None,
        body_bytes=resource.body_bytes,
        words=0,
        file=resource.file,
        offset=resource.offset,
        length=resource.length,
        record_id=resource.record_id,
        truncated=resource.truncated,
    )


MAX_DAMAGE = 100  # Damaged records listed in a report; all are counted.


@dataclass(slots=True)
class ExportReport:
    """The result of an export."""

    path: str | None = None  # The file or folder; None: standard output.
    pages: int = 0
    versions: int = 0
    bytes: int = 0  # Bytes of stored records read.
    resources: int = 0  # Redirects and assets.
    refused: int = 0  # Versions left out because their publisher refuses the use.
    damaged: int = 0
    damage: list[str] = field(default_factory=list)  # Descriptions of the first damaged records.
    first_page: str | None = None  # Of a mirror: the file to open.


OnProgress = Callable[[ExportReport], None]


class SelectedResponse(NamedTuple):
    """A selected version, or a redirect or an asset, and its stored response."""

    version: StoredVersion
    stored: StoredRecord
    resource: Resource | None = None
    usage: UsageTerms = UsageTerms()


class ExportedPage(NamedTuple):
    """A selected version, decoded and parsed."""

    version: StoredVersion
    stored: StoredRecord
    body: bytes
    document: Document
    analysis: Mapping[str, Any]  # The results of analysers.
    usage: UsageTerms = UsageTerms()


@dataclass
class ExportRun:
    """The versions of one export. Invariant: every selected version is counted as exported or damaged."""

    collection: Path
    settings: Settings
    selection: VersionSelection
    on_progress: OnProgress | None = None
    as_sent: bool = False  # Write a mirror without changing links.
    report: ExportReport = field(default_factory=ExportReport)
    _last_page: tuple[int, int] | None = None

    @property
    def archive(self) -> Path:
        """Return the folder of the collection's WARC files."""
        return self.collection / "archive"

    def answers(self) -> Iterator[SelectedResponse]:
        """Yield every selected version that can be read."""
        for reader, version in self._selected():
            try:
                stored = read_stored_record(self.archive, reader, version)
                answer = SelectedResponse(version, stored, usage=usage_of(reader, version))
            except StoreUnavailable as error:
                self.add_damage(version, error)
                continue
            yield answer
            self._count(reader, version)

    def resources(self) -> Iterator[SelectedResponse]:
        """Yield the redirects and assets that belong to the selected sites and times; with the newest versions of
        pages, the newest content of each. Nothing if only versions for one use are wanted: assets have no terms."""
        if self.selection.usable_for is not None:
            return
        for shard in StateReader(self.collection).shards():
            with version_reader(self.collection, shard) as reader:
                for resource in self._selected_resources(reader):
                    yield from self._resource(reader, resource)

    def redirects(self) -> Iterator[Resource]:
        """Yield the redirects among the resources, without their responses."""
        for shard in StateReader(self.collection).shards():
            with version_reader(self.collection, shard) as reader:
                yield from (one for one in self._selected_resources(reader) if one.moved_to is not None)

    def _selected_resources(self, reader: VersionReader) -> Iterator[Resource]:
        chosen: Iterator[Resource] = filter(self._is_selected, reader.resources())
        if self.selection.all_versions:
            return chosen
        return (max(contents, key=_newest_sound) for _, contents in groupby(chosen, attrgetter("key")))

    def _resource(self, reader: VersionReader, resource: Resource) -> Iterator[SelectedResponse]:
        version = as_version(resource)
        try:
            yield SelectedResponse(version, read_stored_record(self.archive, reader, version), resource)
            self.report.resources += 1
        except StoreUnavailable as error:
            self.add_damage(version, error)

    @cached_property
    def _used_assets(self) -> set[bytes]:
        """The marks of all assets of the selected site's pages."""
        site, found = selection_bounds(self.selection).site, set[bytes]()
        for shard in StateReader(self.collection).shards():
            with version_reader(self.collection, shard) as reader:
                for _, marks in reader.asset_uses(site):
                    found.update(asset_marks(marks))
        return found

    def _is_selected(self, resource: Resource) -> bool:
        """Return whether a resource is from the selected time, and from the selected site or used by its pages."""
        wanted = selection_bounds(self.selection)
        if wanted.until_us is not None and resource.seen_us > wanted.until_us:
            return False
        if wanted.since_us is not None and resource.last_us < wanted.since_us:
            return False
        site = site_of(resource.url)
        is_own = wanted.site in (None, site, site.partition("://")[2], site_parts(site).host)
        return is_own or asset_mark(resource.key) in self._used_assets

    def pages(self) -> Iterator[ExportedPage]:
        """Yield every selected version that can be read and parsed."""
        for reader, version in self._selected():
            try:
                stored = read_stored_record(self.archive, reader, version)
                body = decode_stored_body(version, stored.http)
            except StoreUnavailable as error:
                self.add_damage(version, error)
                continue
            document = parse_response(version.url, stored.http.headers, body, self.settings)
            analysis = reader.analyses(version.page_id).get(version.number, {})
            usage = terms_from(analysis.pop(USAGE_KEY, None))
            yield ExportedPage(version, stored, body, document, analysis, usage)
            self._count(reader, version)

    def _selected(self) -> Iterator[tuple[VersionReader, StoredVersion]]:
        return selected_versions(self.collection, self.selection, self._count_refused)

    def _count_refused(self) -> None:
        self.report.refused += 1

    def _count(self, reader: VersionReader, version: StoredVersion) -> None:
        page = id(reader), version.page_id
        self.report.pages += page != self._last_page
        self._last_page = page
        self.report.versions += 1
        self.report.bytes += version.length
        if self.on_progress is not None:
            self.on_progress(self.report)

    def add_damage(self, version: StoredVersion, error: StoreUnavailable) -> None:
        """Count a version or resource that cannot be read."""
        self.report.damaged += 1
        if len(self.report.damage) < MAX_DAMAGE:
            self.report.damage.append(f"version {version.number} of {version.url}: {error}")


def _newest_sound(resource: Resource) -> tuple[bool, int, int]:
    """Order the contents of a URL: an error comes before what it replaced."""
    return resource.status < 400, resource.last_us, resource.seen_us


MAPPING = "mapping.jsonl"  # This file identifies a folder as an export of evercrawl.


def require_writable(target: Path, *, force: bool) -> None:
    """Raise ConfigError if the target exists and must not be replaced."""
    if not target.parent.is_dir():
        raise ConfigError(f"the folder {target.parent} does not exist; create it first")
    if not os.path.lexists(target):
        return
    if not force:
        raise ConfigError(f"{target} exists; choose another name with -o, or replace it with --force")
    if target.is_dir() and not target.is_symlink() and any(target.iterdir()) and not (target / MAPPING).is_file():
        raise ConfigError(f"{target} is not an export of evercrawl; it is never replaced")


@contextmanager
def new_file(target: Path, *, force: bool) -> Iterator[Path]:
    """Yield a temporary file; rename it to `target` after the block, or delete it after an error."""
    require_writable(target, force=force)
    if target.is_dir():
        raise ConfigError(f"{target} is a folder; give a file name with -o")
    temporary = _temporary_path(target)
    try:
        yield temporary
        require_writable(target, force=force)
        _move_file(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def new_folder(target: Path, *, force: bool) -> Iterator[Path]:
    """Yield a temporary folder; rename it to `target` after the block, or delete it after an error."""
    require_writable(target, force=force)
    temporary = _temporary_path(target)
    try:
        temporary.mkdir()
    except OSError as error:
        raise _unwritable(temporary, error) from error
    try:
        yield temporary
        require_writable(target, force=force)
        _replace_folder(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def open_output(path: Path) -> Iterator[BinaryIO]:
    """Open a new file; turn disk errors into StoreUnavailable."""
    try:
        with path.open("xb") as file:
            yield file
    except OSError as error:
        raise _unwritable(path, error) from error


@contextmanager
def standard_output() -> Iterator[BinaryIO]:
    """Yield standard output; raise ConfigError if it is closed."""
    output: BinaryIO | None = getattr(sys.stdout, "buffer", None)
    if output is None:
        raise ConfigError("standard output is closed; write to a file with -o FILE")
    yield output
    output.flush()


def _temporary_path(target: Path) -> Path:
    return target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.partial")


def _move_file(temporary: Path, target: Path) -> None:
    try:
        temporary.replace(target)
    except OSError as error:
        raise _unwritable(target, error) from error


def _replace_folder(temporary: Path, target: Path) -> None:
    """Replace a folder: rename the old one, move the new one in place, then delete the old one."""
    old = _temporary_path(target) if os.path.lexists(target) else None
    if old is not None:
        _move_file(target, old)
    try:
        _move_file(temporary, target)
    except BaseException:
        if old is not None:
            _move_file(old, target)
        raise
    if old is not None:
        _remove(old)


def _remove(old: Path) -> None:
    if old.is_dir() and not old.is_symlink():
        shutil.rmtree(old)
    else:
        old.unlink()


def _unwritable(path: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(f"{path} cannot be written: {error.strerror or error}")
