"""Who works on a collection and owns which shard: leases by heartbeat, after the database's clock.

A worker may ask sites only while its own clock says that the database cannot have declared it dead: it
counts from before each heartbeat was sent. Its clock goes on while the machine sleeps. Nobody is declared
dead within one lease of a restart or a promotion of the database: heartbeats of that time may be lost.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from importlib.resources import files
from typing import NamedTuple
from uuid import UUID

import asyncpg

from evercrawl.adapters.postgres.fault import translating
from evercrawl.adapters.postgres.line import made_once
from evercrawl.adapters.postgres.store import application_of
from evercrawl.adapters.sqlite.statements import statements_in
from evercrawl.errors import LeaseLost

_SQL = statements_in(files(__package__).joinpath("cluster.sql").read_text(encoding="utf-8"))


def statement_names(namespace: str) -> dict[str, str]:
    """Each statement as it is said in a namespace, and its name in `cluster.sql`."""
    return {text.replace("{space}", namespace): name for name, text in _SQL.items()}


SURPLUS = 1
"""So many shards above its share a worker keeps, so that shards do not wander to and fro."""


class MemberView(NamedTuple):
    """A worker as `cluster status` shows it."""

    id: UUID
    host: str
    pid: int
    began: datetime
    until: datetime
    capacity: int
    draining: bool
    quiet: str | None
    visits: int
    wire_bytes: int
    shards: int


class Share(NamedTuple):
    """How many shards a worker should have, and how that stands with the others."""

    least: int
    most: int
    lacking: int
    """Shards that workers lack to their least."""
    free: int
    members: int

    def wanted(self, owned: int, *, left_over: bool) -> int:
        """How many more to take, of those that are free. What is `left_over` was free at the last look too:
        its share belongs to somebody who does not come for it, and is taken by whoever is there.
        """
        share = self.most if self.free > self.lacking or not self.lacking else self.least
        even = -(-self.free // max(1, self.members)) if left_over else 0
        return min(self.free, max(share - owned, even, 0))

    def surplus(self, owned: int) -> int:
        """How many to let go, so that others have their least; none while shards are free, for those who lack
        some have to come for these first. Otherwise what was left over would go to and fro.
        """
        if self.free:
            return 0
        return max(0, owned - (self.least if self.lacking else self.most + SURPLUS))


class Membership:
    """This process among the workers of a collection."""

    def __init__(
        self,
        pool: asyncpg.Pool,
        namespace: str,
        *,
        worker: UUID,
        lease: timedelta,
        margin: timedelta,
        now: Callable[[], float] | None = None,
    ) -> None:
        """`worker`: a name that nobody has had before; `now`: the machine's clock, in seconds."""
        self.id = worker
        self._now = now or boot_time
        self.draining = False
        self._pool = pool
        self._sql = {name: text.replace("{space}", namespace) for name, text in _SQL.items()}
        self._lease = lease
        self._margin_s = margin.total_seconds()
        self._deadline = 0.0

    def holds(self) -> bool:
        """Are our shards still ours, whatever the database may have decided meanwhile?"""
        return self.seconds_left() > 0

    def seconds_left(self) -> float:
        """How long our shards are ours without another heartbeat."""
        return self._deadline - self._margin_s - self._now()

    async def join(self, *, shards: int, capacity: int, formerly: UUID | None) -> None:
        """Become a worker of the collection; who we were before does not ask anything of a site any more."""
        with translating():
            await made_once(lambda: self._pool.execute(self._sql["cluster_tables"]))
            await self._pool.execute(self._sql["make_leases"], shards)
            if formerly is not None:
                await self._pool.execute(self._sql["leave"], formerly)
            before = self._now()
            place = (socket.gethostname(), os.getpid())
            await self._pool.execute(self._sql["register"], self.id, self._lease, capacity, *place)
        self._deadline = before + self._lease.total_seconds()

    async def renew(self, *, quiet: str | None, visits: int, wire_bytes: int) -> None:
        """The heartbeat; raises LeaseLost when we were declared dead."""
        before = self._now()
        with translating():
            row = await self._pool.fetchrow(self._sql["renew"], self.id, self._lease, quiet, visits, wire_bytes)
        if row is None:
            raise LeaseLost("the other workers have taken this one for dead")
        self.draining = row[0]
        self._deadline = before + self._lease.total_seconds()

    async def bury(self) -> None:
        """Declare those dead whose time has run out, and end what they left open: a lock that one of them
        holds would keep its shard from the heir.
        """
        with translating():
            await self._pool.execute(self._sql["note_incarnation"])
            dead = await self._pool.fetch(self._sql["bury"], self._lease)
            if dead:
                names = [application_of(row[0]) for row in dead]
                await self._pool.execute(self._sql["hang_up"], names)

    async def take(self, most: int) -> list[int]:
        """Become the owner of shards that have none; all that are ours now. Each still has to be claimed in
        the store.
        """
        with translating():
            return [row[0] for row in await self._pool.fetch(self._sql["take"], self.id, most)]

    async def let_go(self, shard: int) -> None:
        """Somebody else may take the shard."""
        with translating():
            await self._pool.execute(self._sql["let_go"], shard, self.id)

    def end(self) -> None:
        """Whatever the database believes: we ask nothing of a site any more."""
        self._deadline = 0.0

    async def leave(self) -> None:
        """End; what we own is free, from the moment at which this is asked for."""
        self.end()
        with translating():
            await self._pool.execute(self._sql["leave"], self.id)

    async def fair_share(self, capacity: int) -> Share:
        """Shards that are ours by our capacity. What does not come out even goes to whoever is first, but
        not while somebody has less than the whole part of its share.
        """
        with translating():
            row = await self._pool.fetchrow(self._sql["shares"], self._lease)
        whole, shards, lacking, free, members = map(int, row)
        least, rest = divmod(shards * capacity, max(whole, capacity))
        return Share(least, least + (rest > 0), lacking=lacking, free=free, members=members)

    async def soonest_end(self) -> float:
        """Seconds until somebody may have to be buried."""
        with translating():
            left = await self._pool.fetchval(self._sql["soonest_end"])
        return float(left) if left is not None else 0.0

    async def spent_by_others(self) -> tuple[int, int]:
        """Visits and bytes of the other workers."""
        with translating():
            visits, wire_bytes = await self._pool.fetchrow(self._sql["spent_by_others"], self.id)
        return int(visits), int(wire_bytes)

    async def all_rest(self) -> bool:
        """Nobody else is busy, nothing is on its way, every shard has an owner."""
        with translating():
            return not await self._pool.fetchval(self._sql["unrest"], self.id)

    async def rows(self, name: str, *parameters: object) -> list[asyncpg.Record]:
        """The rows of a statement of `cluster.sql`."""
        with translating():
            found: list[asyncpg.Record] = await self._pool.fetch(self._sql[name], *parameters)
            return found


async def members_of(pool: asyncpg.Pool, namespace: str) -> list[MemberView]:
    """The workers that live."""
    with translating():
        rows = await pool.fetch(_SQL["members"].replace("{space}", namespace))
    return [MemberView._make(row) for row in rows]


async def drain(pool: asyncpg.Pool, namespace: str, which: str) -> Sequence[UUID]:
    """Ask workers to let go of everything and end: those whose id begins so, or all."""
    with translating():
        return [row[0] for row in await pool.fetch(_SQL["drain"].replace("{space}", namespace), which)]


def boot_time() -> float:
    """Seconds since the machine was started, those included in which it slept."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
