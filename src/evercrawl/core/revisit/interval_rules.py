"""Rules that schedule visits from a page's own history, after papers A to C, Nutch and StormCrawler."""

from __future__ import annotations

from collections.abc import Callable
from math import floor
from typing import NamedTuple, Protocol


class RuleState(NamedTuple):
    """What a rule keeps about a page. Times are days."""

    due: float = 0.0
    interval: float = 0.0
    visited: float = 0.0
    changed_at: float = 0.0  # When the content was last found new.
    visits: int = 0
    history: int = 0  # The newest visits as bits, the last one lowest; 1 means changed.
    threshold: float = 0.4  # Share of changed links at which an unchanged page is visited anyway.
    announced: float = 0.0  # The newest date that the site's sitemap gave the page.


class IntervalRule(Protocol):
    """Schedules the next visit and decides whether a due page is visited."""

    needs_links: bool  # It looks at the pages that a page links to.
    needs_sitemaps: bool  # It looks at the dates in sitemaps.

    def after_visit(self, state: RuleState, *, now: float, changed: bool) -> RuleState:
        """Return the state with its new due time. The first visit counts as unchanged."""
        ...

    def should_visit(
        self, state: RuleState, *, now: float, changed_share: float = 0.0, has_sitemap: bool = False
    ) -> tuple[bool, RuleState]:
        """Decide whether to visit a due page; if not, the state has its next turn.
        `changed_share`: of the pages that it links to. `has_sitemap`: its site dates its pages."""
        ...

    def after_announcement(self, state: RuleState, *, updated: float) -> RuleState:
        """Return the state after the sitemap dated the page."""
        ...


class AlwaysVisit:
    """A rule that visits every due page and ignores sitemaps."""

    needs_links = False
    needs_sitemaps = False

    def should_visit(
        self, state: RuleState, *, now: float, changed_share: float = 0.0, has_sitemap: bool = False
    ) -> tuple[bool, RuleState]:
        return True, state

    def after_announcement(self, state: RuleState, *, updated: float) -> RuleState:
        return state


def record_visit(state: RuleState, *, now: float, changed: bool) -> RuleState:
    """Add a visit to the page's history. The rule sets the due time."""
    first = state.visits == 0
    return state._replace(
        visited=now,
        changed_at=now if changed or first else state.changed_at,
        visits=state.visits + 1,
        history=(state.history << 1 | (changed and not first)) & HISTORY_MASK,
    )


HISTORY_MASK = (1 << 62) - 1  # Fits a signed 64-bit column.


class Uniform(AlwaysVisit):
    """`uniform`: the page visited longest ago comes next."""

    def after_visit(self, state: RuleState, *, now: float, changed: bool) -> RuleState:
        return record_visit(state, now=now, changed=changed)._replace(due=now)


FIXED_DAYS = 7.0


class Fixed(AlwaysVisit):
    """`fixed`: the same interval for every page."""

    def __init__(self, interval_days: float = FIXED_DAYS) -> None:
        self.interval_days = interval_days

    def after_visit(self, state: RuleState, *, now: float, changed: bool) -> RuleState:
        state = record_visit(state, now=now, changed=changed)
        return state._replace(interval=self.interval_days, due=now + self.interval_days)


ADAPTIVE_LIMIT = 20  # Records examined for changes.
ADAPTIVE_ROUND_DAYS = 1.0  # One crawl per day.
FIRST_FR_MAX = 1


def new_fr_max(fr_max: int, *, records: int, counter: int, limit: int = ADAPTIVE_LIMIT) -> int:
    """Return the new `fr_max` from the number of changes (`counter`) in the last `limit` records."""
    examined = min(records, limit)
    between = examined / counter if counter else float(examined)
    return max(floor((fr_max + between) / 2.0), 1)


