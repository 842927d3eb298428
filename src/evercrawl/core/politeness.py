"""How often to request from a site: the pace of a run, rate overrides, quiet hours, and the queue of one host.
Mercator's rule: wait a multiple of the last response time, and never less than the delay of the mode, a Crawl-delay or
`--gap`. Failures of different pages in a row and slow answers slow us down at once; good answers speed us up again."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from math import inf
from types import MappingProxyType
from typing import NamedTuple

from evercrawl.core.faults import FAULT_RULES, Blame, retry_after, site_pause
from evercrawl.core.robots.robots_rules import RobotsRules
from evercrawl.model.fetch import Failed, Fault, FetchResult, header
from evercrawl.model.page import Page
from evercrawl.model.reason import Reason
from evercrawl.model.settings import PaceSettings
from evercrawl.model.site import Site
from evercrawl.model.time import span_us

PAPER_DELAY = timedelta(seconds=10)  # The lower bound in paper A.
ANONYMOUS_DELAY = timedelta(seconds=1)  # Minimum delay without a contact.
MAX_BACKOFF = 64.0
BACKOFF_STEP = timedelta(milliseconds=100)  # What the backoff multiplies where a site has no delay.
RECOVERY = 0.7  # What remains of the backoff, and of a delay that is longer than needed, after a good answer.


class Pace(NamedTuple):
    """The pace of one run."""

    floor: timedelta
    longest: timedelta
    factor: float
    concurrency: int
    delay_cap: timedelta
    overrides: Mapping[str, timedelta] = MappingProxyType({})  # Rate overrides: site -> its minimum delay.
    address_gap: timedelta = timedelta(0)  # Minimum time between two requests to one IP address; 0: none.


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
    address_gap = timedelta(0) if own else floor / settings.sites_per_address
    return Pace(floor, max(settings.max_delay, floor), factor, concurrency, delay_cap, overrides, address_gap)


def delay_after(
    pace: Pace, *, took: timedelta, crawl_delay: float | None, backoff: float, previous_delay: timedelta
) -> timedelta:
    """Return the delay after an answer."""
    demanded = pace.floor
    if crawl_delay is not None:
        demanded = max(demanded, min(timedelta(seconds=crawl_delay), pace.delay_cap))
    longest = max(pace.longest, demanded)
    step = BACKOFF_STEP if backoff > 1.0 else timedelta(0)
    wanted = min(max(demanded, took * pace.factor, step) * backoff, longest)
    # The previous delay may be longer than any can be now, because a rate override was removed.
    return max(wanted, demanded, min(previous_delay, longest) * RECOVERY)


def backoff_after(backoff: float, *, failed: bool) -> float:
    """Return the backoff: doubled after each failure of the site, back to 1 over good answers."""
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
    obeys_robots: bool = False  # It is sent only if robots.txt allows it, which is read first.
    is_asset: bool = False  # It waits for robots.txt, and keeps no page waiting.


MAX_RENDERING = 4  # Pages of one site that are rendered at a time; others are not requested meanwhile.
START_CONCURRENCY = 2.0
SLOW_ANSWER_S = 5.0  # Answers that take longer than this on average halve the concurrency.
SLOW_FACTOR = 4.0  # So do answers that take this many times as long as the quick ones of the site,
MIN_SLOW_S = 0.5  # unless they take less than this.
SLOW_CONCURRENCY = 2.0  # Slow answers do not reduce the concurrency below this.
OVERDUE_S = 1.0  # A request in flight for longer, and for `SLOW_FACTOR` usual answers, may never be answered.
ANSWERS_PER_STEP = 2.0  # After a cut, this many times the concurrency of good answers add one.


@dataclass(slots=True)
class ConcurrencyLimit:
    """How many requests a site takes at a time: up by one with good answers, halved when it is overloaded (AIMD).
    Invariant: requests that were sent before a cut cause no other one."""

    limit: float = START_CONCURRENCY
    has_cut: bool = False
    cut_us: int = -1
    quick_s: float = 0.0  # Response time of quick answers, about the lowest tenth.
    recent_s: float = 0.0

    def allowed(self, most: int) -> int:
        """Return how many requests may be in flight."""
        return max(1, min(most, int(self.limit)))

    def record_good(self, took_s: float, *, began_us: int, now_us: int, most: int, oldest_s: float = 0.0) -> None:
        """Grow after a good answer, or shrink if answers take too long.
        `oldest_s`: age of the oldest request in flight; while it is overdue, nothing grows."""
        if not self.recent_s:
            self.quick_s = self.recent_s = took_s
        self.quick_s += (took_s - self.quick_s) * (0.25 if took_s < self.quick_s else 0.005)
        self.recent_s += (took_s - self.recent_s) * 0.125
        slow_s = min(SLOW_ANSWER_S, max(MIN_SLOW_S, SLOW_FACTOR * self.quick_s))
        if self.recent_s > slow_s:
            if self.limit > SLOW_CONCURRENCY:
                self.cut(began_us=began_us, now_us=now_us, least=SLOW_CONCURRENCY)
        elif self.limit < most and oldest_s <= max(OVERDUE_S, SLOW_FACTOR * self.recent_s):
            self.limit += 1.0 / (ANSWERS_PER_STEP * self.limit) if self.has_cut else 1.0

    def cut(self, *, began_us: int, now_us: int, least: float = 1.0) -> None:
        """Halve the limit, once for all requests that are in flight."""
        if began_us >= self.cut_us:
            self.limit = max(least, self.limit / 2)
            self.has_cut, self.cut_us = True, now_us


class RequestEnd(NamedTuple):
    """How a request has ended, as far as the pace of its site depends on it."""

    took: timedelta
    fault: Fault | None = None
    detail: str = ""
    asked: timedelta | None = None  # The wait of a Retry-After.
    wire_bytes: int = 0
    is_retry: bool = False  # The page failed before.

    @property
    def blame(self) -> Blame | None:
        """What the fault says about the server; None: there was none."""
        return None if self.fault is None else FAULT_RULES[self.fault].blame


def request_end(answer: FetchResult, *, now: datetime, is_retry: bool = False) -> RequestEnd:
    """Return how a request has ended."""
    exchange = answer.exchange
    size = 0 if exchange is None else len(exchange.wire_body) + len(exchange.response_head)
    if not isinstance(answer, Failed):
        return RequestEnd(answer.exchange.took, wire_bytes=size, is_retry=is_retry)
    asked = retry_after(header(answer.headers, "retry-after"), now=now)
    return RequestEnd(answer.took, answer.fault, answer.detail, asked, size, is_retry)


NAMED_CLOSINGS = frozenset((Reason.SITE_PAUSED, Reason.DNS, Reason.TLS, Reason.PROXY, Reason.SIGNED_OUT))
"""Reasons that are reported as they are; all others are reported as `site_down`."""
FAILURE_CLOSINGS = (Reason.SITE_DOWN, Reason.DNS, Reason.TLS, Reason.PROXY, Reason.SIGNED_OUT)
"""Reasons for which a site is closed because it does not answer; the first good answer reopens it."""


def closed_reason(end: RequestEnd, failures: int) -> str:
    """Return why a site is paused or closed, as it is stored: the name of a reason, a colon, and words."""
    assert end.fault is not None
    reason = (
        Reason.SITE_PAUSED if end.asked is not None or end.blame is Blame.THROTTLE else FAULT_RULES[end.fault].reason
    )
    named = reason if reason in NAMED_CLOSINGS else Reason.SITE_DOWN
    words = end.detail or FAULT_RULES[end.fault].reason.value.replace("_", " ")
    if end.asked is not None:
        return f"{named}: {words}; Retry-After is {end.asked.total_seconds():g} s"
    return f"{named}: {words}" + (f", {failures} times in a row" if failures > 1 else "")


def is_closed_by_failures(site: Site) -> bool:
    """Return whether a site is closed because it does not answer, not because it asked us to wait."""
    return (site.closed_reason or "").partition(":")[0] in FAILURE_CLOSINGS


@dataclass(slots=True)
class HostQueue:
    """The queue of one host, with the moment at which it may be asked again.
    Invariant: requests in flight never exceed the site's concurrency, and none starts before `open_us`."""

    site: Site
    robots: RobotsRules | None  # None: robots.txt has to be fetched first.
    priorities: int
    window: deque[Page] = field(default_factory=deque)
    side_requests: deque[SideRequest] = field(default_factory=deque)
    assets: deque[SideRequest] = field(default_factory=deque)
    read_to: list[int] = field(default_factory=list)
    """For each priority, the seq up to which the store's queue was read."""
    has_more: list[bool] = field(default_factory=list)
    """For each priority, whether the store may hold pages behind `read_to`."""
    added: set[int] = field(
        default_factory=set
    )  # Priorities of pages committed since the last read of the store began.
    last_priority: int = 0  # The priority that was read last; the site lines up there when it gives its queue away.
    in_flight: int = 0
    rendering: int = 0  # Pages that were fetched and are being rendered.
    uncommitted: int = 0  # Visits that ended since the last commit; the queue stays until they are stored.
    served: int = 0
    fetching_robots: bool = False
    values_in_flight: deque[float] = field(default_factory=deque)  # Only in a focused crawl.
    scheduled: bool = False  # The queue is in the heap of earliest moments.
    waited: timedelta = timedelta(0)  # How long the last request waited because the site's address was busy.
    starts: list[int] = field(default_factory=list)  # When the requests in flight were started, in order.
    parallel: ConcurrencyLimit = field(default_factory=ConcurrencyLimit)
    good_us: int = -1  # When the last good answer ended.
    failed_us: int = -1  # When the last failure that counts ended.

    def __post_init__(self) -> None:
        self.read_to = [-1] * self.priorities
        self.has_more = [True] * self.priorities
        self.last_priority = self.site.priority

    def needs_robots(self, now_us: int) -> bool:
        """Return whether robots.txt is unknown or too old."""
        return self.robots is None or self.robots.record.expires_us <= now_us

    def has_work(self) -> bool:
        """Return whether there is something to fetch, apart from the pace."""
        return bool(self.window or self.side_requests or self.assets)

    def is_drained(self) -> bool:
        """Return whether nothing waits, is in flight or is unsaved, so that the queue can be given away."""
        is_busy = self.in_flight or self.uncommitted or self.rendering
        return not (self.has_work() or is_busy or any(self.has_more))

    def best(self, value_of: Callable[[Page], float]) -> float:
        """Return the value of the best page; a side request goes before every page."""
        return inf if self.side_requests or self.assets else max(map(value_of, self.window), default=0.0)

    def take_best(self, values: list[float]) -> Page:
        """Remove and return the page with the highest value, one for each page of the window; the first of equals."""
        place = values.index(max(values))
        page = self.window[place]
        del self.window[place]
        return page

    def start_request(self, now_us: int) -> None:
        """Note that a request is in flight."""
        self.in_flight += 1
        self.starts.append(now_us)

    def end_request(self, began_us: int | None = None) -> None:
        """Note that a request is no longer in flight; it was sent at `began_us`, if at all."""
        self.in_flight -= 1
        place = len(self.starts) if began_us is None else bisect_right(self.starts, began_us)
        if self.starts:
            self.starts.pop(max(0, place - 1))
        if self.values_in_flight:
            self.values_in_flight.popleft()

    def may_start(self, pace: Pace) -> bool:
        """Return whether one more request may be in flight."""
        if self.side_requests and not self.side_requests[0].obeys_robots:
            # Also while robots.txt is fetched: the side request may be the next hop of that fetch.
            return self.in_flight == 0
        if self.fetching_robots or (self.rendering >= MAX_RENDERING and not self.side_requests):
            return False
        return self.in_flight < self.most_parallel(pace)

    def most_parallel(self, pace: Pace) -> int:
        """Return how many requests may be in flight."""
        most = site_concurrency(pace, crawl_delay=self.crawl_delay)
        return 1 if most == 1 else self.parallel.allowed(most)

    @property
    def crawl_delay(self) -> float | None:
        """The Crawl-delay of robots.txt, in seconds."""
        return self.robots.crawl_delay if self.robots is not None else None

    def record_answer(self, end: RequestEnd, *, now_us: int, pace: Pace) -> bool:
        """Update pace, failures and totals after a request; return whether the site is paused or closed now."""
        site, blame = self.site, end.blame
        counts = self._count_failure(end, now_us=now_us, pace=pace)
        failures = 0 if blame in (None, Blame.PAGE) else site.failures + counts
        is_good = not failures and blame is not Blame.NOBODY
        is_reopened = is_good and is_closed_by_failures(site)
        # One page that fails slows nobody down; several in a row do.
        backoff = 1.0 if is_reopened else site.backoff
        if is_good or (counts and failures > 1):
            backoff = backoff_after(backoff, failed=not is_good)
        delay = delay_after(
            pace,
            # A busy address slows its sites down like a slow answer, so that requests do not pile up.
            took=end.took + self.waited,
            crawl_delay=self.crawl_delay,
            backoff=backoff,
            previous_delay=timedelta(milliseconds=site.delay_ms),
        )
        open_us = now_us + span_us(delay)
        if not is_reopened:
            open_us = max(site.open_us, open_us)
        is_paused = open_us > now_us + span_us(delay)
        self.site = site._replace(
            backoff=backoff,
            # A wait after a failure is not remembered: the next good answer tells how fast the site is.
            delay_ms=span_us(delay) // 1000 if is_good else max(site.delay_ms, span_us(pace.floor) // 1000),
            open_us=open_us,
            failures=failures,
            closed_reason=site.closed_reason if is_paused or not is_good else None,
            requests=site.requests + 1,
            wire_bytes=site.wire_bytes + end.wire_bytes,
        )
        return self._pause(end, delay=delay, counts=counts, now_us=now_us)

    def _count_failure(self, end: RequestEnd, *, now_us: int, pace: Pace) -> bool:
        """Return whether a request failed in a way that counts against the site, and adapt the concurrency.
        It does not count if the site gave a good answer since the request began, if another failure ended since then,
        or if the page failed before and the site has answered since it was closed."""
        blame, began_us = end.blame, now_us - span_us(end.took)
        if blame in (None, Blame.PAGE):
            most = site_concurrency(pace, crawl_delay=self.crawl_delay)
            oldest_us = self.starts[0] if self.starts else now_us
            oldest_s = (now_us - oldest_us) / 1_000_000
            self.parallel.record_good(
                end.took.total_seconds(), began_us=began_us, now_us=now_us, most=most, oldest_s=oldest_s
            )
            self.good_us = now_us
            return False
        if blame is Blame.NOBODY:
            return False
        is_known = end.is_retry and not is_closed_by_failures(self.site)
        counts = not is_known and began_us >= max(self.good_us, self.failed_us)
        if counts:
            self.failed_us = now_us
        if counts or blame is Blame.THROTTLE or end.fault in (Fault.TIMEOUT, Fault.CONNECT):
            self.parallel.cut(began_us=began_us, now_us=now_us)
        return counts

    def _pause(self, end: RequestEnd, *, delay: timedelta, counts: bool, now_us: int) -> bool:
        always = end.asked is not None or end.blame in (Blame.THROTTLE, Blame.SESSION)
        if end.fault is None or not (counts or always):
            return False
        failures = self.site.failures
        pause = site_pause(end.fault, failures=failures, asked=end.asked, delay=delay)
        if pause is not None:
            self.close_until(now_us + span_us(pause), closed_reason(end, failures))
        return pause is not None

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
        site = self.site
        if moment_us > site.open_us or (moment_us == site.open_us and site.closed_reason is None):
            self.site = site._replace(open_us=moment_us, closed_reason=reason)


def reopened(site: Site, *, now_us: int, robots_since_us: int) -> Site:
    """Return a site as a new run opens it: an older robots.txt is read again, and a site that did not answer is open.
    One more failure closes it again, for longer. A pause that the site asked for stays."""
    is_unread = (site.closed_reason or "").startswith(Reason.ROBOTS_UNREACHABLE)
    if site.open_us <= now_us or not (is_unread or is_closed_by_failures(site)):
        return _with_recent_robots(site, robots_since_us)
    robots = site.robots
    if robots is not None and robots.unreachable_since_us is not None:
        robots = robots._replace(expires_us=min(robots.expires_us, now_us))
    return site._replace(open_us=now_us, robots=robots)


def _with_recent_robots(site: Site, since_us: int) -> Site:
    robots = site.robots
    if robots is None or robots.fetched_us >= since_us or robots.unreachable_since_us is not None:
        return site
    return site._replace(robots=robots._replace(expires_us=min(robots.expires_us, since_us)))
