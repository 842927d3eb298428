"""The exit code of a run follows from its summary."""

from __future__ import annotations

import signal

import pytest

from evercrawl.cli.terminal import EXIT_TEXT, ExitCode, exit_code_of
from evercrawl.errors import CollectionBusy, ConfigError, StoreUnavailable
from evercrawl.model.report import Summary


def test_every_code_has_a_text() -> None:
    assert set(EXIT_TEXT) == set(ExitCode)


@pytest.mark.parametrize(
    ("summary", "number", "code"),
    [
        (Summary(), None, 0),
        (Summary(errors=3), None, 0),
        (Summary(stopped="limit"), None, 7),
        (Summary(stopped="closed", throttled=True), None, 8),
        (Summary(nothing_reachable=True), None, 4),
        (Summary(robots_refused_all=True), None, 6),
        (Summary(stopped="interrupted", nothing_reachable=True), signal.SIGINT, 130),
        (Summary(stopped="interrupted"), signal.SIGTERM, 143),
        (Summary(stopped="interrupted"), None, 130),
    ],
)
def test_the_code_of_a_run(summary: Summary, number: int | None, code: int) -> None:
    assert exit_code_of(summary, signal_number=number) == code


def test_the_errors_have_codes_of_the_table() -> None:
    assert ConfigError.exit_code == ExitCode.USAGE
    assert CollectionBusy.exit_code == StoreUnavailable.exit_code == ExitCode.STORE
