"""How often to request from a site: the pace of a run, rate overrides, quiet hours, and the queue of one host.
Mercator's rule: wait a multiple of the last response time, and never less than the delay of the mode, a Crawl-delay or
`--delay`. A slow or refusing site slows us down at once; only a run of good answers speeds us up again."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from math import inf
from types import MappingProxyType
from typing import NamedTuple

from evercrawl.core.robots.robots_rules import RobotsRules
from evercrawl.model.page import Page
from evercrawl.model.settings import PaceSettings
from evercrawl.model.site import Site
from evercrawl.model.time import span_us

PAPER_DELAY = timedelta(seconds=10)  # The lower bound in paper A.
ANONYMOUS_DELAY = timedelta(seconds=1)  # Minimum delay without a contact.
MAX_BACKOFF = 64.0
RECOVERY = 0.9  # What remains of the backoff, and of a delay that is longer than needed, after a good answer.


class Pace(NamedTuple):
    """The pace of one run."""

    floor: timedelta
    longest: timedelta
    factor: float
    concurrency: int
    delay_cap: timedelta
    overrides: Mapping[str, timedelta] = MappingProxyType({})  # Rate overrides: site -> its minimum delay.


def pace_at_site(pace: Pace, site: str) -> Pace:
    """Return the pace at one site: slower if there is a rate override, never faster."""
    delay = pace.overrides.get(site)
    if delay is None:
        return pace
    floor = max(pace.floor, delay)
    return pace._replace(floor=floor, longest=max(pace.longest, floor), concurrency=1)


def pace_from_settings(
    settings: PaceSettings, *, delay_cap: timedelta, anonymous: bool, per_day: float | None = None
) -> Pace:
    """Return the pace that the settings ask for.
    `anonymous`: no contact is set, and the hosts may be other people's. `per_day`: most requests to one site per day.
    """
    floor = {"gentle": settings.min_delay, "paper": PAPER_DELAY, "unlimited": timedelta(0)}[settings.mode]
    if settings.delay is not None:
        floor = settings.delay if settings.mode != "paper" else max(settings.delay, PAPER_DELAY)
    own = settings.mode == "unlimited"
    if anonymous:
        floor = max(floor, ANONYMOUS_DELAY)
    if per_day is not None:
        floor = max(floor, timedelta(days=1) / per_day)
    concurrency = settings.unlimited_concurrency if own and floor == timedelta(0) else 1
    factor = 0.0 if own else settings.response_time_factor
    overrides = parse_delay_rules(settings.overrides)
    return Pace(floor, max(settings.max_delay, floor), factor, concurrency, delay_cap, overrides)


def delay_after(
    pace: Pace, *, took: timedelta, crawl_delay: float | None, backoff: float, previous_delay: timedelta
) -> timedelta:
    """Return the delay after an answer."""
    demanded = pace.floor
    if crawl_delay is not None:
        demanded = max(demanded, min(timedelta(seconds=crawl_delay), pace.delay_cap))
    longest = max(pace.longest, demanded)
    wanted = min(max(demanded, took * pace.factor) * backoff, longest)
    # The previous delay may be longer than any can be now, because a rate override was removed.
    return max(wanted, demanded, min(previous_delay, longest) * RECOVERY)


def backoff_after(backoff: float, *, failed: bool) -> float:
    """Return the backoff: doubled after each failure of the site, back to 1 over many good answers."""
    if failed:
        return min(backoff * 2, MAX_BACKOFF)
    return max(1.0, backoff * RECOVERY)


def site_concurrency(pace: Pace, *, crawl_delay: float | None) -> int:
    """Return how many concurrent requests a site may get."""
    return 1 if crawl_delay else pace.concurrency


MAX_RULE_DELAY = timedelta(days=1)  # To ask a site less often than this, exclude it.
DELAY_RULE_SYNTAX = "SITE SECONDSs, such as https://example.org 30s, with more than 0 and at most 86400 seconds"
_RULE = re.compile(r"([a-z][a-z0-9+.-]*://[^\s/]+) (\d{1,5}(?:\.\d{1,3})?)s?", re.ASCII)


def delay_rule_error(text: str) -> str | None:
    """Return what a rule must look like; None: the text is a rule."""
    found = _RULE.fullmatch(text)
    return None if found and 0 < float(found[2]) <= MAX_RULE_DELAY.total_seconds() else DELAY_RULE_SYNTAX


def parse_delay_rules(rules: Iterable[str]) -> dict[str, timedelta]:
    """Return the minimum delay of each site that a rule names; the last rule about a site wins."""
    found = (_RULE.fullmatch(rule) for rule in rules)
    return {one[1]: timedelta(seconds=float(one[2])) for one in found if one}


def format_delay_rules(delays: Mapping[str, timedelta]) -> tuple[str, ...]:
    """Return delays as rules of the settings."""
    return tuple(f"{site} {round(delay.total_seconds(), 3):g}s" for site, delay in delays.items())


def replace_delay_rule(rules: Sequence[str], site: str, delay: timedelta | None) -> tuple[str, ...]:
    """Return the rules with another delay for one site; None: with no rule for it."""
    delays = parse_delay_rules(rules)
    delays.pop(site, None)
    return format_delay_rules(delays if delay is None else {**delays, site: delay})


_HOURS = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-3]):([0-5]\d)")
QUIET_HOURS_SYNTAX = "hours like 22:00-06:00"


class QuietHours(NamedTuple):
    """From one time of day to another, in UTC; the same time twice means the whole day."""

    begin: time
    end: time


def parse_hours(text: str) -> QuietHours:
    """Parse hours such as 22:00-06:00; raise ValueError if the text names none."""
    found = _HOURS.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not {QUIET_HOURS_SYNTAX}")
    first, second, third, fourth = map(int, found.groups())
    return QuietHours(time(first, second), time(third, fourth))


def quiet_until(hours: Iterable[QuietHours], *, now: datetime) -> datetime | None:
    """Return the end of the quiet hours that `now` is in; None: it is in none."""
    ends = [end for span in hours if (end := _end_of(span, now)) is not None]
    return max(ends, default=None)


def _end_of(span: QuietHours, now: datetime) -> datetime | None:
    today = datetime.combine(now.date(), span.begin, now.tzinfo)
    for begin in (today - timedelta(days=1), today):
        end = datetime.combine(begin.date(), span.end, now.tzinfo)
        end += timedelta(days=1) if end <= begin else timedelta(0)
        if begin <= now < end:
            return end
    return None


class SideRequest(NamedTuple):
    """A request to this site for another part of the crawl: robots.txt redirects, sitemaps, probes."""

    url: str
    token: int


@dataclass(slots=True)
class HostQueue:
    """The queue of one host, with the moment at which it may be asked again.
    Invariant: requests in flight never exceed the site's concurrency, and none starts before `open_us`."""

    site: Site
    robots: RobotsRules | None  # None: robots.txt has to be fetched first.
    priorities: int
    window: deque[Page] = field(default_factory=deque)
    side_requests: deque[SideRequest] = field(default_factory=deque)
    read_to: list[int] = field(default_factory=list)
    """For each priority, the seq up to which the store's queue was read."""
    has_more: list[bool] = field(default_factory=list)
    """For each priority, whether the store may hold pages behind `read_to`."""
    last_priority: int = 0  # The priority that was read last; the site lines up there when it gives its queue away.
    in_flight: int = 0
    uncommitted: int = 0  # Visits that ended since the last commit; the queue stays until they are stored.
    served: int = 0
    fetching_robots: bool = False
    values_in_flight: deque[float] = field(default_factory=deque)  # Only in a focused crawl.
    scheduled: bool = False  # The queue is in the heap of earliest moments.

    def __post_init__(self) -> None:
        self.read_to = [-1] * self.priorities
        self.has_more = [True] * self.priorities
        self.last_priority = self.site.priority

    def needs_robots(self, now_us: int) -> bool:
        """Return whether robots.txt is unknown or too old."""
        return self.robots is None or self.robots.record.expires_us <= now_us

    def has_work(self) -> bool:
        """Return whether there is something to fetch, apart from the pace."""
        return bool(self.window or self.side_requests)

    def is_drained(self) -> bool:
        """Return whether nothing waits, is in flight or is unsaved, so that the queue can be given away."""
        return not (self.window or self.side_requests or self.in_flight or self.uncommitted or any(self.has_more))

    def best(self, value_of: Callable[[str], float]) -> float:
        """Return the value of the best page; a side request goes before every page."""
        return inf if self.side_requests else max([value_of(page.url) for page in self.window], default=0.0)

    def take_best(self, value_of: Callable[[str], float]) -> Page:
        """Remove and return the best page; among equals the first."""
        place = max(range(len(self.window)), key=lambda place: value_of(self.window[place].url))
        page = self.window[place]
        del self.window[place]
        return page

    def end_request(self) -> None:
        """Note that a request is no longer in flight."""
        self.in_flight -= 1
        if self.values_in_flight:
            self.values_in_flight.popleft()

    def may_start(self, pace: Pace) -> bool:
        """Return whether one more request may be in flight."""
        if self.side_requests:
            # Also while robots.txt is fetched: the side request may be the next hop of that fetch.
            return self.in_flight == 0
        if self.fetching_robots:
            return False
        return self.in_flight < site_concurrency(pace, crawl_delay=self.crawl_delay)

    @property
    def crawl_delay(self) -> float | None:
        """The Crawl-delay of robots.txt, in seconds."""
        return self.robots.crawl_delay if self.robots is not None else None

    def record_answer(self, *, now_us: int, took: timedelta, failed: bool, wire_bytes: int, pace: Pace) -> None:
        """Update delay, backoff, next moment and totals after a request."""
        site = self.site
        backoff = backoff_after(site.backoff, failed=failed)
        delay = delay_after(
            pace,
            took=took,
            crawl_delay=self.crawl_delay,
            backoff=backoff,
            previous_delay=timedelta(milliseconds=site.delay_ms),
        )
        self.site = site._replace(
            backoff=backoff,
            delay_ms=int(delay / timedelta(milliseconds=1)),
            open_us=max(site.open_us, now_us + span_us(delay)),
            failures=site.failures + 1 if failed else 0,
            closed_reason=site.closed_reason if failed else None,
            requests=site.requests + 1,
            wire_bytes=site.wire_bytes + wire_bytes,
        )

    def apply_crawl_delay(self, *, now_us: int, pace: Pace) -> None:
        """Wait for the Crawl-delay from now on, if there is one."""
        if self.crawl_delay is not None:
            delay = min(timedelta(seconds=self.crawl_delay), pace.delay_cap)
            self.site = self.site._replace(
                open_us=max(self.site.open_us, now_us + span_us(delay)),
                delay_ms=max(self.site.delay_ms, span_us(delay) // 1000),
            )

    def slow_to(self, delay: timedelta) -> None:
        """Raise the delay since the last answer; a site that was never asked has none."""
        more_us = span_us(delay) - self.site.delay_ms * 1000
        if self.site.delay_ms and more_us > 0:
            self.site = self.site._replace(
                open_us=self.site.open_us + more_us, delay_ms=self.site.delay_ms + more_us // 1000
            )

    def ease(self, pace: Pace, *, now_us: int) -> None:
        """Forget a delay that only a rate override asked for; the next answer sets a new one.
        The current wait is cut to the longest delay that answers can cause, since the last response time is not known
        any more."""
        least = max(pace.floor, min(timedelta(seconds=self.crawl_delay or 0), pace.delay_cap))
        longest_us = now_us + span_us(max(pace.longest, least))
        is_closed = self.site.closed_reason is not None
        self.site = self.site._replace(
            delay_ms=min(self.site.delay_ms, span_us(least) // 1000),
            open_us=self.site.open_us if is_closed else min(self.site.open_us, longest_us),
        )

    def close_until(self, moment_us: int, reason: str) -> None:
        """Close the site until then, with a reason."""
        if moment_us > self.site.open_us:
            self.site = self.site._replace(open_us=moment_us, closed_reason=reason)
