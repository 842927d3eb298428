"""A PostgreSQL server of the tests' own, on loopback, without anything in it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

BEHIND_DEBIANS_DOOR = Path("/usr/lib/postgresql")
"""Debian keeps the server's programs of each version here, outside the path."""
SERVER_USER = "postgres"
"""The server refuses to run as root."""


@dataclass
class PostgresServer:
    """A running server."""

    port: int
    folder: Path
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def dsn(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def new_namespace(self) -> str:
        """A namespace that no other test has."""
        return f"t{next(self._numbers)}"

    def restart_at_once(self) -> None:
        """What a crash of the server and its restart do."""
        _control(self.folder, "restart", "-m", "immediate")


def _program(name: str) -> str:
    found = shutil.which(name) or next(
        (str(path) for path in sorted(BEHIND_DEBIANS_DOOR.glob(f"*/bin/{name}"), reverse=True)), None
    )
    assert found is not None, f"{name} is missing: install PostgreSQL (on Debian: apt-get install postgresql)"
    return found


def _as_server(*command: str) -> None:
    if os.geteuid() == 0:
        command = ("setpriv", "--reuid", SERVER_USER, "--regid", SERVER_USER, "--clear-groups", *command)
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=120)
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"


def _control(folder: Path, *arguments: str) -> None:
    # The server inherits whatever is open, and a pipe that it holds would never end.
    _as_server(_program("pg_ctl"), "-D", str(folder / "data"), "-l", str(folder / "log"), "-w", *arguments)


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """A server that lives as long as the block."""
    folder = Path(tempfile.mkdtemp(prefix="evercrawl-postgres-"))
    if os.geteuid() == 0:
        shutil.chown(folder, SERVER_USER, SERVER_USER)
    try:
        _as_server(
            _program("initdb"), "-D", str(folder / "data"), "-A", "trust", "-U", "postgres", "--no-sync"
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        settings = (
            f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='{folder}' -c fsync=off"
        )
        settings += " -c max_connections=200"
        _control(folder, "-o", settings, "start")
        try:
            yield PostgresServer(port, folder)
        finally:
            _control(folder, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
