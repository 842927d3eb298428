"""Files that are there whole or not at all, also after `kill -9` or a power cut."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evercrawl.errors import CollectionBusy, StoreUnavailable


def write_whole(path: Path, data: bytes) -> bool:
    """The file holds exactly `data`; False: it did before, and was not touched, so its time stays true.

    The new file is on the disk before it takes the old one's place. What a killed run left behind has a fixed
    name and is overwritten by the next.
    """
    try:
        if _holds(path, data):
            return False
        beside = path.with_name(f".{path.name}.partial")
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be written: {error.strerror or error}") from error
    return True


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except FileNotFoundError:
        return False


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Nobody else holds this lock file until the block ends; CollectionBusy where somebody does."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be written: {error.strerror or error}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise CollectionBusy(f"another build is under way (it holds {path}); wait for its end") from None
    try:
        yield
    finally:
        os.close(handle)
