"""Ctrl-C in three stages: finish, cancel, exit. Whatever the stage, what was acknowledged is on disk."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Protocol

from evercrawl.cli.output import counted, span

STOPPING = (signal.SIGINT, signal.SIGTERM)


class Stoppable(Protocol):
    """What the library's StopSignal offers."""

    def finish(self) -> None:
        """Take no more pages; requests in flight may end."""

    def cancel(self) -> None:
        """End the requests in flight."""


class Brake:
    """Counts the signals of one run; `signal_number` is the first that came."""

    def __init__(
        self, stop: Stoppable, *, say: Callable[[str], None], in_flight: Callable[[], int], patience: timedelta
    ) -> None:
        self.stop = stop
        self.say = say
        self.in_flight = in_flight
        self.patience = patience
        self.presses = 0
        self.signal_number: int | None = None

    def pressed(self, number: int) -> None:
        """One more signal: go one stage further."""
        self.presses += 1
        self.signal_number = self.signal_number or number
        if self.presses == 1:
            limit, count = span(self.patience.total_seconds()), self.in_flight()
            left = counted(count, "request") if count else "requests in flight"
            self.say(f"stopping: {left} may finish, {limit} at most; again to cancel them")
            self.stop.finish()
        elif self.presses == 2:
            self.say("cancelling the requests in flight; again to exit at once")
            self.stop.cancel()
        else:
            os._exit(128 + self.signal_number)


@contextmanager
def listening(brake: Brake, dump: Callable[[], None]) -> Iterator[None]:
    """Signals of the running loop go to the brake, SIGUSR1 to `dump`, until the block ends."""
    loop = asyncio.get_running_loop()
    for number in STOPPING:
        loop.add_signal_handler(number, brake.pressed, int(number))
    loop.add_signal_handler(signal.SIGUSR1, dump)
    try:
        yield
    finally:
        for number in (*STOPPING, signal.SIGUSR1):
            loop.remove_signal_handler(number)
