"""How the queue of a host reacts to answers: failures, pauses, closing and reopening, concurrency."""

from __future__ import annotations

from datetime import timedelta

import pytest

from evercrawl.core.faults import FAILURES_BEFORE_CLOSING, FIRST_CLOSING, Blame
from evercrawl.core.politeness import (
    MIN_SLOW_S,
    SLOW_CONCURRENCY,
    ConcurrencyLimit,
    HostQueue,
    Pace,
    RequestEnd,
    is_closed_by_failures,
    pace_from_settings,
    reopened,
)
from evercrawl.model.fetch import Fault
from evercrawl.model.settings import PaceSettings
from evercrawl.model.site import RobotsRecord, Site

CAP = timedelta(minutes=1)
GENTLE = pace_from_settings(PaceSettings(), delay_cap=CAP, anonymous=False)
OWN = pace_from_settings(PaceSettings(mode="unlimited"), delay_cap=CAP, anonymous=False)
SECOND_US = 1_000_000
SILENT = FAILURES_BEFORE_CLOSING[Blame.SILENCE]


class Host:
    """A queue and a clock."""

    def __init__(self, pace: Pace = GENTLE) -> None:
        self.queue = HostQueue(Site(1, "http://site.test", "site.test"), None, priorities=1)
        self.pace = pace
        self.now_us = 0

    def answer(
        self,
        fault: Fault | None = None,
        *,
        took: float = 0.05,
        asked: float | None = None,
        is_retry: bool = False,
        after: float | None = None,
    ) -> None:
        """Send a request when the site is open, or `after` seconds, and get this answer."""
        began_us = max(self.now_us, self.queue.site.open_us) if after is None else self.now_us + int(after * SECOND_US)
        self.now_us = began_us + int(took * SECOND_US)
        wait = None if asked is None else timedelta(seconds=asked)
        end = RequestEnd(timedelta(seconds=took), fault, "it failed", wait, is_retry=is_retry)
        self.queue.record_answer(end, now_us=self.now_us, pace=self.pace)

    @property
    def site(self) -> Site:
        return self.queue.site

    @property
    def wait_s(self) -> float:
        return (self.site.open_us - self.now_us) / SECOND_US


@pytest.mark.parametrize("fault", [Fault.RESET, Fault.EMPTY_REPLY, Fault.INCOMPLETE, Fault.SERVER_ERROR])
@pytest.mark.parametrize("pace", [GENTLE, OWN])
def test_single_faults_do_not_slow_the_site(fault: Fault, pace: Pace) -> None:
    host, well = Host(pace), Host(pace)
    for number in range(100):
        host.answer(fault if number % 20 == 7 else None)
        well.answer()
    assert host.now_us == well.now_us
    assert host.site.closed_reason is None


def test_failures_of_different_pages_in_a_row_slow_the_site_and_good_answers_speed_it_up() -> None:
    host = Host()
    waits = []
    for _ in range(4):
        host.answer(Fault.SERVER_ERROR)
        waits.append(host.wait_s)
    assert waits == [1, 2, 4, 8]
    for _ in range(8):
        host.answer()
    assert host.wait_s == 1


def test_a_site_without_a_delay_is_slowed_too() -> None:
    host = Host(OWN)
    waits = []
    for _ in range(4):
        host.answer(Fault.SERVER_ERROR)
        waits.append(host.wait_s)
    assert waits == pytest.approx([0, 0.2, 0.4, 0.8])


def test_a_page_that_failed_before_does_not_count_again() -> None:
    host = Host()
    for number in range(20):
        host.answer(Fault.RESET, is_retry=number > 0)
    assert (host.site.failures, host.wait_s) == (1, 1)


def test_failures_at_the_same_time_count_once() -> None:
    host = Host(OWN)
    host.answer(took=0.1)
    host.now_us += 20 * SECOND_US
    for _ in range(5):
        end = RequestEnd(timedelta(seconds=20), Fault.TIMEOUT)
        host.queue.record_answer(end, now_us=host.now_us, pace=OWN)
    assert host.site.failures == 1
    assert host.site.open_us <= host.now_us


def test_a_failure_does_not_count_if_the_site_answered_meanwhile() -> None:
    host = Host(OWN)
    for _ in range(20):
        host.answer(took=0.1)
        end = RequestEnd(timedelta(seconds=20), Fault.TIMEOUT)
        host.queue.record_answer(end, now_us=host.now_us + 1, pace=OWN)
    assert (host.site.failures, host.site.closed_reason) == (0, None)


def test_a_site_that_answers_nothing_is_closed_for_a_minute_then_longer() -> None:
    host = Host()
    closings = []
    for number in range(SILENT + 2):
        host.answer(Fault.CONNECT, took=0.01)
        if number + 1 >= SILENT:
            closings.append(timedelta(seconds=host.wait_s))
    assert closings == [FIRST_CLOSING, 3 * FIRST_CLOSING, 9 * FIRST_CLOSING]
    assert is_closed_by_failures(host.site)
    assert (host.site.closed_reason or "").startswith("site_down: it failed, 7 times in a row")


def test_the_first_good_answer_reopens_a_site_at_once() -> None:
    host = Host()
    for _ in range(SILENT):
        host.answer(Fault.TIMEOUT, took=20)
    assert host.wait_s == FIRST_CLOSING.total_seconds()
    host.answer(took=0.05, after=3)  # It was in flight when the site was closed.
    assert host.wait_s == 1
    assert (host.site.failures, host.site.closed_reason) == (0, None)


