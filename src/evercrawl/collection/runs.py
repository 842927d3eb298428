"""The runs of a collection: a line for each past run, and a small file about the running one.
Both are for display in any process; no page depends on them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evercrawl.adapters.sql.state_reader import StateReader
from evercrawl.cluster.run_requests import RunControl, end_control, pause_of, request_control
from evercrawl.model.run import Progress, Summary
from evercrawl.model.settings import Settings
from evercrawl.model.site import Site
from evercrawl.model.time import from_us, to_us

if TYPE_CHECKING:
    from evercrawl.model.report import ClosedSite, Savings, SlowedSite, Status

RUNS_FILE = "runs.jsonl"
LIVE_FILE = "live.json"
WRITE_EVERY = timedelta(seconds=1)
STALE_AFTER = timedelta(seconds=15)  # A live file that is older belongs to a process that has ended.
MAX_LINE_BYTES = 64 * 1024
CHUNK_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class LiveRun:
    """The running crawl, as last reported by its process."""

    pid: int
    began: datetime
    at: datetime
    forever: bool
    progress: Progress


@dataclass(frozen=True, slots=True)
class PastRun:
    """A past run; `id` is its position in the file."""

    id: int
    began: datetime
    ended: datetime
    forever: bool
    summary: dict[str, Any]


@contextmanager
def publish_progress(
    collection: Path, on_progress: Callable[[Progress], None] | None, *, forever: bool
) -> Iterator[Callable[[Progress], None]]:
    """Yield a progress callback that also writes the live file; delete the file after the block."""
    path, began = collection / LIVE_FILE, datetime.now(UTC)
    written = began - WRITE_EVERY

    def publish(progress: Progress) -> None:
        nonlocal written
        now = datetime.now(UTC)
        if now - written >= WRITE_EVERY:
            written = now
            _write_live(path, LiveRun(os.getpid(), began, now, forever, progress))
        if on_progress is not None:
            on_progress(progress)

    try:
        yield publish
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _write_live(path: Path, run: LiveRun) -> None:
    """Write the live file; ignore errors, so that a full disk does not end the run here."""
    fresh = path.with_name(f"{LIVE_FILE}.{run.pid}.new")
    with suppress(OSError):
        fresh.write_text(json.dumps(asdict(run), default=_iso_time), encoding="utf-8")
        fresh.replace(path)


def live_run(collection: Path, *, now: datetime) -> LiveRun | None:
    """Return the running crawl of any process; None: there is none."""
    try:
        fields = json.loads((collection / LIVE_FILE).read_text(encoding="utf-8"))
        run = LiveRun(
            pid=fields["pid"],
            began=datetime.fromisoformat(fields["began"]),
            at=datetime.fromisoformat(fields["at"]),
            forever=fields["forever"],
            progress=Progress(**fields["progress"]),
        )
        return run if now - run.at < STALE_AFTER else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def run_pause(collection: Path) -> RunControl | None:
    """Return the pause of crawls that lasts; None: there is none."""
    return pause_of(collection)


def pause_run(collection: Path, *, by: str) -> None:
    """Pause the running crawl, wherever it was started; it sends no more requests."""
    request_control(collection, "pause", by=by)


def resume_run(collection: Path) -> bool:
    """End a pause; return False if there was none."""
    return end_control(collection)


def stop_run(collection: Path, *, by: str) -> None:
    """Stop the running crawl, wherever it was started."""
    request_control(collection, "stop", by=by)


def record_run(collection: Path, summary: Summary, *, began: datetime, forever: bool) -> None:
    """Append a past run in one write, so that lines of two processes do not mix."""
    fields = {"began": began, "ended": datetime.now(UTC), "forever": forever, "summary": asdict(summary)}
    line = json.dumps(fields, default=_iso_time)
    if len(line) > MAX_LINE_BYTES:
        return
    with suppress(OSError), (collection / RUNS_FILE).open("ab") as file:
        file.write(line.encode() + b"\n")


def past_runs(collection: Path, *, before: int | None = None, limit: int = 50) -> list[PastRun]:
    """Return the runs before a position of the file, newest first."""
    try:
        with (collection / RUNS_FILE).open("rb") as file:
            end = file.seek(0, os.SEEK_END) if before is None else max(0, before)
            start = max(0, end - max(CHUNK_BYTES, limit * 4096))
            file.seek(start)
            data = file.read(end - start)
    except OSError:
        return []
    if start:
        start += (cut := data.find(b"\n") + 1)
        data = data[cut:]
    return list(reversed(list(_parse_runs(data, start))))[:limit]


def past_run(collection: Path, position: int) -> PastRun | None:
    """Return the run at a position of the file."""
    try:
        with (collection / RUNS_FILE).open("rb") as file:
            if position and (file.seek(position - 1), file.read(1))[1] != b"\n":
                return None
            file.seek(position)
            line = file.readline(MAX_LINE_BYTES)
    except (OSError, ValueError, OverflowError):
        return None
    return next(_parse_runs(line, position), None)


def _parse_runs(data: bytes, start: int) -> Iterator[PastRun]:
    for line in data.splitlines(keepends=True):
        with suppress(ValueError, KeyError, TypeError, RecursionError):
            fields = json.loads(line)
            began, ended = datetime.fromisoformat(fields["began"]), datetime.fromisoformat(fields["ended"])
            yield PastRun(start, began, ended, bool(fields["forever"]), dict(fields["summary"]))
        start += len(line)


def _iso_time(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form here")


MAX_CLOSED_SITES = 20
LONG_DELAY_MS = 10_000  # With this delay or a longer one, a queued page counts as throttled.


def status_of(collection: Path, settings: Settings) -> Status:
    """Return the counts of a collection and its freshness."""
    from evercrawl.collection.forecast import collection_freshness, revisit_status  # not for a crawl
    from evercrawl.model.report import Status

    reader = StateReader(collection)
    now = datetime.now(UTC)
    totals = reader.totals(to_us(now))
    decisions = reader.decisions()
    archive = list((collection / "archive").glob("*.warc.gz"))
    return Status(
        path=str(collection),
        pages=totals.pages,
        queued=totals.pending,
        refused=totals.refusals + totals.refusals_dropped,
        sites=totals.sites,
        requests=totals.requests,
        bytes=totals.wire_bytes,
        versions=totals.versions,
        due_now=totals.due_now,
        next_due=reader.next_due(),
        by_outcome=_sums((outcome.value, count) for (outcome, _), count in decisions.items()),
        by_reason=_sums((reason.value, count) for (_, reason), count in decisions.items()),
        closed_sites=tuple(_closed_sites(reader, now)),
        slowed_sites=tuple(_slowed_sites(reader, now)),
        archive_files=len(archive),
        archive_bytes=sum(path.stat().st_size for path in archive),
        state_bytes=sum(path.stat().st_size for path in (collection / "state").glob("*.sqlite*")),
        freshness=collection_freshness(reader, settings.revisit, now=now),
        savings=savings(reader, now_us=to_us(now)),
        revisit=revisit_status(reader, settings.revisit, pages=totals.pages),
    )


def next_visit(collection: Path) -> datetime | None:
    """Return when the next page of a collection is due."""
    return StateReader(collection).next_due()


def _sums(pairs: Iterator[tuple[str, int]]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for name, count in pairs:
        sums[name] = sums.get(name, 0) + count
    return dict(sorted(sums.items(), key=lambda item: -item[1]))


def _closed_sites(reader: StateReader, now: datetime) -> list[ClosedSite]:
    """Return the sites that are closed for a reason; those that open last come first."""
    from evercrawl.model.report import ClosedSite

    closed = [site for site in reader.sites() if _is_closed(site, now)]
    closed.sort(key=lambda site: -site.open_us)
    return [
        ClosedSite(site.name, closed_text(site.closed_reason or ""), from_us(site.open_us), site.pending)
        for site in closed[:MAX_CLOSED_SITES]
    ]


def _slowed_sites(reader: StateReader, now: datetime) -> list[SlowedSite]:
    """Return the sites with queued pages that get requests rarely; the slowest come first."""
    from evercrawl.model.report import SlowedSite

    slowed = [site for site in reader.sites() if site.pending and is_slow(site) and not _is_closed(site, now)]
    slowed.sort(key=lambda site: -site.delay_ms)
    return [
        SlowedSite(site.name, slow_text(site), site.delay_ms / 1000, site.pending) for site in slowed[:MAX_CLOSED_SITES]
    ]


def is_slow(site: Site) -> bool:
    """Return whether a site gets requests so rarely that its queued pages count as throttled."""
    return site.delay_ms >= LONG_DELAY_MS


def slow_text(site: Site) -> str:
    """Return why a site gets requests rarely."""
    cause = "after failures in a row" if site.backoff > 1 else "because of its response time or Crawl-delay"
    return f"one request every {site.delay_ms / 1000:g} s {cause}"


def _is_closed(site: Site, now: datetime) -> bool:
    return site.closed_reason is not None and site.open_us > to_us(now)


def closed_text(closed_reason: str) -> str:
    """Return the explanation without the name of the reason."""
    return closed_reason.partition(": ")[2] or closed_reason


def savings(reader: StateReader, *, now_us: int) -> Savings:
    """Count 304 responses, the bytes they saved, and pages that are not due."""
    from evercrawl.model.report import Savings

    answers = body_bytes = not_due = 0
    for shard in reader.shards():
        with reader.shard(shard) as state:
            some, size = state.saved_bodies()
            answers, body_bytes = answers + some, body_bytes + size
            not_due += state.not_due(now_us)
    return Savings(answers, body_bytes, not_due)


def check_readable(collection: Path) -> None:
    """Read one row of the state; raise if that fails."""
    reader = StateReader(collection)
    for shard in reader.shards()[:1]:
        with reader.shard(shard) as state:
            state.next_due()
