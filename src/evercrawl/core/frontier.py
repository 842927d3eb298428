"""The frontier: which page of which site is next, or how long to wait.
Mercator's frontier as a state machine without I/O. Front queues by priority hold the sites that wait for a turn. A
limited number of back queues, each of one site, hold a window of its pages. A heap orders the back queues by the
earliest moment at which their site may be asked. The rest stays in the store: `needs` says what to read next. A site
keeps its back queue for one window of pages while others wait: breadth over sites, not depth into one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from random import Random
from typing import NamedTuple

from evercrawl.core.politeness import HostQueue, Pace, RequestEnd, SideRequest, pace_at_site
from evercrawl.core.robots.robots_rules import RobotsRules
from evercrawl.model.page import Page
from evercrawl.model.site import Site
from evercrawl.model.time import span_us

LONG_CLOSED_US = 5_000_000  # A site that is closed for longer than this gives its queue to another.
MAX_WAITING = 20_000
"""Sites in memory that wait for a queue or for their opening; others are read again from the store."""


POOR_SHARE = 0.5
"""In a focused crawl, a page is poor if it is worth less than this share of one that may be fetched soon."""
LATE_TIERS = 3  # Versions, views, poor pages.
LATE_PORTION = 16  # Pages of late tiers that are read at a time: better ones may turn up meanwhile.
IN_FLIGHT_SHARE = 0.8  # The same, compared to a page in flight: its links may be as good.


@dataclass(frozen=True, slots=True)
class Visit:
    """Fetch this page now."""

    queue: HostQueue
    page: Page


@dataclass(frozen=True, slots=True)
class FetchRobots:
    """Fetch robots.txt of this site now."""

    queue: HostQueue


@dataclass(frozen=True, slots=True)
class FetchSide:
    """Send a side request to this site now."""

    queue: HostQueue
    side_request: SideRequest


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing may be fetched before this moment."""

    until_us: int


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing is left to fetch, or all of it is in flight."""


Turn = Visit | FetchRobots | FetchSide | Wait | Idle


@dataclass(frozen=True, slots=True)
class PagesNeeded:
    """Read the next queued pages of a site with one priority."""

    site_id: int
    priority: int
    after_seq: int
    most: int


@dataclass(frozen=True, slots=True)
class SitesNeeded:
    """Read the next sites that wait with one priority."""

    priority: int
    after_id: int
    most: int


Need = PagesNeeded | SitesNeeded


class PageLevels(NamedTuple):
    """What the priorities of pages mean: the first ones are ordered by credit, then versions, views, poor pages."""

    priorities: int

    @property
    def main(self) -> int:
        """The number of priorities that are ordered by credit."""
        return max(1, self.priorities - LATE_TIERS)

    @property
    def last(self) -> int:
        """The last priority."""
        return self.priorities - 1

    def of(self, tier: int) -> int:
        """Return the first priority of a tier: 0 pages, 1 versions, 2 views, 3 poor pages."""
        return 0 if tier == 0 else max(0, self.last - LATE_TIERS + tier)


class PageChoice(NamedTuple):
    """Which page is next: the first of its priority, unless one of these says otherwise."""

    value_of: Callable[[Page], float] | None = None  # The most valuable page of all sites is next.
    ranks_of: Callable[[Iterable[Page]], list[float]] | None = None
    """Sites take turns, and the best page of the window is next."""
    lift_of: Callable[[str], int] | None = None  # Of the sites that may be asked now, the one with the highest is next.
    one_at_a_time: bool = False
    """With `value_of`: the links of a page count before the next page is chosen, and the best page is waited for."""


FIRST_COME = PageChoice()


class Frontier:
    """The next step of one shard.
    Invariants: a site has at most one queue; a site without a queue is not asked; the head of the heap may be asked if
    and only if any site may; a page is in at most one window."""

    def __init__(
        self,
        *,
        pace: Pace,
        priorities: int,
        window: int,
        back_queues: int,
        random: Random,
        robots_of: Callable[[Site], RobotsRules | None],
        choice: PageChoice = FIRST_COME,
    ) -> None:
        self.pace = pace
        self.back_queues = back_queues
        self.queues: dict[int, HostQueue] = {}
        self.closed_ids: set[int] = set()
        """Sites that were paused or closed in this run."""
        self._priorities = priorities
        self._main = PageLevels(priorities).main
        self._window = window
        self._random = random
        self._robots_of = robots_of
        self._value_of = choice.value_of
        self._ranks_of = choice.ranks_of
        self._one_at_a_time = choice.one_at_a_time
        self._lift_of = choice.lift_of
        self._heap: list[tuple[int, int]] = []
        self._front: list[deque[Site]] = [deque() for _ in range(priorities)]
        self._waiting: set[int] = set()
        self._updated_sites: dict[int, Site] = {}
        """Waiting sites that had a queue meanwhile, in their state after it."""
        self._asleep: list[tuple[int, int, Site]] = []
        self._sites_read_to = [0] * priorities
        self._more_sites = [True] * priorities
        self._forgot_some = False
        self._moving: dict[int, int] = {}
        """Pages that move up in the queue with the next commit -> their new seq."""
        self._moved: dict[int, int] = {}
        """The same for the last commit: a read that began before it may still show the old place."""
        self._to_refill: set[int] = set()
        """Queues whose window is empty although the store may hold more."""

    # What the store holds

    def needs(self, *, now_us: int) -> Need | None:
        """Assign free queues, and return what to read from the store before the next turn; None: nothing."""
        self._wake(now_us)
        self._open_queues()
        if self._to_refill:
            return self._pages_needed(self.queues[next(iter(self._to_refill))])
        if len(self.queues) >= self.back_queues or self._waits_in_front():
            return None
        if not any(self._more_sites) and self._forgot_some:
            self._reread_sites()
        for priority in range(self._priorities):
            if self._more_sites[priority]:
                return SitesNeeded(priority, self._sites_read_to[priority], self.back_queues)
        return None

    def _pages_needed(self, queue: HostQueue) -> PagesNeeded:
        for priority in self._reading_order():
            if queue.has_more[priority]:
                is_late = priority >= self._main and self._value_of is None
                most = min(self._window, LATE_PORTION) if is_late else self._window
                queue.added.clear()
                return PagesNeeded(queue.site.id, priority, queue.read_to[priority], most)
        raise AssertionError("a queue to refill has more in some priority")

    def _reading_order(self) -> Iterable[int]:
        """Return the priorities in the order in which pages of a site are read; views and poor pages are last."""
        if self._value_of:
            return range(self._priorities)
        return (*biased_order(self._main, random=self._random), *range(self._main, self._priorities))

    def _waits_in_front(self) -> bool:
        return any(self._front)

    def _reread_sites(self) -> None:
        self._forgot_some = False
        self._more_sites = [True] * self._priorities
        self._sites_read_to = [0] * self._priorities

    def still_needs(self, need: PagesNeeded) -> bool:
        """Return whether the queue is still as it was when the pages were needed.
        While a store is slow, a queue can be given away and another one opened for the site."""
        queue = self.queues.get(need.site_id)
        return queue is not None and queue.read_to[need.priority] == need.after_seq

    def fill(self, need: PagesNeeded, pages: list[Page], *, refused: frozenset[int] = frozenset()) -> None:
        """Put pages that were read into the window of their queue, without those that were refused.
        A refused page counts as decided and not yet committed."""
        queue = self.queues[need.site_id]
        queue.window.extend(page for page in pages if page.id not in refused and not self._is_leaving(page))
        queue.uncommitted += len(refused)
        if pages:
            queue.read_to[need.priority] = pages[-1].seq
            queue.last_priority = need.priority
        if len(pages) < need.most and need.priority not in queue.added:
            queue.has_more[need.priority] = False
        if queue.is_drained():
            self._drop(queue)
        else:
            self._settle(queue)

    def is_unread(self, site_id: int, priority: int, seq: int) -> bool:
        """Return whether no queue has read the store up to this place."""
        queue = self.queues.get(site_id)
        return queue is None or queue.read_to[priority] < seq

    def move_page(self, page_id: int, seq: int) -> None:
        """Note that a page leaves its unread place for a better one; `seq` is its new place."""
        self._moving[page_id] = seq

    def close_moves(self) -> None:
        """Note that the batch with these moves is closed."""
        self._moved, self._moving = self._moving, {}

    def _is_leaving(self, page: Page) -> bool:
        """Return whether the page was read at a place that it leaves; it is read again at its new one."""
        return self._moving.get(page.id, page.seq) > page.seq or self._moved.get(page.id, page.seq) > page.seq

    def add_credit(self, gained: Mapping[int, int]) -> None:
        """Add credit that was stored to the pages in the windows, by page number."""
        for queue in self.queues.values():
            for place, page in enumerate(queue.window):
                if page.id in gained:
                    queue.window[place] = page._replace(credit=page.credit + gained[page.id])

    def offer(self, need: SitesNeeded, sites: list[Site], *, now_us: int) -> None:
        """Line up waiting sites; those that stay closed for long sleep until they open."""
        if sites:
            self._sites_read_to[need.priority] = sites[-1].id
        if len(sites) < need.most:
            self._more_sites[need.priority] = False
        for site in sites:
            self._line_up(site, priority=need.priority, now_us=now_us)

    def add_pages(self, site: Site, priorities: Iterable[int], *, now_us: int) -> None:
        """Note that pages of this site were committed to the queue."""
        queue = self.queues.get(site.id)
        if queue is not None:
            for priority in priorities:
                queue.has_more[priority] = True
                queue.added.add(priority)
            self._settle(queue)
            return
        self._line_up(site, priority=min(priorities), now_us=now_us)

    def _line_up(self, site: Site, *, priority: int, now_us: int) -> None:
        if site.id in self._waiting or site.id in self.queues:
            return
        if len(self._waiting) >= MAX_WAITING:
            self._forgot_some = True
            return
        if site.open_us > now_us + LONG_CLOSED_US:
            self._put_to_sleep(site)
        else:
            self._waiting.add(site.id)
            self._front[priority].append(site)

    def _put_to_sleep(self, site: Site) -> None:
        self._waiting.add(site.id)
        heappush(self._asleep, (site.open_us, site.id, site))

    def open_queue(self, site: Site) -> HostQueue:
        """Return the queue of a site; open one at once, whatever waits."""
        queue = self.queues.get(site.id)
        if queue is None:
            site = self._updated_sites.pop(site.id, site)
            queue = HostQueue(site, self._robots_of(site), self._priorities)
            self._apply_override(queue)
            self.queues[site.id] = queue
            self._to_refill.add(site.id)
        return queue

    # Changes of the pace

    def set_pace(self, pace: Pace, *, now_us: int) -> None:
        """Change the pace: slower at once, faster after the next answer."""
        before, self.pace = self.pace, pace
        eased = {name for name, delay in before.overrides.items() if delay > pace_at_site(pace, name).floor}
        self._wake_named(eased)
        for queue in self.queues.values():
            site, was = queue.site, pace_at_site(before, queue.site.name).floor
            if site.name in eased and site.delay_ms * 1000 <= span_us(was):
                queue.ease(self._pace_of(queue), now_us=now_us)
            self._apply_override(queue)
            if queue.scheduled and self._value_of is None and queue.site.open_us < site.open_us:
                # Its place in the heap is too late now. A queue that waits longer moves when it reaches the top.
                heappush(self._heap, (queue.site.open_us, site.id))

    def _wake_named(self, names: Container[str]) -> None:
        """Open queues for sleeping sites of these names."""
        sleepers = [row for row in self._asleep if row[2].name in names]
        for row in sleepers:
            self._asleep.remove(row)
            self._waiting.discard(row[1])
            self.open_queue(row[2])
        if sleepers:
            heapify(self._asleep)

    def _pace_of(self, queue: HostQueue) -> Pace:
        return pace_at_site(self.pace, queue.site.name) if self.pace.overrides else self.pace

    def _apply_override(self, queue: HostQueue) -> None:
        delay = self.pace.overrides.get(queue.site.name)
        if delay is not None:
            queue.slow_to(delay)

    # Turns

    def turn(self, *, now_us: int) -> Turn:
        """Return the next step, once `needs` is satisfied. It counts as in flight until `answered`."""
        if self._value_of is not None:
            choose = self._exact_turn if self._one_at_a_time else self._best_turn
            return choose(self._value_of, now_us)
        while self._heap:
            open_us, site_id = self._heap[0]
            queue = self.queues.get(site_id)
            if queue is None or not queue.scheduled or open_us != queue.site.open_us:
                heappop(self._heap)
                if queue is not None and queue.scheduled:
                    heappush(self._heap, (queue.site.open_us, site_id))
                continue
            if open_us > now_us:
                return Wait(self._earliest(open_us))
            if self._lift_of is None:
                heappop(self._heap)
            else:
                queue = self._take_highest(self._lift_of, now_us)
            queue.scheduled = False
            return self._start(queue, now_us)
        return Wait(self._asleep[0][0]) if self._asleep else Idle()

    def part_turn(self, *, now_us: int) -> Turn:
        """Return the next request of a page that is being rendered; it is not held up when no new page may start."""
        opening = []
        for queue in self.queues.values():
            if queue.scheduled and queue.side_requests and queue.side_requests[0].obeys_robots:
                if queue.site.open_us <= now_us:
                    queue.scheduled = False
                    return self._start(queue, now_us)
                opening.append(queue.site.open_us)
        return Wait(min(opening)) if opening else Idle()

    def asset_turn(self, *, now_us: int) -> Turn:
        """Return the next step that is needed for an asset, while no more pages may be visited."""
        waiting = [queue for queue in self.queues.values() if queue.scheduled and (queue.assets or queue.side_requests)]
        queue = min(waiting, key=lambda one: one.site.open_us, default=None)
        if queue is None:
            return Idle()
        if queue.site.open_us > now_us:
            return Wait(queue.site.open_us)
        queue.scheduled = False
        return self._start(queue, now_us)

    def _take_highest(self, lift_of: Callable[[str], int], now_us: int) -> HostQueue:
        """Take the highest site that may be asked now from the heap; of equal ones, the one that waits longest."""
        scheduled = [queue for queue in self.queues.values() if queue.scheduled]
        ready = [queue for queue in scheduled if queue.site.open_us <= now_us]
        chosen = max(ready, key=lambda queue: (lift_of(queue.site.name), -queue.site.open_us))
        self._heap = [(queue.site.open_us, queue.site.id) for queue in scheduled if queue is not chosen]
        heapify(self._heap)
        return chosen

    def _exact_turn(self, value_of: Callable[[Page], float], now_us: int) -> Turn:
        """Return the most valuable page of all sites that open soon; wait for it, and for what is in flight."""
        if any(queue.in_flight and not queue.side_requests for queue in self.queues.values()):
            return Idle()
        soon = [queue for queue in self.queues.values() if queue.has_work() and _opens_soon(queue, now_us)]
        values = [queue.best(value_of) for queue in soon]
        if not soon:
            return Wait(self._asleep[0][0]) if self._asleep else Idle()
        best = max(values)
        chosen = self._random.choice([queue for queue, value in zip(soon, values, strict=True) if value == best])
        if not chosen.scheduled or chosen.site.open_us > now_us:
            return Wait(chosen.site.open_us) if chosen.scheduled else Idle()
        chosen.scheduled = False
        return self._start(chosen, now_us)

    def _best_turn(self, value_of: Callable[[Page], float], now_us: int) -> Turn:
        """Return the best page of all sites, or wait a little if it is poor and a good one is near."""
        soon = [queue for queue in self.queues.values() if queue.has_work() and _opens_soon(queue, now_us)]
        values = {queue.site.id: queue.best(value_of) for queue in soon}
        now = [queue for queue in soon if queue.scheduled and queue.site.open_us <= now_us]
        chosen = max(now, key=lambda queue: values[queue.site.id], default=None)
        in_flight = [value for queue in self.queues.values() for value in queue.values_in_flight]
        least = max([POOR_SHARE * max(values.values(), default=0.0), *(IN_FLIGHT_SHARE * value for value in in_flight)])
        if chosen is not None and values[chosen.site.id] >= least:
            chosen.scheduled = False
            chosen.values_in_flight.append(values[chosen.site.id])
            return self._start(chosen, now_us)
        opening = [queue.site.open_us for queue in self.queues.values() if queue.scheduled]
        ahead = [open_us for open_us in opening if open_us > now_us] + [row[0] for row in self._asleep[:1]]
        return Wait(min(ahead)) if ahead else Idle()

    def _earliest(self, open_us: int) -> int:
        return min(open_us, self._asleep[0][0]) if self._asleep else open_us

    def _wake(self, now_us: int) -> None:
        while self._asleep and self._asleep[0][0] <= now_us:
            _, _, site = heappop(self._asleep)
            self._front[site.priority].append(site)

    def _open_queues(self) -> None:
        while len(self.queues) < self.back_queues and self._waits_in_front():
            for priority in biased_order(self._priorities, random=self._random):
                if self._front[priority]:
                    site = self._front[priority].popleft()
                    self._waiting.discard(site.id)
                    self.open_queue(site)
                    break

    def _start(self, queue: HostQueue, now_us: int) -> Turn:
        queue.start_request(now_us)
        side, needs_robots = queue.side_requests, queue.needs_robots(now_us)
        if side and not (side[0].obeys_robots and needs_robots):
            taken = FetchSide(queue, side.popleft())
            if taken.side_request.obeys_robots:
                self._settle(queue)
            return taken
        if needs_robots:
            queue.fetching_robots = True
            return FetchRobots(queue)
        if queue.assets:
            asset = queue.assets.popleft()
            self._settle(queue)
            return FetchSide(queue, asset)
        page = self._take_page(queue)
        queue.served += 1
        self._settle(queue)
        return Visit(queue, page)

    def _take_page(self, queue: HostQueue) -> Page:
        """Remove and return the next page: the best of the window, or the first if it was visited before.
        Pages to visit again keep their order, since a poor one would wait forever while rich ones are due again."""
        if self._value_of is not None:
            return queue.take_best(list(map(self._value_of, queue.window)))
        if self._ranks_of is None or queue.window[0].visits:
            return queue.window.popleft()
        ranks = self._ranks_of(queue.window)
        return queue.take_best([-1.0 if page.visits else rank for page, rank in zip(queue.window, ranks, strict=True)])

    def _settle(self, queue: HostQueue) -> None:
        """Put the queue where its state says: heap, refill, both or neither."""
        site_id = queue.site.id
        if self._wants_pages(queue) and not self._must_yield(queue):
            self._to_refill.add(site_id)
        else:
            self._to_refill.discard(site_id)
        if queue.has_work() and queue.may_start(self._pace_of(queue)) and not queue.scheduled:
            queue.scheduled = True
            if self._value_of is None:
                heappush(self._heap, (queue.site.open_us, site_id))

    def _wants_pages(self, queue: HostQueue) -> bool:
        """Return whether the window needs pages: it is kept full if the best page of all sites is next, half full if
        the best page of the window is, and else read when it is empty. Late pages wait until little is open: a request
        that hangs must not hold them up."""
        if not any(queue.has_more):
            return False
        if self._value_of is not None:
            return len(queue.window) <= self._window
        if not any(queue.has_more[: self._main]):
            return not (queue.window or queue.uncommitted) and queue.in_flight <= queue.most_parallel(self.pace) // 2
        return len(queue.window) <= (self._window // 2 if self._ranks_of is not None else 0)

    def _must_yield(self, queue: HostQueue) -> bool:
        """Return whether the site has had its turn and others wait for theirs."""
        return queue.served >= self._window and (self._waits_in_front() or any(self._more_sites))

    def is_saturated(self) -> bool:
        """Return whether nothing starts because a host has as many requests in flight as it may have."""
        is_busy = any(queue.window and queue.in_flight > 1 for queue in self.queues.values())
        return is_busy and self._value_of is None and not self._waits_in_front()

    # Results

    def record_answer(self, queue: HostQueue, end: RequestEnd, *, now_us: int) -> bool:
        """Note that a request to this site has ended; return whether the site is paused or closed now."""
        queue.end_request(now_us - span_us(end.took))
        queue.uncommitted += 1
        is_paused = queue.record_answer(end, now_us=now_us, pace=self._pace_of(queue))
        if is_paused:
            self.closed_ids.add(queue.site.id)
        self._settle(queue)
        return is_paused

    def apply_robots(self, queue: HostQueue, robots: RobotsRules, *, now_us: int) -> None:
        """Apply the rules of robots.txt; its Crawl-delay counts from this answer on."""
        queue.robots = robots
        queue.fetching_robots = False
        queue.site = queue.site._replace(robots=robots.record)
        queue.apply_crawl_delay(now_us=now_us, pace=self.pace)
        self._settle(queue)

    def record_skip(self, queue: HostQueue) -> None:
        """Note that a page was decided without a request; the pace is untouched."""
        queue.end_request()
        queue.uncommitted += 1
        self._settle(queue)

    def close_site(self, queue: HostQueue, *, until_us: int, reason: str) -> None:
        """Close a site until then."""
        queue.close_until(until_us, reason)
        self.closed_ids.add(queue.site.id)

    def add_side_request(self, queue: HostQueue, side_request: SideRequest) -> None:
        """Queue a side request until the pace of the site allows it."""
        if side_request.is_asset:
            queue.assets.append(side_request)
        else:
            ahead = sum(not other.obeys_robots for other in queue.side_requests)
            queue.side_requests.insert(len(queue.side_requests) if side_request.obeys_robots else ahead, side_request)
        self._settle(queue)

    def start_rendering(self, queue: HostQueue) -> None:
        """Note that a page of this site was fetched and is being rendered."""
        queue.rendering += 1

    def end_rendering(self, queue: HostQueue) -> None:
        """Note that the visit to a rendered page has ended; it is not stored yet."""
        queue.rendering -= 1
        queue.uncommitted += 1
        self._settle(queue)

    def record_commit(self, visits_by_site: dict[int, int], *, now_us: int) -> None:
        """Note how many visits of each site are stored, and give away queues that are done."""
        for site_id, count in visits_by_site.items():
            queue = self.queues.get(site_id)
            if queue is not None:
                queue.uncommitted -= count
                self._retire_or_settle(queue, now_us=now_us)

    def _retire_or_settle(self, queue: HostQueue, *, now_us: int) -> None:
        if queue.is_drained():
            self._drop(queue)
        elif self._can_leave(queue) and self._should_leave(queue, now_us):
            self._drop(queue)
            self._line_up(
                queue.site._replace(priority=queue.last_priority), priority=queue.last_priority, now_us=now_us
            )
        else:
            self._settle(queue)

    @staticmethod
    def _can_leave(queue: HostQueue) -> bool:
        """Return whether everything in this queue can be read again from the store."""
        is_busy = queue.in_flight or queue.uncommitted or queue.rendering
        return not (is_busy or queue.side_requests or queue.assets or queue.fetching_robots)

    def _should_leave(self, queue: HostQueue, now_us: int) -> bool:
        if queue.site.open_us > now_us + LONG_CLOSED_US:
            return True
        return not queue.window and self._must_yield(queue)

    def _drop(self, queue: HostQueue) -> None:
        del self.queues[queue.site.id]
        self._to_refill.discard(queue.site.id)
        if queue.site.id in self._waiting:
            # A side request opened the queue early, so the waiting copy of the site is out of date.
            self._updated_sites[queue.site.id] = queue.site

    # For reports

    def has_sites(self) -> bool:
        """Return whether some site has pages that were not fetched."""
        return bool(self.queues or self._waiting)

    def closed_sites(self, *, now_us: int) -> list[Site]:
        """Return sites with work that are closed for longer than their delay."""
        asleep = [site for _, _, site in self._asleep]
        queues = [queue.site for queue in self.queues.values() if queue.site.open_us > now_us + LONG_CLOSED_US]
        return asleep + queues


def _opens_soon(queue: HostQueue, now_us: int) -> bool:
    return queue.site.open_us <= now_us + LONG_CLOSED_US


_DEPTHS_OF_PRIORITY = (0, 1, 3)
"""Greatest depth of each priority but the last: seeds and redirect targets, their links, two steps more."""


def priority_of(*, depth: int, hops: int, priorities: int) -> int:
    """Return the priority of a new page, 0 for the most urgent; targets of redirects are urgent."""
    if hops:
        return 0
    for priority, deepest in enumerate(_DEPTHS_OF_PRIORITY[: priorities - 1]):
        if depth <= deepest:
            return priority
    return min(priorities - 1, len(_DEPTHS_OF_PRIORITY))


_VALUE_OF_PRIORITY = (0.5, 0.2, 0.05)  # Least value of each priority but the last in a focused crawl.


def priority_of_value(value: float, *, priorities: int) -> int:
    """Return the priority of a page in a focused crawl."""
    for priority, least in enumerate(_VALUE_OF_PRIORITY[: priorities - 1]):
        if value >= least:
            return priority
    return min(priorities - 1, len(_VALUE_OF_PRIORITY))


def biased_order(priorities: int, *, random: Random) -> list[int]:
    """Return the priorities in the order in which to look for work; each is twice as likely as the next to be first.
    Urgent pages go first, and every priority still moves (Mercator's biased selector)."""
    left = list(range(priorities))
    order: list[int] = []
    while left:
        weights = [2.0**-place for place in range(len(left))]
        order.append(left.pop(random.choices(range(len(left)), weights)[0]))
    return order
