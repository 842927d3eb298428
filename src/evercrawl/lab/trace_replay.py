"""Replay a policy over a recorded trace: decisions every six hours, scored after a warm-up."""

from __future__ import annotations

import gzip
import heapq
import json
import random
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

STEP_DAYS = 0.25
WARM_UP_SHARE = 0.25
MAX_WARM_UP_DAYS = 365.0
POOR_RECALL = 0.7
POOR_FALSE_SHARE = 0.4


class PolicyDriver(Protocol):
    """The interface of a driven policy. Days are floats, pages and hubs ints."""

    def add(self, page: int, hub: int, t: float, has_copy: bool) -> None: ...
    def remove(self, page: int, t: float) -> None: ...
    def signal(self, page: int, announced_at: float, t: float) -> None: ...
    def poll_due(self, t: float) -> bool: ...
    def next(self, t: float) -> int | None: ...
    def observe(self, page: int, t: float, changed: bool, first: bool) -> None: ...


class ReplayScore(NamedTuple):
    """The scored part of a run."""

    freshness: float
    requests_per_page_day: float
    polls: int
    useful_share: float  # Share of visits that found something new.


class TraceAnnouncement(NamedTuple):
    """An announcement that can be read from `at` on and says `dated`."""

    at: float
    page: int
    dated: float


def true_lastmod(trace: Trace) -> list[TraceAnnouncement]:
    """Return a sitemap that dates every page by its last change."""
    return sorted(
        TraceAnnouncement(at, number, at) for number, page in enumerate(trace.pages) for at in page.changes if at > 0.0
    )


def poor_signal(trace: Trace, *, seed: int = 7) -> list[TraceAnnouncement]:
    """Return announcements that miss 30 % of the changes, with 40 % false ones."""
    draw = random.Random(seed)
    announced = [notice for notice in true_lastmod(trace) if draw.random() < POOR_RECALL]
    lives = [(max(page.birth, 0.0), trace.days if page.death is None else page.death) for page in trace.pages]
    days = sum(max(end - start, 0.0) for start, end in lives)
    rate = len(announced) * POOR_FALSE_SHARE / (1.0 - POOR_FALSE_SHARE) / max(days, 1e-9)
    for number, (start, end) in enumerate(lives):
        at = start
        while rate > 0.0 and (at := at + draw.expovariate(rate)) < end:
            announced.append(TraceAnnouncement(at, number, at))
    return sorted(announced)


def replay(
    trace: Trace,
    policy: PolicyDriver,
    *,
    per_page_day: float,
    notices: Iterable[TraceAnnouncement] | None = None,
    scored_from: float | None = None,
) -> ReplayScore:
    """Score a policy that may make `per_page_day` requests per live page and day."""
    run = _Run(trace, policy, per_page_day, notices, scored_from)
    steps = int(trace.days / STEP_DAYS)
    for step in range(steps):
        run.step(step * STEP_DAYS)
    return run.score(steps * STEP_DAYS)


def warm_up(trace: Trace) -> float:
    """Return the days of a trace that are not scored."""
    return min(WARM_UP_SHARE * trace.days, MAX_WARM_UP_DAYS)


