"""Parameters, rates, words, charts and remembered answers."""

from __future__ import annotations

import threading
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

import pytest
from markupsafe import Markup

from evercrawl.web.access_control import RateLimit
from evercrawl.web.cache import AnswerCache, CachedAnswer
from evercrawl.web.charts import bars, calendar, histogram, round_up, stacked_bars, timeline
from evercrawl.web.format import (
    crawled,
    format_duration,
    format_size,
    link_to,
    plain_line,
    relative_time,
    time_element,
    to_plain,
)
from evercrawl.web.route import BadRequest, Parameter, limit

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("parameter", "written", "value"),
    [
        (limit(), None, 50),
        (limit(), "7", 7),
        (Parameter("f", "", "flag", default=False), None, False),
        (Parameter("f", "", "flag"), "true", True),
        (Parameter("c", "", "choice", choices=("a", "b")), "b", "b"),
        (Parameter("s", "", "moment"), "24h", NOW - timedelta(days=1)),
        (Parameter("t", ""), "", None),
    ],
)
def test_parameters_are_typed(parameter: Parameter, written: str | None, value: object):
    assert parameter.value(written, now=NOW) == value


@pytest.mark.parametrize(
    ("parameter", "written"),
    [
        (limit(), "0"),
        (limit(), "501"),
        (limit(), "-1"),
        (limit(), "1e3"),
        (limit(), "٣"),
        (Parameter("f", "", "flag"), "maybe"),
        (Parameter("c", "", "choice", choices=("a",)), "b"),
        (Parameter("s", "", "moment"), "whenever"),
        (Parameter("t", "", required=True), None),
        (Parameter("t", ""), "x" * 9000),
        (Parameter("t", ""), "a\x00b"),
    ],
)
def test_what_cannot_be_read_is_refused(parameter: Parameter, written: str | None):
    with pytest.raises(BadRequest):
        parameter.value(written, now=NOW)


def test_a_rate_allows_a_burst_and_then_a_flow():
    moment = 0.0
    rate = RateLimit(burst=3, per_s=2, clock=lambda: moment)
    assert [rate.wait_s("a") for _ in range(4)] == [0, 0, 0, 0.5]
    assert rate.wait_s("b") == 0, "each address by itself"
    moment = 0.5
    assert rate.wait_s("a") == 0
    assert rate.wait_s("a") > 0


def test_words():
    assert format_size(1_500_000) == "1.5 MB"
    assert format_duration(45) == "45 s"
    assert relative_time(NOW - timedelta(hours=3), NOW) == "3 h ago"
    assert relative_time(NOW + timedelta(minutes=5), NOW) == "in 5 min"
    assert time_element(None) == Markup("–")
    assert (
        link_to("/page", url="https://a.example/?q=ü&x='")
        == "/page?url=https%3A%2F%2Fa.example%2F%3Fq%3D%C3%BC%26x%3D%27"
    )
    assert crawled('<script>"\u202e\x1b[31m') == Markup("<bdi>&lt;script&gt;&#34;</bdi>")
    assert plain_line("a\u202eb\nc") == "ab c"


class _Row(NamedTuple):
    at_us: int
    name: bytes


def test_plain_values():
    assert to_plain({"rows": [_Row(0, b"\x01")], date(2026, 1, 2): timedelta(seconds=2)}) == {
        "rows": [{"at": "1970-01-01T00:00:00Z", "name": "01"}],
        "2026-01-02": 2.0,
    }
    assert to_plain("lone \ud800 surrogate") == "lone ? surrogate"
    with pytest.raises(TypeError):
        to_plain(object())


@pytest.mark.parametrize(("most", "nice"), [(0, 1), (1, 1), (7, 8), (63, 80), (100, 100), (101, 150), (999, 1000)])
def test_axes_end_at_round_numbers(most: float, nice: float):
    assert round_up(most) == nice


def test_charts_say_what_they_show_and_escape_it():
    evil = "<script>"
    for chart in (
        bars(evil, [(evil, 3), ("b", 0)], evil),
        stacked_bars("t", [("day", {"a": 1, "b": 2})], [("a", "first"), ("b", evil)]),
        histogram("t", [0.5, 3, 99], (0, 1, 10), noun="things"),
        calendar("t", {date(2026, 11, 14): 3}, last=date(2026, 11, 15)),
        timeline("t", [(0.0, 0.2, evil), (1.0, 1.0, "b")]),
        bars("empty", [], "x"),
    ):
        assert isinstance(chart.svg, Markup)
        assert "<script>" not in chart.svg
        assert 'role="img"' in chart.svg
        assert "<title" in chart.svg
        assert "<desc" in chart.svg
        assert "style=" not in chart.svg
    assert histogram("t", [0.5, 3, 99], (0, 1, 10), noun="n").rows == (("0–1", "1"), ("1–10", "1"), ("≥ 10", "1"))


def test_an_answer_is_computed_once_for_all():
    counted = []
    begin = threading.Event()

    def compute() -> int:
        begin.wait(5)
        counted.append(1)
        return 42

    answer = CachedAnswer(compute, least_s=60)
    assert answer.get(0.0) is None, "still being computed"
    begin.set()
    assert answer.get(5.0) == 42
    assert answer.get(5.0) == 42
    assert len(counted) == 1


def test_an_error_is_told_to_whoever_asks():
    def compute() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        AnswerCache().get("key", compute, wait_s=5.0)
