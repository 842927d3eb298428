"""Pages that somebody asks to be visited soon: the operator in the web interface, or an owner by IndexNow.

Announcements are small files in the collection's folder, so that any process can write one while another
crawls. A file goes when its pages are in the queue on disk: it may be heeded twice, but is never lost.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from evercrawl.engine.crawl import Crawl
from evercrawl.errors import StoreUnavailable

FOLDER = "announced"
LOOK_EVERY_S = 2.0
MOST_URLS = 10_000
MOST_WAITING = 10_000
"""Files that may wait; beyond that announcements are refused."""


def announce(collection: Path, urls: Sequence[str], *, by: str) -> Path:
    """Leave word that these pages should be visited soon; StoreUnavailable where too much waits already."""
    folder = collection / FOLDER
    told = {"urls": list(urls[:MOST_URLS]), "by": by, "at": datetime.now(UTC).isoformat()}
    name = f"{datetime.now(UTC):%Y%m%d%H%M%S%f}-{secrets.token_hex(4)}"
    try:
        folder.mkdir(exist_ok=True)
        if sum(1 for _ in folder.iterdir()) >= MOST_WAITING:
            raise StoreUnavailable("too many announcements wait for a crawl; start one")
        fresh = folder / f"{name}.new"
        with fresh.open("w", encoding="utf-8") as out:
            out.write(json.dumps(told))
            out.flush()
            os.fsync(out.fileno())
        return fresh.rename(folder / f"{name}.json")
    except OSError as error:
        raise StoreUnavailable(f"{folder} cannot be written: {error.strerror or error}") from error


def waiting(collection: Path) -> list[Path]:
    """The announcements that nobody has heeded yet, oldest first."""
    return sorted((collection / FOLDER).glob("*.json"))


class VisitRequest(NamedTuple):
    """Pages that somebody asked for, by whom and when."""

    at: datetime
    by: str
    urls: list[str]


def announcements(collection: Path, *, most: int) -> tuple[int, list[VisitRequest]]:
    """How many wait, and the newest of them, newest first; a file that goes meanwhile is left out."""
    files = waiting(collection)
    read = (_read(file) for file in files[: -most - 1 : -1])
    return len(files), [one for one in read if one is not None]


class WorkerPart(NamedTuple):
    """Which of several workers this is: each heeds the announcements about its own shards."""

    number: int = 0
    workers: int = 1


ALONE = WorkerPart()


async def take_in(crawl: Crawl, collection: Path, part: WorkerPart = ALONE) -> int:
    """Queue what was announced; the number of URLs that were read."""
    files = [file for file in waiting(collection) if not _mark(file, part.number, part).exists()]
    urls = [url for file in files for url in _urls_in(file)]
    if urls:
        await crawl.offering.visit_soon(dict.fromkeys(urls))
    for file in files:
        _heard(file, part)
    return len(urls)


def _heard(file: Path, part: WorkerPart) -> None:
    """The file goes when every worker has heard it."""
    marks = [_mark(file, number, part) for number in range(part.workers)]
    if part.workers > 1:
        marks[part.number].touch()
    if all(mark.exists() or number == part.number for number, mark in enumerate(marks)):
        file.unlink(missing_ok=True)
        for mark in marks:
            mark.unlink(missing_ok=True)


def _mark(file: Path, number: int, part: WorkerPart) -> Path:
    return file.with_suffix(f".heard-{number}-of-{part.workers}")


def _urls_in(file: Path) -> list[str]:
    found = _read(file)
    return [] if found is None else found.urls


def _read(file: Path) -> VisitRequest | None:
    """None: it cannot be read."""
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        urls = [url for url in told["urls"] if isinstance(url, str)]
        return VisitRequest(datetime.fromisoformat(told["at"]), str(told["by"]), urls)
    except (OSError, ValueError, KeyError, TypeError):
        return None


@asynccontextmanager
async def heeding(crawl: Crawl, collection: Path, part: WorkerPart = ALONE) -> AsyncIterator[None]:
    """Announcements are heeded while the block runs."""
    await take_in(crawl, collection, part)
    task = asyncio.create_task(_heed(crawl, collection, part))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _heed(crawl: Crawl, collection: Path, part: WorkerPart) -> None:
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        await take_in(crawl, collection, part)
