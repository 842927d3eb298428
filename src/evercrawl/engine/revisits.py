"""When does a page come again, and is a page that is due worth its request right now?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from math import inf, isfinite
from typing import TYPE_CHECKING, NamedTuple

from xxhash import xxh32_intdigest, xxh64_intdigest

from evercrawl.core.revisit.request_budget import RequestBudget
from evercrawl.core.revisit.site_model import SiteModel
from evercrawl.core.revisit.visit_schedule import BudgetLevel, VisitSchedule, mark_cached, named_schedule
from evercrawl.core.revisit.visit_value import MARGIN
from evercrawl.core.visit.outcome import VisitOutcome
from evercrawl.engine.site_state import SiteState, SiteStates
from evercrawl.model.page import Page, Requeue, Reschedule
from evercrawl.model.settings import RevisitSettings
from evercrawl.model.time import DAY_US, span_us, to_us

if TYPE_CHECKING:
    from evercrawl.engine.shard import Shard

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
        outlooks: SiteStates[SiteModel],
        purse: RequestBudget,
        settings: RevisitSettings,
        weight_of: Callable[[Page], float] = lambda _: 1.0,
    ) -> None:
        """`weight_of` says what a current copy of a page counts, 1 for an average one."""
        self.outlooks = outlooks
        self.purse = purse
        self._settings = settings
        self._weight_of = weight_of
        self._schedule: VisitSchedule = named_schedule(settings.policy)

    def level(self) -> BudgetLevel:
        """What the budget allows at the moment."""
        return self.purse.level(shortest=self._settings.min_interval / DAY, longest=self._settings.max_interval / DAY)

    def after_visit(
        self,
        page: Page,
        notes: SiteState[SiteModel],
        judgement: VisitOutcome,
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
        wanted = max(due - now, self._settings.min_interval / DAY)
        days = max(wanted, fresh / DAY)
        if days > wanted:
            belief = mark_cached(belief)
        days = min(days, self._settings.max_interval / DAY) * self._drift(page)
        return Planned(now_us + int(days * DAY_US), int(days * 86_400), belief)

    def _drift(self, page: Page) -> float:
        """Another factor at each visit, so that a page is not always looked at at the same time of day."""
        draw = xxh64_intdigest(page.key, seed=page.visits) / 2**64
        return 1.0 + self._settings.jitter * (2.0 * draw - 1.0)

    def worth(self, page: Page, notes: SiteState[SiteModel], *, now_us: int) -> float:
        """What a visit now would bring, in days of a current copy; infinite: it has to be made."""
        if page.belief is None or page.tries:
            return inf
        level = self.level()
        level = level._replace(longest=level.longest * self._earliest)
        return self._weight_of(page) * self._schedule.value(
            page.belief, notes.memory, hub=hub_of(page.url), now=now_us / DAY_US, level=level
        )

    def _level_for(self, weight: float) -> BudgetLevel:
        """A page that counts more reaches the threshold earlier, as if that were lower."""
        level = self.level()
        return level._replace(threshold=level.threshold / weight)

    @property
    def _earliest(self) -> float:
        """The smallest factor by which drift brings a visit forward."""
        return 1.0 - self._settings.jitter

    def chosen(self, page: Page, notes: SiteState[SiteModel], *, now_us: int) -> None:
        """A visit begins: what it is worth tells the budget's threshold where it stands."""
        self.purse.record_value(self.worth(page, notes, now_us=now_us))

    def weigh(self, page: Page, notes: SiteState[SiteModel], *, now_us: int) -> Weighed:
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
        latest_us = now_us + int(self._settings.max_interval / DAY * DAY_US)
        due_us = min(int(due * DAY_US), latest_us)
        soonest_us = min(LOOK_AGAIN_US, latest_us - now_us)
        return Weighed(False, ORDINARY_BAND, max(due_us, now_us + soonest_us))

    def is_conditional(self, page: Page, notes: SiteState[SiteModel]) -> bool:
        """Ask with validators? Not on a site whose validators lied, and now and then not at all."""
        if notes.memory.false_validators >= LIES_TO_DISTRUST:
            return False
        if page.visits < AUDIT_FROM:
            return True
        return xxh64_intdigest(page.key, seed=page.visits + (1 << 32)) / 2**64 >= self._settings.unconditional_share

    def audited(self, page: Page, notes: SiteState[SiteModel], *, etag: str | None, date: str | None) -> None:
        """Content differs in meaning although the server sent the validators that we had: they lie."""
        same_tag = page.etag is not None and etag == page.etag
        same_date = page.etag is None and page.last_modified is not None and date == page.last_modified
        if same_tag or same_date:
            notes.learn(notes.memory._replace(false_validators=notes.memory.false_validators + 1))


