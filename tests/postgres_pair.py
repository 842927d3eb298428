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
        """The server that takes writes, for who looks."""
        return self.primary.dsn

    def new_namespace(self) -> str:
        """A namespace that no other test has."""
        return f"t{next(self._numbers)}"

    def restart_at_once(self) -> None:
        """What a crash of the primary and its restart do."""
        self.primary.restart_at_once()

    def promote(self) -> None:
        """The primary is killed and stays away; the standby takes its place."""
        kill(self.primary.folder)
        control(self.standby.folder, "promote")
        self.primary, self.standby = self.standby, self.primary

    def follow(self) -> None:
        """The server that was killed comes back as a copy that follows the new primary."""
        follow(self.primary, self.standby)


def kill(folder: Path) -> None:
    """kill -9 of the server and of all its processes."""
    postmaster = postmaster_of(folder)
    os.kill(postmaster, signal.SIGSTOP)
    for pid in processes_of(folder):
        os.kill(pid, signal.SIGKILL)


def follow(primary: PostgresServer, standby: PostgresServer) -> None:
    """A fresh copy of the primary, which commits wait for from now on."""
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
    """Two servers that live as long as the block."""
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
