"""A database server in virtual time that can fail, restart, fail over and be slow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from copy import deepcopy
from dataclasses import fields
from typing import Any, NamedTuple

from asyncpg import ConnectionDoesNotExistError

from evercrawl.engine.runtime import TaskSet
from evercrawl.testing.store import MemoryStore
from tests.worlds.cluster.process import ProcessLoop, detached_context
from tests.worlds.cluster.tables import Tables

LAG = 5
"""Commits that a standby lacks with the flaw `lossy_failover`."""


class Flaws(NamedTuple):
    """Rules of the protocol that a test breaks on purpose."""

    unfenced: bool = False
    """Accept commits of an old epoch."""
    double_grant: bool = False
    """Assign a shard although its owner is alive."""
    hasty_burial: bool = False
    """Declare workers dead before their lease expires."""
    no_gap_wait: bool = False
    """Report every taken shard as released cleanly."""
    unasked_lease: bool = False
    """Send requests without checking the lease."""
    lossy_failover: bool = False
    """Promote a standby that lacks the last commits."""


class Server:
    """The database server. Queries in flight fail when it goes down."""

    def __init__(self, loop: ProcessLoop, store: MemoryStore, flaws: Flaws) -> None:
        self.loop = loop
        self.store = store
        self.flaws = flaws
        self.is_up = True
        self.slowness = 1.0
        self._clock_ahead_s = 0.0
        self.tables = Tables(store, self.now)
        self._locked: dict[int, list[Callable[[], None]]] = {}
        self._in_hand = TaskSet()
        self._lagging: list[tuple[Any, Any]] = []

    def now(self) -> float:
        """Return the server's own time."""
        return self.loop.time() + self._clock_ahead_s

    def go_down(self) -> None:
        """Crash: break every connection and roll back every transaction."""
        self.is_up = False
        self._locked.clear()
        in_hand, self._in_hand = self._in_hand, TaskSet()
        for answer in in_hand:
            if not answer.done():
                answer.set_exception(ConnectionDoesNotExistError("the connection was closed in mid-operation"))

    def come_up(self, *, promoted: bool, clock_ahead_s: float | None = None) -> None:
        """Restart the server, or promote its standby with another clock."""
        timeline, _ = self.tables.life
        if promoted:
            self._lose_the_last()
        if clock_ahead_s is not None:
            self._clock_ahead_s = clock_ahead_s
        self.tables.life = (timeline + promoted, self.now())
        self.is_up = True

    def note_before(self, shard: int) -> None:
        """Remember the shard before a commit, for the flaw `lossy_failover`."""
        if self.flaws.lossy_failover:
            state = self.store.state_of(shard)
            self._lagging = [*self._lagging[1 - LAG :], (state, deepcopy(state))]

    def _lose_the_last(self) -> None:
        """Restore the oldest remembered state of each shard."""
        lagging, self._lagging = self._lagging, []
        for state, before in reversed(lagging):
            for part in fields(state):
                setattr(state, part.name, getattr(before, part.name))

    def promise(self) -> asyncio.Future[Any]:
        """Return a future that fails when the server goes down."""
        answer = self.loop.create_future()
        self._in_hand.add(answer)
        answer.add_done_callback(self._in_hand.discard, context=detached_context())
        return answer

    def is_locked(self, shard: int) -> bool:
        """Return whether a transaction holds the shard's row."""
        return shard in self._locked

    def lock(self, shard: int, then: Callable[[], None]) -> None:
        """Call `then` once the shard's row is locked for it, until `unlock`."""
        if shard in self._locked:
            self._locked[shard].append(then)
        else:
            self._locked[shard] = []
            then()

    def unlock(self, shard: int) -> None:
        """Release the shard's row."""
        waiting = self._locked.pop(shard, None)
        if waiting:
            self._locked[shard] = waiting[1:]
            waiting[0]()
