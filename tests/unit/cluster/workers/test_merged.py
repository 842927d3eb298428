"""Several workers as one run: counts, how it ended, what all have spent."""

from __future__ import annotations

import os

import pytest

from evercrawl.cluster.totals import (
    RunTotals,
    SharedCounters,
    WorkerReport,
    combined_end,
    create_shared_memory,
    merge_stats,
)
from evercrawl.engine.runtime import Ended, RunStats
from evercrawl.model.reason import Outcome, Reason


def a_tally(fetched: int) -> RunStats:
    tally = RunStats(requests=fetched + 1, wire_bytes=1000 * fetched, visits=fetched, found=2 * fetched, new=fetched)
    tally.outcomes[Outcome.FETCHED, Reason.NEW] = fetched
    tally.refused[Reason.ROBOTS] = 1
    tally.answer_ms = [fetched]
    return tally


def a_report(fetched: int) -> WorkerReport:
    seen = {"offered": 10 * fetched, "cache_hit_rate": fetched / 10, "store_lookups": 1}
    return WorkerReport(a_tally(fetched), 100, 3, 2, (), fetched > 5, seen)


def test_counts_are_added_up():
    whole = merge_stats([a_tally(3), a_tally(4)])
    assert (whole.requests, whole.wire_bytes, whole.visits, whole.new, whole.found) == (9, 7000, 7, 7, 14)
    assert whole.outcomes == {(Outcome.FETCHED, Reason.NEW): 7}
    assert whole.refused == {Reason.ROBOTS: 2}
    assert sorted(whole.answer_ms) == [3, 4]


def test_what_a_dead_worker_had_done_still_counts():
    run = RunTotals()
    run.update(0, a_report(3))
    run.update(1, a_report(6))
    assert (run.tally.visits, run.pages_before, run.in_flight(), run.is_throttled()) == (9, 200, 4, True)
    run.worker_died(1)
    run.update(1, a_report(1))
    assert (run.tally.visits, run.pages_before, run.is_throttled()) == (10, 200, False)
    assert run.url_seen() == {"offered": 40, "cache_hit_rate": 0.25, "store_lookups": 2}


@pytest.mark.parametrize(
    ("ends", "whole"),
    [
        ([Ended.DONE, Ended.DONE], Ended.DONE),
        ([Ended.DONE, Ended.CLOSED], Ended.CLOSED),
        ([Ended.LIMIT, Ended.CLOSED], Ended.LIMIT),
        ([Ended.LIMIT, Ended.INTERRUPTED], Ended.INTERRUPTED),
    ],
)
def test_a_run_ends_as_its_parts(ends: list[Ended], whole: Ended):
    assert combined_end(ends) is whole


def test_what_all_have_spent_counts_those_that_were_replaced():
    memory = create_shared_memory(2)
    first, second = (SharedCounters(memory, workers=2, number=number) for number in range(2))
    assert first.spent(5, 500) == (5, 500)
    assert second.spent(7, 70) == (12, 570)
    again = SharedCounters(memory, workers=2, number=1)
    assert again.spent(1, 10) == (13, 580)
    assert first.spent(6, 600) == (14, 680)
    os.close(memory)
