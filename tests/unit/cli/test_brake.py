"""Ctrl-C: finish, cancel, exit."""

from __future__ import annotations

import asyncio
import os
import signal
from datetime import timedelta

import pytest

from evercrawl.cli.progress import InterruptHandler, handle_signals


class Recorder:
    """A stop signal that notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def finish(self) -> None:
        self.asked.append("finish")

    def cancel(self) -> None:
        self.asked.append("cancel")


def test_each_press_goes_one_stage_further(monkeypatch: pytest.MonkeyPatch) -> None:
    stop, said, exits = Recorder(), [], []  # type: ignore[var-annotated]
    monkeypatch.setattr(os, "_exit", exits.append)
    brake = InterruptHandler(stop, say=said.append, in_flight=lambda: 3, patience=timedelta(seconds=10))
    brake.pressed(signal.SIGTERM)
    assert stop.asked == ["finish"]
    assert "3 requests may finish, 10 s at most" in said[0]
    brake.pressed(signal.SIGINT)
    assert stop.asked == ["finish", "cancel"]
    assert exits == []
    brake.pressed(signal.SIGINT)
    assert exits == [143]


def test_signals_reach_the_brake_while_the_block_runs() -> None:
    stop = Recorder()

    async def interrupted() -> None:
        dumped, stopped = asyncio.Event(), asyncio.Event()
        brake = InterruptHandler(stop, say=lambda _: stopped.set(), in_flight=lambda: 0, patience=timedelta(seconds=1))
        with handle_signals(brake, dumped.set):
            os.kill(os.getpid(), signal.SIGUSR1)
            os.kill(os.getpid(), signal.SIGINT)
            await dumped.wait()
            await stopped.wait()

    asyncio.run(interrupted())
    assert stop.asked == ["finish"]
