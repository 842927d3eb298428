"""Policies against budgets, as a table and as a picture."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from evercrawl.collection.simulation import PolicyTrial, budget_of, freshness_chart, parse_policies, run_trials
from evercrawl.errors import ConfigError
from tests.unit.lab.synthetic import synthetic_trace

TRACE = synthetic_trace(pages=40, days=120.0)


def test_every_policy_meets_every_budget() -> None:
    told: list[str] = []
    runs = list(run_trials([TRACE], ["optimal", "uniform"], ["0.1", "0.4"], on_begin=told.append))
    assert [(run.policy, run.budget) for run in runs] == [
        ("optimal", 0.1),
        ("optimal", 0.4),
        ("uniform", 0.1),
        ("uniform", 0.4),
    ]
    assert told[0] == "1 of 4: optimal on synthetic with 0.1 requests per page and day"
    assert all(run.requests_per_page_day <= run.budget * 1.05 for run in runs)
    assert all(0.0 < run.useful_share < 1.0 for run in runs)
    assert runs[1].freshness > runs[0].freshness
    assert runs[0].freshness > runs[2].freshness - 0.02


def test_a_budget_for_all_pages_is_divided_among_those_that_live() -> None:
    assert budget_of("0.05", TRACE) == 0.05
    assert budget_of("4/day", TRACE) == pytest.approx(4 / 37, rel=0.1)
    with pytest.raises(ConfigError, match="'much' must be a number of requests"):
        budget_of("much", TRACE)
    with pytest.raises(ConfigError, match="written like 1000/day"):
        budget_of("5000", TRACE)


def test_policies_are_known_by_name() -> None:
    assert parse_policies("optimal, nutch,optimal") == ["optimal", "nutch"]
    with pytest.raises(ConfigError, match="no revisit policy 'best'; there are optimal, uniform"):
        parse_policies("optimal,best")
    with pytest.raises(ConfigError, match="name a revisit policy"):
        parse_policies(" , ")


def test_the_picture_is_svg_and_text_in_it_is_harmless() -> None:
    runs = [
        PolicyTrial("<b>&", policy, budget, freshness, budget, 0.1)
        for policy, freshness in (("optimal", 0.9), ("uniform", 0.8))
        for budget in (0.05, 0.1)
    ]
    root = ElementTree.fromstring(freshness_chart([*runs, PolicyTrial("one", "nutch", 0.1, 0.4, 0.0, 0.0)]))
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{space}polyline")) == 3
    words = [element.text for element in root.findall(f"{space}text")]
    assert "<b>&: freshness against requests" in words
    assert {"optimal", "uniform", "nutch"} <= set(words)
