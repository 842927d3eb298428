"""The real time, made steady: a jump of the wall clock during a run does not reach the crawler."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta


class SystemClock:
    """Wall time at the start plus time that passed since, suspension included; never goes backwards."""

    def __init__(self) -> None:
        self._start = datetime.now(UTC)
        self._start_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)

    def now(self) -> datetime:
        """The present moment."""
        passed_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - self._start_ns
        return self._start + timedelta(microseconds=passed_ns // 1000)

    async def sleep_until(self, moment: datetime) -> None:
        """Return at `moment`."""
        await asyncio.sleep(max(0.0, (moment - self.now()).total_seconds()))
