"""The table of faults."""

from __future__ import annotations

from datetime import timedelta

import pytest

from evercrawl.core.faults import FAULT_RULES, LONGEST_WAIT, SITE_FAILURES_BEFORE_REST, SITE_REST, retry_wait, site_wait
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
    assert all(timedelta(0) < wait <= LONGEST_WAIT for wait in given)


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
