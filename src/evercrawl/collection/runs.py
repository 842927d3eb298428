"""The runs of a collection: one line for each that ended, and a small file about the one under way.

Both are for looking at, from any process: losing them loses no page.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from evercrawl.model.report import Progress, Summary

RUNS_FILE = "runs.jsonl"
LIVE_FILE = "live.json"
WRITE_EVERY = timedelta(seconds=1)
STALE_AFTER = timedelta(seconds=15)
"""A live file that nobody wrote to for so long belongs to a process that is gone."""
LONGEST_LINE = 64 * 1024
CHUNK_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class LiveRun:
    """The run under way, as its process last told."""

    pid: int
    began: datetime
    at: datetime
    forever: bool
    progress: Progress


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run that ended; `id` is its place in the file."""

    id: int
    began: datetime
    ended: datetime
    forever: bool
    summary: dict[str, Any]


@contextmanager
def publish_progress(
    collection: Path, on_progress: Callable[[Progress], None] | None, *, forever: bool
) -> Iterator[Callable[[Progress], None]]:
    """A listener that also keeps the live file, which is gone behind the block."""
    path, began = collection / LIVE_FILE, datetime.now(UTC)
    written = began - WRITE_EVERY

    def tell(progress: Progress) -> None:
        nonlocal written
        now = datetime.now(UTC)
        if now - written >= WRITE_EVERY:
            written = now
            _write_live(path, LiveRun(os.getpid(), began, now, forever, progress))
        if on_progress is not None:
            on_progress(progress)

    try:
        yield tell
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _write_live(path: Path, run: LiveRun) -> None:
    """A disk without room must not end a run for the sake of its own report."""
    fresh = path.with_name(f"{LIVE_FILE}.{run.pid}.new")
    with suppress(OSError):
        fresh.write_text(json.dumps(asdict(run), default=_moment), encoding="utf-8")
        fresh.replace(path)


def live_run(collection: Path, *, now: datetime) -> LiveRun | None:
    """The run under way in any process; None: there is none."""
    try:
        told = json.loads((collection / LIVE_FILE).read_text(encoding="utf-8"))
        run = LiveRun(
            pid=told["pid"],
            began=datetime.fromisoformat(told["began"]),
            at=datetime.fromisoformat(told["at"]),
            forever=told["forever"],
            progress=Progress(**told["progress"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return run if now - run.at < STALE_AFTER else None


def record_run(collection: Path, summary: Summary, *, began: datetime, forever: bool) -> None:
    """Add a run that ended; written with one call, so that lines of two processes do not mix."""
    fields = {"began": began, "ended": datetime.now(UTC), "forever": forever, "summary": asdict(summary)}
    line = json.dumps(fields, default=_moment)
    if len(line) > LONGEST_LINE:
        return
    with suppress(OSError), (collection / RUNS_FILE).open("ab") as file:
        file.write(line.encode() + b"\n")


def past_runs(collection: Path, *, before: int | None = None, most: int = 50) -> list[PastRun]:
    """Runs that began before a place of the file, newest first."""
    try:
        with (collection / RUNS_FILE).open("rb") as file:
            end = file.seek(0, os.SEEK_END) if before is None else max(0, before)
            start = max(0, end - max(CHUNK_BYTES, most * 4096))
            file.seek(start)
            data = file.read(end - start)
    except OSError:
        return []
    if start:
        start += (cut := data.find(b"\n") + 1)
        data = data[cut:]
    return list(reversed(list(_runs_in(data, start))))[:most]


def past_run(collection: Path, place: int) -> PastRun | None:
    """The run at a place of the file."""
    try:
        with (collection / RUNS_FILE).open("rb") as file:
            if place and (file.seek(place - 1), file.read(1))[1] != b"\n":
                return None
            file.seek(place)
            line = file.readline(LONGEST_LINE)
    except (OSError, ValueError, OverflowError):
        return None
    return next(_runs_in(line, place), None)


def _runs_in(data: bytes, start: int) -> Iterator[PastRun]:
    for line in data.splitlines(keepends=True):
        with suppress(ValueError, KeyError, TypeError):
            told = json.loads(line)
            began, ended = datetime.fromisoformat(told["began"]), datetime.fromisoformat(told["ended"])
            yield PastRun(start, began, ended, bool(told["forever"]), dict(told["summary"]))
        start += len(line)


def _moment(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form here")
