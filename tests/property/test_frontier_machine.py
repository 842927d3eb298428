"""The frontier under any order of events: no site is asked too soon, twice at once, or for a page twice."""

from __future__ import annotations

from datetime import timedelta
from random import Random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from evercrawl.core.frontier import FetchRobots, Frontier, PagesNeeded, Visit
from evercrawl.core.politeness import Pace, RequestEnd
from evercrawl.core.robots.robots_rules import RobotsRules, compile_robots
from evercrawl.model.fetch import Fault
from evercrawl.model.page import Page
from evercrawl.model.site import RobotsRecord, Site

SECOND_US = 1_000_000
PRIORITIES = 3
WINDOW = 3
QUEUES = 3
SITES = st.integers(1, 8)


def rules(expires_us: int, delay: int) -> RobotsRecord:
    body = b"User-agent: *\nCrawl-delay: %d\n" % delay if delay else b""
    return RobotsRecord(0, expires_us, 200, body, None, None, "obey", "")


def robots_of(site: Site) -> RobotsRules | None:
    return compile_robots(site.robots, "evercrawl") if site.robots is not None else None


class FrontierMachine(RuleBasedStateMachine):
    """A model store beside the frontier; commits happen when the machine says so."""

    def __init__(self) -> None:
        super().__init__()
        pace = Pace(timedelta(seconds=1), timedelta(seconds=60), 10.0, 1, timedelta(seconds=60))
        self.frontier = Frontier(
            pace=pace, priorities=PRIORITIES, window=WINDOW, back_queues=QUEUES, random=Random(0), robots_of=robots_of
        )
        self.now_us = 0
        self.sites: dict[int, Site] = {}
        self.queued: dict[int, dict[int, Page]] = {}
        self.next_seq = 0
        self.in_flight: list[Visit | FetchRobots] = []
        self.answered_at: dict[int, int] = {}
        self.closed_until: dict[int, int] = {}
        self.uncommitted: list[tuple[int, int | None]] = []
        self.visited: set[int] = set()

    @rule(site=SITES, priority=st.integers(0, PRIORITIES - 1), pages=st.integers(1, 6))
    def add_pages(self, site: int, priority: int, pages: int) -> None:
        row = self.sites.setdefault(site, Site(site, f"http://s{site}.test", f"s{site}.test"))
        for _ in range(pages):
            page = Page(self.next_seq, self.next_seq.to_bytes(16, "big"), "", site, 1, 0, priority, self.next_seq)
            self.queued.setdefault(site, {})[self.next_seq] = page
            self.next_seq += 1
        self.frontier.add_pages(self._current(row), {priority}, now_us=self.now_us)

    def _current(self, row: Site) -> Site:
        queue = self.frontier.queues.get(row.id)
        return queue.site if queue is not None else self.sites[row.id]

    @rule()
    def take_turn(self) -> None:
        self._serve()
        turn = self.frontier.turn(now_us=self.now_us)
        if not isinstance(turn, (Visit, FetchRobots)):
            return
        site = turn.queue.site.id
        assert site not in [other.queue.site.id for other in self.in_flight], "two requests at once"
        assert self.now_us >= self.answered_at.get(site, -(10**12)) + self._demanded_us(turn), "too soon"
        assert self.now_us >= self.closed_until.get(site, 0), "the site is closed"
        if isinstance(turn, Visit):
            assert turn.page.id not in self.visited, "a page twice"
            assert turn.queue.robots is not None, "a page before robots.txt"
            self.visited.add(turn.page.id)
        self.in_flight.append(turn)

    def _demanded_us(self, turn: Visit | FetchRobots) -> int:
        robots = turn.queue.robots
        delay = robots.crawl_delay if robots is not None and robots.crawl_delay else 1.0
        return int(max(1.0, delay) * SECOND_US)

    def _serve(self) -> None:
        while (need := self.frontier.needs(now_us=self.now_us)) is not None:
            if isinstance(need, PagesNeeded):
                pages = [
                    page
                    for seq, page in sorted(self.queued.get(need.site_id, {}).items())
                    if page.priority == need.priority and seq > need.after_seq
                ]
                self.frontier.fill(need, pages[: need.most])
            else:
                waiting = [
                    site
                    for site in self.sites.values()
                    if site.id > need.after_id and need.priority == self._priority(site.id)
                ]
                ordered = sorted(waiting, key=lambda site: site.id)
                self.frontier.offer(need, ordered[: need.most], now_us=self.now_us)

    def _priority(self, site: int) -> int | None:
        return min((page.priority for page in self.queued.get(site, {}).values()), default=None)

    @rule(which=st.integers(0, 20), took=st.floats(0.0, 0.5), failed=st.booleans(), delay=st.integers(0, 5))
    def answer(self, which: int, took: float, failed: bool, delay: int) -> None:
        if not self.in_flight:
            return
        turn = self.in_flight.pop(which % len(self.in_flight))
        self.now_us += int(took * SECOND_US)
        site = turn.queue.site.id
        self.answered_at[site] = self.now_us
        if failed:
            until_us = self.now_us + 20 * SECOND_US
            self.closed_until[site] = until_us
        end = RequestEnd(timedelta(seconds=took))
        if failed:
            end = end._replace(fault=Fault.THROTTLED, asked=timedelta(seconds=20))
        self.frontier.record_answer(turn.queue, end, now_us=self.now_us)
        if isinstance(turn, FetchRobots):
            robots = compile_robots(rules(self.now_us + 60 * SECOND_US, delay), "evercrawl")
            self.frontier.apply_robots(turn.queue, robots, now_us=self.now_us)
            self.uncommitted.append((site, None))
        else:
            self.uncommitted.append((site, turn.page.seq))
        self.sites[site] = turn.queue.site

    @rule()
    def commit(self) -> None:
        counts: dict[int, int] = {}
        for site, seq in self.uncommitted:
            counts[site] = counts.get(site, 0) + 1
            if seq is not None:
                self.queued[site].pop(seq)
        self.uncommitted.clear()
        self.frontier.record_commit(counts, now_us=self.now_us)

    @rule(seconds=st.floats(0.1, 90.0))
    def wait(self, seconds: float) -> None:
        self.now_us += int(seconds * SECOND_US)

    @invariant()
    def memory_is_bounded(self) -> None:
        assert len(self.frontier.queues) <= QUEUES
        assert sum(len(queue.window) for queue in self.frontier.queues.values()) <= QUEUES * WINDOW

    def teardown(self) -> None:
        """Whatever happened before: left to run, it comes to every page and then to rest."""
        for _ in range(3000):
            while self.in_flight:
                self.answer(0, 0.01, False, 0)
            self.commit()
            before = len(self.in_flight)
            self.take_turn()
            if len(self.in_flight) == before:
                if not any(self.queued.values()):
                    return
                self.now_us += 5 * SECOND_US
        raise AssertionError("pages were left behind")


FrontierMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=60, deadline=None)
TestFrontier = FrontierMachine.TestCase
