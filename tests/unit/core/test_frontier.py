"""The frontier as a state machine: no I/O, time handed in."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from datetime import timedelta
from random import Random

import pytest

from evercrawl.core.frontier import (
    LONG_CLOSED_US,
    FetchRobots,
    FetchSide,
    Frontier,
    Idle,
    PageChoice,
    PagesNeeded,
    Visit,
    Wait,
    biased_order,
    priority_of,
)
from evercrawl.core.politeness import Pace, RequestEnd, SideRequest
from evercrawl.core.robots.robots_rules import RobotsRules, compile_robots
from evercrawl.model.page import Page
from evercrawl.model.site import RobotsRecord, Site

SECOND = 1_000_000
ALLOW = RobotsRecord(0, 10**18, 200, b"", None, None, "allow", "")


def robots_of(site: Site) -> RobotsRules | None:
    return compile_robots(site.robots, "evercrawl") if site.robots is not None else None


class Queue:
    """The store's side of the frontier: queued pages by site and priority."""

    def __init__(self, frontier: Frontier) -> None:
        self.frontier = frontier
        self.sites: dict[int, Site] = {}
        self.pages: dict[tuple[int, int], list[Page]] = defaultdict(list)
        self.next_seq = 0

    def add(
        self, site_id: int, pages: int, *, priority: int = 1, robots: RobotsRecord | None = ALLOW, open_us: int = 0
    ) -> None:
        site = self.sites.setdefault(
            site_id, Site(site_id, f"http://s{site_id}.test", f"s{site_id}.test", open_us, robots=robots)
        )
        for _ in range(pages):
            seq = self.next_seq
            self.next_seq += 1
            page = Page(seq, seq.to_bytes(16, "big"), f"{site.name}/{seq}", site_id, 1, 0, priority, seq)
            self.pages[site_id, priority].append(page)
        self.frontier.add_pages(site, {priority}, now_us=0)

    def serve(self, now_us: int) -> None:
        while (need := self.frontier.needs(now_us=now_us)) is not None:
            if isinstance(need, PagesNeeded):
                queued = [page for page in self.pages[need.site_id, need.priority] if page.seq > need.after_seq]
                self.frontier.fill(need, queued[: need.most])
            else:
                waiting = [
                    site
                    for site in self.sites.values()
                    if site.id > need.after_id and self._priority(site.id) == need.priority
                ]
                self.frontier.offer(need, waiting[: need.most], now_us=now_us)

    def _priority(self, site_id: int) -> int | None:
        return min(
            (priority for (site, priority), pages in self.pages.items() if site == site_id and pages), default=None
        )

    def finish(self, turn: Visit, now_us: int, *, took: float = 0.01) -> None:
        self.frontier.record_answer(turn.queue, RequestEnd(timedelta(seconds=took)), now_us=now_us)
        self.pages[turn.page.site_id, turn.page.priority].remove(turn.page)
        self.sites[turn.page.site_id] = turn.queue.site
        self.frontier.record_commit({turn.page.site_id: 1}, now_us=now_us)


def make(*, floor: float = 1.0, window: int = 4, back_queues: int = 8, concurrency: int = 1) -> tuple[Frontier, Queue]:
    pace = Pace(
        timedelta(seconds=floor), timedelta(seconds=60), 10.0 if floor else 0.0, concurrency, timedelta(seconds=60)
    )
    frontier = Frontier(
        pace=pace, priorities=5, window=window, back_queues=back_queues, random=Random(0), robots_of=robots_of
    )
    return frontier, Queue(frontier)


def run(frontier: Frontier, queue: Queue, *, most: int = 10_000, took: float = 0.01) -> list[tuple[int, Page]]:
    """Crawl until idle in virtual time; gives each visit with its moment."""
    visits: list[tuple[int, Page]] = []
    now_us = 0
    for _ in range(most):
        queue.serve(now_us)
        turn = frontier.turn(now_us=now_us)
        match turn:
            case Visit(page=page):
                visits.append((now_us, page))
                now_us += int(took * SECOND)
                queue.finish(turn, now_us, took=took)
            case Wait(until_us=until_us):
                assert until_us > now_us
                now_us = until_us
            case Idle():
                return visits
            case _:
                pytest.fail(f"unexpected {turn}")
    pytest.fail("never idle")


def test_an_empty_frontier_is_idle():
    frontier, queue = make()
    queue.serve(0)
    assert frontier.turn(now_us=0) == Idle()


def test_every_page_is_visited_once_and_the_gap_is_kept():
    frontier, queue = make()
    for site_id in range(1, 6):
        queue.add(site_id, 10)
    visits = run(frontier, queue)
    assert sorted(page.seq for _, page in visits) == list(range(50))
    by_site: dict[int, list[int]] = defaultdict(list)
    for moment, page in visits:
        by_site[page.site_id].append(moment)
    for moments in by_site.values():
        assert all(later - earlier >= SECOND for earlier, later in itertools.pairwise(moments))


