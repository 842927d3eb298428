"""One signature for rules that need no more than a page's own past."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import floor
from typing import NamedTuple, Protocol


class RuleState(NamedTuple):
    """What such a rule keeps about a page; times in days."""

    due: float = 0.0
    interval: float = 0.0
    visited: float = 0.0
    changed_at: float = 0.0
    """When the content was last seen to be new."""
    visits: int = 0
    """Visits so far."""
    history: int = 0
    """The newest visits as bits, the last one lowest: 1 is changed."""
    threshold: float = 0.4
    """Share of changed neighbours at which an unchanged page is visited all the same (A10)."""


class IntervalRule(Protocol):
    """When is the page visited next, and is it visited when its turn comes?"""

    def after_visit(self, memory: RuleState, *, now: float, changed: bool) -> RuleState:
        """The memory, with its new due time; the first visit (`records` is 0) counts as unchanged."""
        ...

    def should_visit(self, memory: RuleState, *, now: float, around: float) -> tuple[bool, RuleState]:
        """Is a due page visited? `around` is the share of its neighbours whose last visit found a change."""
        ...


class AlwaysVisit:
    """A rule that visits every page whose turn has come."""

    def should_visit(self, memory: RuleState, *, now: float, around: float) -> tuple[bool, RuleState]:
        return True, memory


def record_visit(memory: RuleState, *, now: float, changed: bool) -> RuleState:
    """The visit, entered into the page's past; the due time is the rule's business."""
    first = memory.visits == 0
    return memory._replace(
        visited=now,
        changed_at=now if changed or first else memory.changed_at,
        visits=memory.visits + 1,
        history=(memory.history << 1 | (changed and not first)) & HISTORY_MASK,
    )


HISTORY_MASK = (1 << 62) - 1
"""A history fits into a signed 64-bit column."""


class Uniform(AlwaysVisit):
    """Always due; the order of due times is the order of last visits."""

    def after_visit(self, memory: RuleState, *, now: float, changed: bool) -> RuleState:
        return record_visit(memory, now=now, changed=changed)._replace(due=now)


FIXED_DAYS = 7.0


class Fixed(AlwaysVisit):
    """Due a fixed number of days after the last visit."""

    def __init__(self, interval_days: float = FIXED_DAYS) -> None:
        self.interval_days = interval_days

    def after_visit(self, memory: RuleState, *, now: float, changed: bool) -> RuleState:
        memory = record_visit(memory, now=now, changed=changed)
        return memory._replace(interval=self.interval_days, due=now + self.interval_days)


ADAPTIVE_LIMIT = 20
"""Records that are looked at for changes."""
ADAPTIVE_ROUND_DAYS = 1.0
"""One crawl a day."""
FIRST_FR_MAX = 1


def new_fr_max(fr_max: int, *, records: int, counter: int, limit: int = ADAPTIVE_LIMIT) -> int:
    """The new `fr_max`, given how many of the last `limit` records differ from the one before (`counter`)."""
    examined = min(records, limit)
    between = examined / counter if counter else float(examined)
    return max(floor((fr_max + between) / 2.0), 1)


class PaperAdaptive(AlwaysVisit):
    """Rule A; `interval` holds `fr_max`."""

    def __init__(self, limit: int = ADAPTIVE_LIMIT) -> None:
        self.limit = limit

    def after_visit(self, memory: RuleState, *, now: float, changed: bool) -> RuleState:
        fr_max = int(memory.interval) or FIRST_FR_MAX
        memory = record_visit(memory, now=now, changed=changed)
        counter = (memory.history & ((1 << self.limit) - 1)).bit_count()
        fr_max = new_fr_max(fr_max, records=memory.visits, counter=counter, limit=self.limit)
        return memory._replace(interval=float(fr_max), due=now + fr_max * ADAPTIVE_ROUND_DAYS)


SELECTIVE_FIRST_THRESHOLD = 0.4
SELECTIVE_MIN_THRESHOLD = 0.01
SELECTIVE_TURN_DAYS = 1.0
_SELECTIVE_STEP = 0.5


def next_threshold(threshold: float, *, share: float) -> float:
    """Up where more links changed than the threshold asks for, down where fewer did."""
    return threshold + _SELECTIVE_STEP * (share - threshold)


class PaperSelective:
    """Rule A10, a turn a day."""

    def after_visit(self, memory: RuleState, *, now: float, changed: bool) -> RuleState:
        memory = record_visit(memory, now=now, changed=changed)
        threshold = max(memory.threshold, SELECTIVE_FIRST_THRESHOLD) if changed else memory.threshold
        return memory._replace(due=now + SELECTIVE_TURN_DAYS, threshold=threshold)

    def should_visit(self, memory: RuleState, *, now: float, around: float) -> tuple[bool, RuleState]:
        if memory.visits <= 1 or memory.history & 1:
            return True, memory
        wanted = around >= memory.threshold or memory.threshold < SELECTIVE_MIN_THRESHOLD
        threshold = next_threshold(memory.threshold, share=around)
        if memory.threshold < SELECTIVE_MIN_THRESHOLD:
            threshold = SELECTIVE_FIRST_THRESHOLD
        return wanted, memory._replace(threshold=threshold, due=now + SELECTIVE_TURN_DAYS)


PDFC_NEVER_VISITED = -1.0
PDFC_EVERY_VISIT = 0.0
PDFC_ROUND_DAYS = 1.0


def frequency_of_change(memory: RuleState, *, now: float) -> float:
    """F of a page: -1, 0 or the days since its last change."""
    if not memory.visits:
        return PDFC_NEVER_VISITED
    revisits = memory.visits - 1
    if revisits and memory.history.bit_count() == revisits:
        return PDFC_EVERY_VISIT
    return max(now - memory.changed_at, PDFC_ROUND_DAYS)


def pdfc_is_due(frequency: float, *, last: float, now: float) -> bool:
    """Comparator at home: a page within its period is not asked for."""
    return frequency <= PDFC_EVERY_VISIT or now - last > frequency


def pdfc_is_sent(old_digest: bytes | None, new_digest: bytes) -> bool:
    """Comparator at the remote side: the same digest is not sent; without an old one all is sent."""
    return old_digest is None or old_digest != new_digest


class PaperPdfc(AlwaysVisit):
    """Rule B; `interval` holds F."""

    def after_visit(self, memory: RuleState, *, now: float, changed: bool) -> RuleState:
        since = now - memory.changed_at
        memory = record_visit(memory, now=now, changed=changed)
        frequency = frequency_of_change(memory, now=now)
        if changed and frequency > PDFC_EVERY_VISIT:
            frequency = max(since, PDFC_ROUND_DAYS)
        return memory._replace(interval=frequency, due=now + max(frequency, PDFC_ROUND_DAYS))


class SitemapRow(NamedTuple):
    """One row of the extended sitemap."""

    anchor_text: str
    url: str
    last_updated_ms: int


def to_download(rows: Iterable[SitemapRow], last_visited_ms: Mapping[str, int]) -> list[str]:
    """URLs never visited, or updated after their last visit, in the sitemap's order."""
    return [row.url for row in rows if row.url not in last_visited_ms or row.last_updated_ms > last_visited_ms[row.url]]


