"""Totals, progress and summary of a run, from one process or several."""

from __future__ import annotations

import asyncio
import mmap
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from struct import Struct

from evercrawl.adapters.sql.state_reader import StateReader
from evercrawl.adapters.system import open_shared_memory
from evercrawl.engine.crawl import Crawl
from evercrawl.engine.runtime import Ended, RunStats
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.run import Progress, Summary
from evercrawl.model.site import Site
from evercrawl.model.time import from_us, to_us

MAX_CLOSED_SITES = 20  # Closed sites to include in a report.
SUMMED_COUNTS = ("offered", "store_lookups", "false_positives")
"""Counts of the URL-seen test; its other values are rates."""
SUMMED_STATS = ["requests", "wire_bytes", "visits", "found", "new", "changed", "revisits", "gone", "judged", "on_topic"]


_SLOT = Struct("<QQ")


PROGRESS_EVERY_S = 0.25
GOT_CONTENT = (Outcome.FETCHED, Outcome.TRUNCATED, Outcome.DUPLICATE, Outcome.UNCHANGED)


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """The state of one worker's run."""

    stats: RunStats
    pages_before: int
    pending_before: int
    in_flight: int
    closed: tuple[Site, ...]
    is_throttled: bool
    url_seen: dict[str, float]


def worker_report(crawl: Crawl, *, with_times: bool = False) -> WorkerReport:
    """Return the state of a run; response times are included only at the end."""
    stats = crawl.stats if with_times else replace(crawl.stats, answer_ms=[])
    return WorkerReport(
        stats=stats,
        pages_before=crawl.pages_before,
        pending_before=crawl.pending_before,
        in_flight=crawl.in_flight(),
        closed=tuple(crawl.closed_sites()[:MAX_CLOSED_SITES]),
        is_throttled=crawl.is_throttled(),
        url_seen=crawl.url_seen(),
    )


class RunTotals:
    """Combine the last report of each worker."""

    def __init__(self) -> None:
        self.began = datetime.now(UTC)
        self._reports: dict[int, WorkerReport] = {}
        self._ended: list[RunStats] = []

    def update(self, number: int, report: WorkerReport) -> None:
        """Store a worker's report."""
        self._reports[number] = report

    def worker_died(self, number: int) -> None:
        """Keep the work of a dead worker; its successor starts from zero."""
        report = self._reports.pop(number, None)
        if report is not None:
            self._ended.append(report.stats)

    def combined_report(self) -> WorkerReport:
        """Return one report for all workers."""
        return WorkerReport(
            stats=self.stats,
            pages_before=self.pages_before,
            pending_before=self.pending_before,
            in_flight=self.in_flight(),
            closed=tuple(self.closed_sites()[:MAX_CLOSED_SITES]),
            is_throttled=self.is_throttled(),
            url_seen=self.url_seen(),
        )

    @property
    def stats(self) -> RunStats:
        return merge_stats([*self._ended, *(report.stats for report in self._reports.values())])

    @property
    def pages_before(self) -> int:
        return sum(report.pages_before for report in self._reports.values())

    @property
    def pending_before(self) -> int:
        return sum(report.pending_before for report in self._reports.values())

    def now(self) -> datetime:
        return datetime.now(UTC)

    def elapsed(self) -> timedelta:
        return self.now() - self.began

    def in_flight(self) -> int:
        return sum(report.in_flight for report in self._reports.values())

    def closed_sites(self) -> list[Site]:
        return [site for report in self._reports.values() for site in report.closed]

    def is_throttled(self) -> bool:
        return any(report.is_throttled for report in self._reports.values())

    def url_seen(self) -> dict[str, float]:
        return _merge_url_seen([report.url_seen for report in self._reports.values()])


def merge_stats(tallies: Iterable[RunStats]) -> RunStats:
    """Sum the counts of several processes."""
    whole = RunStats()
    for stats in tallies:
        for name in (
            "requests", "wire_bytes", "visits", "found", "new", "changed", "revisits", "gone", "judged", "on_topic",
        ):  # fmt: skip
            setattr(whole, name, getattr(whole, name) + getattr(stats, name))
        whole.outcomes.update(stats.outcomes)
        whole.refused.update(stats.refused)
        whole.paused_pages |= stats.paused_pages
        whole.answer_ms.extend(stats.answer_ms)
        whole.first_error = whole.first_error or stats.first_error
        whole.most_parallel = max(whole.most_parallel, stats.most_parallel)
        whole.last_site = stats.last_site or whole.last_site
        whole.reached = whole.reached or stats.reached
    return whole


def combined_end(ends: Sequence[Ended]) -> Ended:
    """Return how a run ended: the most significant end of its workers."""
    for ended in (Ended.INTERRUPTED, Ended.LIMIT, Ended.CLOSED):
        if ended in ends:
            return ended
    return Ended.DONE


def _merge_url_seen(parts: Sequence[dict[str, float]]) -> dict[str, float]:
    """Sum the counts and average the rates, weighted by offered links."""
    if not parts:
        return {}
    offered = sum(part["offered"] for part in parts)
    whole = {}
    for name in parts[0]:
        if name in SUMMED_COUNTS:
            whole[name] = sum(part[name] for part in parts)
        else:
            total = sum(part[name] * part["offered"] for part in parts)
            whole[name] = round(total / offered, 4) if offered else 0.0
    return whole