def test_slow_answers_space_the_visits_of_their_site():
    frontier, queue = make()
    queue.add(1, 3)
    moments = [moment for moment, _ in run(frontier, queue, took=0.5)]
    assert all(later - earlier >= 5 * SECOND for earlier, later in itertools.pairwise(moments))


def test_breadth_over_sites_when_there_are_more_sites_than_queues():
    frontier, queue = make(floor=0.0, window=2, back_queues=2)
    for site_id in range(1, 11):
        queue.add(site_id, 20)
    first = [page.site_id for _, page in run(frontier, queue)][:20]
    assert len(set(first)) == 10, "after one window each, every site has had its turn"


def test_a_site_has_one_request_at_a_time():
    frontier, queue = make(floor=0.0)
    queue.add(1, 5)
    queue.serve(0)
    assert isinstance(frontier.turn(now_us=0), Visit)
    queue.serve(0)
    assert frontier.turn(now_us=0) == Idle()


def test_own_hosts_may_have_several_requests_at_a_time():
    frontier, queue = make(floor=0.0, concurrency=3, window=8)
    queue.add(1, 7)
    queue.serve(0)
    turns = [frontier.turn(now_us=0) for _ in range(3)]
    assert [type(turn) for turn in turns] == [Visit, Visit, Idle]
    queue.finish(turns[0], 1)
    queue.finish(turns[1], 2)
    queue.serve(2)
    turns = [frontier.turn(now_us=2) for _ in range(4)]
    assert [type(turn) for turn in turns] == [Visit, Visit, Visit, Idle]


def test_an_own_host_that_has_pages_left_is_saturated_and_one_without_is_not():
    frontier, queue = make(floor=0.0, concurrency=2, window=8)
    queue.add(1, 3)
    queue.serve(0)
    turns = [frontier.turn(now_us=0) for _ in range(2)]
    assert frontier.is_saturated()
    assert isinstance(turns[0], Visit)
    queue.finish(turns[0], 1, took=0.01)
    assert isinstance(frontier.turn(now_us=1), Visit)
    assert frontier.turn(now_us=1) == Idle()
    assert not frontier.is_saturated()


def test_a_site_that_is_asked_one_thing_at_a_time_is_never_saturated():
    frontier, queue = make()
    queue.add(1, 5)
    queue.serve(0)
    assert isinstance(frontier.turn(now_us=0), Visit)
    assert not frontier.is_saturated()


def test_robots_txt_is_asked_for_before_the_first_page():
    frontier, queue = make()
    queue.add(1, 1, robots=None)
    queue.serve(0)
    turn = frontier.turn(now_us=0)
    assert isinstance(turn, FetchRobots)
    assert frontier.turn(now_us=0) == Idle(), "nothing else is asked meanwhile"
    frontier.record_answer(turn.queue, RequestEnd(timedelta(seconds=0.01)), now_us=SECOND)
    frontier.apply_robots(turn.queue, compile_robots(ALLOW, "evercrawl"), now_us=SECOND)
    assert frontier.turn(now_us=SECOND) == Wait(2 * SECOND), "the answer counts for the pace"
    assert isinstance(frontier.turn(now_us=2 * SECOND), Visit)


def test_old_rules_are_asked_for_again():
    frontier, queue = make()
    queue.add(1, 1, robots=ALLOW._replace(expires_us=5))
    queue.serve(10)
    assert isinstance(frontier.turn(now_us=10), FetchRobots)


def test_an_errand_goes_first_also_while_robots_txt_is_asked_for():
    frontier, queue = make()
    queue.add(1, 1, robots=None)
    queue.serve(0)
    asking = frontier.turn(now_us=0)
    assert isinstance(asking, FetchRobots)
    frontier.record_answer(asking.queue, RequestEnd(timedelta(0)), now_us=0)
    frontier.add_side_request(asking.queue, SideRequest("http://s1.test/r", 7))
    assert isinstance(frontier.turn(now_us=SECOND), FetchSide)


def test_a_site_that_is_closed_for_long_gives_its_queue_away_and_comes_back():
    frontier, queue = make(back_queues=1)
    queue.add(1, 2)
    queue.add(2, 1)
    queue.serve(0)
    first = frontier.turn(now_us=0)
    assert isinstance(first, Visit)
    frontier.close_site(first.queue, until_us=100 * LONG_CLOSED_US, reason="down")
    queue.finish(first, SECOND)
    queue.serve(SECOND)
    second = frontier.turn(now_us=SECOND)
    assert isinstance(second, Visit)
    assert second.page.site_id != first.page.site_id
    queue.finish(second, 2 * SECOND)
    queue.serve(2 * SECOND)
    assert frontier.turn(now_us=2 * SECOND) == Wait(100 * LONG_CLOSED_US)
    queue.serve(100 * LONG_CLOSED_US)
    assert isinstance(frontier.turn(now_us=100 * LONG_CLOSED_US), Visit)


