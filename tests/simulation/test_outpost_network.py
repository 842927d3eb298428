"""With delays, stalls and cuts between coordinator and outpost, every page arrives and every delay is kept."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from evercrawl.model.fetch import Fetched, Request
from evercrawl.model.settings import Settings
from evercrawl.outpost.channel import SecureChannel
from evercrawl.testing.virtual_time import run
from tests.simulation.test_outposts import Camp

SITES = tuple(f"https://{name}.example.org" for name in "abc")
PAGES = 40
GAP_S = 1.0
LEASE_S = 12.0
EDGE_S = 1e-4
STEP_S = 1e-5
_BASE = Settings()
_SETTINGS = replace(
    _BASE,
    outposts=replace(_BASE.outposts, lease_timeout=timedelta(seconds=LEASE_S)),
    pace=replace(_BASE.pace, max_delay=timedelta(seconds=5)),
    robots=replace(_BASE.robots, max_crawl_delay=timedelta(seconds=5)),
)


class Wire:
    """One direction of a bad network: pieces arrive in order, each after its own delay."""

    def __init__(self, reader: asyncio.StreamReader, chance: Random, *, least_s: float = 0.0) -> None:
        self._reader = reader
        self._chance = chance
        self._least_s = least_s
        self._arrives = 0.0
        self._is_open = True

    def write(self, data: bytes) -> None:
        if not self._is_open:
            raise ConnectionResetError("cut")
        self._later(lambda: self._reader.feed_data(data))

    def _later(self, act: object) -> None:
        loop = asyncio.get_running_loop()
        delay = self._chance.choice((0.01, 0.05, 0.3, 2.0, 9.0) if self._chance.random() < 0.2 else (0.01,))
        delay = self._least_s or delay
        self._arrives = max(self._arrives + STEP_S, loop.time() + delay)  # timers of one moment have no order
        loop.call_at(self._arrives, act)  # type: ignore[arg-type]

    async def drain(self) -> None:
        await asyncio.sleep(0)

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._later(self._reader.feed_eof)


class BadCamp(Camp):
    """A coordinator and an outpost whose connections are slow and break."""

    def __init__(self, folder: Path, settings: Settings, chance: Random) -> None:
        super().__init__(folder, settings, rate_gap=timedelta(0))
        self.chance = chance

    async def _connect(self) -> SecureChannel:
        if self.chance.random() < 0.3:
            raise ConnectionRefusedError("not now")
        there, back = asyncio.StreamReader(), asyncio.StreamReader()
        up, down = Wire(there, self.chance), Wire(back, self.chance)
        self.serving.append(asyncio.create_task(self.home.serve(there, down)))
        loop = asyncio.get_running_loop()
        life = self.chance.choice((5.0, 30.0, 120.0))
        for wire in (up, down):
            # Each side may hear of the end at another time.
            loop.call_later(life + self.chance.choice((0.0, 3.0, 20.0)), wire.close)
        return SecureChannel(back, up)


async def _ask_all(camp: Camp, site: str) -> None:
    """Fetch one after the other with the delay after each response, as the frontier does."""
    for number in range(PAGES):
        while True:
            result = await camp.home.fetch(Request(f"{site}/{number}"))
            await asyncio.sleep(GAP_S)
            if isinstance(result, Fetched):
                break


class SlowHomeCamp(Camp):
    """A coordinator and an outpost with slow messages from the coordinator."""

    home_s = 0.0

    async def _connect(self) -> SecureChannel:
        there, back = asyncio.StreamReader(), asyncio.StreamReader()
        up, down = Wire(there, Random(1), least_s=0.01), Wire(back, Random(1), least_s=self.home_s)
        self.serving.append(asyncio.create_task(self.home.serve(there, down)))
        return SecureChannel(back, up)


@pytest.mark.parametrize(
    ("page_s", "home_s"),
    [
        pytest.param(0.05, 0.75 * LEASE_S, id="the lease often has too little left when a site's turn comes"),
        pytest.param(2.5 * LEASE_S, 0.5, id="a page takes longer than a lease, which is renewed meanwhile"),
    ],
)
def test_an_outpost_works_while_its_lease_is_renewed(tmp_path: Path, page_s: float, home_s: float) -> None:

    async def whole() -> Camp:
        camp = SlowHomeCamp(tmp_path, _SETTINGS, rate_gap=timedelta(0))
        camp.near.takes_s, camp.home_s = page_s, home_s
        running = asyncio.create_task(camp.agent.run())
        await camp.agent.is_known.wait()
        await asyncio.gather(*(_ask_all(camp, site) for site in SITES))
        running.cancel()
        for task in camp.serving:
            task.cancel()
        await asyncio.gather(running, *camp.serving, return_exceptions=True)
        await camp.home.close()
        camp.state.close()
        return camp

    camp = run(whole())
    assert camp.far.asked == []
    assert len(camp.near.asked) == len(SITES) * (PAGES + 1)


@pytest.mark.parametrize("seed", range(6))
def test_no_network_fault_causes_impolite_requests(tmp_path: Path, seed: int) -> None:
    async def whole() -> list[tuple[float, str, str]]:
        camp = BadCamp(tmp_path, _SETTINGS, Random(seed))
        running = asyncio.create_task(camp.agent.run())
        await camp.agent.is_known.wait()
        await asyncio.gather(*(_ask_all(camp, site) for site in SITES))
        camp.agent.stop()
        await running
        for task in camp.serving:
            task.cancel()
        await asyncio.gather(*camp.serving, return_exceptions=True)
        await camp.home.close()
        camp.state.close()
        return [(at, url, web.name) for web in (camp.near, camp.far) for at, url in sorted(web.asked)]

    asked = run(whole())
    by = {name: sum(one[2] == name for one in asked) for name in ("outpost", "home")}
    assert by["outpost"] > PAGES, by
    for site in SITES:
        own = sorted(one for one in asked if one[1].startswith(site))
        for before, after in pairwise(own):
            assert after[0] - before[0] >= GAP_S - EDGE_S, (before, after)
        # A page may have to be asked for again after a break, not more often than breaks happen.
        assert len(own) <= PAGES * 1.5
