"""Charts are accessible and escape their labels."""

from __future__ import annotations

from datetime import date

import pytest
from markupsafe import Markup

from evercrawl.web.charts import bars, calendar, histogram, round_up, stacked_bars, timeline


@pytest.mark.parametrize(("most", "nice"), [(0, 1), (1, 1), (7, 8), (63, 80), (100, 100), (101, 150), (999, 1000)])
def test_axes_end_at_round_numbers(most: float, nice: float):
    assert round_up(most) == nice


def test_charts_have_titles_and_escape_labels():
    evil = "<script>"
    for chart in (
        bars(evil, [(evil, 3), ("b", 0)], evil),
        stacked_bars("t", [("day", {"a": 1, "b": 2})], [("a", "first"), ("b", evil)]),
        histogram("t", [0.5, 3, 99], (0, 1, 10), noun="things"),
        calendar("t", {date(2026, 11, 14): 3}, last=date(2026, 11, 15)),
        timeline("t", [(0.0, 0.2, evil, "/x?a=1&b=2"), (1.0, 1.0, "b", "/y")], ("first", evil)),
        bars("empty", [], "x"),
    ):
        assert isinstance(chart.svg, Markup)
        assert "<script>" not in chart.svg
        assert f'role="{"group" if "<a " in chart.svg else "img"}"' in chart.svg
        assert "<title" in chart.svg
        assert "<desc" in chart.svg
        assert "style=" not in chart.svg
    assert histogram("t", [0.5, 3, 99], (0, 1, 10), noun="n").rows == (("0–1", "1"), ("1–10", "1"), ("≥ 10", "1"))
