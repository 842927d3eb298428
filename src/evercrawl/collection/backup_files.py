"""Backups that people keep beside a collection, and hand on as one TAR file.
A TAR file may come from anybody, so it restores pages and versions only: settings, alerts, credentials and access stay
those of the collection."""

from __future__ import annotations

import re
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from evercrawl.collection.backup import MANIFEST, Backup, read_manifest, restore
from evercrawl.collection.maintenance import VerifyReport
from evercrawl.config import collection_file, is_collection, read_settings, write_setting
from evercrawl.errors import ConfigError, StoreUnavailable

FOLDER_ENDING = ".backups"
TAR_ENDING = ".tar"
UNPACKED = "unpacked"  # Folder of a TAR file that is being restored.
PARTIAL_ENDING = ".part"  # Of a TAR file that is being uploaded.
MAX_MEMBERS = 1_000_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_CHUNK = 1 << 20
_TAKEN = ("state", "archive", "removals", "inbox.sqlite", "runs.jsonl")
"""Files and folders of a TAR file that are restored."""
_KEPT_SETTINGS = ("seeds", "pages", "sections", "kind", "max_depth", "removed")
"""Settings of `scope` that are taken from a TAR file: which pages the collection is about."""


@dataclass(frozen=True, slots=True)
class StoredBackup:
    """A backup beside the collection; `is_file`: a TAR file, whose content has not been checked."""

    name: str
    at: datetime
    bytes: int
    is_file: bool


def backups_folder(collection: Path) -> Path:
    """Return where the backups of a collection are kept unless another folder is named: beside it."""
    path = collection.resolve()
    return path.with_name(path.name + FOLDER_ENDING)


def list_backups(collection: Path) -> list[StoredBackup]:
    """Return the finished backups and the TAR files beside a collection, the newest first."""
    folder = backups_folder(collection)
    found: list[StoredBackup] = []
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_symlink() or not _NAME.fullmatch(path.name):
            continue
        if path.is_file() and path.suffix == TAR_ENDING:
            about = path.stat()
            found.append(StoredBackup(path.name, datetime.fromtimestamp(about.st_mtime, UTC), about.st_size, True))
        elif path.is_dir() and (path / MANIFEST).exists():
            with suppress(ConfigError):
                manifest = read_manifest(path)
                found.append(StoredBackup(path.name, _time_of(manifest), manifest.bytes, False))
    return sorted(found, key=lambda one: (one.at, one.name), reverse=True)


def _time_of(manifest: Backup) -> datetime:
    try:
        return datetime.fromisoformat(manifest.at).astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        raise ConfigError(f"{manifest.at!r} is not a time") from None


def new_backup_name(now: datetime) -> str:
    """Return the name of a backup made now."""
    return f"{now:%Y-%m-%d-%H%M%S}"


def find_backup(collection: Path, name: str) -> Path:
    """Return the path of a listed backup; raise ConfigError if there is none of this name."""
    if not any(one.name == name for one in list_backups(collection)):
        raise ConfigError(f"there is no backup {name[:100]!r}")
    return backups_folder(collection) / name


def delete_backup(collection: Path, name: str) -> None:
    """Delete a listed backup."""
    path = find_backup(collection, name)
    if path.is_dir():
        (path / MANIFEST).unlink()  # An interrupted deletion leaves nothing that could be restored.
        shutil.rmtree(path)
    else:
        path.unlink()


def tar_size(backup: Path) -> int:
    """Return the size of the TAR file of a backup."""
    if backup.is_file():
        return backup.stat().st_size
    return sum(len(header) + _padded(path.stat().st_size) for path, header in _members(backup)) + 2 * tarfile.BLOCKSIZE


def tar_chunks(backup: Path) -> Iterator[bytes]:
    """Yield the TAR file of a backup, without writing it to disk."""
    if backup.is_file():
        yield from _read_chunks(backup)
        return
    for path, header in _members(backup):
        yield header
        yield from _read_chunks(path)
        yield bytes(-path.stat().st_size % tarfile.BLOCKSIZE)
    yield bytes(2 * tarfile.BLOCKSIZE)


def _members(backup: Path) -> Iterator[tuple[Path, bytes]]:
    for path in sorted(backup.rglob("*")):
        if path.is_file() and not path.is_symlink():
            info = tarfile.TarInfo(path.relative_to(backup).as_posix())
            info.size, info.mode, info.mtime = path.stat().st_size, 0o600, int(path.stat().st_mtime)
            yield path, info.tobuf(tarfile.PAX_FORMAT)


def _padded(size: int) -> int:
    return size + -size % tarfile.BLOCKSIZE


def _read_chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def restore_listed(collection: Path, name: str) -> tuple[Path | None, VerifyReport]:
    """Replace the collection by a listed backup, whose versions are all read first; return where the old one is kept.
    Passwords, tokens and sessions of the web interface stay as they are."""
    backup = find_backup(collection, name)
    if backup.is_dir():
        return restore(backup, collection)
    folder = backups_folder(collection) / UNPACKED
    shutil.rmtree(folder, ignore_errors=True)
    try:
        unpack(backup, folder)
        return restore(folder, collection, only=_TAKEN, adjust=lambda fresh: _take_scope(folder, fresh))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _take_scope(backup: Path, fresh: Path) -> None:
    """Write which pages the backup is about into the settings of the restored collection."""
    theirs, ours = (read_settings(one, untrusted=True).settings.scope for one in (backup, fresh))
    for name in _KEPT_SETTINGS:
        if getattr(theirs, name) != getattr(ours, name):
            write_setting(collection_file(fresh), f"scope.{name}", getattr(theirs, name))


def unpack(tar: Path, to: Path) -> None:
    """Unpack the TAR file of a backup; raise ConfigError if it is none, or holds anything but plain files."""
    if shutil.disk_usage(tar.parent).free < 2 * tar.stat().st_size:
        raise StoreUnavailable(f"the disk has no room to unpack {tar.name}; free twice its size")
    try:
        with tarfile.open(tar, "r:") as archive:  # Not compressed, so that it cannot grow.
            for number, member in enumerate(archive):
                if number >= MAX_MEMBERS:
                    raise ConfigError(f"{tar.name} has more than {MAX_MEMBERS:,} files")
                _unpack_member(archive, member, to)
    except (tarfile.TarError, OSError, EOFError, ValueError, OverflowError, RecursionError) as error:
        raise ConfigError(f"{tar.name} is not the file of a backup: {error}") from error
    if not is_collection(to) or not (to / MANIFEST).exists():
        raise ConfigError(f"{tar.name} is not the file of a finished backup")


def _unpack_member(archive: tarfile.TarFile, member: tarfile.TarInfo, to: Path) -> None:
    name = PurePosixPath(member.name)
    if member.isdir():
        return
    if not member.isreg() or member.issparse() or name.is_absolute() or ".." in name.parts or not name.parts:
        raise ConfigError(f"{member.name[:100]!r} is not a plain file of a backup")
    target = to / name
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    source = archive.extractfile(member)
    assert source is not None
    with target.open("xb") as out:
        shutil.copyfileobj(source, out, _CHUNK)
