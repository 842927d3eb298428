"""Which known pages of a shard have their turn again: those that are due, and with requests to spare those
that are due next.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from evercrawl.core.moment import DAY_US, span_us, to_us
from evercrawl.engine.revisits import URGENT_BAND
from evercrawl.model.page import Page, Requeue, Reschedule

if TYPE_CHECKING:
    from evercrawl.engine.shard import Shard

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
                band = min(weighed.band, shard.around.settings.frontier.bands - 1)
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
        far_us = now_us + span_us(shard.around.settings.revisit.longest)
        if await self._weigh(await shard.store.due(far_us, LOOK_AHEAD_PAGES), now_us):
            await shard.commit()
            return True
        purse.left_over()
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
        band = min(URGENT_BAND, shard.around.settings.frontier.bands - 1)
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
