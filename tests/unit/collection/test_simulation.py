"""Simulations on trace files and on the versions of a collection."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from evercrawl.adapters.sqlite.sqlite_database import SqliteStore
from evercrawl.collection.simulation import (
    PolicyTrial,
    budget_of,
    freshness_chart,
    parse_policies,
    read_trace_file,
    run_trials,
    trace_of_collection,
)
from evercrawl.errors import ConfigError
from evercrawl.model.page import Batch
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.settings import StoreSettings
from evercrawl.model.time import DAY_US
from tests.contract.store_values import NOON_US, a_page, a_site, a_version, a_visit
from tests.unit.lab.synthetic import synthetic_trace

DAY_S = 86_400
HEADER = {"site": "s", "start": 0, "end": 40 * DAY_S}
ROW = {"page": "p", "hub": "", "birth": -5, "death": None, "changes_delta": [DAY_S, 2 * DAY_S]}


async def fill(folder: Path) -> None:
    """Page 1 changes on days 10 and 20, page 2 is gone on day 20, page 3 is found on day 10."""
    shard = await SqliteStore(folder, StoreSettings(shards=8)).open_shard(0)
    epoch = (await shard.claim()).epoch
    one, two = a_page(1), a_page(2)
    three = a_page(3)._replace(found_us=NOON_US + 10 * DAY_US)
    await shard.commit(epoch, Batch(sites={1: a_site()}, new_pages=[one, two, three]))
    for turn in range(3):
        at_us = NOON_US + turn * 10 * DAY_US
        visits = [
            a_visit(
                page, at_us=at_us, seq=0 if turn else page.seq, version=a_version(turn + 1, body=bytes([turn, page.id]))
            )
            for page in (one, two)
        ]
        if turn:
            visits[1] = visits[1]._replace(version=None, outcome=Outcome.ERROR, reason=Reason.GONE, status=410)
            visits.append(a_visit(three, at_us=at_us, seq=0, version=a_version(turn, body=bytes([turn, 99]))))
        await shard.commit(epoch, Batch(visited=visits))


def test_the_history_of_a_collection(tmp_path: Path) -> None:
    asyncio.run(fill(tmp_path))
    trace = trace_of_collection(tmp_path, max_pages=100)
    assert trace.site == tmp_path.name
    assert trace.days == pytest.approx(20.0, abs=0.001)
    one, two, three = trace.pages
    assert one.birth == pytest.approx(0.0, abs=0.001)
    assert 0.0 < one.changes[0] < 10.0 < one.changes[1] < 20.0
    assert two.changes == ()
    assert two.death == pytest.approx(20.0, abs=0.001)
    assert three.birth == pytest.approx(10.0, abs=0.001)
    assert one.hub == three.hub
    assert trace_of_collection(tmp_path, max_pages=100) == trace
    assert len(trace_of_collection(tmp_path, max_pages=2).pages) == 1


def test_a_history_that_is_too_short_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"covers 0\.0 days of 0 pages; a simulation needs 2 days or more"):
        trace_of_collection(tmp_path, max_pages=100)


def test_a_trace_file_may_be_packed(tmp_path: Path) -> None:
    text = f"{json.dumps(HEADER)}\n{json.dumps(ROW)}\n"
    plain, packed = tmp_path / "t.jsonl", tmp_path / "t.jsonl.gz"
    plain.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    assert read_trace_file(plain, max_pages=5) == read_trace_file(packed, max_pages=5)
    assert read_trace_file(plain, max_pages=5).pages[0].changes == (1.0, 3.0)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not a valid trace"),
        (b"\xff\xfe", "not a valid trace"),
        (b"[]\n", "not a valid trace"),
        (b'{"site": "s"}\n', "not a valid trace"),
        (json.dumps(HEADER).encode() + b'\n{"hub": 1}\n', "not a valid trace"),
        (json.dumps(HEADER).encode() + b"\n", "covers 40.0 days of 0 pages"),
        (gzip.compress(b"{}", mtime=0)[:-4], "not a valid trace"),
    ],
)
def test_an_unreadable_trace_is_one_clear_error(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / ("t.gz" if content[:2] == b"\x1f\x8b" else "t.jsonl")
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=words):
        read_trace_file(file, max_pages=5)
    with pytest.raises(ConfigError, match="no such file"):
        read_trace_file(tmp_path / "nowhere", max_pages=5)


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
    with pytest.raises(ConfigError, match="for all pages like 1000/day"):
        budget_of("5000", TRACE)


def test_policies_are_known_by_name() -> None:
    assert parse_policies("optimal, nutch,optimal") == ["optimal", "nutch"]
    with pytest.raises(ConfigError, match="no revisit policy 'best'; choose from optimal, uniform"):
        parse_policies("optimal,best")
    with pytest.raises(ConfigError, match="give a revisit policy"):
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
