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
