"""JSON is harmless and complete; sizes and durations are for people."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from evercrawl.cli.terminal import emit_json, format_duration, format_size, plural


def test_json_is_ascii_and_loses_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    title = "a\x1b[31m\u202e\x7f\udc80ü"
    emit_json("page", {"title": title, "at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)})
    line = capsys.readouterr().out
    assert line.isascii()
    assert line.rstrip("\n").isprintable()
    assert json.loads(line) == {"schema": "evercrawl.page/1", "title": title, "at": "2026-01-02T03:04:05Z"}


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (41_000_000, "41 MB"), (10**16, "10,000 TB")]
)
def test_sizes(count: int, text: str) -> None:
    assert format_size(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.25, "0.2 s"), (42, "42 s"), (29 * 60, "29 min"), (12_000, "3 h 20 min"), (4 * 86_400, "4 days")],
)
def test_durations(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


def test_one_thing_is_not_many() -> None:
    assert (plural(1, "page"), plural(2000, "page")) == ("1 page", "2,000 pages")
