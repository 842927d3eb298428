"""What tests of several folders share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import evercrawl
from tests.postgres_server import PostgresServer, running_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server for the whole run, started when the first test needs it."""
    with running_server() as server:
        yield server


def pytest_sessionstart() -> None:
    """Compiled modules hide their sources: older ones would be tested in place of them."""
    for library in Path(evercrawl.__file__).parent.rglob("*.so"):
        source = library.with_name(library.name.partition(".")[0] + ".py")
        if source.exists() and source.stat().st_mtime > library.stat().st_mtime:
            pytest.exit(f"{library.name} is older than its source: run make venv, or make pure", returncode=3)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes (a gzip header holds the time) do not become part of a test's name: it is the same everywhere."""
    return argname if isinstance(val, bytes) else None
