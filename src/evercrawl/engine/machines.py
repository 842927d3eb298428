"""The machines behind the sites: http and https of one host take turns, and the sites behind one address share a limit.
Requests wait here just before they are sent. Not used with `--pace own`, where nothing is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from evercrawl.core.politeness import Pace
from evercrawl.core.url import site_parts
from evercrawl.engine.ports import Clock
from evercrawl.model.site import Site
from evercrawl.model.time import from_us, span_us, to_us

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_MACHINES = 10_000  # Hosts and addresses in memory; those that may be asked are forgotten first.

Resolve = Callable[[str], Awaitable[str | None]]
"""Site -> the IP address of its host; None: it has none."""


@dataclass(slots=True)
class _Host:
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    open_us: int = 0
    last_site: str = ""


class Machines:
    """Invariants: a host has one request in flight over its default ports, and two of its requests are a delay apart;
    two requests to one address are at least `pace.address_gap` apart."""

    def __init__(self, clock: Clock, *, pace: Pace, resolve: Resolve | None, processes: int = 1) -> None:
        """`processes`: how many processes share the limit; each gets its part of it."""
        self._clock = clock
        self._resolve = resolve
        self._floor_us = span_us(pace.floor)
        self._gap_us = span_us(pace.address_gap) * processes
        self._hosts: dict[str, _Host] = {}
        self._free_us: dict[str, int] = {}
        """Address -> when it may get the next request."""

    @asynccontextmanager
    async def turn(self, site: Site) -> AsyncIterator[timedelta]:
        """Wait until a request to this site may be sent; yield how long its address was busy."""
        parts = site_parts(site.name)
        if DEFAULT_PORTS.get(parts.scheme) != parts.port:
            yield await self._wait_for_address(site)
            return
        host = self._host(parts.host)
        async with host.turn:
            if host.last_site != site.name and host.open_us > to_us(self._clock.now()):
                await self._clock.sleep_until(from_us(host.open_us))
            try:
                yield await self._wait_for_address(site)
            finally:
                delay_us = max(self._floor_us, site.delay_ms * 1000)
                host.open_us, host.last_site = to_us(self._clock.now()) + delay_us, site.name

    def _host(self, name: str) -> _Host:
        if len(self._hosts) > MAX_MACHINES:
            now_us = to_us(self._clock.now())
            self._hosts = {
                key: host for key, host in self._hosts.items() if host.turn.locked() or host.open_us > now_us
            }
        return self._hosts.setdefault(name, _Host())

    async def _wait_for_address(self, site: Site) -> timedelta:
        address = await self._resolve(site.name) if self._resolve is not None and self._gap_us else None
        if address is None:
            return timedelta(0)
        now_us = to_us(self._clock.now())
        if len(self._free_us) > MAX_MACHINES:
            self._free_us = {key: free_us for key, free_us in self._free_us.items() if free_us > now_us}
        start_us = max(now_us, self._free_us.get(address, 0))
        self._free_us[address] = start_us + self._gap_us
        if start_us > now_us:
            await self._clock.sleep_until(from_us(start_us))
        return timedelta(microseconds=start_us - now_us)
