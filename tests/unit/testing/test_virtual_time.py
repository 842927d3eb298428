"""Virtual time jumps, is exact to the microsecond after years, and never hangs."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from evercrawl.testing import EPOCH, SimClock, SimulationStalled, run


def test_sleeping_takes_no_real_time_even_past_day_400():
    async def nights() -> list[float]:
        loop, seen = asyncio.get_running_loop(), []
        for _ in range(450):
            await asyncio.sleep(86_400)
            seen.append(loop.time())
        return seen

    assert run(nights()) == [86_400.0 * day for day in range(1, 451)]


def test_short_sleeps_work_after_400_days():
    async def late() -> float:
        await asyncio.sleep(400 * 86_400)
        start = asyncio.get_running_loop().time()
        for _ in range(1000):
            await asyncio.sleep(0.000_001)
        return asyncio.get_running_loop().time() - start

    assert run(late()) == pytest.approx(0.001, abs=1e-6)


def test_the_clock_is_exact_to_the_microsecond():
    async def meetings() -> None:
        clock = SimClock()
        assert clock.now() == EPOCH == datetime(2026, 1, 1, tzinfo=UTC)
        for step in (timedelta(microseconds=1), timedelta(days=399, microseconds=3), timedelta(seconds=0.1)):
            moment = clock.now() + step
            await clock.sleep_until(moment)
            assert clock.now() == moment
        await clock.sleep_until(EPOCH)
        assert clock.now() == moment

    run(meetings())


def test_sleepers_wake_in_the_order_of_their_moments():
    async def race() -> list[int]:
        clock, woken = SimClock(), []

        async def sleeper(number: int) -> None:
            await clock.sleep_until(EPOCH + timedelta(days=300, microseconds=number))
            assert clock.now() == EPOCH + timedelta(days=300, microseconds=number)
            woken.append(number)

        await asyncio.gather(*(sleeper(number) for number in (5, 3, 9, 1, 4)))
        return woken

    assert run(race()) == [1, 3, 4, 5, 9]


def test_waiting_forever_is_an_error():
    async def forever() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(SimulationStalled, match="no task can run"):
        run(forever())


def test_timeouts_work_in_virtual_time():
    async def impatient() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3600):
                await asyncio.get_running_loop().create_future()
        return asyncio.get_running_loop().time()

    assert run(impatient()) == 3600.0


def test_a_clock_can_continue_where_another_run_ended():
    async def later() -> datetime:
        await asyncio.sleep(60)
        return SimClock(EPOCH + timedelta(days=2)).now()

    assert run(later()) == EPOCH + timedelta(days=2, minutes=1)


def test_the_clock_refuses_a_real_loop():
    async def real() -> None:
        SimClock().now()

    with pytest.raises(RuntimeError, match=r"evercrawl\.testing\.run"):
        asyncio.run(real())