class PaperAdaptive(AlwaysVisit):
    """`paper-adaptive`: paper A, section 3.2. The frequency follows the share of changed records.
    `fr` counts daily crawls down to 0, then restarts from `fr_max`, which `interval` holds."""

    def __init__(self, limit: int = ADAPTIVE_LIMIT) -> None:
        self.limit = limit

    def after_visit(self, state: RuleState, *, now: float, changed: bool) -> RuleState:
        fr_max = int(state.interval) or FIRST_FR_MAX
        state = record_visit(state, now=now, changed=changed)
        counter = (state.history & ((1 << self.limit) - 1)).bit_count()
        fr_max = new_fr_max(fr_max, records=state.visits, counter=counter, limit=self.limit)
        return state._replace(interval=float(fr_max), due=now + fr_max * ADAPTIVE_ROUND_DAYS)


SELECTIVE_FIRST_THRESHOLD = 0.4
SELECTIVE_MIN_THRESHOLD = 0.01
SELECTIVE_STEP = 0.5
SELECTIVE_TURN_DAYS = 1.0


def next_threshold(threshold: float, *, share: float, step: float = SELECTIVE_STEP) -> float:
    """Return the threshold after a turn at which `share` of the links had changed.
    A page that is visited raises it in proportion to the links that changed; a page that is passed over lowers it in
    proportion to those that did not. `step` is the largest part by which one turn moves it."""
    moved = threshold * (1.0 + step * share if share >= threshold else 1.0 - step * (1.0 - share))
    return min(moved, 1.0)


class PaperSelective(AlwaysVisit):
    """`paper-selective`: paper A, section 3.3. An unchanged page is crawled if enough of its links changed.
    A new page, or one whose last visit found a change, is a black box and is crawled. Only an unchanged page is looked
    into: the share of its links that changed must reach a threshold, 40 % at first, which moves at each turn (the paper
    says "in proportion"). Below one percent the page is crawled and the threshold starts again, so none is lost."""

    needs_links = True

    def __init__(self, first_threshold: float = SELECTIVE_FIRST_THRESHOLD, step: float = SELECTIVE_STEP) -> None:
        self.first_threshold = first_threshold
        self.step = step

    def after_visit(self, state: RuleState, *, now: float, changed: bool) -> RuleState:
        threshold = state.threshold if state.visits else self.first_threshold
        if changed:
            threshold = max(threshold, self.first_threshold)
        state = record_visit(state, now=now, changed=changed)
        return state._replace(due=now + SELECTIVE_TURN_DAYS, threshold=threshold)

    def should_visit(
        self, state: RuleState, *, now: float, changed_share: float = 0.0, has_sitemap: bool = False
    ) -> tuple[bool, RuleState]:
        if is_black_box(state):
            return True, state
        if state.threshold < SELECTIVE_MIN_THRESHOLD:
            return True, state._replace(threshold=self.first_threshold)
        after = state._replace(threshold=next_threshold(state.threshold, share=changed_share, step=self.step))
        if changed_share >= state.threshold:
            return True, after
        return False, after._replace(due=now + SELECTIVE_TURN_DAYS)


def is_black_box(state: RuleState) -> bool:
    """True for a page that was not yet found unchanged since its first visit or its last change."""
    return state.visits <= 1 or bool(state.history & 1)


def has_changed_since(state: RuleState, visited: float) -> bool:
    """True if the last visit to a page, or one after `visited`, found a change."""
    return state.visits > 1 and (bool(state.history & 1) or state.changed_at > visited)


PDFC_NEVER_VISITED = -1.0
PDFC_EVERY_VISIT = 0.0
PDFC_ROUND_DAYS = 1.0


def frequency_of_change(state: RuleState, *, now: float) -> float:
    """Return F: -1 never visited, 0 changes at every visit, else the days since the last change."""
    if not state.visits:
        return PDFC_NEVER_VISITED
    revisits = state.visits - 1
    if revisits and state.history.bit_count() == revisits:
        return PDFC_EVERY_VISIT
    return max(now - state.changed_at, PDFC_ROUND_DAYS)


class PaperPdfc(AlwaysVisit):
    """`paper-pdfc`: paper B, sections 4.3, 4.6 and 5. `interval` holds F, the days between changes."""

    def after_visit(self, state: RuleState, *, now: float, changed: bool) -> RuleState:
        since = now - state.changed_at
        state = record_visit(state, now=now, changed=changed)
        frequency = frequency_of_change(state, now=now)
        if changed and frequency > PDFC_EVERY_VISIT:
            frequency = max(since, PDFC_ROUND_DAYS)
        return state._replace(interval=frequency, due=now + max(frequency, PDFC_ROUND_DAYS))