def test_only_a_window_of_each_queue_is_in_memory():
    frontier, queue = make(window=4, back_queues=3)
    for site_id in range(1, 30):
        queue.add(site_id, 100)
    queue.serve(0)
    frontier.turn(now_us=0)
    queue.serve(0)
    assert sum(len(queue.window) for queue in frontier.queues.values()) <= 3 * 4
    assert len(frontier.queues) <= 3


def test_pages_that_arrive_while_a_queue_is_drained_are_found():
    frontier, queue = make()
    queue.add(1, 1)
    assert len(run(frontier, queue)) == 1
    queue.add(1, 2, priority=0)
    assert len(run(frontier, queue)) == 2


def test_pages_that_come_too_late_for_their_queue_are_not_wanted():
    """A store over the network takes its time; meanwhile the site was closed for long and its queue left."""
    frontier, queue = make(window=1)
    queue.add(1, 3)
    queue.serve(0)
    first = frontier.turn(now_us=0)
    assert isinstance(first, Visit)
    need = frontier.needs(now_us=0)
    assert isinstance(need, PagesNeeded)
    assert frontier.still_needs(need)
    frontier.close_site(first.queue, until_us=100 * LONG_CLOSED_US, reason="down")
    queue.finish(first, SECOND)
    assert 1 not in frontier.queues
    assert not frontier.still_needs(need)
    frontier.open_queue(queue.sites[1])
    assert not frontier.still_needs(need), "the new queue begins to read anew"


def test_near_pages_come_before_far_ones():
    priorities = [priority_of(depth=depth, hops=0, priorities=4) for depth in range(8)]
    assert priorities == sorted(priorities)
    assert priorities[0] == 0
    assert priorities[-1] == 3


def test_the_target_of_a_redirect_is_as_urgent_as_a_seed():
    assert priority_of(depth=9, hops=1, priorities=4) == 0


def test_bands_stay_inside_their_number():
    assert {priority_of(depth=depth, hops=0, priorities=2) for depth in range(10)} == {0, 1}
    assert {priority_of(depth=depth, hops=0, priorities=1) for depth in range(10)} == {0}


def test_each_band_is_about_twice_as_likely_as_the_next_to_be_first():
    random = Random(1)
    firsts = Counter(biased_order(3, random=random)[0] for _ in range(7000))
    assert 3600 < firsts[0] < 4400
    assert 1700 < firsts[1] < 2300
    assert 750 < firsts[2] < 1250
    assert sorted(biased_order(3, random=random)) == [0, 1, 2]


def choosing(choice: PageChoice) -> tuple[Frontier, Queue]:
    pace = Pace(timedelta(0), timedelta(seconds=60), 0.0, 8, timedelta(seconds=60))
    frontier = Frontier(
        pace=pace, priorities=5, window=8, back_queues=4, random=Random(0), robots_of=robots_of, choice=choice
    )
    return frontier, Queue(frontier)


def test_the_best_page_of_the_window_is_next():
    frontier, queue = choosing(PageChoice(ranks_of=lambda pages: [page.seq % 5 for page in pages]))
    queue.add(1, 8)
    assert [page.seq for _, page in run(frontier, queue)] == [4, 3, 2, 7, 1, 6, 0, 5]


def test_views_and_poor_pages_come_after_all_others_of_their_site():
    frontier, queue = choosing(PageChoice(ranks_of=lambda pages: [0.0 for _ in pages]))
    for priority in (4, 3, 2, 0, 1):
        queue.add(1, 20, priority=priority)
    priorities = [page.priority for _, page in run(frontier, queue)]
    assert set(priorities[:60]) == {0, 1, 2}
    assert priorities[60:] == [3] * 20 + [4] * 20


def test_one_page_at_a_time_waits_for_the_links_of_the_last_one():
    frontier, queue = choosing(PageChoice(value_of=lambda page: page.seq, one_at_a_time=True))
    queue.add(1, 3)
    queue.add(2, 3)
    queue.serve(0)
    first = frontier.turn(now_us=0)
    assert isinstance(first, Visit)
    assert first.page.seq == 5
    assert frontier.turn(now_us=0) == Idle()
    queue.add(1, 1)
    queue.finish(first, 1000)
    queue.serve(1000)
    second = frontier.turn(now_us=1000)
    assert isinstance(second, Visit)
    assert second.page.seq == 6


def test_stored_credit_reaches_the_window():
    frontier, queue = choosing(PageChoice(ranks_of=lambda pages: [page.credit for page in pages]))
    queue.add(1, 3)
    queue.serve(0)
    frontier.add_credit({1: 7})
    turn = frontier.turn(now_us=0)
    assert isinstance(turn, Visit)
    assert (turn.page.seq, turn.page.credit) == (1, 7)


def test_pages_that_are_committed_while_the_store_is_read_are_read_afterwards():
    frontier, queue = make()
    queue.serve(0)  # No site waits in the store.
    queue.add(1, 0)
    need = frontier.needs(now_us=0)
    assert isinstance(need, PagesNeeded)
    queue.add(1, 1, priority=need.priority)
    frontier.fill(need, [])  # What was read before the commit.
    assert [page.seq for _, page in run(frontier, queue)] == [0]
