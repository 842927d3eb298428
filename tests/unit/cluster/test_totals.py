"""Combine the reports of several workers into one run."""

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


def make_stats(fetched: int) -> RunStats:
    stats = RunStats(requests=fetched + 1, wire_bytes=1000 * fetched, visits=fetched, found=2 * fetched, new=fetched)
    stats.outcomes[Outcome.FETCHED, Reason.NEW] = fetched
    stats.refused[Reason.ROBOTS] = 1
    stats.answer_ms = [fetched]
    return stats


def make_report(fetched: int) -> WorkerReport:
    seen = {"offered": 10 * fetched, "cache_hit_rate": fetched / 10, "store_lookups": 1}
    return WorkerReport(make_stats(fetched), 100, 3, 2, (), fetched > 5, seen)


def test_counts_are_summed():
    whole = merge_stats([make_stats(3), make_stats(4)])
    assert (whole.requests, whole.wire_bytes, whole.visits, whole.new, whole.found) == (9, 7000, 7, 7, 14)
    assert whole.outcomes == {(Outcome.FETCHED, Reason.NEW): 7}
    assert whole.refused == {Reason.ROBOTS: 2}
    assert sorted(whole.answer_ms) == [3, 4]


def test_work_of_a_dead_worker_still_counts():
    run = RunTotals()
    run.update(0, make_report(3))
    run.update(1, make_report(6))
    assert (run.stats.visits, run.pages_before, run.in_flight(), run.is_throttled()) == (9, 200, 4, True)
    run.worker_died(1)
    run.update(1, make_report(1))
    assert (run.stats.visits, run.pages_before, run.is_throttled()) == (10, 200, False)
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
def test_the_most_significant_end_wins(ends: list[Ended], whole: Ended):
    assert combined_end(ends) is whole


def test_shared_counters_include_replaced_workers():
    memory = create_shared_memory(2)
    first, second = (SharedCounters(memory, workers=2, number=number) for number in range(2))
    assert first.spent(5, 500) == (5, 500)
    assert second.spent(7, 70) == (12, 570)
    again = SharedCounters(memory, workers=2, number=1)
    assert again.spent(1, 10) == (13, 580)
    assert first.spent(6, 600) == (14, 680)
    os.close(memory)
