"""Simulated processes that share one event loop and can be frozen, resumed and killed separately.

The context of a callback identifies its process. Callbacks of a frozen process wait in order and run when it resumes,
including timers and responses that came meanwhile, as after SIGSTOP and SIGCONT.
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
    """One process on its own machine, with inaccurate clocks."""

    def __init__(self, loop: ProcessLoop, number: int, *, skew_s: float = 0.0, drift: float = 0.0) -> None:
        """`skew_s` is how far its clock is ahead; `drift` how much faster its monotonic clock runs."""
        self.number = number
        self.is_dead = False
        self.is_frozen = False
        self.skew_s = skew_s
        self.held: list[Held] = []
        self._loop = loop
        self._skew = timedelta(seconds=skew_s)
        self._rate = 1.0 + drift

    def now(self) -> datetime:
        """Return the machine's time; implements `Clock`."""
        return EPOCH + timedelta(microseconds=self._loop.time_us()) + self._skew

    async def sleep_until(self, moment: datetime) -> None:
        """Return at `moment` by this machine's clock."""
        await asyncio.sleep(max(0.0, (moment - self.now()).total_seconds()))

    def boot_s(self) -> float:
        """Return the machine's uptime, which continues while the process is frozen."""
        return self._loop.time() * self._rate

    def start(self, main: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run a coroutine in the process."""
        context = copy_context()
        context.run(_OWNER.set, self)
        return self._loop.create_task(main, context=context)

    def freeze(self) -> None:
        """SIGSTOP."""
        self.is_frozen = True

    def resume(self) -> None:
        """SIGCONT."""
        if not self.is_frozen:
            return
        self.is_frozen = False
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
        return super().call_soon(_unless_frozen, owner, callback, args, context, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        owner = _OWNER.get() if context is None else context.get(_OWNER)
        if owner is None:
            return super().call_at(when, callback, *args, context=context)
        timer: list[asyncio.TimerHandle] = []
        timer.append(super().call_at(when, _fire, owner, timer, callback, args, context, context=context))
        return timer[0]


def _unless_frozen(
    owner: SimProcess, callback: Callable[..., object], arguments: tuple[Any, ...], context: Context | None
) -> None:
    if owner.is_frozen:
        owner.held.append((callback, arguments, context or copy_context()))
    else:
        callback(*arguments)


def _fire(
    owner: SimProcess,
    timer: list[asyncio.TimerHandle],
    callback: Callable[..., object],
    arguments: tuple[Any, ...],
    context: Context | None,
) -> None:
    """Run a timer's callback; a timer that expired while the process was frozen can still be cancelled."""
    if owner.is_frozen:
        owner.held.append((_fire, (owner, timer, callback, arguments, context), context or copy_context()))
    elif not timer[0].cancelled():
        callback(*arguments)


def detached_context() -> Context:
    """Return a context outside all processes, which no freeze stops."""
    return Context()


def run_processes(main: Callable[[ProcessLoop], Coroutine[Any, Any, Any]]) -> Any:
    """Run a coroutine in a loop of processes and return its result."""

    async def begun() -> Any:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, ProcessLoop)
        return await main(loop)

    with asyncio.Runner(loop_factory=ProcessLoop) as runner:
        return runner.run(begun())
