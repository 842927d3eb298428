"""A database server in virtual time: it is up or down, slow or quick, and has had so many lives."""

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
"""Commits that a standby lacks, where a flaw asks for it."""


class Flaws(NamedTuple):
    """Rules of the protocol that are broken on purpose, to see that it is noticed."""

    unfenced: bool = False
    """A commit of an old epoch is taken."""
    double_grant: bool = False
    """A shard is given away although its owner lives."""
    hasty_burial: bool = False
    """Workers are declared dead before their lease is over."""
    no_gap_wait: bool = False
    """Who takes a shard over is told that it was let go cleanly."""
    unasked_lease: bool = False
    """Requests go out without a look at the lease."""
    lossy_failover: bool = False
    """The standby that takes over lacks the last commits."""


class Server:
    """The database. Work in hand when it goes down is not done."""

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
        """The server's own clock."""
        return self.loop.time() + self._clock_ahead_s

    def go_down(self) -> None:
        """A crash: every connection breaks, every transaction is gone."""
        self.is_up = False
        self._locked.clear()
        in_hand, self._in_hand = self._in_hand, TaskSet()
        for answer in in_hand:
            if not answer.done():
                answer.set_exception(ConnectionDoesNotExistError("the connection was closed in mid-operation"))

    def come_up(self, *, promoted: bool, clock_ahead_s: float | None = None) -> None:
        """The same server again, or its standby with a clock of its own."""
        timeline, _ = self.tables.life
        if promoted:
            self._lose_the_last()
        if clock_ahead_s is not None:
            self._clock_ahead_s = clock_ahead_s
        self.tables.life = (timeline + promoted, self.now())
        self.is_up = True

    def note_before(self, shard: int) -> None:
        """A commit is about to change the shard: the standby of the flaw does not have it yet."""
        if self.flaws.lossy_failover:
            state = self.store.state_of(shard)
            self._lagging = [*self._lagging[1 - LAG :], (state, deepcopy(state))]

    def _lose_the_last(self) -> None:
        """Newest first, so that of a shard with several commits the oldest state is left."""
        lagging, self._lagging = self._lagging, []
        for state, before in reversed(lagging):
            for part in fields(state):
                setattr(state, part.name, getattr(before, part.name))

    def promise(self) -> asyncio.Future[Any]:
        """An answer that breaks off when the server goes down."""
        answer = self.loop.create_future()
        self._in_hand.add(answer)
        answer.add_done_callback(self._in_hand.discard, context=detached_context())
        return answer

    def is_locked(self, shard: int) -> bool:
        """Some transaction holds the shard's row."""
        return shard in self._locked

    def lock(self, shard: int, then: Callable[[], None]) -> None:
        """Go on when the shard's row is free; it is held until `unlock`."""
        if shard in self._locked:
            self._locked[shard].append(then)
        else:
            self._locked[shard] = []
            then()

    def unlock(self, shard: int) -> None:
        """The transaction has ended."""
        waiting = self._locked.pop(shard, None)
        if waiting:
            self._locked[shard] = waiting[1:]
            waiting[0]()
