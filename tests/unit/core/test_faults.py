"""The table of faults."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.faults import (
    FAILURES_BEFORE_CLOSING,
    FAULT_RULES,
    FIRST_CLOSING,
    MAX_RETRY_AFTER,
    MAX_WAIT,
    MIN_THROTTLE_PAUSE,
    Blame,
    retry_after,
    retry_wait,
    site_pause,
)
from evercrawl.model.fetch import Fault


def test_every_fault_has_a_rule():
    assert set(FAULT_RULES) == set(Fault)


@pytest.mark.parametrize("fault", list(Fault))
def test_waits_grow_and_end(fault: Fault):
    waits = [retry_wait(fault, tries=tries) for tries in range(1, FAULT_RULES[fault].most_tries + 2)]
    assert waits[-1] is None
    given = [wait for wait in waits if wait is not None]
    assert given == sorted(given)
    longest = max(MAX_WAIT, FAULT_RULES[fault].wait)
    assert all(timedelta(0) < wait <= longest for wait in given)


def test_gone_is_dropped_sooner_than_not_found():
    assert FAULT_RULES[Fault.GONE].tries < FAULT_RULES[Fault.NOT_FOUND].tries


@pytest.mark.parametrize("fault", [Fault.TIMEOUT, Fault.RESET, Fault.CONNECT, Fault.DNS, Fault.SERVER_ERROR])
def test_a_site_is_closed_only_after_many_failures_and_for_minutes_first(fault: Fault):
    most = FAILURES_BEFORE_CLOSING[FAULT_RULES[fault].blame]
    assert all(site_pause(fault, failures=failures, asked=None) is None for failures in range(most))
    closings = [site_pause(fault, failures=failures, asked=None) for failures in range(most, most + 40)]
    assert closings[0] == FIRST_CLOSING
    assert closings == sorted(closing for closing in closings if closing is not None)
    assert closings[-1] == MAX_WAIT


def test_errors_are_answers_and_close_a_site_later_than_silence():
    assert FAILURES_BEFORE_CLOSING[Blame.ERROR] > FAILURES_BEFORE_CLOSING[Blame.SILENCE]


def test_what_the_server_asks_for_is_kept_and_nothing_is_added():
    for asked in (timedelta(0), timedelta(seconds=3), timedelta(hours=2)):
        for failures in (1, 2, 9):
            assert site_pause(Fault.THROTTLED, failures=failures, asked=asked) == asked
            assert retry_wait(Fault.THROTTLED, tries=failures, asked=asked) == asked
    asked = timedelta(seconds=120)
    assert site_pause(Fault.NOT_FOUND, failures=0, asked=asked) == asked
    assert site_pause(Fault.NOT_FOUND, failures=0, asked=None) is None


def test_a_throttling_site_that_names_no_time_rests_for_ten_delays_and_then_longer():
    pauses = [
        site_pause(Fault.THROTTLED, failures=failures, asked=None, delay=timedelta(seconds=1)) for failures in (1, 2, 3)
    ]
    assert pauses == [timedelta(seconds=seconds) for seconds in (10, 20, 40)]
    assert site_pause(Fault.THROTTLED, failures=1, asked=None) == MIN_THROTTLE_PAUSE


def test_the_first_retries_of_a_broken_answer_come_in_the_same_run():
    for fault in (Fault.RESET, Fault.EMPTY_REPLY, Fault.INCOMPLETE, Fault.SERVER_ERROR):
        waits = [retry_wait(fault, tries=tries) for tries in (1, 2, 3)]
        assert waits[1] is not None
        assert waits[1] < timedelta(seconds=2)
        assert waits[2] is not None
        assert waits[2] >= timedelta(minutes=1)


NOW = datetime(2026, 11, 6, 8, 49, 37, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        (" 120 ", 120),
        ("1.5", 1.5),
        ("0", 0),
        ("-5", 0),
        ("+7", 7),
        ("Fri, 06 Nov 2026 08:51:07 GMT", 90),
        ("Friday, 06-Nov-26 08:51:07 GMT", 90),
        ("Fri Nov  6 08:51:07 2026", 90),
        ("Fri, 06 Nov 2026 09:51:07 +0100", 90),
        ("Fri, 06 Nov 2020 08:51:07 GMT", 0),
        ("99999999999", MAX_RETRY_AFTER.total_seconds()),
        ("9" * 60, MAX_RETRY_AFTER.total_seconds()),
        ("Fri, 01 Jan 2100 00:00:00 GMT", MAX_RETRY_AFTER.total_seconds()),
    ],
)
def test_a_wait_is_read(value: str, seconds: float) -> None:
    assert retry_after(value, now=NOW) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "value", [None, "", "soon", "inf", "nan", "1e3", "Fri, 99 Nov 2026 08:51:07 GMT", "1" * 100, "."]
)
def test_what_is_no_wait_is_none(value: str | None) -> None:
    assert retry_after(value, now=NOW) is None


@given(st.text(max_size=70) | st.from_regex(r"[A-Za-z]{3}, [0-9]{1,4} Nov [0-9]{1,6} [0-9:]{1,9} ?[A-Z+0-9-]*"))
def test_any_text_gives_a_bounded_wait_or_none(text: str) -> None:
    wait = retry_after(text, now=NOW)
    assert wait is None or timedelta(0) <= wait <= MAX_RETRY_AFTER
