"""Files and folders that are there whole or not at all, and that never take another's place unasked."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from evercrawl.errors import ConfigError, StoreUnavailable

MAPPING = "mapping.jsonl"
"""The file by which a folder is known to be an export of ours."""


def require_free(target: Path, *, force: bool) -> None:
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
    require_free(target, force=force)
    if target.is_dir():
        raise ConfigError(f"{target} is a folder, and a file was to be written; name it with -o")
    beside = _beside(target)
    try:
        yield beside
        require_free(target, force=force)
        _in_place(beside, target)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def new_folder(target: Path, *, force: bool) -> Iterator[Path]:
    """The same for a folder."""
    require_free(target, force=force)
    beside = _beside(target)
    try:
        beside.mkdir()
    except OSError as error:
        raise _unwritable(beside, error) from error
    try:
        yield beside
        require_free(target, force=force)
        _replace_folder(beside, target)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
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
