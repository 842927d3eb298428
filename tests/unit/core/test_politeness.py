"""The pace of a run, rate overrides and quiet hours."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from evercrawl.core.frontier import Frontier, Visit, Wait
from evercrawl.core.politeness import (
    ANONYMOUS_DELAY,
    MAX_BACKOFF,
    PAPER_DELAY,
    RECOVERY,
    Pace,
    backoff_after,
    delay_after,
    delay_rule_error,
    format_delay_rules,
    pace_at_site,
    pace_from_settings,
    parse_delay_rules,
    parse_hours,
    quiet_until,
    replace_delay_rule,
    site_concurrency,
)
from evercrawl.model.settings import PaceSettings
from tests.unit.core.test_frontier import Queue, make

SECOND = timedelta(seconds=1)
SECOND_US = 1_000_000
CAP = timedelta(seconds=60)
GENTLE = pace_from_settings(PaceSettings(), delay_cap=CAP, anonymous=False)


def delay_of(
    pace: Pace = GENTLE, *, took: float = 0.01, delay: float | None = None, backoff: float = 1.0, before: float = 0.0
) -> float:
    span = delay_after(
        pace, took=timedelta(seconds=took), crawl_delay=delay, backoff=backoff, previous_delay=timedelta(seconds=before)
    )
    return span.total_seconds()


def test_a_quick_site_gets_the_shortest_delay():
    assert delay_of() == 1.0


def test_a_slow_answer_is_followed_by_ten_times_its_time():
    assert delay_of(took=0.7) == pytest.approx(7.0)


def test_no_answer_makes_the_delay_longer_than_the_longest():
    assert delay_of(took=30) == 60.0


def test_a_crawl_delay_wins_when_it_is_larger_and_is_capped():
    assert delay_of(delay=5) == 5.0
    assert delay_of(delay=0.2) == 1.0
    assert delay_of(delay=100_000_000) == 60.0


def test_strain_multiplies_the_delay():
    assert delay_of(backoff=8) == 8.0
    assert delay_of(backoff=1000) == 60.0


def test_a_delay_shrinks_slowly():
    assert delay_of(before=10.0) == pytest.approx(10.0 * RECOVERY)
    assert delay_of(before=1.05) == 1.0


def test_paper_pace_is_never_under_ten_seconds():
    paper = pace_from_settings(PaceSettings(mode="paper", delay=SECOND), delay_cap=CAP, anonymous=False)
    assert delay_of(paper) == PAPER_DELAY.total_seconds()


def test_own_pace_has_no_delay_and_several_requests_at_a_time():
    own = pace_from_settings(PaceSettings(mode="unlimited"), delay_cap=CAP, anonymous=False)
    assert delay_of(own, took=3) == 0.0
    assert site_concurrency(own, crawl_delay=None) == PaceSettings().unlimited_concurrency
    assert site_concurrency(own, crawl_delay=2.0) == 1
    assert delay_of(own, delay=2.0) == 2.0


def test_without_a_contact_nobody_is_asked_more_than_once_a_second():
    own = pace_from_settings(PaceSettings(mode="unlimited"), delay_cap=CAP, anonymous=True)
    assert own.floor == ANONYMOUS_DELAY
    assert own.concurrency == 1


def test_an_explicit_delay_is_the_floor_in_every_mode():
    for mode in ("gentle", "unlimited"):
        pace = pace_from_settings(PaceSettings(mode=mode, delay=timedelta(seconds=3)), delay_cap=CAP, anonymous=False)
        assert delay_of(pace) == 3.0


def test_strain_doubles_at_once_and_eases_slowly():
    assert backoff_after(1.0, failed=True) == 2.0
    assert backoff_after(MAX_BACKOFF, failed=True) == MAX_BACKOFF
    assert backoff_after(2.0, failed=False) == pytest.approx(2.0 * RECOVERY)
    assert backoff_after(1.0, failed=False) == 1.0


def test_a_budget_of_a_site_is_a_delay():
    pace = pace_from_settings(PaceSettings(), delay_cap=timedelta(minutes=5), anonymous=False, per_day=144.0)
    assert pace.floor == timedelta(minutes=10)
    assert pace.concurrency == 1
    own = pace_from_settings(
        PaceSettings(mode="unlimited"), delay_cap=timedelta(minutes=5), anonymous=False, per_day=144.0
    )
    assert (own.floor, own.concurrency) == (timedelta(minutes=10), 1)


def at(hour: int, minute: int = 0, day: int = 10) -> datetime:
    return datetime(2026, 5, day, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "until"),
    [(at(21, 59), None), (at(22), at(6, day=11)), (at(3), at(6)), (at(6), None), (at(12, 30), at(13)), (at(13), None)],
)
def test_when_the_rest_ends(now: datetime, until: datetime | None):
    hours = [parse_hours("22:00-06:00"), parse_hours(" 12:30 - 13:00 ")]
    assert quiet_until(hours, now=now) == until


@pytest.mark.parametrize("text", ["", "22-6", "25:00-06:00", "22:00", "22:60-06:00", "always"])
def test_what_names_no_hours(text: str):
    with pytest.raises(ValueError, match="hours like"):
        parse_hours(text)


SITE = "http://s1.test"
MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize("rule", ["https://example.org 30s", "http://example.org:8080 0.5s", "http://[::1]:80 86400s"])
def test_rules_are_read_and_written(rule: str) -> None:
    assert delay_rule_error(rule) is None
    assert format_delay_rules(parse_delay_rules([rule])) == (rule,)


@pytest.mark.parametrize(
    "text", ["https://a.test", "a.test 30s", "https://a.test 0s", "https://a.test 86401s", "https://a.test/x 3s"]
)
def test_what_is_no_rule_is_told(text: str) -> None:
    assert "SITE SECONDSs" in (delay_rule_error(text) or "")


def test_a_site_has_one_rule_at_most() -> None:
    rules = replace_delay_rule(("https://a.test 5s", "https://b.test 7s"), "https://a.test", MINUTE)
    assert parse_delay_rules(rules) == {"https://a.test": MINUTE, "https://b.test": timedelta(seconds=7)}
    assert replace_delay_rule(rules, "https://a.test", None) == ("https://b.test 7s",)


def test_a_rule_only_slows() -> None:
    settings = PaceSettings(delay=timedelta(seconds=5), overrides=(f"{SITE} 30s", "http://s2.test 2s"))
    pace = pace_from_settings(settings, delay_cap=MINUTE, anonymous=False)
    assert pace_at_site(pace, SITE).floor == timedelta(seconds=30)
    assert pace_at_site(pace, "http://s2.test").floor == timedelta(seconds=5)
    assert pace_at_site(pace, "http://other.test") is pace


def test_an_own_host_that_is_slowed_gets_one_request_at_a_time() -> None:
    settings = PaceSettings(mode="unlimited", overrides=(f"{SITE} 3s",))
    pace = pace_from_settings(settings, delay_cap=MINUTE, anonymous=False)
    assert (pace_at_site(pace, SITE).concurrency, pace.concurrency) == (1, settings.unlimited_concurrency)


def test_after_a_rule_is_taken_back_between_two_runs_no_delay_is_longer_than_the_longest() -> None:
    pace = pace_from_settings(PaceSettings(), delay_cap=MINUTE, anonymous=False)
    gap = delay_after(
        pace, took=timedelta(milliseconds=9), crawl_delay=None, backoff=1.0, previous_delay=timedelta(hours=5)
    )
    assert gap <= pace.longest


def _asked(frontier: Frontier, queue: Queue, now_us: int) -> int:
    """Ask for one page; the moment at which it was asked for."""
    while True:
        queue.serve(now_us)
        match frontier.turn(now_us=now_us):
            case Visit() as turn:
                queue.finish(turn, now_us)
                return now_us
            case Wait(until_us=until_us):
                now_us = until_us
            case other:
                pytest.fail(f"unexpected {other}")


def _slowed(pace: Pace, gap: timedelta | None) -> Pace:
    return pace._replace(overrides={} if gap is None else {SITE: gap})


def test_a_running_frontier_slows_down_at_once_and_hurries_again_when_it_is_taken_back() -> None:
    frontier, queue = make()
    pace = frontier.pace
    queue.add(1, 20)
    first = _asked(frontier, queue, 0)
    frontier.set_pace(_slowed(pace, timedelta(seconds=30)), now_us=first + SECOND_US // 2)
    second = _asked(frontier, queue, first)
    third = _asked(frontier, queue, second)
    assert (second - first, third - second) == (30 * SECOND_US, 30 * SECOND_US)
    frontier.set_pace(_slowed(pace, None), now_us=third)
    fourth = _asked(frontier, queue, third)
    fifth = _asked(frontier, queue, fourth)
    assert fifth - fourth == SECOND_US


@pytest.mark.parametrize("back_queues", [1, 8])
def test_a_site_that_sleeps_for_an_hour_is_called_in_when_its_rule_is_taken_back(back_queues: int) -> None:
    frontier, queue = make(back_queues=back_queues)
    pace = frontier.pace
    queue.add(1, 20)
    queue.add(2, 1)
    frontier.set_pace(_slowed(pace, timedelta(hours=1)), now_us=0)
    now = max(_asked(frontier, queue, 0), _asked(frontier, queue, 0))
    frontier.set_pace(_slowed(pace, None), now_us=now)
    then = _asked(frontier, queue, now)
    assert then - now <= 60 * SECOND_US
    assert _asked(frontier, queue, then) - then == SECOND_US


def test_a_site_that_has_no_queue_waits_out_the_new_delay_too() -> None:
    frontier, queue = make()
    queue.add(1, 1)
    first = _asked(frontier, queue, 0)
    queue.serve(first)
    assert not frontier.queues
    frontier.set_pace(_slowed(frontier.pace, timedelta(seconds=30)), now_us=first)
    queue.add(1, 1)
    assert _asked(frontier, queue, first) - first == 30 * SECOND_US


def test_a_rule_does_not_cut_short_what_a_site_asked_for() -> None:
    frontier, queue = make()
    pace = frontier.pace
    queue.add(1, 9)
    first = _asked(frontier, queue, 0)
    frontier.set_pace(_slowed(pace, timedelta(seconds=3)), now_us=first)
    frontier.close_site(frontier.queues[1], until_us=500 * SECOND_US, reason="paused: Retry-After")
    frontier.set_pace(_slowed(pace, None), now_us=first)
    assert _asked(frontier, queue, first) == 500 * SECOND_US
