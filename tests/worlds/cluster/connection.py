"""One process's connection to the database: most questions take no time, some do, and it can be cut.

A question travels, is worked on and its answer travels back. On the way there it waits while the line is
cut; the answer waits too. What has reached the server is done, even if the asker is stopped, killed or cut
off meanwhile, but a transaction whose client has died or fallen silent is rolled back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from evercrawl.adapters.postgres.store import IDLE_TRANSACTION, STATEMENT_S
from evercrawl.engine.runtime import TaskSet
from tests.worlds.cluster.database import Server
from tests.worlds.cluster.monitor import Monitor
from tests.worlds.cluster.process import SimProcess, detached_context

LOOK_AGAIN_S = 0.25
"""A cut line is tried so often."""


class Latency(NamedTuple):
    """How a line behaves when nothing is wrong with it."""

    slow_share: float = 1.0
    """Questions that take time at all."""
    mean_s: float = 0.004
    stall_share: float = 0.0003
    """Those among them that take much longer."""
    stall_s: float = 3.0


class Connection:
    """Between one process and the server."""

    def __init__(self, server: Server, process: SimProcess, latency: Latency, chance: Random, monitor: Monitor) -> None:
        self.is_cut = False
        self._server = server
        self._process = process
        self._latency = latency
        self._chance = chance
        self._monitor = monitor
        self._is_broken = False
        self._waiting = TaskSet()
        self._patience_s = min(IDLE_TRANSACTION.total_seconds(), monitor.lease_s / 2)
        """So long the server keeps a transaction whose client says nothing."""

    def break_off(self) -> None:
        """Everything that waits fails now, and so does what is asked from now on."""
        self._is_broken = True
        for answer in self._waiting:
            _fail(answer, ConnectionResetError("the connection was given up"))

    async def ask(self, work: Callable[[], Any], *, shard: int | None = None) -> Any:
        """What the server's work gives; `shard`: it is a transaction that holds this shard's row."""
        server = self._server
        if self._process.is_dead or self._is_broken or not server.is_up:
            raise ConnectionRefusedError("nobody listens")
        is_quick = self._chance.random() >= self._latency.slow_share * server.slowness
        if is_quick and not self.is_cut and (shard is None or not server.is_locked(shard)):
            return work()
        answer = server.promise()
        self._waiting.add(answer)
        answer.add_done_callback(self._waiting.discard, context=detached_context())
        self._travel(self._took_s(), lambda: self._arrived(work, shard, answer))
        async with asyncio.timeout(STATEMENT_S):
            return await answer

    def _took_s(self) -> float:
        latency, chance = self._latency, self._chance
        slowness = max(1.0, self._server.slowness)
        if chance.random() < latency.stall_share * slowness:
            stall_s = chance.expovariate(1 / latency.stall_s)
            self._monitor.stalled(self._process.number, stall_s)
            return stall_s
        return chance.expovariate(1 / (latency.mean_s * slowness)) / 3

    def _travel(self, seconds: float, arrive: Callable[[], None]) -> None:
        """There or back; not before the line is whole; what a process that is gone had sent is lost."""

        def try_it() -> None:
            if not self.is_cut:
                arrive()
            elif not (self._process.is_dead or self._is_broken):
                self._server.loop.call_later(LOOK_AGAIN_S, try_it, context=detached_context())

        self._server.loop.call_later(seconds, try_it, context=detached_context())

    def _arrived(self, work: Callable[[], Any], shard: int | None, answer: asyncio.Future[Any]) -> None:
        if answer.done():
            return
        if shard is None:
            self._do(work, answer)
            return
        self._server.lock(shard, lambda: self._hold(work, shard, answer))

    def _hold(self, work: Callable[[], Any], shard: int, answer: asyncio.Future[Any]) -> None:
        """The transaction has the row; its client still has to say commit."""
        if answer.done():
            self._server.unlock(shard)
            return
        self._server.loop.call_later(
            self._took_s(), lambda: self._end(work, shard, answer, silent_s=0.0), context=detached_context()
        )

    def _end(self, work: Callable[[], Any], shard: int, answer: asyncio.Future[Any], *, silent_s: float) -> None:
        if not self._server.is_locked(shard):
            return
        if answer.done() or self._process.is_dead or silent_s >= self._patience_s:
            self._server.unlock(shard)
            self._refuse(answer)
        elif self.is_cut or self._process.is_stopped:
            again = silent_s + LOOK_AGAIN_S
            self._server.loop.call_later(
                LOOK_AGAIN_S, lambda: self._end(work, shard, answer, silent_s=again), context=detached_context()
            )
        else:
            self._do(work, answer)
            self._server.unlock(shard)

    def _refuse(self, answer: asyncio.Future[Any]) -> None:
        if not answer.done():
            self._travel(self._took_s(), lambda: _fail(answer, ConnectionResetError("idle for too long")))

    def _do(self, work: Callable[[], Any], answer: asyncio.Future[Any]) -> None:
        try:
            result = work()
        except Exception as error:
            failure = error
            self._travel(self._took_s(), lambda: _fail(answer, failure))
        else:
            self._travel(self._took_s(), lambda: _give(answer, result))


def _give(answer: asyncio.Future[Any], result: Any) -> None:
    if not answer.done():
        answer.set_result(result)


def _fail(answer: asyncio.Future[Any], error: Exception) -> None:
    if not answer.done():
        answer.set_exception(error)
