"""The real time, made steady: a jump of the wall clock during a run does not reach the crawler."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta

_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""On Linux the clock that goes on while the machine sleeps."""


class SystemClock:
    """Wall time at the start plus time that passed since, suspension included; never goes backwards."""

    def __init__(self) -> None:
        self._start = datetime.now(UTC)
        self._start_ns = time.clock_gettime_ns(_STEADY)

    def now(self) -> datetime:
        """The present moment."""
        passed_ns = time.clock_gettime_ns(_STEADY) - self._start_ns
        return self._start + timedelta(microseconds=passed_ns // 1000)

    async def sleep_until(self, moment: datetime) -> None:
        """Return at `moment`."""
        await asyncio.sleep(max(0.0, (moment - self.now()).total_seconds()))
