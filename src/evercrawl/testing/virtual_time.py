"""Virtual time: an event loop that moves its clock where a real loop would sleep, and the Clock port on it.
Time is counted in whole microseconds, so `sleep_until` returns at the exact moment. Threads and real sockets cannot
wake a simulated program: waiting for them raises `SimulationStalled`."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

T = TypeVar("T")

_US = 1_000_000
_SMALLEST_STEP_US = 1


class SimulationStalled(RuntimeError):
    """No task can run and no timer is set, so the simulated program would wait forever."""


class _JumpingSelector(selectors.SelectSelector):
    """Move the clock where a real selector would wait."""

    now_us = 0
    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout <= 0:
            return []
        if timeout is None:
            return self._woken_or_stalled()
        self.now_us += max(round(timeout * _US), _SMALLEST_STEP_US)
        self.now = self.now_us / _US
        return []

    def _woken_or_stalled(self) -> list[tuple[selectors.SelectorKey, int]]:
        # Only a signal handler can wake the loop: it writes to the loop's own pipe.
        ready = super().select(0)
        if not ready:
            raise SimulationStalled("no task can run and no timer is set")
        return ready


class SimLoop(asyncio.SelectorEventLoop):
    """Event loop in virtual time, starting at 0 s."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)
        # asyncio calls a timer due when it lies less than this ahead. Half of our step makes every timer fire
        # at its own microsecond. The 1e-9 of the real clock would be lost in rounding after 2**24 s (194
        # days), and the loop would spin forever.
        self._clock_resolution = 0.5 / _US

    def time(self) -> float:
        """Return the seconds since the simulation began."""
        return self._jumping.now

    def time_us(self) -> int:
        """Return the microseconds since the simulation began, without rounding."""
        return self._jumping.now_us


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in virtual time and return its result."""
    with asyncio.Runner(loop_factory=SimLoop) as runner:
        return runner.run(main)


EPOCH = datetime(2026, 1, 1, tzinfo=UTC)  # The start of every simulation.


class SimClock:
    """Clock of the running SimLoop. It can start later than EPOCH, as after a restart."""

    def __init__(self, start: datetime = EPOCH) -> None:
        self.start = start

    def now(self) -> datetime:
        """Return the current time of the simulation."""
        loop = asyncio.get_running_loop()
        if not isinstance(loop, SimLoop):
            raise RuntimeError("SimClock works only in a SimLoop: run the program with evercrawl.testing.run")
        return self.start + timedelta(microseconds=loop.time_us())

    async def sleep_until(self, moment: datetime) -> None:
        """Return at `moment`, to the microsecond, or at once if it has passed."""
        await asyncio.sleep(max(0.0, (moment - self.now()).total_seconds()))
