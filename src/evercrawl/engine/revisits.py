"""When to visit a page again, and whether a page that is due is worth a request now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import timedelta
from math import inf, isfinite
from typing import NamedTuple

from xxhash import xxh64_intdigest

from evercrawl.core.document.compression import unpack_outline
from evercrawl.core.revisit.request_budget import DAY, RequestBudget, budget_level
from evercrawl.core.revisit.user_schedule import next_time, parse_schedule
from evercrawl.core.revisit.visit_schedule import BudgetLevel, SiteModel, changed_share, hub_of, mark_cached
from evercrawl.core.revisit.visit_value import MARGIN
from evercrawl.core.url import canonical, key_of, site_of
from evercrawl.engine.commits import CommitBuffer
from evercrawl.engine.decision import Policy
from evercrawl.engine.ports import ShardStore
from evercrawl.engine.site_state import SiteStates
from evercrawl.model.fetch import Fetched, header
from evercrawl.model.page import Batch, Page, Requeue, Reschedule
from evercrawl.model.settings import Settings
from evercrawl.model.time import DAY_US, from_us, span_us, to_us

URGENT = 2.0  # A visit worth this many times the threshold gets the urgent priority.
URGENT_PRIORITY, ORDINARY_PRIORITY = 1, 2
RECONSIDER_US = 600_000_000  # A page that was not worth a request is considered again no sooner than this.
AUDIT_FROM = 3  # Visits to a page before its validators are audited.
MAX_FALSE_VALIDATORS = 1  # After this many wrong validators a site gets no conditional requests.
DUE_PORTION = 1000  # Due pages that are considered at a time.
CHOOSE_EVERY_US = 5_000_000  # With a budget, due pages that had to wait are compared again no sooner than this.
MAX_QUEUED_TOKENS = 20  # A queued page takes up a place in the budget for as long as this many requests take.
LOOK_AHEAD_PAGES = 64  # Pages due next that are considered when requests are left over.
FAR = timedelta(days=36_500)  # Later than every due time.
MAX_ANNOUNCED = 100_000  # Announcements in memory that wait for a visit.
MAX_SCHEDULED = 200_000  # Pages of a shard that follow a new schedule at once; others do so when they are due.
MAX_LINKED = 200  # Links of a page that a policy looks at.


class NextVisit(NamedTuple):
    """When a page is visited next, and what its last visit taught."""

    due_us: int
    interval_s: int
    rate_estimate: bytes
    outlook: SiteModel


class VisitValue(NamedTuple):
    """Whether a page that is due is worth a request now, and otherwise when to reconsider it."""

    is_worth: bool
    priority: int
    due_us: int
    rate_estimate: bytes | None = None  # What the policy knows about the page after its turn; None: as before.
    value: float = inf  # What a visit now would gain; infinite: it is mandatory.


def next_visit(
    page: Page,
    outlook: SiteModel,
    *,
    changed: bool,
    now_us: int,
    fresh: timedelta,
    level: BudgetLevel,
    weight: float,
    policy: Policy,
) -> NextVisit:
    """Return when to visit a page again. `fresh`: how long the server itself calls the answer fresh."""
    settings, schedule = policy.settings.revisit, policy.schedule
    now, hub = now_us / DAY_US, hub_of(page.url)
    rate_estimate, outlook = schedule.after_visit(page.rate_estimate, outlook, hub=hub, now=now, changed=changed)
    due = schedule.due(rate_estimate, outlook, hub=hub, now=now, level=_weighted(level, weight))
    wanted = max(due - now, settings.min_interval / DAY)
    days = max(wanted, fresh / DAY)
    if days > wanted:
        rate_estimate = mark_cached(rate_estimate)
    days = min(days, settings.max_interval / DAY) * _jitter(page, settings.jitter)
    own = own_due_us(page, policy, after_us=now_us)
    if own is not None:
        return NextVisit(own, (own - now_us) // 1_000_000, rate_estimate, outlook)
    return NextVisit(now_us + int(days * DAY_US), int(days * 86_400), rate_estimate, outlook)


def own_due_us(page: Page, policy: Policy, *, after_us: int) -> int | None:
    """Return when the user's schedule visits a page after a moment; None: there is none."""
    schedule = policy.scope.selection(page.url).schedule
    return None if schedule is None else to_us(next_time(parse_schedule(schedule), after=from_us(after_us)))


def _jitter(page: Page, jitter: float) -> float:
    """Vary the interval, so that a page is not always visited at the same time of day."""
    draw = xxh64_intdigest(page.key, seed=page.visits) / 2**64
    return 1.0 + jitter * (2.0 * draw - 1.0)


