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
    """Refuse to run where a compiled module hides its source."""
    for library in Path(evercrawl.__file__).parent.rglob("*.so"):
        if library.with_name(library.name.partition(".")[0] + ".py").exists() and "site-packages" not in library.parts:
            pytest.exit(f"{library} hides its source: delete it (compiled code belongs in wheels only)", returncode=3)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes (a gzip header holds the time) do not become part of a test's name: it is the same everywhere."""
    return argname if isinstance(val, bytes) else None
