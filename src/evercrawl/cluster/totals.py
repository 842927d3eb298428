"""Several processes, or several starts of one, as one run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from evercrawl.engine.crawl import Crawl
from evercrawl.engine.runtime import Ended, RunStats
from evercrawl.model.site import Site

MOST_CLOSED = 20
"""Closed sites that a report names."""
ADDED_UP = ("offered", "store_lookups", "false_positives")
"""Counts of the URL-seen test; its other figures are rates."""


@dataclass(frozen=True, slots=True)
class Report:
    """Where the run of one worker stands."""

    tally: RunStats
    pages_before: int
    pending_before: int
    in_flight: int
    closed: tuple[Site, ...]
    is_throttled: bool
    url_seen: dict[str, float]


def report_of(crawl: Crawl, *, with_times: bool = False) -> Report:
    """Where the run stands; the answer times are many and only told at the end."""
    tally = crawl.tally if with_times else replace(crawl.tally, answer_ms=[])
    return Report(
        tally=tally,
        pages_before=crawl.pages_before,
        pending_before=crawl.pending_before,
        in_flight=crawl.in_flight(),
        closed=tuple(crawl.closed_sites()[:MOST_CLOSED]),
        is_throttled=crawl.is_throttled(),
        url_seen=crawl.url_seen(),
    )


class MergedRun:
    """What progress and summary need of a run, from the last report of each worker."""

    def __init__(self) -> None:
        self.began = datetime.now(UTC)
        self._reports: dict[int, Report] = {}
        self._ended: list[RunStats] = []

    def note(self, number: int, report: Report) -> None:
        """A worker says where it stands."""
        self._reports[number] = report

    def bury(self, number: int) -> None:
        """A worker has died: what it had done by its last report counts, its successor begins at nothing."""
        report = self._reports.pop(number, None)
        if report is not None:
            self._ended.append(report.tally)

    def together(self) -> Report:
        """All of it as one report."""
        return Report(
            tally=self.tally,
            pages_before=self.pages_before,
            pending_before=self.pending_before,
            in_flight=self.in_flight(),
            closed=tuple(self.closed_sites()[:MOST_CLOSED]),
            is_throttled=self.is_throttled(),
            url_seen=self.url_seen(),
        )

    @property
    def tally(self) -> RunStats:
        return merged([*self._ended, *(report.tally for report in self._reports.values())])

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
        return _seen_together([report.url_seen for report in self._reports.values()])


def merged(tallies: Iterable[RunStats]) -> RunStats:
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


def ended_together(ends: Sequence[Ended]) -> Ended:
    """How the whole ended, where its parts ended like these: the one that says most."""
    for ended in (Ended.INTERRUPTED, Ended.LIMIT, Ended.CLOSED):
        if ended in ends:
            return ended
    return Ended.DONE


def _seen_together(parts: Sequence[dict[str, float]]) -> dict[str, float]:
    """Counts are added up; rates are means, weighted by the links that each worker was offered."""
    if not parts:
        return {}
    offered = sum(part["offered"] for part in parts)
    whole = {}
    for name in parts[0]:
        if name in ADDED_UP:
            whole[name] = sum(part[name] for part in parts)
        else:
            total = sum(part[name] * part["offered"] for part in parts)
            whole[name] = round(total / offered, 4) if offered else 0.0
    return whole