class SharedCounters:
    """Visits and bytes of each worker in shared memory. Each worker writes its own slot and reads all."""

    def __init__(self, descriptor: int, *, workers: int, number: int = 0) -> None:
        self._memory = mmap.mmap(descriptor, _SLOT.size * workers)
        self._at = _SLOT.size * number
        self._before = _SLOT.unpack_from(self._memory, self._at)

    def spent(self, visits: int, wire_bytes: int) -> tuple[int, int]:
        """Store what this process has spent; return the sum of all processes, including replaced ones."""
        _SLOT.pack_into(self._memory, self._at, visits + self._before[0], wire_bytes + self._before[1])
        slots = list(_SLOT.iter_unpack(self._memory))
        return sum(slot[0] for slot in slots), sum(slot[1] for slot in slots)


def create_shared_memory(workers: int) -> int:
    """Return a descriptor of zeroed memory for this many workers."""
    return open_shared_memory(_SLOT.size * workers, "evercrawl-counts")


RunState = Crawl | RunTotals
"""What progress and summary need to know about a run."""


@asynccontextmanager
async def report_progress(
    crawl: RunState, on_progress: Callable[[Progress], None] | None, *, every_s: float
) -> AsyncIterator[None]:
    """Report progress while the block runs, and once at its end."""
    if on_progress is None:
        yield
        return
    task = asyncio.create_task(_report(crawl, on_progress, every_s))
    try:
        yield
    finally:
        task.cancel()
        on_progress(run_progress(crawl))


async def _report(crawl: RunState, on_progress: Callable[[Progress], None], every_s: float) -> None:
    while True:
        on_progress(run_progress(crawl))
        await asyncio.sleep(every_s)


def run_progress(crawl: RunState) -> Progress:
    """Return the current progress of a run."""
    stats = crawl.stats
    elapsed = crawl.elapsed().total_seconds()
    closed = crawl.closed_sites()
    return Progress(
        fetched=stats.with_outcome(*GOT_CONTENT),
        new=stats.new,
        changed=stats.changed,
        known=crawl.pages_before + stats.found,
        queued=max(0, crawl.pending_before + stats.found - stats.finished_visits),
        in_flight=crawl.in_flight(),
        requests=stats.requests,
        bytes=stats.wire_bytes,
        errors=stats.with_outcome(Outcome.ERROR),
        skipped=stats.refused.total(),
        elapsed_s=elapsed,
        requests_per_s=stats.requests / elapsed if elapsed > 0 else 0.0,
        sites_closed=len(closed),
        current_site=stats.last_site or None,
        closed_note=_closed_note(closed),
        harvest_ratio=stats.harvest_ratio,
    )


def _closed_note(closed: Sequence[Site]) -> str | None:
    """Describe the closed site that opens first, or return None."""
    sites = [site for site in closed if site.closed_reason]
    if not sites:
        return None
    first = min(sites, key=lambda site: site.open_us)
    words = (first.closed_reason or "").partition(": ")[2] or first.closed_reason
    return f"{first.name} until {from_us(first.open_us):%Y-%m-%d %H:%M} UTC: {words}"


def run_summary(crawl: RunState, collection: Path, ended: Ended) -> Summary:
    """Summarise what a run did and why it ended."""
    stats = crawl.stats
    totals = StateReader(collection).totals(to_us(crawl.now()))
    fetched = stats.with_outcome(*GOT_CONTENT) - stats.with_reason(Reason.REDIRECT, Reason.NOT_MODIFIED)
    not_needed = max(0, crawl.pages_before - crawl.pending_before - stats.revisits)
    return Summary(
        requests=stats.requests,
        fetched=fetched,
        new=stats.new,
        changed=stats.changed,
        unchanged=stats.with_reason(Reason.SAME_CONTENT, Reason.NOISE),
        not_modified=stats.with_reason(Reason.NOT_MODIFIED),
        not_needed=not_needed,
        skipped=stats.refused.total(),
        errors=stats.with_outcome(Outcome.ERROR),
        bytes=stats.wire_bytes,
        seconds=round(crawl.elapsed().total_seconds(), 3),
        stopped=ended.value,
        skipped_by={reason.value: count for reason, count in stats.refused.most_common()},
        gone=stats.gone,
        withheld=stats.with_reason(Reason.WITHHELD),
        max_concurrent_per_site=stats.most_parallel,
        median_response_ms=int(median(stats.answer_ms)) if stats.answer_ms else None,
        remaining=totals.pending,
        first_error=stats.first_error,
        closed_note=_closed_note(crawl.closed_sites()),
        robots_refused_all=_is_all_refused(crawl),
        nothing_reachable=not stats.reached and stats.requests > 0,
        throttled=bool(stats.paused_pages) or (ended is Ended.CLOSED and crawl.is_throttled()),
        url_seen=crawl.url_seen(),
        harvest_ratio=None if stats.harvest_ratio is None else round(stats.harvest_ratio, 4),
    )


def _is_all_refused(crawl: RunState) -> bool:
    """Check whether every page or seed was refused."""
    stats = crawl.stats
    rejected = stats.with_outcome(Outcome.REJECTED)
    if stats.finished_visits:
        return rejected == stats.finished_visits
    return crawl.pages_before == 0 and stats.found == 0 and stats.refused.total() > 0
