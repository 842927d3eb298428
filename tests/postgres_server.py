"""An empty PostgreSQL server on loopback for the tests."""

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

DEBIAN_PROGRAMS = Path("/usr/lib/postgresql")
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
        """Return a namespace that no other test uses."""
        return f"t{next(self._numbers)}"

    @property
    def ports(self) -> list[int]:
        """Ports of this server and of its replacements."""
        return [self.port]

    def restart_at_once(self) -> None:
        """Crash and restart the server."""
        control(self.folder, "restart", "-m", "immediate")


def program(name: str) -> str:
    found = shutil.which(name) or next(
        (str(path) for path in sorted(DEBIAN_PROGRAMS.glob(f"*/bin/{name}"), reverse=True)), None
    )
    assert found is not None, f"{name} is missing: install PostgreSQL (on Debian: apt-get install postgresql)"
    return found


def as_server(*command: str) -> None:
    if os.geteuid() == 0:
        command = ("setpriv", "--reuid", SERVER_USER, "--regid", SERVER_USER, "--clear-groups", *command)
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=120)
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"


def control(folder: Path, *arguments: str) -> None:
    # The server inherits whatever is open, and a pipe that it holds would never end.
    as_server(program("pg_ctl"), "-D", str(folder / "data"), "-l", str(folder / "log"), "-w", *arguments)


def postmaster_of(folder: Path) -> int:
    """Return the id of the server's first process."""
    return int((folder / "data" / "postmaster.pid").read_text().splitlines()[0])


def processes_of(folder: Path) -> list[int]:
    """Return the ids of all processes of the server, the first one last."""
    postmaster, found = postmaster_of(folder), []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == postmaster:
            found.append(int(stat.parent.name))
    return [*found, postmaster]


@contextmanager
def server_folder() -> Iterator[Path]:
    """Create a folder of the server's user for the block."""
    folder = Path(tempfile.mkdtemp(prefix="evercrawl-postgres-"))
    if os.geteuid() == 0:
        shutil.chown(folder, SERVER_USER, SERVER_USER)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def make_cluster(folder: Path) -> None:
    """Create an empty database in the folder."""
    as_server(program("initdb"), "-D", str(folder / "data"), "-A", "trust", "-U", "postgres", "--no-sync")


def start(folder: Path, port: int, *settings: str) -> None:
    """Start the server of that folder on loopback."""
    common = ("fsync=off", "max_connections=200", "listen_addresses=127.0.0.1")
    flags = "".join(f" -c {setting}" for setting in (*common, *settings))
    control(folder, "-o", f"-p {port} -c unix_socket_directories='{folder}'{flags}", "start")


@contextmanager
def running_server(*settings: str) -> Iterator[PostgresServer]:
    """Run a server for the block."""
    with server_folder() as folder:
        make_cluster(folder)
        port = free_port()
        start(folder, port, *settings)
        try:
            yield PostgresServer(port, folder)
        finally:
            control(folder, "-m", "immediate", "stop")
