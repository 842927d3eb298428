"""Back up a collection into a folder, also while a crawl runs, and restore it.
The state is copied before the archive, which only grows, so a backup holds every record that its state refers to."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from evercrawl.adapters.sqlite.hardened_file import connect
from evercrawl.adapters.sqlite.state_file import TranslateErrors, database_of
from evercrawl.adapters.system import CollectionLock, sync_folder
from evercrawl.collection.maintenance import VerifyReport, verify
from evercrawl.collection.removal import finish_removals, removals, write_removal
from evercrawl.config import is_collection, read_settings, removals_folder
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
