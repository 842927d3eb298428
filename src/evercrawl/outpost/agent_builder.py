"""Build the agent of an outpost from its options and state, and run it."""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

from evercrawl.adapters.system import SystemClock
from evercrawl.core.politeness import Pace, pace_from_settings
from evercrawl.engine.ports import Clock, Fetcher
from evercrawl.errors import ConfigError
from evercrawl.model import __version__
from evercrawl.model.settings import Settings
from evercrawl.model.user_agent import user_agent
from evercrawl.outpost.agent import OutpostAgent
from evercrawl.outpost.agent_state import AgentState
from evercrawl.outpost.channel import Credentials, SecureChannel, connect_to_coordinator, parse_address
from evercrawl.outpost.fetcher import OutpostFetcher
from evercrawl.outpost.messages import MAX_WIRE_BYTES
from evercrawl.outpost.pairing import NONCE_BYTES, outpost_key, parse_code
from evercrawl.outpost.routing import normalise_route

FETCH_CONCURRENCY = 16


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """The options of an outpost's owner."""

    folder: Path
    home: str | None = None
    code: str | None = None
    allow: tuple[str, ...] = ()
    read: Path | None = None
    rate_gap: timedelta = timedelta(0)
    disk_bytes: int = 256 * 1024 * 1024
    clock_offset: timedelta = timedelta(0)  # Clock error, for tests.


class ShiftedClock(SystemClock):
    """A clock with a constant error, for tests."""

    def __init__(self, offset: timedelta) -> None:
        super().__init__()
        self._offset = offset

    def now(self) -> datetime:
        """Return the shifted time."""
        return super().now() + self._offset


async def run_outpost(options: AgentOptions, settings: Settings, *, notify: Callable[[str], None]) -> int:
    """Run until SIGTERM or SIGINT; return the number of requests made."""
    state = AgentState(options.folder, max_bytes=options.disk_bytes)
    try:
        credentials, home, pin = _credentials(options, state)
        allow = _allowed_routes(options, state)
        clock = ShiftedClock(options.clock_offset)
        settings = _limit_memory(settings)
        transport = _transport(options, settings, clock)
        fetcher = OutpostFetcher(
            transport,
            state,
            clock,
            settings=settings,
            pace=_pace(settings),
            allow=allow,
            rate_gap=options.rate_gap,
            after_crash=state.get("running") is not None,
        )
        state.set(running="yes")

        async def connect() -> SecureChannel:
            return await connect_to_coordinator(home, pin)

        agent = OutpostAgent(
            connect, credentials, fetcher=fetcher, state=state, clock=clock, random=Random(), notify=notify
        )
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, agent.stop)
        await agent.run()
        await transport.close()
        state.delete("running")
        return fetcher.requests
    finally:
        state.close()


def _limit_memory(settings: Settings) -> Settings:
    http = replace(settings.http, max_wire_bytes=min(settings.http.max_wire_bytes, MAX_WIRE_BYTES))
    return replace(settings, http=http, crawl=replace(settings.crawl, concurrency=FETCH_CONCURRENCY))


def _pace(settings: Settings) -> Pace:
    return pace_from_settings(
        settings.pace,
        delay_cap=settings.robots.max_crawl_delay,
        anonymous=settings.identity.contact is None and settings.pace.mode != "unlimited",
        per_day=settings.revisit.site_budget,
    )


def _transport(options: AgentOptions, settings: Settings, clock: Clock) -> Fetcher:
    agent = user_agent(settings.identity, __version__)
    if options.read is not None:
        from evercrawl.outpost.fetcher import FolderFetcher

        if not options.read.is_dir():
            raise ConfigError(f"--read {options.read}: no such folder")
        return FolderFetcher(options.read, clock, http=settings.http, user_agent=agent)
    from evercrawl.adapters.http.client import HttpFetcher
    from evercrawl.adapters.http.request_signing import load_signer

    # Uncompressed bodies: the path to the site is short, and only plain text makes small patches.
    return HttpFetcher(settings, clock, agent, accept_encoding="identity", signer=load_signer(settings.identity))


def _allowed_routes(options: AgentOptions, state: AgentState) -> tuple[str, ...]:
    """Return the allowed hosts: the given ones, or those of the last start."""
    if options.allow:
        try:
            routes = [normalise_route(text) for text in options.allow]
        except ValueError as error:
            raise ConfigError(f"--allow {' '.join(options.allow)}: {error}") from None
        state.set(allow="\n".join(routes))
    stored = state.get("allow")
    if not stored:
        raise ConfigError("name the hosts this outpost may fetch from, for example: --allow example.org")
    return tuple(stored.split("\n"))


def _credentials(options: AgentOptions, state: AgentState) -> tuple[Credentials, str, bytes]:
    """Return credentials, address and pin from the code or from the last start."""
    if options.code is not None:
        _start_pairing(options.code, state)
    if options.home is not None:
        try:
            parse_address(options.home)
        except ValueError as error:
            raise ConfigError(f"--home {options.home} {error}") from None
        state.set(home=options.home)
    outpost, key, nonce, pin, home = (state.get(name) for name in ("outpost", "key", "nonce", "pin", "home"))
    if not (outpost and key and nonce and pin and home):
        raise ConfigError("this outpost is not paired; create a code at home with: evercrawl outpost pair")
    code_key = state.get("code_key")
    credentials = Credentials(
        outpost, bytes.fromhex(key), bytes.fromhex(nonce), bytes.fromhex(code_key) if code_key else None
    )
    return credentials, home, bytes.fromhex(pin)


def _start_pairing(text: str, state: AgentState) -> None:
    """Store the credentials of a code before it is used, so that a crash cannot lose them."""
    try:
        code = parse_code(text)
    except ValueError as error:
        raise ConfigError(f"--code {error}; create one at home with: evercrawl outpost pair") from None
    if state.get("outpost") == code.name:
        return
    nonce = secrets.token_bytes(NONCE_BYTES)
    keys = {"key": outpost_key(code.key, nonce), "nonce": nonce, "pin": code.pin, "code_key": code.key}
    state.set(outpost=code.name, **{name: value.hex() for name, value in keys.items()})
