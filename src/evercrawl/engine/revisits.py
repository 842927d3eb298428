"""When does a page come again, and is a page that is due worth its request right now?"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from math import inf, isfinite
from typing import NamedTuple

from xxhash import xxh32_intdigest, xxh64_intdigest

from evercrawl.core.judgement import Judgement
from evercrawl.core.moment import DAY_US
from evercrawl.core.revisit.outlook import Outlook
from evercrawl.core.revisit.purse import Purse
from evercrawl.core.revisit.schedule import Level, Schedule, held_by_cache, schedule_named
from evercrawl.core.revisit.threshold import MARGIN
from evercrawl.engine.site_memory import Memories, SiteNotes
from evercrawl.model.page import Page
from evercrawl.model.settings import RevisitSettings

DAY = timedelta(days=1)
URGENT = 2.0
"""A visit worth so many times the threshold goes into a more urgent band."""
URGENT_BAND, ORDINARY_BAND = 1, 2
LOOK_AGAIN_US = 600_000_000
"""A page that was not worth its request is considered again no sooner."""
AUDIT_FROM = 3
"""Visits to a page before its validators are audited."""
LIES_TO_DISTRUST = 1
"""So many validators found to lie, and a site is asked without conditions."""


class Planned(NamedTuple):
    """The next visit of a page."""

    due_us: int
    interval_s: int
    belief: bytes


class Weighed(NamedTuple):
    """A page that is due: worth a request now, or when to look again."""

    is_worth: bool
    band: int
    due_us: int


def hub_of(url: str) -> int:
    """The directory that a page lies in, as a number."""
    return xxh32_intdigest(url.partition("?")[0].rpartition("/")[0].encode("utf-8", "surrogatepass"))


class Revisits:
    """The schedule of one shard's pages."""

    def __init__(
        self,
        outlooks: Memories[Outlook],
        purse: Purse,
        settings: RevisitSettings,
        weight_of: Callable[[Page], float] = lambda _: 1.0,
    ) -> None:
        """`weight_of` says what a current copy of a page counts, 1 for an average one."""
        self.outlooks = outlooks
        self.purse = purse
        self._settings = settings
        self._weight_of = weight_of
        self._schedule: Schedule = schedule_named(settings.policy)

    def level(self) -> Level:
        """What the budget allows at the moment."""
        return self.purse.level(shortest=self._settings.shortest / DAY, longest=self._settings.longest / DAY)

    def after_visit(
        self,
        page: Page,
        notes: SiteNotes[Outlook],
        judgement: Judgement,
        *,
        now_us: int,
        fresh: timedelta = timedelta(0),
    ) -> Planned:
        """What a visit that saw the page teaches, and when to come again."""
        now, hub = now_us / DAY_US, hub_of(page.url)
        changed = bool(judgement.changed) and page.version > 0
        belief, outlook = self._schedule.after_visit(page.belief, notes.memory, hub=hub, now=now, changed=changed)
        if outlook is not notes.memory:
            notes.learn(outlook)
        due = self._schedule.due(belief, outlook, hub=hub, now=now, level=self._level_for(self._weight_of(page)))
        wanted = max(due - now, self._settings.shortest / DAY)
        days = max(wanted, fresh / DAY)
        if days > wanted:
            belief = held_by_cache(belief)
        days = min(days, self._settings.longest / DAY) * self._drift(page)
        return Planned(now_us + int(days * DAY_US), int(days * 86_400), belief)

    def _drift(self, page: Page) -> float:
        """Another factor at each visit, so that a page is not always looked at at the same time of day."""
        draw = xxh64_intdigest(page.key, seed=page.visits) / 2**64
        return 1.0 + self._settings.drift * (2.0 * draw - 1.0)

    def worth(self, page: Page, notes: SiteNotes[Outlook], *, now_us: int) -> float:
        """What a visit now would bring, in days of a current copy; infinite: it has to be made."""
        if page.belief is None or page.tries:
            return inf
        level = self.level()
        level = level._replace(longest=level.longest * self._earliest)
        return self._weight_of(page) * self._schedule.worth(
            page.belief, notes.memory, hub=hub_of(page.url), now=now_us / DAY_US, level=level
        )

    def _level_for(self, weight: float) -> Level:
        """A page that counts more reaches the threshold earlier, as if that were lower."""
        level = self.level()
        return level._replace(threshold=level.threshold / weight)

    @property
    def _earliest(self) -> float:
        """The smallest factor by which drift brings a visit forward."""
        return 1.0 - self._settings.drift

    def chosen(self, page: Page, notes: SiteNotes[Outlook], *, now_us: int) -> None:
        """A visit begins: what it is worth tells the budget's threshold where it stands."""
        self.purse.made(self.worth(page, notes, now_us=now_us))

    def weigh(self, page: Page, notes: SiteNotes[Outlook], *, now_us: int) -> Weighed:
        """Is a page that is due worth a request, as things stand now?"""
        worth, threshold = self.worth(page, notes, now_us=now_us), self.purse.threshold
        # A visit that drift brought forward is worth less, about as the square of its time.
        if worth >= MARGIN * threshold * self._earliest**2:
            is_urgent = isfinite(worth) and worth >= URGENT * threshold
            return Weighed(True, URGENT_BAND if is_urgent else ORDINARY_BAND, now_us)
        assert page.belief is not None
        due = self._schedule.due(
            page.belief,
            notes.memory,
            hub=hub_of(page.url),
            now=now_us / DAY_US,
            level=self._level_for(self._weight_of(page)),
        )
        latest_us = now_us + int(self._settings.longest / DAY * DAY_US)
        due_us = min(int(due * DAY_US), latest_us)
        soonest_us = min(LOOK_AGAIN_US, latest_us - now_us)
        return Weighed(False, ORDINARY_BAND, max(due_us, now_us + soonest_us))

    def is_conditional(self, page: Page, notes: SiteNotes[Outlook]) -> bool:
        """Ask with validators? Not on a site whose validators lied, and now and then not at all."""
        if notes.memory.lies >= LIES_TO_DISTRUST:
            return False
        if page.visits < AUDIT_FROM:
            return True
        return xxh64_intdigest(page.key, seed=page.visits + (1 << 32)) / 2**64 >= self._settings.audit

    def audited(self, page: Page, notes: SiteNotes[Outlook], *, etag: str | None, date: str | None) -> None:
        """Content differs in meaning although the server sent the validators that we had: they lie."""
        same_tag = page.etag is not None and etag == page.etag
        same_date = page.etag is None and page.last_modified is not None and date == page.last_modified
        if same_tag or same_date:
            notes.learn(notes.memory._replace(lies=notes.memory.lies + 1))
