"""How much room does a collection take, part by part, and what of it can be had back?"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from evercrawl.adapters.lock import CollectionLock
from evercrawl.adapters.sqlite.connection import open_for_reading, open_for_writing
from evercrawl.adapters.sqlite.fault import Translating
from evercrawl.adapters.sqlite.store import shard_path, shards_in, state_folder
from evercrawl.adapters.warc.repair import SET_ASIDE
from evercrawl.collection.exchange.take_in import WORK_FOLDER
from evercrawl.model.settings import Settings

LOG_FILE = "evercrawl.log"
LEAST_PAGES_FREE = 16
"""A state file with fewer free pages is left as it is."""


@dataclass(frozen=True, slots=True)
class SpacePart:
    """One part of a collection on disk."""

    name: str
    files: int
    bytes: int
    reclaimable: int
    """Bytes that `vacuum` would free, as far as that can be told."""


def space_of(collection: Path) -> list[SpacePart]:
    """State, archive, log and the rest."""
    free = _free_bytes(collection)
    state = [path for path in state_folder(collection).glob("*") if path.is_file()]
    archive = [path for path in (collection / "archive").glob("*") if path.is_file()]
    aside = [path for path in archive if SET_ASIDE in path.name]
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
        before = sum(part.bytes for part in space_of(collection))
        for shard in shards_in(collection):
            _vacuum(shard_path(collection, shard), durability=settings.store.durability)
        for folder in _left_behind(collection):
            shutil.rmtree(folder)
        return before - sum(part.bytes for part in space_of(collection))


def _vacuum(path: Path, *, durability: str) -> None:
    db = open_for_writing(path, durability=durability)
    try:
        with Translating(path):
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


def _part(name: str, files: list[Path], *, reclaimable: int = 0) -> SpacePart:
    return SpacePart(name, len(files), sum(path.stat().st_size for path in files), reclaimable)
