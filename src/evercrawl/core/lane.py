"""A lane: the back queue of one site, with the moment at which the site may be asked again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from math import inf
from typing import NamedTuple

from evercrawl.core.moment import span_us
from evercrawl.core.pace import Pace, gap_after, site_concurrency, strain_after
from evercrawl.core.robots_policy import RobotsGate
from evercrawl.model.page import Page
from evercrawl.model.site import Site


class Errand(NamedTuple):
    """A request to this site on behalf of another: a hop of its robots.txt."""

    url: str
    token: int


@dataclass(slots=True)
class Lane:
    """One site that has its turn.

    Invariant: requests in flight never exceed the site's concurrency, and none starts before `open_us`.
    """

    site: Site
    gate: RobotsGate | None
    """What robots.txt says; None: it has to be asked for first."""
    bands: int
    window: deque[Page] = field(default_factory=deque)
    errands: deque[Errand] = field(default_factory=deque)
    read_to: list[int] = field(default_factory=list)
    """For each band the seq up to which the store's queue was read."""
    has_more: list[bool] = field(default_factory=list)
    """For each band whether the store may hold pages behind `read_to`."""
    last_band: int = 0
    """The band that was read last: where the site lines up when it yields its lane."""
    in_flight: int = 0
    uncommitted: int = 0
    """Visits that ended since the last commit; the lane stays until they are stored."""
    served: int = 0
    asking_robots: bool = False
    hopes: deque[float] = field(default_factory=deque)
    """What the requests in flight are worth, where that decides about others."""
    scheduled: bool = False
    """The lane stands in the heap of earliest moments."""

    def __post_init__(self) -> None:
        self.read_to = [-1] * self.bands
        self.has_more = [True] * self.bands
        self.last_band = self.site.band

    def needs_robots(self, now_us: int) -> bool:
        """robots.txt is unknown or too old."""
        return self.gate is None or self.gate.record.expires_us <= now_us

    def has_work(self) -> bool:
        """Something could be asked of this site now, apart from the pace."""
        return bool(self.window or self.errands)

    def is_drained(self) -> bool:
        """Nothing waits, nothing is under way, nothing is unsaved: the lane can go to another site."""
        return not (self.window or self.errands or self.in_flight or self.uncommitted or any(self.has_more))

    def best(self, worth: Callable[[str], float]) -> float:
        """What the best that waits is worth; an errand goes before every page."""
        return inf if self.errands else max([worth(page.url) for page in self.window], default=0.0)

    def take_best(self, worth: Callable[[str], float]) -> Page:
        """The best page, no longer in the window; among equals the first."""
        place = max(range(len(self.window)), key=lambda place: worth(self.window[place].url))
        page = self.window[place]
        del self.window[place]
        return page

    def ended(self) -> None:
        """A request is no longer in flight."""
        self.in_flight -= 1
        if self.hopes:
            self.hopes.popleft()

    def may_start(self, pace: Pace) -> bool:
        """One more request may be in flight."""
        if self.errands:
            # Also while robots.txt is asked for: the errand may be the next hop of that very question.
            return self.in_flight == 0
        if self.asking_robots:
            return False
        return self.in_flight < site_concurrency(pace, crawl_delay=self.crawl_delay)

    @property
    def crawl_delay(self) -> float | None:
        """What robots.txt asks for, in seconds."""
        return self.gate.crawl_delay if self.gate is not None else None

    def answered(self, *, now_us: int, took: timedelta, failed: bool, wire_bytes: int, pace: Pace) -> None:
        """Take in how a request went: gap, strain, earliest next moment, totals."""
        site = self.site
        strain = strain_after(site.strain, failed=failed)
        gap = gap_after(
            pace, took=took, crawl_delay=self.crawl_delay, strain=strain, gap_before=timedelta(milliseconds=site.gap_ms)
        )
        self.site = site._replace(
            strain=strain,
            gap_ms=int(gap / timedelta(milliseconds=1)),
            open_us=max(site.open_us, now_us + span_us(gap)),
            failures=site.failures + 1 if failed else 0,
            closed_reason=site.closed_reason if failed else None,
            requests=site.requests + 1,
            wire_bytes=site.wire_bytes + wire_bytes,
        )

    def heed_delay(self, *, now_us: int, pace: Pace) -> None:
        """Wait out the Crawl-delay from now on, if there is one."""
        if self.crawl_delay is not None:
            delay = min(timedelta(seconds=self.crawl_delay), pace.delay_cap)
            self.site = self.site._replace(
                open_us=max(self.site.open_us, now_us + span_us(delay)),
                gap_ms=max(self.site.gap_ms, span_us(delay) // 1000),
            )

    def slow_to(self, gap: timedelta) -> None:
        """At least this gap from the last answer on; a site that was never asked has none to wait for."""
        more_us = span_us(gap) - self.site.gap_ms * 1000
        if self.site.gap_ms and more_us > 0:
            self.site = self.site._replace(
                open_us=self.site.open_us + more_us, gap_ms=self.site.gap_ms + more_us // 1000
            )

    def ease(self, pace: Pace, *, now_us: int) -> None:
        """A gap that only a rule asked for is forgotten; what the next answer asks for counts from then on.

        The wait under way is cut to the longest gap that answers can cause: how long the last took is not
        known any more.
        """
        least = max(pace.floor, min(timedelta(seconds=self.crawl_delay or 0), pace.delay_cap))
        longest_us = now_us + span_us(max(pace.longest, least))
        is_closed = self.site.closed_reason is not None
        self.site = self.site._replace(
            gap_ms=min(self.site.gap_ms, span_us(least) // 1000),
            open_us=self.site.open_us if is_closed else min(self.site.open_us, longest_us),
        )

    def close_until(self, moment_us: int, reason: str) -> None:
        """Leave the site alone until then, and say why."""
        if moment_us > self.site.open_us:
            self.site = self.site._replace(open_us=moment_us, closed_reason=reason)
