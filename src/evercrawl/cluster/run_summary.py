"""Progress and summary of a run, from its tally and what the store says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Protocol

from evercrawl.adapters.sqlite.reader import StateReader
from evercrawl.engine.runtime import Ended, RunStats
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.report import Progress, Summary
from evercrawl.model.site import Site
from evercrawl.model.time import from_us, to_us

PROGRESS_EVERY_S = 0.25


class RunState(Protocol):
    """What progress and summary need of a run, of one process or of several."""

    @property
    def tally(self) -> RunStats: ...
    @property
    def began(self) -> datetime: ...
    @property
    def pages_before(self) -> int: ...
    @property
    def pending_before(self) -> int: ...
    def now(self) -> datetime: ...
    def elapsed(self) -> timedelta: ...
    def in_flight(self) -> int: ...
    def closed_sites(self) -> list[Site]: ...
    def is_throttled(self) -> bool: ...
    def url_seen(self) -> dict[str, float]: ...


@asynccontextmanager
async def reporting(
    crawl: RunState, on_progress: Callable[[Progress], None] | None, *, every_s: float
) -> AsyncIterator[None]:
    """Report the progress of a run while the block runs, and once at its end."""
    if on_progress is None:
        yield
        return
    task = asyncio.create_task(_report(crawl, on_progress, every_s))
    try:
        yield
    finally:
        task.cancel()
        on_progress(progress_of(crawl))


async def _report(crawl: RunState, on_progress: Callable[[Progress], None], every_s: float) -> None:
    while True:
        on_progress(progress_of(crawl))
        await asyncio.sleep(every_s)


def progress_of(crawl: RunState) -> Progress:
    """Where a run stands."""
    tally = crawl.tally
    elapsed = crawl.elapsed().total_seconds()
    closed = crawl.closed_sites()
    return Progress(
        fetched=tally.with_outcome(*GOT_CONTENT),
        known=crawl.pages_before + tally.found,
        queued=max(0, crawl.pending_before + tally.found - tally.decided),
        in_flight=crawl.in_flight(),
        requests=tally.requests,
        bytes=tally.wire_bytes,
        errors=tally.with_outcome(Outcome.ERROR),
        skipped=tally.refused.total(),
        elapsed_s=elapsed,
        requests_per_s=tally.requests / elapsed if elapsed > 0 else 0.0,
        sites_closed=len(closed),
        current_site=tally.last_site or None,
        closed_note=_closed_note(closed),
        harvest_ratio=tally.harvest_ratio,
    )


def _closed_note(closed: Sequence[Site]) -> str | None:
    """The site that opens first, in words; None: no site is closed for a reason."""
    sites = [site for site in closed if site.closed_reason]
    if not sites:
        return None
    first = min(sites, key=lambda site: site.open_us)
    words = (first.closed_reason or "").partition(": ")[2] or first.closed_reason
    return f"{first.name} until {from_us(first.open_us):%Y-%m-%d %H:%M} UTC: {words}"


GOT_CONTENT = (Outcome.FETCHED, Outcome.TRUNCATED, Outcome.DUPLICATE, Outcome.UNCHANGED)


def summary_of(crawl: RunState, collection: Path, ended: Ended) -> Summary:
    """What a run did and why it ended."""
    tally = crawl.tally
    totals = StateReader(collection).totals(to_us(crawl.now()))
    fetched = tally.with_outcome(*GOT_CONTENT) - tally.with_reason(Reason.REDIRECT, Reason.NOT_MODIFIED)
    deferred = tally.with_outcome(Outcome.DEFERRED)
    not_needed = max(0, crawl.pages_before - crawl.pending_before - tally.revisits)
    return Summary(
        requests=tally.requests,
        fetched=fetched,
        new=tally.new,
        changed=tally.changed,
        unchanged=tally.with_reason(Reason.SAME_CONTENT, Reason.NOISE),
        not_modified=tally.with_reason(Reason.NOT_MODIFIED),
        not_needed=not_needed,
        skipped=tally.refused.total(),
        errors=tally.with_outcome(Outcome.ERROR),
        bytes=tally.wire_bytes,
        seconds=round(crawl.elapsed().total_seconds(), 3),
        stopped=ended.value,
        skipped_by={reason.value: count for reason, count in tally.refused.most_common()},
        gone=tally.gone,
        longest_parallel_per_site=tally.most_parallel,
        median_answer_ms=int(median(tally.answer_ms)) if tally.answer_ms else None,
        remaining=totals.pending,
        first_error=tally.first_error,
        closed_note=_closed_note(crawl.closed_sites()),
        robots_refused_all=_is_all_refused(crawl),
        nothing_reachable=not tally.reached and tally.requests > 0,
        throttled=bool(deferred) or (ended is Ended.CLOSED and crawl.is_throttled()),
        url_seen=crawl.url_seen(),
        harvest_ratio=None if tally.harvest_ratio is None else round(tally.harvest_ratio, 4),
    )


def _is_all_refused(crawl: RunState) -> bool:
    """Every page that came up was refused, or every seed before it could become a page."""
    tally = crawl.tally
    rejected = tally.with_outcome(Outcome.REJECTED)
    if tally.decided:
        return rejected == tally.decided
    return crawl.pages_before == 0 and tally.found == 0 and tally.refused.total() > 0
