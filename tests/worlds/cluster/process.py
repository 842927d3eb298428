"""Processes that share one simulated loop and can be stopped, killed and set going again one by one.

What belongs to a process is known by the context that its callbacks run in. While a process is stopped, its
callbacks wait in the order in which they would have run, and all of them run when it goes on: timers that
ran out meanwhile, answers that came meanwhile, as after SIGSTOP and SIGCONT.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from datetime import datetime, timedelta
from typing import Any

from evercrawl.testing.virtual_time import EPOCH, SimLoop

_OWNER: ContextVar[SimProcess | None] = ContextVar("process", default=None)
Held = tuple[Callable[..., object], tuple[Any, ...], Context | None]


class SimProcess:
    """One process on a machine of its own, whose clocks are not quite right."""

    def __init__(self, loop: ProcessLoop, number: int, *, skew_s: float = 0.0, drift: float = 0.0) -> None:
        """`skew_s`: how much its calendar is ahead; `drift`: how much faster its other clock goes."""
        self.number = number
        self.is_dead = False
        self.is_stopped = False
        self.skew_s = skew_s
        self.held: list[Held] = []
        self._loop = loop
        self._skew = timedelta(seconds=skew_s)
        self._rate = 1.0 + drift

    def now(self) -> datetime:
        """Implements `Clock` with the machine's calendar."""
        return EPOCH + timedelta(microseconds=self._loop.time_us()) + self._skew

    async def sleep_until(self, moment: datetime) -> None:
        """Return at `moment` by this machine's calendar."""
        await asyncio.sleep(max(0.0, (moment - self.now()).total_seconds()))

    def boot_s(self) -> float:
        """Seconds since the machine was started; it goes on while the process is stopped."""
        return self._loop.time() * self._rate

    def start(self, main: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Let the process do something."""
        context = copy_context()
        context.run(_OWNER.set, self)
        return self._loop.create_task(main, context=context)

    def stop(self) -> None:
        """SIGSTOP."""
        self.is_stopped = True

    def go_on(self) -> None:
        """SIGCONT."""
        if not self.is_stopped:
            return
        self.is_stopped = False
        held, self.held = self.held, []
        for callback, arguments, context in held:
            self._loop.call_soon(callback, *arguments, context=context)


class ProcessLoop(SimLoop):
    """A loop in virtual time whose callbacks belong to processes."""

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        owner = _OWNER.get() if context is None else context.get(_OWNER)
        if owner is None:
            return super().call_soon(callback, *args, context=context)
        return super().call_soon(_unless_stopped, owner, callback, args, context, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        owner = _OWNER.get() if context is None else context.get(_OWNER)
        if owner is None:
            return super().call_at(when, callback, *args, context=context)
        timer: list[asyncio.TimerHandle] = []
        timer.append(super().call_at(when, _ring, owner, timer, callback, args, context, context=context))
        return timer[0]


def _unless_stopped(
    owner: SimProcess, callback: Callable[..., object], arguments: tuple[Any, ...], context: Context | None
) -> None:
    if owner.is_stopped:
        owner.held.append((callback, arguments, context or copy_context()))
    else:
        callback(*arguments)


def _ring(
    owner: SimProcess,
    timer: list[asyncio.TimerHandle],
    callback: Callable[..., object],
    arguments: tuple[Any, ...],
    context: Context | None,
) -> None:
    """A timer has run out; one that rang while the process was stopped can still be cancelled."""
    if owner.is_stopped:
        owner.held.append((_ring, (owner, timer, callback, arguments, context), context or copy_context()))
    elif not timer[0].cancelled():
        callback(*arguments)


def detached_context() -> Context:
    """A context that belongs to no process: what happens there goes on whoever is stopped."""
    return Context()


def run_processes(main: Callable[[ProcessLoop], Coroutine[Any, Any, Any]]) -> Any:
    """The result of a coroutine in a loop of processes."""

    async def begun() -> Any:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, ProcessLoop)
        return await main(loop)

    with asyncio.Runner(loop_factory=ProcessLoop) as runner:
        return runner.run(begun())