def _weighted(level: BudgetLevel, weight: float) -> BudgetLevel:
    """Lower the threshold for a page that counts more."""
    return level._replace(threshold=level.threshold / weight)


def is_conditional(page: Page, outlook: SiteModel, *, audit: float) -> bool:
    """Return whether to send validators: not to a site whose validators were wrong, and not on audited visits."""
    if outlook.false_validators >= MAX_FALSE_VALIDATORS:
        return False
    if page.visits < AUDIT_FROM:
        return True
    return xxh64_intdigest(page.key, seed=page.visits + (1 << 32)) / 2**64 >= audit


def has_false_validators(page: Page, answer: Fetched) -> bool:
    """Return whether the server sent our validators for content that differs in meaning."""
    if not page.version:
        return False
    etag, date = header(answer.headers, "etag"), header(answer.headers, "last-modified")
    same_tag = page.etag is not None and etag == page.etag
    same_date = page.etag is None and page.last_modified is not None and date == page.last_modified
    return same_tag or same_date


class Revisits:
    """The value of visits to one shard's pages."""

    def __init__(
        self,
        outlooks: SiteStates[SiteModel],
        budget: RequestBudget,
        policy: Policy,
        weight_of: Callable[[Page], float] = lambda _: 1.0,
    ) -> None:
        """`weight_of`: how much a current copy of a page counts, 1 for an average one."""
        self.outlooks = outlooks
        self.budget = budget
        self._policy = policy
        self._settings = policy.settings.revisit
        self.weight_of = weight_of
        self._announced: dict[int, float] = {}
        """Page id -> the newest date that announced a change in this run, until the next visit."""
        self._requested: set[int] = set()
        """Ids of pages that somebody asked to visit."""
        self._unsaved: dict[int, bytes] = {}
        """Page id -> what the policy knows after a visit that is not committed yet."""

    def level(self) -> BudgetLevel:
        """Return what the budget allows at the moment."""
        return budget_level(self.budget, self._settings)

    def value(self, page: Page, outlook: SiteModel, *, now_us: int) -> float:
        """Return what a visit now would gain, in days of a current copy; infinite: it is mandatory."""
        if page.rate_estimate is None or page.tries:
            return inf
        level = self.level()
        level = level._replace(longest=level.longest * self._earliest)
        return self.weight_of(page) * self._policy.schedule.value(
            page.rate_estimate, outlook, hub=hub_of(page.url), now=now_us / DAY_US, level=level
        )

    @property
    def _earliest(self) -> float:
        """The smallest factor by which jitter shortens an interval."""
        return 1.0 - self._settings.jitter

    def note_announcement(self, page_id: int, at: float) -> None:
        """Remember an announcement, also for a page that is queued or in flight."""
        if len(self._announced) >= MAX_ANNOUNCED:
            self._announced.pop(next(iter(self._announced)))
        self._announced[page_id] = max(at, self._announced.get(page_id, at))

    def announced_at(self, page_id: int) -> float | None:
        """Return the newest date that announced a change of the page in this run."""
        return self._announced.get(page_id)

    def note_request(self, page_id: int) -> None:
        """Remember that somebody asked for a visit to the page now."""
        if len(self._requested) < MAX_ANNOUNCED:
            self._requested.add(page_id)

    def is_requested(self, page_id: int) -> bool:
        """Return whether somebody asked for this visit."""
        return page_id in self._requested

    def note_visit(self, page_id: int, rate_estimate: bytes | None) -> None:
        """Remember what a visit taught until it is committed."""
        self._announced.pop(page_id, None)
        self._requested.discard(page_id)
        if rate_estimate is not None:
            self._unsaved[page_id] = rate_estimate

    def forget_committed(self, batch: Batch) -> None:
        """Forget what the store knows now."""
        for visit in batch.visited:
            if visit.rate_estimate is not None and self._unsaved.get(visit.page_id) == visit.rate_estimate:
                del self._unsaved[visit.page_id]

    def newest_estimates(self, pages: Iterable[Page]) -> list[Page]:
        """Return the pages with what is known about them now; their visits may not be committed yet."""
        return [page._replace(rate_estimate=self._unsaved.get(page.id, page.rate_estimate)) for page in pages]

    def start_visit(self, page: Page, outlook: SiteModel, *, now_us: int) -> None:
        """Adjust the threshold of the budget to the value of a visit that begins."""
        if self.budget.per_day is not None:
            self.budget.record_value(self.value(page, outlook, now_us=now_us))

    @property
    def needs_links(self) -> bool:
        """Whether the policy looks at the pages that a due page links to."""
        return self._policy.schedule.needs_links

    def weigh(self, page: Page, outlook: SiteModel, *, now_us: int, linked: Sequence[Page] = ()) -> VisitValue:
        """Return whether a page that is due is worth a request now; `linked`: the known pages that it links to."""
        if page.rate_estimate is None or page.tries:
            return VisitValue(True, ORDINARY_PRIORITY, now_us)
        own = own_due_us(page, self._policy, after_us=page.last_us or 0)
        if own is not None:
            return VisitValue(own <= now_us, ORDINARY_PRIORITY, max(own, now_us))
        share = changed_share(page.rate_estimate, [each.rate_estimate for each in linked])
        may_pass, after = self._policy.schedule.take_turn(
            page.rate_estimate, outlook, now=now_us / DAY_US, level=self.level(), changed_share=share
        )
        if not may_pass:
            assert after is not None
            return self._put_off(page._replace(rate_estimate=after), outlook, now_us=now_us)._replace(
                rate_estimate=after
            )
        return self._weigh_value(page, outlook, now_us=now_us)._replace(rate_estimate=after)

    def _weigh_value(self, page: Page, outlook: SiteModel, *, now_us: int) -> VisitValue:
        value, threshold = self.value(page, outlook, now_us=now_us), self.budget.threshold
        # Jitter may shorten the interval, and a visit's value falls with about the square of it.
        if value >= MARGIN * threshold * self._earliest**2:
            is_urgent = isfinite(value) and value >= URGENT * threshold
            return VisitValue(True, URGENT_PRIORITY if is_urgent else ORDINARY_PRIORITY, now_us, value=value)
        return self._put_off(page, outlook, now_us=now_us)

    def _put_off(self, page: Page, outlook: SiteModel, *, now_us: int) -> VisitValue:
        """Return when a page that is not worth a request is considered again."""
        assert page.rate_estimate is not None
        level = _weighted(self.level(), self.weight_of(page))
        due = self._policy.schedule.due(
            page.rate_estimate, outlook, hub=hub_of(page.url), now=now_us / DAY_US, level=level
        )
        latest_us = now_us + int(self._settings.max_interval / DAY * DAY_US)
        due_us = min(int(due * DAY_US), latest_us)
        soonest_us = min(RECONSIDER_US, latest_us - now_us)
        return VisitValue(False, ORDINARY_PRIORITY, max(due_us, now_us + soonest_us))