NUTCH_FIRST_DAYS = 30.0
NUTCH_MIN_DAYS = 60.0 / 86400.0
NUTCH_MAX_DAYS = 365.0
NUTCH_MAX_WAIT_DAYS = 90.0
"""db.fetch.interval.max: after that a page is fetched whatever its schedule says."""
NUTCH_GROWTH = 0.4
NUTCH_SHRINKAGE = 0.2
NUTCH_SYNC_RATE = 0.3


class Nutch(AlwaysVisit):
    """Longer by 40 % when unchanged, shorter by 20 % when changed, pulled towards the last change."""

    def after_visit(self, memory: RuleState, *, now: float, changed: bool) -> RuleState:
        first = memory.visits == 0
        interval = memory.interval or NUTCH_FIRST_DAYS
        memory = record_visit(memory, now=now, changed=changed)
        if not first:
            interval *= 1.0 - NUTCH_SHRINKAGE if changed else 1.0 + NUTCH_GROWTH
        age = now - memory.changed_at
        interval = min(max(interval, age, NUTCH_MIN_DAYS), NUTCH_MAX_DAYS)
        due = now - NUTCH_SYNC_RATE * age + interval
        return memory._replace(interval=interval, due=min(max(due, now), now + NUTCH_MAX_WAIT_DAYS))


STORMCRAWLER_FIRST_DAYS = 1.0
STORMCRAWLER_MIN_DAYS = 1.0 / 24.0
STORMCRAWLER_MAX_DAYS = 14.0
STORMCRAWLER_GROWTH = 0.5
STORMCRAWLER_SHRINKAGE = 0.5


class StormCrawler(AlwaysVisit):
    """Longer by half when unchanged; half of the way to the shortest interval when changed."""

    def after_visit(self, memory: RuleState, *, now: float, changed: bool) -> RuleState:
        first = memory.visits == 0
        interval = memory.interval or STORMCRAWLER_FIRST_DAYS
        memory = record_visit(memory, now=now, changed=changed)
        if changed and not first:
            interval = (1.0 - STORMCRAWLER_SHRINKAGE) * interval + STORMCRAWLER_SHRINKAGE * STORMCRAWLER_MIN_DAYS
        elif not first:
            interval = min(interval * (1.0 + STORMCRAWLER_GROWTH), STORMCRAWLER_MAX_DAYS)
        return memory._replace(interval=interval, due=now + interval)


RULES: dict[str, Callable[[], IntervalRule]] = {
    "uniform": Uniform,
    "fixed": Fixed,
    "paper-adaptive": PaperAdaptive,
    "paper-selective": PaperSelective,
    "paper-pdfc": PaperPdfc,
    "nutch": Nutch,
    "stormcrawler": StormCrawler,
}

__all__ = ["RULES", "IntervalRule", "RuleState"]
