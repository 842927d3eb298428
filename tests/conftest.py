"""Fixtures and hooks for all tests."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import evercrawl
from tests.postgres_server import PostgresServer, running_server

os.environ["EVERCRAWL_TRUST"] = "*"  # Tests write collections by hand; those about trust remove this.


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Start a PostgreSQL server for the whole run when the first test needs it."""
    with running_server() as server:
        yield server


def pytest_sessionstart() -> None:
    """Refuse to run where a compiled module hides its source."""
    for library in Path(evercrawl.__file__).parent.rglob("*.so"):
        if library.with_name(library.name.partition(".")[0] + ".py").exists() and "site-packages" not in library.parts:
            pytest.exit(f"{library} hides its source: delete it (compiled code belongs in wheels only)", returncode=3)


LONGEST_FIRST = ("e2e", "simulation", "browser", "fuzz", "web")
"""Folders in the order in which they start, so that no worker begins a long file when the others have ended."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the folders with the longest files first."""
    rank = {name: place for place, name in enumerate(LONGEST_FIRST)}
    tests = Path(__file__).parent
    items.sort(key=lambda item: rank.get(item.path.relative_to(tests).parts[0], len(rank)))


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Keep bytes out of test names: a gzip header contains the time, and xdist needs equal names in all processes."""
    return argname if isinstance(val, bytes) else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was not tested and why, so that no test vanishes silently."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2] if isinstance(report.longrepr, tuple) else "" for report in skipped)
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"NOT TESTED ({count}): {reason.removeprefix('Skipped: ')}", yellow=True)
