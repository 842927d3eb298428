"""The table of faults."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.faults import (
    FAULT_RULES,
    MAX_RETRY_AFTER,
    MAX_WAIT,
    SITE_FAILURES_BEFORE_REST,
    SITE_REST,
    retry_after,
    retry_wait,
    site_wait,
)
from evercrawl.model.fetch import Failed, Fault


def failed(fault: Fault) -> Failed:
    return Failed("http://site.test/", fault, "", timedelta(0))


def test_every_fault_has_a_rule():
    assert set(FAULT_RULES) == set(Fault)


@pytest.mark.parametrize("fault", list(Fault))
def test_waits_grow_and_end(fault: Fault):
    waits = [retry_wait(fault, tries=tries) for tries in range(1, FAULT_RULES[fault].tries + 2)]
    assert waits[-1] is None
    given = [wait for wait in waits if wait is not None]
    assert given == sorted(given)
    assert all(timedelta(0) < wait <= MAX_WAIT for wait in given)


def test_gone_is_dropped_sooner_than_not_found():
    assert FAULT_RULES[Fault.GONE].tries < FAULT_RULES[Fault.NOT_FOUND].tries


def test_a_site_that_stays_down_is_left_alone():
    few = site_wait(failed(Fault.TIMEOUT), failures=1, asked=None)
    many = site_wait(failed(Fault.TIMEOUT), failures=SITE_FAILURES_BEFORE_REST, asked=None)
    assert few is not None
    assert few < timedelta(minutes=1)
    assert many == SITE_REST


def test_what_the_server_asks_for_is_kept():
    asked = timedelta(seconds=120)
    assert site_wait(failed(Fault.THROTTLED), failures=1, asked=asked) == asked
    assert site_wait(failed(Fault.NOT_FOUND), failures=0, asked=asked) == asked
    assert site_wait(failed(Fault.NOT_FOUND), failures=0, asked=None) is None


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
