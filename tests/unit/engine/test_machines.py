"""http and https of one host take turns, and sites behind one address share a limit."""

from __future__ import annotations

import asyncio
import itertools
from datetime import timedelta

from evercrawl.core.politeness import Pace, pace_from_settings
from evercrawl.engine.machines import Machines
from evercrawl.model.settings import PaceSettings
from evercrawl.model.site import Site
from evercrawl.testing import SimClock, run

CAP = timedelta(minutes=1)
GENTLE = pace_from_settings(PaceSettings(), delay_cap=CAP, anonymous=False)
TOOK_S = 0.3
Sent = list[tuple[float, float, str]]


async def _one_address(_: str) -> str | None:
    return "192.0.2.1"


async def _own_address(site: str) -> str | None:
    return f"192.0.2.{sum(site.encode()) % 250}"


async def _no_address(_: str) -> str | None:
    return None


async def _send(sites: list[str], resolve: object, *, pace: Pace = GENTLE, processes: int = 1) -> Sent:
    clock = SimClock()
    machines = Machines(clock, pace=pace, resolve=resolve, processes=processes)  # type: ignore[arg-type]
    sent: Sent = []

    async def request(name: str) -> None:
        async with machines.turn(Site(1, name, "")):
            began = (clock.now() - clock.start).total_seconds()
            await asyncio.sleep(TOOK_S)
            sent.append((began, began + TOOK_S, name))

    await asyncio.gather(*(request(name) for name in sites))
    return sorted(sent)


def test_http_and_https_of_one_host_never_overlap_and_keep_the_delay() -> None:
    sent = run(_send(["http://a.test", "https://a.test"], _own_address))
    (_, ended, first), (began, _, second) = sent
    assert {first, second} == {"http://a.test", "https://a.test"}
    assert began - ended >= 1.0


def test_other_ports_and_other_hosts_do_not_wait() -> None:
    sent = run(_send(["http://a.test", "http://a.test:8080", "https://b.test"], _own_address))
    assert [began for began, _, _ in sent] == [0, 0, 0]


def test_an_address_gets_ten_times_the_rate_of_a_site_however_many_sites_it_has() -> None:
    sent = run(_send([f"http://s{number}.test" for number in range(109)], _one_address))
    starts = [began for began, _, _ in sent]
    assert min(later - earlier for earlier, later in itertools.pairwise(starts)) >= 0.0999
    assert max(starts) <= 10.9


def test_processes_divide_the_rate() -> None:
    sent = run(_send([f"http://s{number}.test" for number in range(5)], _one_address, processes=4))
    assert [round(began, 3) for began, _, _ in sent] == [0, 0.4, 0.8, 1.2, 1.6]


def test_a_host_without_an_address_fails_at_once() -> None:
    sent = run(_send([f"http://s{number}.test" for number in range(5)], _no_address))
    assert [began for began, _, _ in sent] == [0] * 5


def test_own_hosts_have_no_limit() -> None:
    own = pace_from_settings(PaceSettings(mode="unlimited"), delay_cap=CAP, anonymous=False)
    assert own.address_gap == timedelta(0)
    quick = pace_from_settings(PaceSettings(delay=timedelta(seconds=0.05)), delay_cap=CAP, anonymous=False)
    assert quick.address_gap == timedelta(milliseconds=5)
