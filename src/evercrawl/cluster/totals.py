"""Several processes, or several starts of one, as one run."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from struct import Struct

from evercrawl.engine.crawl import Crawl
from evercrawl.engine.runtime import Ended, RunStats
from evercrawl.model.site import Site

MAX_CLOSED_SITES = 20
"""Closed sites that a report names."""
SUMMED_COUNTS = ("offered", "store_lookups", "false_positives")
"""Counts of the URL-seen test; its other figures are rates."""


_SLOT = Struct("<QQ")


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """Where the run of one worker stands."""

    tally: RunStats
    pages_before: int
    pending_before: int
    in_flight: int
    closed: tuple[Site, ...]
    is_throttled: bool
    url_seen: dict[str, float]


def worker_report(crawl: Crawl, *, with_times: bool = False) -> WorkerReport:
    """Where the run stands; the answer times are many and only told at the end."""
    tally = crawl.tally if with_times else replace(crawl.tally, answer_ms=[])
    return WorkerReport(
        tally=tally,
        pages_before=crawl.pages_before,
        pending_before=crawl.pending_before,
        in_flight=crawl.in_flight(),
        closed=tuple(crawl.closed_sites()[:MAX_CLOSED_SITES]),
        is_throttled=crawl.is_throttled(),
        url_seen=crawl.url_seen(),
    )


class RunTotals:
    """What progress and summary need of a run, from the last report of each worker."""

    def __init__(self) -> None:
        self.began = datetime.now(UTC)
        self._reports: dict[int, WorkerReport] = {}
        self._ended: list[RunStats] = []

    def note(self, number: int, report: WorkerReport) -> None:
        """A worker says where it stands."""
        self._reports[number] = report

    def bury(self, number: int) -> None:
        """A worker has died: what it had done by its last report counts, its successor begins at nothing."""
        report = self._reports.pop(number, None)
        if report is not None:
            self._ended.append(report.tally)

    def together(self) -> WorkerReport:
        """All of it as one report."""
        return WorkerReport(
            tally=self.tally,
            pages_before=self.pages_before,
            pending_before=self.pending_before,
            in_flight=self.in_flight(),
            closed=tuple(self.closed_sites()[:MAX_CLOSED_SITES]),
            is_throttled=self.is_throttled(),
            url_seen=self.url_seen(),
        )

    @property
    def tally(self) -> RunStats:
        return merge_stats([*self._ended, *(report.tally for report in self._reports.values())])

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
    """The counts of several processes as one."""
    whole = RunStats()
    for tally in tallies:
        for name in (
            "requests",
            "wire_bytes",
            "visits",
            "found",
            "new",
            "changed",
            "revisits",
            "gone",
            "judged",
            "on_topic",
        ):
            setattr(whole, name, getattr(whole, name) + getattr(tally, name))
        whole.outcomes.update(tally.outcomes)
        whole.refused.update(tally.refused)
        whole.answer_ms.extend(tally.answer_ms)
        whole.first_error = whole.first_error or tally.first_error
        whole.most_parallel = max(whole.most_parallel, tally.most_parallel)
        whole.last_site = tally.last_site or whole.last_site
        whole.reached = whole.reached or tally.reached
    return whole


def combined_end(ends: Sequence[Ended]) -> Ended:
    """How the whole ended, where its parts ended like these: the one that says most."""
    for ended in (Ended.INTERRUPTED, Ended.LIMIT, Ended.CLOSED):
        if ended in ends:
            return ended
    return Ended.DONE


def _merge_url_seen(parts: Sequence[dict[str, float]]) -> dict[str, float]:
    """Counts are added up; rates are means, weighted by the links that each worker was offered."""
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
    """A slot for each worker with its visits and bytes. Each writes its own slot and reads all."""

    def __init__(self, descriptor: int, *, workers: int, number: int = 0) -> None:
        self._memory = mmap.mmap(descriptor, _SLOT.size * workers)
        self._at = _SLOT.size * number
        self._before = _SLOT.unpack_from(self._memory, self._at)

    def spent(self, visits: int, wire_bytes: int) -> tuple[int, int]:
        """Note what this process has spent; what all have spent, those included that this one replaces."""
        _SLOT.pack_into(self._memory, self._at, visits + self._before[0], wire_bytes + self._before[1])
        slots = list(_SLOT.iter_unpack(self._memory))
        return sum(slot[0] for slot in slots), sum(slot[1] for slot in slots)


def create_shared_memory(workers: int) -> int:
    """A descriptor of memory for so many workers, all zero."""
    descriptor = os.memfd_create("evercrawl-counts")
    os.ftruncate(descriptor, _SLOT.size * workers)
    return descriptor
