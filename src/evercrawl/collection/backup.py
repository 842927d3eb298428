"""Back up a collection into a folder, also while a crawl runs, and restore it.
The state is copied before the archive, which only grows, so a backup holds every record that its state refers to."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from evercrawl.adapters.sqlite.hardened_file import connect
from evercrawl.adapters.sqlite.state_file import TranslateErrors, database_of
from evercrawl.adapters.system import CollectionLock, sync_folder
from evercrawl.collection.maintenance import VerifyReport, verify
from evercrawl.collection.removal import finish_removals, removals, write_removal
from evercrawl.config import collection_file, is_collection, read_settings, removals_folder, write_setting
from evercrawl.config.edit import replace_file
from evercrawl.config.trust import ADDRESS_FILES
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.settings import Settings

MANIFEST = "backup.json"
_DATABASES = (".sqlite", ".db")
_LEFT_OUT = frozenset(
    ("index", "graph", "near", "lock", "alerts.lock", "live.json", "run-control.json", "downloads", MANIFEST)
)
"""What is computed again, or belongs to a running process."""
_ACCESS = ("web.sqlite",)  # Passwords, tokens and sessions: a restore must not revive one that was revoked.
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Backup:
    """A finished backup."""

    at: str
    source: str
    files: int
    bytes: int
    copied_bytes: int  # What this run had to copy.


def back_up(collection: Path, settings: Settings, target: Path) -> Backup:
    """Copy a collection into a folder, or what has changed since the last backup there. A kill leaves a folder that
    `restore` refuses until the next backup has finished."""
    if database_of(collection) is not None or settings.store.url is not None:
        raise ConfigError(
            "the state is in PostgreSQL: back it up with pg_dump, and the folder with rsync (see the docs)"
        )
    if target.parts and target.parts[0].endswith(":"):
        raise ConfigError(f"{target.parts[0]}//… is not a folder; back up to a folder, and copy it from there")
    if target.exists() and any(target.iterdir()) and not (target / MANIFEST).exists() and not is_collection(target):
        raise ConfigError(f"{target} is not empty and not a backup; give a new folder")
    if target.resolve().is_relative_to(collection.resolve()):
        raise ConfigError(f"{target} is inside the collection; give a folder elsewhere, best on another disk")
    target.mkdir(parents=True, exist_ok=True, mode=0o700)
    (target / MANIFEST).unlink(missing_ok=True)
    names = sorted(
        _files(collection), key=lambda name: (name.suffix not in _DATABASES, name.parts[0] == "archive", name)
    )
    copied = sum(_copy(collection / name, target / name) for name in names)
    # Files that were pruned or removed; the archive is listed again, because a crawl may have begun a new file.
    kept = set(names) | set(_files(collection))
    copied += sum(_copy(collection / name, target / name) for name in kept - set(names) if name.parts[0] == "archive")
    for name in set(_files(target)) - kept:
        (target / name).unlink()
    sizes = [(target / name).stat().st_size for name in _files(target)]
    done = Backup(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", str(collection), len(sizes), sum(sizes), copied)
    sync_folder(target)
    replace_file(target / MANIFEST, json.dumps(asdict(done), indent=1) + "\n")
    return done


def read_manifest(backup: Path) -> Backup:
    """Return what a backup says about itself; raise ConfigError if it is none or was not finished."""
    try:
        return Backup(**json.loads((backup / MANIFEST).read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise ConfigError(f"{backup} is not a finished backup; make one with: evercrawl backup {backup}") from None
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise ConfigError(f"{backup / MANIFEST} cannot be read: {error}") from error


def restore(
    backup: Path, collection: Path, *, only: Sequence[str] = (), adjust: Callable[[Path], None] | None = None
) -> tuple[Path | None, VerifyReport]:
    """Replace a collection by a backup, after all its versions were read; return where the old one is kept.
    What was removed on request since the backup is removed again, and who may use the web interface stays the same.
    With `only`, other files and folders stay those of the collection. `adjust` changes the new one before it is used.
    """
    read_manifest(backup)
    if only:
        _require_local(backup)
    report = verify(backup)
    if not report.is_sound():
        raise StoreUnavailable(
            f"the backup {backup} has {report.damaged} damaged versions, so nothing was changed;"
            f" see them with: evercrawl -C {backup} verify"
        )
    fresh = collection.with_name(f"{collection.name}.restoring")
    shutil.rmtree(fresh, ignore_errors=True)
    for name in _files(backup):
        if not only or name.parts[0] in only:
            _copy(backup / name, fresh / name)
    aside = None
    if collection.exists():
        with CollectionLock(collection):
            for name in _files(collection):
                if name.parts[0] in _ACCESS or (only and name.parts[0] not in only):
                    _copy(collection / name, fresh / name)
            if adjust is not None:
                adjust(fresh)
            _repeat_removals(collection, fresh)
            aside = collection.with_name(f"{collection.name}.before-{datetime.now(UTC):%Y%m%dT%H%M%S}")
            collection.rename(aside)
    fresh.rename(collection)
    sync_folder(collection.parent)
    return aside, report


def _require_local(backup: Path) -> None:
    """Raise ConfigError if the backup names a place outside of it."""
    for name in ADDRESS_FILES:
        if (backup / name).exists():
            raise ConfigError(f"{backup / name} names a place outside of the backup, so it cannot be restored here")


def _repeat_removals(old: Path, fresh: Path) -> None:
    known = {one.id for one in removals(fresh)}
    for one in removals(old):
        if one.id not in known:
            write_removal(fresh, replace(one, state="pending"))
    if removals_folder(fresh).is_dir():
        finish_removals(fresh, read_settings(fresh).settings)


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files that a backup holds, relative to the folder."""
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        is_log = path.name.startswith(("evercrawl.log", "web-crawl.log")) or path.name.endswith(
            (".new", "-wal", "-shm")
        )
        if name.parts[0] not in _LEFT_OUT and not is_log and path.is_file() and not path.is_symlink():
            yield name


