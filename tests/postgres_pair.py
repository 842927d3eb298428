"""Two PostgreSQL servers: a primary and a synchronous standby that can be promoted."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import asyncpg

from tests.postgres_server import (
    PostgresServer,
    as_server,
    control,
    free_port,
    make_cluster,
    postmaster_of,
    processes_of,
    program,
    server_folder,
    start,
)

FOLLOWS_S = 30.0


@dataclass
class PostgresPair:
    """A primary and its synchronous standby. A commit is acknowledged when both have it."""

    primary: PostgresServer
    standby: PostgresServer
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    ports: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ports = [self.primary.port, self.standby.port]

    @property
    def dsn(self) -> str:
        """Address of the server that takes writes."""
        return self.primary.dsn

    def new_namespace(self) -> str:
        """Return a namespace that no other test uses."""
        return f"t{next(self._numbers)}"

    def restart_at_once(self) -> None:
        """Crash and restart the primary."""
        self.primary.restart_at_once()

    def promote(self) -> None:
        """Kill the primary and promote the standby."""
        kill(self.primary.folder)
        control(self.standby.folder, "promote")
        self.primary, self.standby = self.standby, self.primary

    def follow(self) -> None:
        """Bring the killed server back as a standby of the new primary."""
        follow(self.primary, self.standby)


def kill(folder: Path) -> None:
    """Kill the server and all its processes with SIGKILL."""
    postmaster = postmaster_of(folder)
    os.kill(postmaster, signal.SIGSTOP)
    for pid in processes_of(folder):
        os.kill(pid, signal.SIGKILL)


def follow(primary: PostgresServer, standby: PostgresServer) -> None:
    """Create a synchronous standby from a fresh copy of the primary."""
    data = standby.folder / "data"
    shutil.rmtree(data, ignore_errors=True)
    copy = [program("pg_basebackup"), "-D", str(data), "-d", primary.dsn, "-R", "-c", "fast", "--no-sync"]
    as_server(*copy)
    # Once promoted it has nobody who follows it: its commits must not wait.
    with (data / "postgresql.auto.conf").open("a") as file:
        file.write("synchronous_standby_names = ''\n")
    start(standby.folder, standby.port)
    asyncio.run(_wait_for_it(primary.dsn))


async def _wait_for_it(dsn: str) -> None:
    connection: Any = await asyncpg.connect(dsn)
    try:
        deadline = time.monotonic() + FOLLOWS_S
        while not await connection.fetchval("select count(*) from pg_stat_replication where state = 'streaming'"):
            assert time.monotonic() < deadline, "the standby does not follow"
            await asyncio.sleep(0.05)
        await connection.execute("alter system set synchronous_standby_names = '*'")
        await connection.execute("select pg_reload_conf()")
        while not await connection.fetchval("select count(*) from pg_stat_replication where sync_state = 'sync'"):
            assert time.monotonic() < deadline, "the standby does not become synchronous"
            await asyncio.sleep(0.05)
    finally:
        await connection.close()


@contextmanager
def running_pair() -> Iterator[PostgresPair]:
    """Run two servers for the block."""
    with server_folder() as one, server_folder() as other:
        make_cluster(one)
        pair = PostgresPair(PostgresServer(free_port(), one), PostgresServer(free_port(), other))
        start(one, pair.primary.port)
        try:
            follow(pair.primary, pair.standby)
            yield pair
        finally:
            for folder in (one, other):
                if (folder / "data" / "postmaster.pid").exists():
                    kill(folder)
