"""What tests of several folders share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgres_server import PostgresServer, running_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server for the whole run, started when the first test needs it."""
    with running_server() as server:
        yield server


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes (a gzip header holds the time) do not become part of a test's name: it is the same everywhere."""
    return argname if isinstance(val, bytes) else None
