"""The Clock port in virtual time."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from evercrawl.testing.loop import SimLoop

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
"""The moment at which every simulation begins."""


class SimClock:
    """Time of the running SimLoop, on a fixed calendar; it can begin later, as after a restart."""

    def __init__(self, start: datetime = EPOCH) -> None:
        self.start = start

    def now(self) -> datetime:
        """The present moment of the simulation."""
        loop = asyncio.get_running_loop()
        if not isinstance(loop, SimLoop):
            raise RuntimeError("SimClock tells the time of a SimLoop; run the program with evercrawl.testing.run")
        return self.start + timedelta(microseconds=loop.time_us())

    async def sleep_until(self, moment: datetime) -> None:
        """Return at `moment`, to the microsecond, or at once if it has passed."""
        await asyncio.sleep(max(0.0, (moment - self.now()).total_seconds()))