DUE_PORTION = 1000
"""Due pages that are put into the queue at a time."""
LOOK_AHEAD_PAGES = 64
"""The pages due next that are weighed when requests are left over."""
FAR = timedelta(days=36_500)
"""Behind every due time."""


class DuePages:
    """The schedule of one shard's pages."""

    def __init__(self, shard: Shard) -> None:
        self._shard = shard
        self.next_us: int | None = 0
        """When a page is due next; None: none is."""
        self._looked_ahead_us = 0

    async def requeue(self, now_us: int) -> None:
        """Weigh what is due by now."""
        shard = self._shard
        if self.next_us is None or self.next_us > now_us:
            return
        await self._weigh(await shard.store.due(now_us, DUE_PORTION), now_us)
        await shard.commit()
        self.next_us = await shard.store.next_due()

    async def _weigh(self, pages: list[Page], now_us: int) -> int:
        """Queue those that are worth a request now, and put the others off; gives the number queued."""
        shard = self._shard
        worthy = 0
        for page in pages:
            notes = await shard.revisits.outlooks.of(page.site_id)
            weighed = shard.revisits.weigh(page, notes, now_us=now_us)
            if weighed.is_worth:
                worthy += 1
                band = min(weighed.band, shard.around.settings.frontier.priorities - 1)
                self._enqueue(page, band)
            else:
                shard.ledger.batch.rescheduled.append(Reschedule(page.id, weighed.due_us))
        return worthy

    def _enqueue(self, page: Page, band: int) -> None:
        shard = self._shard
        shard.ledger.batch.requeued.append(Requeue(page.id, page.site_id, band, shard.intake.next_seq()))

    async def look_ahead(self, now_us: int) -> bool:
        """With requests to spare, weigh what is due next: the threshold may have fallen since it was put off.

        Gives True when something was queued.
        """
        shard, purse = self._shard, self._shard.revisits.purse
        if (
            purse.per_day is None
            or not purse.is_full(now_us / DAY_US)
            or now_us < self._looked_ahead_us + self._token_us
        ):
            return False
        self._looked_ahead_us = now_us
        far_us = now_us + span_us(shard.around.settings.revisit.max_interval)
        if await self._weigh(await shard.store.due(far_us, LOOK_AHEAD_PAGES), now_us):
            await shard.commit()
            return True
        purse.lower_threshold()
        return False

    def next_look_us(self, now_us: int) -> int | None:
        """When to weigh again what is due next; None: there is no budget to spend."""
        purse = self._shard.revisits.purse
        if purse.per_day is None:
            return None
        full_us = int(purse.full_at(now_us / DAY_US) * DAY_US) + 1
        return max(self._looked_ahead_us + self._token_us, full_us)

    @property
    def _token_us(self) -> int:
        """Time in which the budget allows one more request."""
        per_day = self._shard.revisits.purse.per_day
        return int(DAY_US / per_day) if per_day else 0

    async def visit_soon(self, keys: Sequence[bytes]) -> None:
        """Known pages that are not in the queue enter it, before those that are there for the schedule."""
        shard = self._shard
        band = min(URGENT_BAND, shard.around.settings.frontier.priorities - 1)
        for page in await shard.store.pages(keys):
            if not page.seq:
                self._enqueue(page, band)
        await shard.commit()
        shard.wake.set()

    async def requeue_all(self) -> None:
        """Put every page that has a due time back into the queue, whatever that time is."""
        shard = self._shard
        far_us = to_us(shard.around.clock.now() + FAR)
        while pages := await shard.store.due(far_us, DUE_PORTION):
            for page in pages:
                self._enqueue(page, page.band)
            await shard.commit()

    def note(self, due_us: int) -> None:
        """Some page is due then."""
        if self.next_us is None or due_us < self.next_us:
            self.next_us = due_us
