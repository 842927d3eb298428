"""How a run ends, and how the operator ends it."""

from __future__ import annotations

import asyncio
from enum import StrEnum


class Ended(StrEnum):
    """Why a run is over."""

    DONE = "done"
    LIMIT = "limit"
    CLOSED = "closed"
    INTERRUPTED = "interrupted"


class StopSignal:
    """How the operator ends a run: first gently, then at once. Safe to call from a signal handler of the
    same thread.
    """

    def __init__(self) -> None:
        self.stage = 0
        self._changed = asyncio.Event()

    def finish(self) -> None:
        """Start nothing new, let requests in flight end."""
        self._raise_to(1)

    def cancel(self) -> None:
        """Break off requests in flight, then save."""
        self._raise_to(2)

    def _raise_to(self, stage: int) -> None:
        self.stage = max(self.stage, stage)
        self._changed.set()

    async def changed(self) -> None:
        """Return when the stage rises."""
        await self._changed.wait()
        self._changed.clear()