class DuePages:
    """Queues the pages of one shard that are due, and with requests to spare those that are due next.
    With a budget, only the most valuable pages that it allows now are queued. The others stay due, and are compared
    again: in a queue they would be visited in the order in which they came."""

    def __init__(
        self,
        store: ShardStore,
        revisits: Revisits,
        buffer: CommitBuffer,
        *,
        next_seq: Callable[[], int],
        commit: Callable[[], Awaitable[None]],
        settings: Settings,
    ) -> None:
        self._store = store
        self._revisits = revisits
        self._buffer = buffer
        self._next_seq = next_seq
        self._commit = commit
        self._last_priority = settings.frontier.priorities - 1
        self._longest_us = span_us(settings.revisit.max_interval)
        self.next_us: int | None = 0
        """When a page is due next; None: no page is."""
        self._looked_ahead_us = 0
        self._queued: dict[int, int] = {}
        """Page id -> when it was queued, of pages that wait for their visit and take up a place in the budget."""

    async def apply_schedules(self, policy: Policy) -> None:
        """Set the due times of pages with a schedule of the user's, which may be new."""
        if not policy.scope.has_schedules:
            return
        for page in await self._store.due(2**62, MAX_SCHEDULED):
            own = None if page.tries else own_due_us(page, policy, after_us=page.last_us or 0)
            if own is not None:
                self._buffer.batch.rescheduled.append(Reschedule(page.id, own))
        await self._commit()
        self.next_us = 0

    async def requeue(self, now_us: int) -> None:
        """Queue the pages that are due by now and worth a request, as far as the budget allows."""
        if self.next_us is None or self.next_us > now_us:
            return
        pages = await self._store.due(now_us, DUE_PORTION)
        _, left = await self._weigh(pages, now_us)
        if left and len(pages) == DUE_PORTION:  # Let others be considered too.
            self._buffer.batch.rescheduled.extend(Reschedule(page.id, now_us + RECONSIDER_US, None) for page in left)
        await self._commit()
        next_us = await self._store.next_due()
        self.next_us = max(next_us, now_us + max(CHOOSE_EVERY_US, self._token_us)) if left and next_us else next_us

    async def _weigh(self, pages: list[Page], now_us: int) -> tuple[int, list[Page]]:
        """Queue the most valuable pages that are worth a request, and put off those that are not.
        Return the number queued, and the pages for which the budget has no room."""
        worth: list[tuple[Page, VisitValue]] = []
        for page in pages:
            outlook = (await self._revisits.outlooks.of(page.site_id)).value
            linked = await self._linked(page) if self._revisits.needs_links else ()
            weighed = self._revisits.weigh(page, outlook, now_us=now_us, linked=linked)
            if weighed.is_worth:
                worth.append((page, weighed))
            if not weighed.is_worth or weighed.rate_estimate is not None:
                due_us = None if weighed.is_worth else weighed.due_us
                self._buffer.batch.rescheduled.append(Reschedule(page.id, due_us, weighed.rate_estimate))
        room = self._room(now_us)
        if room is not None:
            worth.sort(key=lambda pair: -pair[1].value)
            self._queued.update((page.id, now_us) for page, _ in worth[:room])
        for page, weighed in worth[:room]:
            self.enqueue(page, weighed.priority)
        return len(worth[:room]), [page for page, _ in worth[len(worth) if room is None else room :]]

    def _room(self, now_us: int) -> int | None:
        """Return how many more pages the budget has room for; None: there is no budget."""
        budget = self._revisits.budget
        if budget.per_day is None:
            return None
        oldest_us = now_us - max(RECONSIDER_US, MAX_QUEUED_TOKENS * self._token_us)
        self._queued = {page_id: at_us for page_id, at_us in self._queued.items() if at_us > oldest_us}
        return max(0, budget.whole_tokens(now_us / DAY_US) + 1 - len(self._queued))

    def start_visit(self, page_id: int) -> None:
        """Note that the visit of a page begins."""
        self._queued.pop(page_id, None)

    async def _linked(self, page: Page) -> list[Page]:
        """Return the known pages of its own site that a page linked to at its last visit."""
        frame = await self._store.outline(page.id)
        if frame is None:
            return []
        site = site_of(page.url)
        urls = dict.fromkeys(canonical(link.url) for link in unpack_outline(frame).links)
        own = [url for url in urls if url is not None and url != page.url and site_of(url) == site]
        linked = await self._store.pages([key_of(url) for url in own[:MAX_LINKED]])
        return [each for each in linked if each.version]

    def enqueue(self, page: Page, priority: int) -> None:
        """Queue a known page with the next commit."""
        priority = min(priority, self._last_priority)
        self._buffer.batch.requeued.append(Requeue(page.id, page.site_id, priority, self._next_seq()))

    async def look_ahead(self, now_us: int) -> bool:
        """With requests to spare, queue what is due next; return whether anything was queued.
        The threshold may have fallen since those pages were put off."""
        budget = self._revisits.budget
        is_too_soon = now_us < self._looked_ahead_us + self._token_us
        if budget.per_day is None or not budget.is_full(now_us / DAY_US) or is_too_soon:
            return False
        self._looked_ahead_us = now_us
        queued, _ = await self._weigh(await self._store.due(now_us + self._longest_us, LOOK_AHEAD_PAGES), now_us)
        if queued:
            await self._commit()
            return True
        budget.lower_threshold()
        return False

    def next_look_ahead_us(self, now_us: int) -> int | None:
        """Return when to look ahead again; None: there is no budget to spend."""
        budget = self._revisits.budget
        if budget.per_day is None:
            return None
        full_us = int(budget.full_at(now_us / DAY_US) * DAY_US) + 1
        return max(self._looked_ahead_us + self._token_us, full_us)

    @property
    def _token_us(self) -> int:
        """The time in which the budget allows one more request."""
        per_day = self._revisits.budget.per_day
        return int(DAY_US / per_day) if per_day else 0

    async def visit_soon(self, keys: Sequence[bytes]) -> None:
        """Queue known pages before those that the schedule has queued."""
        for page in await self._store.pages(keys):
            self._revisits.note_request(page.id)
            if not page.seq:
                self.enqueue(page, URGENT_PRIORITY)
        await self._commit()

    async def requeue_all(self, now_us: int) -> None:
        """Queue every page that has a due time, whatever that time is."""
        far_us = now_us + span_us(FAR)
        while pages := await self._store.due(far_us, DUE_PORTION):
            for page in pages:
                self.enqueue(page, page.priority)
            await self._commit()

    def reschedule(self, change: Reschedule, *, now_us: int) -> None:
        """Change the due time of a page that is not queued, and check for due pages soon."""
        self._buffer.batch.rescheduled.append(change)
        self._buffer.touch()
        self.note(now_us)

    def note(self, due_us: int) -> None:
        """Note that a page is due at this time."""
        if self.next_us is None or due_us < self.next_us:
            self.next_us = due_us