def _copy(source: Path, target: Path) -> int:
    """Copy a file, or what was appended to it; return the number of bytes copied."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o750)
    if source.suffix in _DATABASES:
        return _copy_database(source, target)
    size, done = source.stat().st_size, target.stat().st_size if target.exists() else 0
    if done == size and source.stat().st_mtime_ns == target.stat().st_mtime_ns:
        return 0
    if not (source.name.endswith(".warc.gz") and 0 < done <= size and _same_start(source, target, done)):
        fresh = target.with_name(f"{target.name}.new")
        shutil.copy2(source, fresh)
        fresh.replace(target)
        return size
    with source.open("rb") as full, target.open("ab") as part:
        full.seek(done)
        shutil.copyfileobj(full, part)
        part.flush()
        os.fsync(part.fileno())
    shutil.copystat(source, target)
    return size - done


def _same_start(source: Path, target: Path, size: int) -> bool:
    """Return whether a copy of an archive file is the beginning of it, by its first and last bytes."""
    with source.open("rb") as full, target.open("rb") as part:
        for start in (0, max(0, size - _BLOCK)):
            full.seek(start), part.seek(start)
            if full.read(min(_BLOCK, size - start)) != part.read(min(_BLOCK, size - start)):
                return False
    return True


def _copy_database(source: Path, target: Path) -> int:
    """Copy a database as of one moment, while others may write to it."""
    fresh = target.with_name(f"{target.name}.new")
    fresh.unlink(missing_ok=True)
    with TranslateErrors(source), closing(connect(source, mode="ro")) as old, closing(sqlite3.connect(fresh)) as new:
        old.backup(new)
    fresh.chmod(source.stat().st_mode)
    fresh.replace(target)
    return target.stat().st_size


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