class _Run:
    """One replay. Invariant: `current` is the number of live pages whose copy equals the page at `clock`."""

    def __init__(
        self,
        trace: Trace,
        policy: PolicyDriver,
        per_page_day: float,
        notices: Iterable[TraceAnnouncement] | None,
        scored_from: float | None,
    ) -> None:
        self.policy, self.rate = policy, per_page_day
        self.pages = trace.pages
        self.from_day = warm_up(trace) if scored_from is None else scored_from
        self.events = _events(trace)
        heapq.heapify(self.events)
        self.notices = None if notices is None else list(notices)
        self.notices_read = 0
        self.allowance = 0.0
        self.live: set[int] = set()
        self.copies: dict[int, int] = {}
        self.current = 0
        self.clock = 0.0
        self.fresh_days = self.page_days = 0.0
        self.requests = self.polls = self.useful = 0

    def step(self, now: float) -> None:
        self._advance(now)
        self.allowance += self.rate * len(self.live) * STEP_DAYS
        while self.allowance >= 1.0:
            if self.notices is not None and self.policy.poll_due(now):
                self._poll(now)
                continue
            page = self.policy.next(now)
            if page is None:
                break
            self._visit(page, now)
        self.allowance = min(self.allowance, 1.0 + self.rate * len(self.live) * STEP_DAYS)

    def _advance(self, now: float) -> None:
        while self.events and self.events[0][0] <= now:
            at, kind, page = heapq.heappop(self.events)
            self._count(at)
            if kind == 0:
                self._add_page(page, at)
            elif page in self.live:
                if self._is_current(page, at):
                    self.current -= 1
                if kind == 2:
                    self.live.discard(page)
                    self.policy.remove(page, now)
        self._count(now)

    def _add_page(self, page: int, at: float) -> None:
        self.live.add(page)
        has_copy = at <= 0.0
        if has_copy:
            self.copies[page] = 0
            self.current += 1
        self.policy.add(page, self.pages[page].hub, max(at, 0.0), has_copy)

    def _is_current(self, page: int, at: float) -> bool:
        """True if the copy was current just before `at`."""
        seen = self.copies.get(page)
        return seen is not None and seen >= bisect_left(self.pages[page].changes, at)

    def _count(self, until: float) -> None:
        start = max(self.clock, self.from_day)
        if until > start:
            self.fresh_days += self.current * (until - start)
            self.page_days += len(self.live) * (until - start)
        self.clock = max(self.clock, until)

    def _visit(self, page: int, now: float) -> None:
        self._spend(now)
        changes = bisect_right(self.pages[page].changes, now)
        seen = self.copies.get(page)
        fresh = seen == changes
        if page in self.live and not fresh:
            self.current += 1
        self.copies[page] = changes
        self.useful += (not fresh) and now >= self.from_day
        self.policy.observe(page, now, seen is not None and not fresh, seen is None)

    def _poll(self, now: float) -> None:
        self._spend(now)
        self.polls += now >= self.from_day
        assert self.notices is not None
        while self.notices_read < len(self.notices) and self.notices[self.notices_read].at <= now:
            notice = self.notices[self.notices_read]
            self.notices_read += 1
            if notice.page in self.live:
                self.policy.signal(notice.page, notice.dated, now)

    def _spend(self, now: float) -> None:
        self.allowance -= 1.0
        self.requests += now >= self.from_day

    def score(self, end: float) -> ReplayScore:
        self._advance(end)
        visits = max(self.requests - self.polls, 1)
        return ReplayScore(
            self.fresh_days / max(self.page_days, 1e-9),
            self.requests / max(self.page_days, 1e-9),
            self.polls,
            self.useful / visits,
        )


def _events(trace: Trace) -> list[tuple[float, int, int]]:
    """Return births (0), changes (1) and deaths (2) by time."""
    events = []
    for number, page in enumerate(trace.pages):
        events.append((page.birth, 0, number))
        events += [(at, 1, number) for at in page.changes if at > 0.0]
        if page.death is not None:
            events.append((page.death, 2, number))
    return events


DAY_S = 86400.0
SAMPLE_SEED = 1


class TracePage(NamedTuple):
    """The life of one page, in days after the start."""

    hub: int
    birth: float
    death: float | None
    changes: tuple[float, ...]


class Trace(NamedTuple):
    """The history of one site."""

    site: str
    days: float
    pages: tuple[TracePage, ...]


def read_trace(path: Path, *, max_pages: int | None = None, max_days: float | None = None) -> Trace:
    """Read a `<site>.jsonl.gz` file: a header line, then one line per page. Larger files are sampled."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        header = json.loads(next(iter(lines)))
        rows = [json.loads(line) for line in lines]
    if max_pages is not None and len(rows) > max_pages:
        rows = random.Random(SAMPLE_SEED).sample(rows, max_pages)
    hubs: dict[str, int] = {}
    days = (header["end"] - header["start"]) / DAY_S
    if max_days is not None:
        days = min(days, max_days)
    pages = tuple(_page(row, header["start"], hubs) for row in rows)
    return Trace(header["site"], days, tuple(page for page in pages if page.birth < days))


def _page(row: dict[str, Any], start: float, hubs: dict[str, int]) -> TracePage:
    clock = 0.0
    changes: list[float] = []
    for delta in row["changes_delta"]:
        clock += delta
        if delta or not changes:
            changes.append(clock / DAY_S)
    death = None if row["death"] is None else (row["death"] - start) / DAY_S
    hub = hubs.setdefault(row["hub"], len(hubs))
    return TracePage(hub, (row["birth"] - start) / DAY_S, death, tuple(changes))