SITEMAP_ROUND_DAYS = 1.0


class PaperSitemap(AlwaysVisit):
    """`paper-sitemap`: paper C, section 4. A page is downloaded if LAST_UPDATED is later than LAST_VISITED.
    `announced` and `visited` hold the two. A site without dated sitemap is crawled the ordinary way, all of it in each
    round (section 6)."""

    needs_sitemaps = True

    def after_visit(self, state: RuleState, *, now: float, changed: bool) -> RuleState:
        return record_visit(state, now=now, changed=changed)._replace(due=now + SITEMAP_ROUND_DAYS)

    def should_visit(
        self, state: RuleState, *, now: float, changed_share: float = 0.0, has_sitemap: bool = False
    ) -> tuple[bool, RuleState]:
        if not has_sitemap or not state.visits or state.announced > state.visited:
            return True, state
        return False, state._replace(due=now + SITEMAP_ROUND_DAYS)

    def after_announcement(self, state: RuleState, *, updated: float) -> RuleState:
        if updated <= state.announced:
            return state
        due = min(state.due, updated) if updated > state.visited else state.due
        return state._replace(announced=updated, due=due)


NUTCH_FIRST_DAYS = 30.0
NUTCH_MIN_DAYS = 60.0 / 86400.0
NUTCH_MAX_DAYS = 365.0
NUTCH_MAX_WAIT_DAYS = 90.0  # db.fetch.interval.max: after this a page is fetched in any case.
NUTCH_GROWTH = 0.4
NUTCH_SHRINKAGE = 0.2
NUTCH_SYNC_RATE = 0.3


class Nutch(AlwaysVisit):
    """`nutch`: AdaptiveFetchSchedule with the values of nutch-default.xml."""

    def after_visit(self, state: RuleState, *, now: float, changed: bool) -> RuleState:
        first = state.visits == 0
        interval = state.interval or NUTCH_FIRST_DAYS
        state = record_visit(state, now=now, changed=changed)
        if not first:
            interval *= 1.0 - NUTCH_SHRINKAGE if changed else 1.0 + NUTCH_GROWTH
        age = now - state.changed_at
        interval = min(max(interval, age, NUTCH_MIN_DAYS), NUTCH_MAX_DAYS)
        due = now - NUTCH_SYNC_RATE * age + interval
        return state._replace(interval=interval, due=min(max(due, now), now + NUTCH_MAX_WAIT_DAYS))


STORMCRAWLER_FIRST_DAYS = 1.0
STORMCRAWLER_MIN_DAYS = 1.0 / 24.0
STORMCRAWLER_MAX_DAYS = 14.0
STORMCRAWLER_GROWTH = 0.5
STORMCRAWLER_SHRINKAGE = 0.5


class StormCrawler(AlwaysVisit):
    """`stormcrawler`: AdaptiveScheduler with its defaults."""

    def after_visit(self, state: RuleState, *, now: float, changed: bool) -> RuleState:
        first = state.visits == 0
        interval = state.interval or STORMCRAWLER_FIRST_DAYS
        state = record_visit(state, now=now, changed=changed)
        if changed and not first:
            interval = (1.0 - STORMCRAWLER_SHRINKAGE) * interval + STORMCRAWLER_SHRINKAGE * STORMCRAWLER_MIN_DAYS
        elif not first:
            interval = min(interval * (1.0 + STORMCRAWLER_GROWTH), STORMCRAWLER_MAX_DAYS)
        return state._replace(interval=interval, due=now + interval)


RULES: dict[str, Callable[[], IntervalRule]] = {
    "uniform": Uniform,
    "fixed": Fixed,
    "paper-adaptive": PaperAdaptive,
    "paper-selective": PaperSelective,
    "paper-pdfc": PaperPdfc,
    "paper-sitemap": PaperSitemap,
    "nutch": Nutch,
    "stormcrawler": StormCrawler,
}

__all__ = ["RULES", "IntervalRule", "RuleState"]
