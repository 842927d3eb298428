"""Connection of one process to the simulated database: with latency and stalls, and it can be cut.

Queries and results wait while the connection is cut. The server executes what it received, even if the client is
frozen, killed or disconnected meanwhile, but rolls back a transaction whose client died or is silent for too long.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from evercrawl.adapters.postgres.postgres_pool import IDLE_TRANSACTION, STATEMENT_TIMEOUT_S
from evercrawl.engine.runtime import TaskSet
from tests.worlds.cluster.database import Server
from tests.worlds.cluster.monitor import Monitor
from tests.worlds.cluster.process import SimProcess, detached_context

RETRY_S = 0.25
"""How often a cut connection is retried."""


class Latency(NamedTuple):
    """Latency of a healthy connection."""

    slow_share: float = 1.0
    """Share of queries that take any time."""
    mean_s: float = 0.004
    stall_share: float = 0.0003
    """Share of those that take much longer."""
    stall_s: float = 3.0


class Connection:
    """The connection between one process and the server."""

    def __init__(self, server: Server, process: SimProcess, latency: Latency, chance: Random, monitor: Monitor) -> None:
        self.is_cut = False
        self._server = server
        self._process = process
        self._latency = latency
        self._chance = chance
        self._monitor = monitor
        self._is_broken = False
        self._waiting = TaskSet()
        self._idle_timeout_s = min(IDLE_TRANSACTION.total_seconds(), monitor.lease_s / 2)
        """How long the server keeps a transaction whose client is silent."""

    def break_off(self) -> None:
        """Fail everything that waits, and every later query."""
        self._is_broken = True
        for answer in self._waiting:
            _fail(answer, ConnectionResetError("the connection was closed"))

    async def run(self, work: Callable[[], Any], *, shard: int | None = None) -> Any:
        """Run work on the server and return its result; with `shard`, as a transaction that locks the shard's row."""
        server = self._server
        if self._process.is_dead or self._is_broken or not server.is_up:
            raise ConnectionRefusedError("the server is down")
        is_quick = self._chance.random() >= self._latency.slow_share * server.slowness
        if is_quick and not self.is_cut and (shard is None or not server.is_locked(shard)):
            return work()
        answer = server.promise()
        self._waiting.add(answer)
        answer.add_done_callback(self._waiting.discard, context=detached_context())
        self._travel(self._latency_s(), lambda: self._arrived(work, shard, answer))
        async with asyncio.timeout(STATEMENT_TIMEOUT_S):
            return await answer

    def _latency_s(self) -> float:
        latency, chance = self._latency, self._chance
        slowness = max(1.0, self._server.slowness)
        if chance.random() < latency.stall_share * slowness:
            stall_s = chance.expovariate(1 / latency.stall_s)
            self._monitor.query_stalled(self._process.number, stall_s)
            return stall_s
        return chance.expovariate(1 / (latency.mean_s * slowness)) / 3

    def _travel(self, seconds: float, arrive: Callable[[], None]) -> None:
        """Deliver a message once the connection is not cut; messages of a dead process are lost."""

        def deliver() -> None:
            if not self.is_cut:
                arrive()
            elif not (self._process.is_dead or self._is_broken):
                self._server.loop.call_later(RETRY_S, deliver, context=detached_context())

        self._server.loop.call_later(seconds, deliver, context=detached_context())

    def _arrived(self, work: Callable[[], Any], shard: int | None, answer: asyncio.Future[Any]) -> None:
        if answer.done():
            return
        if shard is None:
            self._do(work, answer)
            return
        self._server.lock(shard, lambda: self._hold(work, shard, answer))

    def _hold(self, work: Callable[[], Any], shard: int, answer: asyncio.Future[Any]) -> None:
        """Hold the row lock until the client commits."""
        if answer.done():
            self._server.unlock(shard)
            return
        self._server.loop.call_later(
            self._latency_s(), lambda: self._end(work, shard, answer, silent_s=0.0), context=detached_context()
        )

    def _end(self, work: Callable[[], Any], shard: int, answer: asyncio.Future[Any], *, silent_s: float) -> None:
        if not self._server.is_locked(shard):
            return
        if answer.done() or self._process.is_dead or silent_s >= self._idle_timeout_s:
            self._server.unlock(shard)
            self._refuse(answer)
        elif self.is_cut or self._process.is_frozen:
            again = silent_s + RETRY_S
            self._server.loop.call_later(
                RETRY_S, lambda: self._end(work, shard, answer, silent_s=again), context=detached_context()
            )
        else:
            self._do(work, answer)
            self._server.unlock(shard)

    def _refuse(self, answer: asyncio.Future[Any]) -> None:
        if not answer.done():
            self._travel(self._latency_s(), lambda: _fail(answer, ConnectionResetError("idle for too long")))

    def _do(self, work: Callable[[], Any], answer: asyncio.Future[Any]) -> None:
        try:
            result = work()
        except Exception as error:
            failure = error
            self._travel(self._latency_s(), lambda: _fail(answer, failure))
        else:
            self._travel(self._latency_s(), lambda: _give(answer, result))


def _give(answer: asyncio.Future[Any], result: Any) -> None:
    if not answer.done():
        answer.set_result(result)


def _fail(answer: asyncio.Future[Any], error: Exception) -> None:
    if not answer.done():
        answer.set_exception(error)
