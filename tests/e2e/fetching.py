"""Shared by tests of the fetcher: a clock, settings with short limits, and one complete fetch."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import uvloop

from evercrawl.adapters.http import HttpFetcher
from evercrawl.model.fetch import Failed, Fault, FetchResult, Request
from evercrawl.model.settings import DnsSettings, HttpSettings, Settings

T = TypeVar("T")
AGENT = "evercrawl/0 (+mailto:test@example.org)"
HTTP = HttpSettings(
    connect_timeout=timedelta(seconds=5),
    first_byte_timeout=timedelta(seconds=5),
    idle_timeout=timedelta(seconds=5),
    total_timeout=timedelta(seconds=30),
    allow_private=True,
)


class WallClock:
    """The real time."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep_until(self, moment: datetime) -> None:
        await asyncio.sleep(max(0.0, (moment - self.now()).total_seconds()))


def run(job: Coroutine[Any, Any, T], *, loop: str = "uvloop") -> T:
    """Run on the loop that production uses, or on the standard one."""
    factory = uvloop.new_event_loop if loop == "uvloop" else asyncio.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(job)


@contextlib.asynccontextmanager
async def fetcher(*, dns: DnsSettings | None = None, **http: Any) -> AsyncIterator[HttpFetcher]:
    """A fetcher with the tests' limits, changed where asked."""
    settings = Settings(http=replace(HTTP, **http), dns=dns or DnsSettings())
    made = HttpFetcher(settings, WallClock(), AGENT)
    try:
        yield made
    finally:
        await made.close()


async def fetch(url: str, *, dns: DnsSettings | None = None, **http: Any) -> FetchResult:
    """One fetch with a fetcher of its own."""
    async with fetcher(dns=dns, **http) as one:
        return await one.fetch(Request(url))


def fault_of(result: FetchResult) -> Fault:
    """The fault of a result that must have failed, with words for people."""
    assert isinstance(result, Failed), result
    assert result.detail
    return result.fault
