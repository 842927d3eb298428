"""Processes of one loop, stopped and set going again one by one."""

from __future__ import annotations

import asyncio

from tests.worlds.cluster.process import ProcessLoop, SimProcess, run_processes


def test_a_frozen_process_catches_up_in_order():
    told: list[tuple[str, float]] = []

    async def ticks(loop: ProcessLoop, name: str) -> None:
        for _ in range(4):
            await asyncio.sleep(1)
            told.append((name, loop.time()))

    async def story(loop: ProcessLoop) -> None:
        one, other = SimProcess(loop, 1), SimProcess(loop, 2)
        tasks = [one.start(ticks(loop, "one")), other.start(ticks(loop, "other"))]
        await asyncio.sleep(1.5)
        one.freeze()
        await asyncio.sleep(3)
        one.resume()
        await asyncio.wait(tasks)

    run_processes(story)
    assert [moment for name, moment in told if name == "one"] == [1.0, 4.5, 5.5, 6.5]
    assert [moment for name, moment in told if name == "other"] == [1.0, 2.0, 3.0, 4.0]


def test_a_timer_that_rang_while_its_process_was_stopped_can_still_be_cancelled():
    async def waits(told: list[str]) -> None:
        came = asyncio.Event()
        asyncio.get_running_loop().call_later(0.5, came.set)
        async with asyncio.timeout(1):
            await came.wait()
        told.append("in time")

    async def story(loop: ProcessLoop) -> list[str]:
        told: list[str] = []
        process = SimProcess(loop, 1)
        task = process.start(waits(told))
        await asyncio.sleep(0.1)
        process.freeze()
        await asyncio.sleep(10)
        process.resume()
        await asyncio.wait([task])
        task.exception()
        return told

    assert run_processes(story) in ([], ["in time"])


def test_the_clocks_of_machines_are_not_quite_right():
    async def story(loop: ProcessLoop) -> tuple[float, float]:
        exact, fast = SimProcess(loop, 1), SimProcess(loop, 2, skew_s=0.25, drift=0.001)
        await asyncio.sleep(1000)
        return fast.boot_s() - exact.boot_s(), (fast.now() - exact.now()).total_seconds()

    ahead_s, skew_s = run_processes(story)
    assert round(ahead_s, 6) == 1.0
    assert skew_s == 0.25
