"""Revisit policies driven from outside in simulated days, with the code of production."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Collection
from itertools import islice
from math import inf

from evercrawl.core.revisit.change_announcements import after_announcement, after_poll, requests_between_polls
from evercrawl.core.revisit.interval_rules import (
    ADAPTIVE_ROUND_DAYS,
    SITEMAP_ROUND_DAYS,
    Fixed,
    IntervalRule,
    RuleState,
)
from evercrawl.core.revisit.rate_estimate import REFRESH_DAYS, BulkChange, PageEstimate, SiteEstimate, update_prior
from evercrawl.core.revisit.visit_update import (
    SITE_PRIOR_VISITS,
    after_visit,
    bulk_change_share,
    escape_chances,
    new_page_estimate,
)
from evercrawl.core.revisit.visit_value import MARGIN, adjust_threshold, due_at, value_now
from evercrawl.core.sitemap.sitemap_discovery import ABSENT_DAYS

SLACK_DAYS = 1.0  # The first batch may be requested before any time has passed.
TRUSTED_AFTER = 8  # Batches that a caller ended by itself before its own pace counts as the budget.


class RequestAllowance:
    """Requests that accrue with time.
    Invariant: a caller that asks until it is refused gets at most the accrued budget plus one day; others are not
    limited."""

    def __init__(self, per_day: float | None) -> None:
        self.per_day = per_day
        self.start: float | None = None
        self.spent = 0
        self.at = -inf
        self.refused = False
        self.unrefused_batches = 0

    def begin_moment(self, t: float) -> None:
        """Begin a new moment and note whether the caller ended the last batch by itself."""
        if t <= self.at:
            return
        if self.start is None:
            self.start = t
        elif self.at > -inf:
            self.unrefused_batches = 0 if self.refused else self.unrefused_batches + 1
        self.at, self.refused = t, False

    def take(self, t: float) -> bool:
        """Take one request if allowed."""
        self.begin_moment(t)
        if not self._is_open(t):
            self.refused = True
            return False
        self.spent += 1
        return True

    def give_back(self) -> None:
        """Return a request for which there was no page, so the caller did not stop by itself."""
        self.spent -= 1
        self.refused = True

    def _is_open(self, t: float) -> bool:
        if self.per_day is None or self.unrefused_batches >= TRUSTED_AFTER:
            return True
        assert self.start is not None
        return self.spent + 1 <= self.per_day * (t - self.start + SLACK_DAYS) + 1.0


class RulePolicy:
    """Pages by due time, new ones first. Invariant: a page with the caller is in no queue."""

    def __init__(self, rule: IntervalRule, budget_per_day: float | None) -> None:
        self.rule = rule
        self.allowance = RequestAllowance(budget_per_day)
        self.pages: dict[int, RuleState] = {}
        self.tickets: dict[int, int] = {}
        self.hub_of: dict[int, int] = {}
        self.sizes: dict[int, int] = {}
        self.changed: dict[int, set[int]] = {}
        self.new: deque[tuple[int, int]] = deque()
        self.calendar: list[tuple[float, int, int]] = []
        self.with_caller: set[int] = set()
        self.has_sitemap = False
        self.polled = -inf

    def add(self, page: int, hub: int, t: float, has_copy: bool) -> None:
        if page in self.pages:
            self.remove(page, t)
        self.hub_of[page] = hub
        self.sizes[hub] = self.sizes.get(hub, 0) + 1
        ticket = self.tickets[page] = self.tickets.get(page, 0) + 1
        self.pages[page] = RuleState()
        if has_copy:
            self._keep(page, self.rule.after_visit(RuleState(), now=t, changed=False))
        else:
            self.new.append((page, ticket))

    def remove(self, page: int, t: float) -> None:
        if self.pages.pop(page, None) is None:
            return
        hub = self.hub_of.pop(page)
        self.with_caller.discard(page)
        self.tickets[page] += 1
        self.sizes[hub] -= 1
        self.changed.get(hub, set()).discard(page)

    def signal(self, page: int, announced_at: float, t: float) -> None:
        """Note the date of a page; most rules ignore it."""
        self.has_sitemap = True
        state = self.pages.get(page)
        if state is None:
            return
        after = self.rule.after_announcement(state, updated=announced_at)
        if after == state:
            return
        self.pages[page] = after
        if after.visits and page not in self.with_caller:
            self._keep(page, after)

    def poll_due(self, t: float) -> bool:
        """A rule that decides by sitemaps reads them in each round; one that is missing, once a month."""
        wait = SITEMAP_ROUND_DAYS if self.has_sitemap or self.polled == -inf else ABSENT_DAYS
        if not self.rule.needs_sitemaps or t - self.polled < wait or not self.allowance.take(t):
            return False
        self.polled = t
        return True

    def next(self, t: float) -> int | None:
        if not self.allowance.take(t):
            return None
        page = self._pick(t)
        if page is None:
            self.allowance.give_back()
        else:
            self.with_caller.add(page)
        return page

    def _pick(self, t: float) -> int | None:
        while self.new:
            page, ticket = self.new.popleft()
            if self.tickets.get(page) == ticket:
                return page
        while self.calendar and self.calendar[0][0] <= t:
            _, ticket, page = heapq.heappop(self.calendar)
            if self.tickets.get(page) == ticket and self._is_wanted(page, t):
                return page
        return None

    def _is_wanted(self, page: int, t: float) -> bool:
        wanted, state = self.rule.should_visit(
            self.pages[page], now=t, changed_share=self._changed_share(page), has_sitemap=self.has_sitemap
        )
        self.pages[page] = state
        if not wanted:
            self._keep(page, state._replace(due=max(state.due, t + _MIN_WAIT)))
        return wanted

    def _changed_share(self, page: int) -> float:
        """Return the share of the other pages of its directory whose last visit found a change.
        A trace has no links, so the pages of a directory stand for the pages that a page links to."""
        hub = self.hub_of[page]
        others = self.sizes[hub] - 1
        changed = self.changed.get(hub, set())
        return (len(changed) - (page in changed)) / others if others > 0 else 0.0

    def observe(self, page: int, t: float, changed: bool, first: bool) -> None:
        if page not in self.pages:
            return
        self.with_caller.discard(page)
        siblings = self.changed.setdefault(self.hub_of[page], set())
        (siblings.add if changed else siblings.discard)(page)
        state = RuleState() if first else self.pages[page]
        self._keep(page, self.rule.after_visit(state, now=t, changed=changed))

    def _keep(self, page: int, state: RuleState) -> None:
        self.pages[page] = state
        ticket = self.tickets[page] = self.tickets[page] + 1
        heapq.heappush(self.calendar, (state.due, ticket, page))


class TreePolicy(RulePolicy):
    """`paper-tree`: the rival of `paper-selective` in paper A, section 3.3, which descends the tree of a site.
    In each daily round the first page of a directory is examined. Only if it has not changed are the pages below it
    examined; if it has, it is crawled and the descent ends there."""

    def __init__(self, budget_per_day: float | None) -> None:
        super().__init__(Fixed(ADAPTIVE_ROUND_DAYS), budget_per_day)
        self.members: dict[int, dict[int, None]] = {}

    def add(self, page: int, hub: int, t: float, has_copy: bool) -> None:
        super().add(page, hub, t, has_copy)
        self.members.setdefault(hub, {})[page] = None

    def remove(self, page: int, t: float) -> None:
        if page in self.hub_of:
            self.members[self.hub_of[page]].pop(page, None)
        super().remove(page, t)

    def _is_wanted(self, page: int, t: float) -> bool:
        top = next(iter(self.members[self.hub_of[page]]))
        above, state = self.pages[top], self.pages[page]
        if page == top or (above.visited > state.visited and not above.history & 1):
            return True
        is_settled = above.visited > state.visited
        self._keep(page, state._replace(due=t + (ADAPTIVE_ROUND_DAYS if is_settled else _MIN_WAIT)))
        return False


_MIN_WAIT = 1e-3
MAX_RESCHEDULED = 5000  # Pages rescheduled at once when their prior or bulk change moved.
MAX_UPDATED = 2000  # Candidates whose value is updated at each moment. Others keep their old one.
MAX_EARLY = 64  # Pages compared if none is due. The order of due times is not quite the order of values.
MAX_PURGED = 10 * MAX_UPDATED
SAMPLED_PAGES = 5000  # Pages from which the prior of a large site is learned.
BULK_CHANGE_STEP = 0.01
UNREPORTED_DAYS = 2.0
FIRST_SPANS = 0.4
NO_BULK_CHANGE = BulkChange()
UNKNOWN_SITE = SiteEstimate()
UNKNOWN_PAGE = PageEstimate(visited=0.0)
MAX_SPANS = 12.0  # No page waits longer than this many mean intervals.


class OptimalPolicy:
    """Greedy value under one threshold.
    Invariant: every live page is in exactly one place: new, with the caller, ready, or in the calendar by due time."""

    def __init__(self, budget_per_day: float | None) -> None:
        self.allowance = RequestAllowance(budget_per_day)
        self.site = SiteEstimate()
        self.pages: dict[int, PageEstimate] = {}
        self.hub_of: dict[int, int] = {}
        self.hubs: dict[int, BulkChange] = {}
        self.members: dict[int, set[int]] = {}
        self.last_shares: dict[int | None, float] = {}
        self.visited_hubs: set[int] = set()
        self.new: deque[int] = deque()
        self.in_flight: dict[int, float] = {}
        self.ticket: dict[int, int] = {}
        self.unscheduled: list[tuple[int, int]] = []
        self.calendar: list[tuple[float, int, int]] = []
        self.ready: list[tuple[float, int, int]] = []
        self.now = -inf
        self.open_poll: float | None = None
        self.threshold = self.prior_at = self.rate = 0.0
        self.batch = self.announced_pages = self.since_poll = self.silent_polls = 0

    def add(self, page: int, hub: int, t: float, has_copy: bool) -> None:
        if page in self.pages:
            self.remove(page, t)
        self.pages[page] = new_page_estimate(self.site, now=t, has_copy=has_copy)
        self.hub_of[page] = hub
        self.members.setdefault(hub, set()).add(page)
        if has_copy:
            self.unscheduled.append((page, self._new_ticket(page)))
        else:
            self.ticket[page] = self.ticket.get(page, 0) + 1
            self.new.append(page)

    def remove(self, page: int, t: float) -> None:
        estimate = self.pages.pop(page, None)
        if estimate is None:
            return
        self.announced_pages -= estimate.announcements > 0
        self.members[self.hub_of.pop(page)].discard(page)
        self.in_flight.pop(page, None)
        self.ticket[page] += 1

    def signal(self, page: int, announced_at: float, t: float) -> None:
        if self.open_poll is None:
            self.open_poll = t
        estimate = self.pages.get(page)
        if estimate is None:
            return
        after, self.site = after_announcement(estimate, self.site, announced_at=announced_at)
        self.pages[page] = after
        if after.announcements > 0 and estimate.announcements == 0:
            self.announced_pages += 1
        if after.announcements > estimate.announcements and page not in self.in_flight:
            self._evaluate(page, t)

    def poll_due(self, t: float) -> bool:
        self._advance(t)
        gap = requests_between_polls(
            self.site,
            waiting=self.announced_pages,
            silent_polls=self.silent_polls,
            pages=len(self.pages),
            per_day=len(self.pages) / self.span,
            threshold=self._level(),
        )
        if self.since_poll < gap or not self.pages or not self.allowance.take(t):
            return False
        self.since_poll = 0
        self.silent_polls += 1
        self.open_poll = t
        return True

    def next(self, t: float) -> int | None:
        self._advance(t)
        if not self.allowance.take(t):
            return None
        page = self._pick(t)
        if page is None:
            self.allowance.give_back()
            return None
        self.in_flight[page] = t
        self.since_poll += 1
        self.batch += 1
        return page

    def observe(self, page: int, t: float, changed: bool, first: bool) -> None:
        self._close_poll()
        estimate = self.pages.get(page)
        if estimate is None:
            return
        self.in_flight.pop(page, None)
        self.announced_pages -= estimate.announcements > 0
        if first:
            estimate = estimate._replace(visited=None)
        hub = self.hub_of[page]
        update = after_visit(estimate, self.site, self.hubs.get(hub, NO_BULK_CHANGE), now=t, changed=changed)
        self.pages[page], self.site, self.hubs[hub] = update
        self.visited_hubs.add(hub)
        self._schedule(page)

    def _pick(self, t: float) -> int | None:
        while self.new:
            page = self.new.popleft()
            if page in self.pages and page not in self.in_flight and self.pages[page].visited is None:
                return page
        best = self._best()
        if best is None and self._take_early(t):
            best = self._best()
        return best

    def _best(self) -> int | None:
        while self.ready:
            value, ticket, page = heapq.heappop(self.ready)
            if self.ticket.get(page) == ticket and page in self.pages:
                if value > -inf:
                    self.threshold = adjust_threshold(self._level(), value=-value)
                return page
        return None

    def _take_early(self, t: float) -> bool:
        """Offer the next due pages now, because there is budget but no candidate."""
        taken = 0
        while self.calendar and taken < MAX_EARLY:
            _, ticket, page = heapq.heappop(self.calendar)
            if self.ticket.get(page) == ticket and page in self.pages:
                self._offer(page, self._value(page, t))
                taken += 1
        return taken > 0

    def _advance(self, t: float) -> None:
        """Begin a new moment: learn the pace, update the prior, collect what is due."""
        self._close_poll()
        self._schedule_new()
        if t <= self.now:
            return
        if self.now > -inf:
            self._learn_pace(t)
        self.now = t
        if t - self.prior_at >= REFRESH_DAYS:
            self._refresh_prior(t)
        self._requeue_unreported(t)
        self._spread_bulk_changes(t)
        self._collect_due(t)

    def _schedule_new(self) -> None:
        """Schedule pages found with a copy. They only know the prior, so they all wait equally long."""
        if not self.unscheduled:
            return
        wait = self._due_at(new_page_estimate(self.site, now=0.0, has_copy=True))
        entries = []
        for page, ticket in self.unscheduled:
            if self.ticket[page] == ticket:
                since = self.pages[page].visited
                assert since is not None
                entries.append((since + wait, ticket, page))
        self.unscheduled = []
        if len(entries) > len(self.calendar) // 10:
            self.calendar += entries
            heapq.heapify(self.calendar)
            return
        for entry in entries:
            heapq.heappush(self.calendar, entry)

    def _requeue_unreported(self, t: float) -> None:
        """Requeue pages whose visits were never reported."""
        while self.in_flight:
            page, since = next(iter(self.in_flight.items()))
            if t - since < UNREPORTED_DAYS:
                return
            del self.in_flight[page]
            if self.pages[page].visited is None:
                self.new.append(page)
            else:
                self._schedule(page)

    def _learn_pace(self, t: float) -> None:
        passed = t - self.now
        if not self.rate:
            self.rate = self.allowance.per_day or 0.0
        share = min(passed / 10.0, 1.0)
        self.rate += share * (self.batch / passed - self.rate)
        self.batch = 0

    @property
    def span(self) -> float:
        """Mean days between visits to a page, at the pace of the caller."""
        rate = self.rate or self.allowance.per_day or 0.1 * len(self.pages)
        return max(len(self.pages), 1) / max(rate, 1e-9)

    def _refresh_prior(self, t: float) -> None:
        every = 1 + len(self.pages) // SAMPLED_PAGES
        self.site = update_prior(self.site, islice(self.pages.values(), 0, None, every))
        self.prior_at = t
        if len(self.pages) <= MAX_RESCHEDULED:
            for page, estimate in self.pages.items():
                if page in self.in_flight or estimate.visited is None:
                    continue
                if estimate.announcements:
                    self._evaluate(page, t)
                else:
                    self._schedule(page)

    def _spread_bulk_changes(self, t: float) -> None:
        """Evaluate siblings of unexpectedly changed pages now."""
        for hub in self.visited_hubs:
            if self._has_risen(hub, bulk_change_share(self.hubs[hub], now=t)):
                self._evaluate_all(self.members[hub], t)
        self.visited_hubs.clear()
        if self._has_risen(None, bulk_change_share(self.site.site_change, now=t, prior_visits=SITE_PRIOR_VISITS)):
            self._evaluate_all(self.pages, t)

    def _has_risen(self, hub: int | None, q: float) -> bool:
        last = self.last_shares.get(hub, 0.0)
        if q > 1.5 * last + BULK_CHANGE_STEP:
            self.last_shares[hub] = q
            return True
        self.last_shares[hub] = min(q, last)
        return False

    def _evaluate_all(self, pages: Collection[int], t: float) -> None:
        for page in pages if len(pages) <= MAX_RESCHEDULED else ():
            if page not in self.in_flight and self.pages[page].visited is not None:
                self._evaluate(page, t)

    def _collect_due(self, t: float) -> None:
        """Move due pages from the calendar to the ready heap, or back with a corrected due time."""
        if len(self.ready) <= MAX_PURGED:
            self._update_candidates(t)
        while self.calendar and self.calendar[0][0] <= t:
            _, ticket, page = heapq.heappop(self.calendar)
            if self.ticket.get(page) == ticket and page in self.pages:
                self._evaluate(page, t)

    def _update_candidates(self, t: float) -> None:
        """Update the candidates and drop invalid tickets."""
        valid = [entry for entry in self.ready if self.ticket.get(entry[2]) == entry[1]]
        if len(valid) > MAX_UPDATED:
            heapq.heapify(valid)
            self.ready = valid
            return
        self.ready = []
        for _, _, page in valid:
            self._evaluate(page, t)

    def _evaluate(self, page: int, t: float) -> None:
        """Offer a page that is announced or worth the threshold; else schedule it.
        An announced page that changes fast may never reach the threshold, but is worth more than an early page."""
        value = self._value(page, t)
        if value < MARGIN * self._level() and not self.pages[page].announcements:
            self._schedule(page, not_before=t)
        else:
            self._offer(page, value)

    def _value(self, page: int, t: float) -> float:
        """Return the value of a visit; infinite after the longest wait."""
        estimate, span = self.pages[page], self.span
        assert estimate.visited is not None
        if t - estimate.visited >= MAX_SPANS * span:
            return inf
        return value_now(estimate, self.site, now=t, span=span, escape=self._escape_chance(page))

    def _offer(self, page: int, value: float) -> None:
        heapq.heappush(self.ready, (-value, self._new_ticket(page), page))

    def _schedule(self, page: int, *, not_before: float = -inf) -> None:
        due = self._due_at(self.pages[page], escape=self._escape_chance(page))
        heapq.heappush(self.calendar, (max(due, not_before + 1e-3), self._new_ticket(page), page))

    def _due_at(self, estimate: PageEstimate, *, escape: float = 1.0) -> float:
        least, span = MARGIN * self._level(), self.span
        return due_at(estimate, self.site, threshold=least, span=span, longest=MAX_SPANS * span, escape=escape)

    def _escape_chance(self, page: int) -> float:
        sums = self.hubs.get(self.hub_of[page], NO_BULK_CHANGE)
        return escape_chances(self.site, sums, now=max(self.now, sums.at)).both

    def _level(self) -> float:
        """Return the threshold; before any visit, the value of an unknown page early in its interval."""
        return self.threshold or value_now(UNKNOWN_PAGE, UNKNOWN_SITE, now=FIRST_SPANS * self.span, span=self.span)

    def _new_ticket(self, page: int) -> int:
        self.ticket[page] = ticket = self.ticket.get(page, 0) + 1
        return ticket

    def _close_poll(self) -> None:
        if self.open_poll is not None:
            self.site = after_poll(self.site, now=self.open_poll)
            self.open_poll = None