def test_retry_after_is_kept_as_given_also_when_other_answers_are_good() -> None:
    host = Host(OWN)
    host.answer(Fault.THROTTLED, asked=3)
    assert host.wait_s == 3
    assert host.site.closed_reason == "site_paused: it failed; Retry-After is 3 s"
    host.answer(after=0.5)
    assert host.wait_s == pytest.approx(3 - 0.55)
    assert host.site.closed_reason is not None
    host.answer(Fault.THROTTLED, asked=3)
    assert host.wait_s == 3
    host.answer()
    assert (host.wait_s, host.site.closed_reason) == (0, None)


def test_a_wait_after_a_slow_failure_is_not_remembered() -> None:
    host = Host()
    host.answer()
    host.answer(Fault.TIMEOUT, took=20)
    assert host.wait_s == 60, "ten times the response time, as after every answer"
    host.answer()
    assert host.wait_s == 1


def test_an_explicit_run_reopens_what_failures_closed_and_nothing_else() -> None:
    now_us = 50 * SECOND_US
    site = Site(1, "http://site.test", "site.test", open_us=10**12, failures=6)
    for reason in ("site_down: no answer", "dns: no such host", "tls: expired"):
        again = reopened(site._replace(closed_reason=reason), now_us=now_us, robots_since_us=0)
        assert (again.open_us, again.failures) == (now_us, 6)
    paused = site._replace(closed_reason="site_paused: Retry-After is 3600 s")
    assert reopened(paused, now_us=now_us, robots_since_us=0) == paused
    robots = RobotsRecord(0, 10**12, None, b"", None, None, "forbid", "unreachable", unreachable_since_us=0)
    unread = site._replace(closed_reason="robots_unreachable: timeout", robots=robots)
    again = reopened(unread, now_us=now_us, robots_since_us=0)
    assert again.open_us == now_us
    assert again.robots is not None
    assert again.robots.expires_us == now_us, "robots.txt is read before anything else"


def test_a_reopened_site_that_is_still_down_is_closed_for_longer() -> None:
    host = Host()
    for _ in range(SILENT):
        host.answer(Fault.CONNECT, took=0.01)
    host.queue.site = reopened(host.site, now_us=host.now_us, robots_since_us=0)
    host.answer(Fault.CONNECT, took=0.01, is_retry=True)
    assert host.wait_s == 3 * FIRST_CLOSING.total_seconds()


# Concurrency


def rounds(limit: ConcurrencyLimit, count: int, *, took: float, most: int = 8, start_us: int = 0) -> int:
    now_us = start_us
    for _ in range(count):
        began_us, now_us = now_us, now_us + int(took * SECOND_US)
        limit.record_good(took, began_us=began_us, now_us=now_us, most=most)
    return now_us


def test_concurrency_grows_with_good_answers_up_to_the_setting() -> None:
    limit = ConcurrencyLimit()
    assert limit.allowed(8) == 2
    rounds(limit, 6, took=0.02)
    assert limit.allowed(8) == 8
    rounds(limit, 100, took=0.02)
    assert limit.allowed(8) == 8


def test_requests_in_flight_cut_the_concurrency_once() -> None:
    limit = ConcurrencyLimit()
    now_us = rounds(limit, 20, took=0.02)
    for _ in range(4):
        limit.cut(began_us=now_us - 100, now_us=now_us)
    assert limit.allowed(8) == 4
    limit.cut(began_us=now_us, now_us=now_us + 1)
    assert limit.allowed(8) == 2


def test_concurrency_recovers_one_by_one_after_a_cut() -> None:
    limit = ConcurrencyLimit()
    now_us = rounds(limit, 20, took=0.02)
    limit.cut(began_us=now_us, now_us=now_us)
    seen = []
    for _ in range(200):
        now_us = rounds(limit, 1, took=0.02, start_us=now_us)
        seen.append(limit.allowed(8))
    assert seen == sorted(seen)
    assert set(seen) == {4, 5, 6, 7, 8}


@pytest.mark.parametrize("slow_s", [4.5 * MIN_SLOW_S, 9.0])
def test_answers_that_become_slow_reduce_the_concurrency_but_not_below_two(slow_s: float) -> None:
    limit = ConcurrencyLimit()
    now_us = rounds(limit, 30, took=0.1)
    now_us = rounds(limit, 15, took=slow_s, start_us=now_us)
    assert limit.allowed(8) == SLOW_CONCURRENCY
    rounds(limit, 300, took=0.1, start_us=now_us)
    assert limit.allowed(8) == 8


def test_nothing_grows_while_a_request_is_overdue() -> None:
    limit = ConcurrencyLimit()
    for _ in range(10):
        limit.record_good(0.1, began_us=0, now_us=0, most=8, oldest_s=3.0)
    assert limit.allowed(8) == 2


def test_an_answer_ends_the_request_that_was_started_last_before_it_was_sent() -> None:
    queue = Host().queue
    for moment in (0, 10, 20, 30):
        queue.start_request(moment)
    queue.end_request(22)
    queue.end_request(35)
    assert queue.starts == [0, 10]
    queue.end_request()
    queue.end_request(-5)
    assert (queue.starts, queue.in_flight) == ([], 0)


def test_an_even_site_is_not_slow_however_long_it_takes() -> None:
    limit = ConcurrencyLimit()
    rounds(limit, 100, took=1.2)
    assert limit.allowed(8) == 8
