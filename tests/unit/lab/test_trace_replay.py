"""Freshness is counted exactly, and traces are read as stored."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from bench.freshness import requests_for

from evercrawl.lab import policy
from evercrawl.lab.trace_replay import DAY_S, Trace, TracePage, poor_signal, read_trace, replay, true_lastmod
from tests.shared import shared_path
from tests.unit.lab.synthetic import synthetic_trace


def test_freshness_is_the_share_of_time_with_a_current_copy() -> None:
    trace = Trace("one", 10.0, (TracePage(0, -1.0, None, (4.1,)),))
    never = replay(trace, policy(), per_page_day=0.0, scored_from=0.0)
    assert never.freshness == pytest.approx(0.41)
    daily = replay(trace, policy("uniform"), per_page_day=1.0, scored_from=0.0)
    assert daily.freshness == pytest.approx(1.0 - 0.65 / 10.0, abs=0.06)


def test_a_new_page_is_not_current_until_it_was_fetched() -> None:
    trace = Trace("one", 10.0, (TracePage(0, 2.0, 8.0, ()),))
    assert replay(trace, policy(), per_page_day=0.0, scored_from=0.0).freshness == 0.0
    assert replay(trace, policy(), per_page_day=4.0, scored_from=0.0).freshness == pytest.approx(1.0)


def test_poor_signal_misses_changes_and_adds_false_ones() -> None:
    trace = synthetic_trace(pages=200)
    true = {(notice.page, notice.dated) for notice in true_lastmod(trace)}
    poor = {(notice.page, notice.dated) for notice in poor_signal(trace)}
    assert len(poor & true) / len(true) == pytest.approx(0.7, abs=0.05)
    assert len(poor - true) / len(poor) == pytest.approx(0.4, abs=0.05)


def test_requests_are_interpolated() -> None:
    curve = {0.01: 0.5, 0.1: 0.7, 1.0: 0.9}
    assert 0.01 < requests_for(0.6, curve) < 0.0316
    halving = {0.05: 0.96, 0.1: 0.98, 0.2: 0.99}
    assert requests_for(1.0 - 0.002 / 0.07, halving) == pytest.approx(0.07)
    assert requests_for(0.4, curve) == 0.01
    assert requests_for(0.95, curve) == float("inf")
    assert requests_for(0.7, curve) == pytest.approx(0.1)


def test_a_trace_file_is_read_in_days_after_its_start(tmp_path: Path) -> None:
    header = {"site": "s", "start": 1000, "end": 1000 + 10 * DAY_S}
    rows = [
        {"page": "a", "hub": "x", "birth": 0, "death": None, "changes_delta": [DAY_S, 0, 2 * DAY_S]},
        {"page": "b", "hub": "y", "birth": 1000 + DAY_S, "death": 1000 + 2 * DAY_S, "changes_delta": []},
    ]
    path = tmp_path / "s.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(json.dumps(row) for row in [header, *rows]).encode()))
    trace = read_trace(path)
    assert trace.days == 10.0
    assert trace.pages[0].changes == (1.0, 3.0)
    assert trace.pages[1] == TracePage(1, 1.0, 2.0, ())
    assert len(read_trace(path, max_pages=1).pages) == 1


def test_a_recorded_site_gains_over_uniform() -> None:
    trace = read_trace(shared_path("traces/kubernetes-en.jsonl.gz"), max_pages=200, max_days=500.0)
    optimal, uniform = (replay(trace, policy(name), per_page_day=0.05) for name in ("optimal", "uniform"))
    assert optimal.freshness > uniform.freshness
