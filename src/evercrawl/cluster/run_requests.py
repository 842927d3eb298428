"""Requests of other processes to a running crawl, by small files in the collection's folder.
To visit pages soon, from the operator or from a site owner by IndexNow: a file is deleted once its pages are queued on
disk, so it may be processed twice but is never lost. To pause, resume or stop: a pause lasts until it is ended or a
person starts a crawl; a request to stop only affects runs that began before it."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evercrawl.errors import StoreUnavailable

if TYPE_CHECKING:
    from evercrawl.engine.crawl import Crawl  # A command that only asks for visits needs no engine.

FOLDER = "visit-requests"
BUDGET_FILE = "announced"  # New URLs that each source has announced today.
POLL_INTERVAL_S = 2.0
MAX_URLS = 10_000
MAX_PENDING = 10_000  # Pending files beyond which requests are rejected.


def request_visits(collection: Path, urls: Sequence[str], *, by: str) -> Path:
    """Request that pages be visited soon; raise StoreUnavailable if too many requests are pending."""
    folder = collection / FOLDER
    request = {"urls": list(urls[:MAX_URLS]), "by": by, "at": datetime.now(UTC).isoformat()}
    name = f"{datetime.now(UTC):%Y%m%d%H%M%S%f}-{secrets.token_hex(4)}"
    try:
        folder.mkdir(exist_ok=True)
        if sum(1 for _ in folder.iterdir()) >= MAX_PENDING:
            raise StoreUnavailable("too many visit requests are pending; start a crawl")
        fresh = folder / f"{name}.new"
        with fresh.open("w", encoding="utf-8") as out:
            out.write(json.dumps(request))
            out.flush()
            os.fsync(out.fileno())
        return fresh.rename(folder / f"{name}.json")
    except OSError as error:
        raise StoreUnavailable(f"{folder} cannot be written: {error.strerror or error}") from error


def take_new_urls(collection: Path, source: str, wanted: int, *, per_day: int, now: datetime) -> int:
    """Return how many URLs that nothing links to `source` may still announce today, and count them."""
    path, today = collection / FOLDER / BUDGET_FILE, now.date().isoformat()
    try:
        path.parent.mkdir(exist_ok=True)
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            day, used = _read_budget(file.read())
            used = used if day == today else {}
            taken = min(wanted, max(0, per_day - used.get(source, 0)))
            used[source] = used.get(source, 0) + taken
            file.seek(0)
            file.truncate()
            file.write(json.dumps([today, used]))
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be written: {error.strerror or error}") from error
    return taken


def _read_budget(text: str) -> tuple[str, dict[str, int]]:
    try:
        day, used = json.loads(text)
        return str(day), {str(source): int(number) for source, number in used.items()}
    except (ValueError, TypeError, AttributeError):
        return "", {}


def pending_requests(collection: Path) -> list[Path]:
    """Return the files of unprocessed requests, oldest first."""
    return sorted((collection / FOLDER).glob("*.json"))


class VisitRequest(NamedTuple):
    """Requested pages, by whom and when."""

    at: datetime
    by: str
    urls: list[str]


def list_requests(collection: Path, *, limit: int) -> tuple[int, list[VisitRequest]]:
    """Return the number of pending requests and the newest of them, skipping files that vanish meanwhile."""
    files = pending_requests(collection)
    read = (_read(file) for file in files[: -limit - 1 : -1])
    return len(files), [one for one in read if one is not None]


class WorkerPart(NamedTuple):
    """The number of this worker among several; each processes the requests for its own shards."""

    number: int = 0
    workers: int = 1


SINGLE_WORKER = WorkerPart()


async def queue_requests(crawl: Crawl, collection: Path, part: WorkerPart = SINGLE_WORKER) -> int:
    """Queue the requested pages; return the number of URLs read."""
    files = [file for file in pending_requests(collection) if not _mark_file(file, part.number, part).exists()]
    urls = [url for file in files for url in _urls_in(file)]
    if urls:
        await crawl.urls.visit_soon(dict.fromkeys(urls))
    for file in files:
        _mark_done(file, part)
    return len(urls)


def _mark_done(file: Path, part: WorkerPart) -> None:
    """Delete the file once every worker has processed it."""
    marks = [_mark_file(file, number, part) for number in range(part.workers)]
    if part.workers > 1:
        marks[part.number].touch()
    if all(mark.exists() or number == part.number for number, mark in enumerate(marks)):
        file.unlink(missing_ok=True)
        for mark in marks:
            mark.unlink(missing_ok=True)


def _mark_file(file: Path, number: int, part: WorkerPart) -> Path:
    return file.with_suffix(f".done-{number}-of-{part.workers}")


def _urls_in(file: Path) -> list[str]:
    found = _read(file)
    return [] if found is None else found.urls


def _read(file: Path) -> VisitRequest | None:
    """Return a request, or None if it cannot be read."""
    try:
        request = json.loads(file.read_text(encoding="utf-8"))
        urls = [url for url in request["urls"] if isinstance(url, str)]
        return VisitRequest(datetime.fromisoformat(request["at"]), str(request["by"]), urls)
    except (OSError, ValueError, KeyError, TypeError):
        return None


@asynccontextmanager
async def watch_requests(crawl: Crawl, collection: Path, part: WorkerPart = SINGLE_WORKER) -> AsyncIterator[None]:
    """Process visit requests while the block runs."""
    await queue_requests(crawl, collection, part)
    task = asyncio.create_task(_poll_requests(crawl, collection, part))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _poll_requests(crawl: Crawl, collection: Path, part: WorkerPart) -> None:
    while True:
        await asyncio.sleep(POLL_INTERVAL_S)
        await queue_requests(crawl, collection, part)


CONTROL_FILE = "run-control.json"
CONTROL_POLL_S = 1.0


class RunControl(NamedTuple):
    """What was requested, when and by whom."""

    action: str  # pause or stop
    at: datetime
    by: str


def request_control(collection: Path, action: str, *, by: str) -> RunControl:
    """Ask the running crawl to pause or to stop."""
    control = RunControl(action, datetime.now(UTC), by)
    fresh = collection / f"{CONTROL_FILE}.{os.getpid()}.new"
    try:
        fresh.write_text(json.dumps(control._asdict() | {"at": control.at.isoformat()}), encoding="utf-8")
        fresh.replace(collection / CONTROL_FILE)
    except OSError as error:
        raise StoreUnavailable(f"{collection / CONTROL_FILE} cannot be written: {error.strerror or error}") from error
    return control


def end_control(collection: Path) -> bool:
    """End a pause; return False if there was none."""
    control = read_control(collection)
    (collection / CONTROL_FILE).unlink(missing_ok=True)
    return control is not None and control.action == "pause"


def read_control(collection: Path) -> RunControl | None:
    """Return what was requested last; None: nothing, or the file is not readable."""
    try:
        fields = json.loads((collection / CONTROL_FILE).read_text(encoding="utf-8"))
        return RunControl(str(fields["action"]), datetime.fromisoformat(fields["at"]), str(fields["by"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def pause_of(collection: Path) -> RunControl | None:
    """Return the pause that lasts; None: there is none."""
    control = read_control(collection)
    return control if control is not None and control.action == "pause" else None


async def stop_on_request(collection: Path, stop: Callable[[], None], *, began: datetime) -> None:
    """Call `stop` when a stop is requested after the run began."""
    while True:
        control = read_control(collection)
        if control is not None and control.action == "stop" and control.at > began:
            stop()
            return
        await asyncio.sleep(CONTROL_POLL_S)
