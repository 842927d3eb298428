"""JSON is safe and complete, numbers are readable, and exit codes follow from the summary."""

from __future__ import annotations

import json
import signal
from datetime import UTC, datetime, timedelta

import pytest

from evercrawl.cli.terminal import (
    EXIT_TEXT,
    ExitCode,
    emit_json,
    exit_code_of,
    format_duration,
    format_size,
    plural,
    relative_time,
)
from evercrawl.errors import CollectionBusy, ConfigError, StoreUnavailable
from evercrawl.model.run import Summary


def test_json_is_ascii_and_complete(capsys: pytest.CaptureFixture[str]) -> None:
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


def test_plural() -> None:
    assert (plural(1, "page"), plural(2000, "page")) == ("1 page", "2,000 pages")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-20, "just now"), (20, "in a moment"), (-60, "1 minute ago"), (-7200, "2 hours ago"),
        (3 * 3600, "in 3 hours"), (-30 * 3600, "30 hours ago"), (-47 * 3600, "2 days ago"), (4 * 86_400, "in 4 days"),
    ],
)  # fmt: skip
def test_relative_times(seconds: int, text: str) -> None:
    now = datetime(2026, 11, 16, 12, tzinfo=UTC)
    assert relative_time(now + timedelta(seconds=seconds), now=now) == text


def test_every_exit_code_has_a_text() -> None:
    assert set(EXIT_TEXT) == set(ExitCode)


@pytest.mark.parametrize(
    ("summary", "number", "code"),
    [
        (Summary(), None, 0),
        (Summary(errors=3), None, 0),
        (Summary(stopped="limit"), None, 7),
        (Summary(stopped="closed", throttled=True), None, 8),
        (Summary(stopped="closed", remaining=3), None, 9),
        (Summary(nothing_reachable=True), None, 4),
        (Summary(robots_refused_all=True), None, 6),
        (Summary(stopped="interrupted", nothing_reachable=True), signal.SIGINT, 130),
        (Summary(stopped="interrupted"), signal.SIGTERM, 143),
        (Summary(stopped="interrupted"), None, 130),
    ],
)
def test_exit_code_of_a_run(summary: Summary, number: int | None, code: int) -> None:
    assert exit_code_of(summary, signal_number=number) == code


def test_errors_have_exit_codes() -> None:
    assert ConfigError.exit_code == ExitCode.USAGE
    assert CollectionBusy.exit_code == StoreUnavailable.exit_code == ExitCode.STORE
