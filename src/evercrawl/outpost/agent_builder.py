"""Where the parts of an outpost are joined: credentials it is, what its owner allows, and what it asks with."""

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
from evercrawl.outpost.pairing import NONCE_BYTES, outpost_key, parse_code
from evercrawl.outpost.routing import normalise_route

FETCH_CONCURRENCY = 16
WIRE_BYTES = 1024 * 1024
"""An outpost reads no more of a body than this, to stay small; what is larger home asks for itself."""


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """What the owner of an outpost wants."""

    folder: Path
    home: str | None = None
    code: str | None = None
    allow: tuple[str, ...] = ()
    read: Path | None = None
    rate_gap: timedelta = timedelta(0)
    disk_bytes: int = 256 * 1024 * 1024
    clock_offset: timedelta = timedelta(0)
    """For tests: a clock that is wrong."""


class ShiftedClock(SystemClock):
    """A clock that is wrong by so much."""

    def __init__(self, offset: timedelta) -> None:
        super().__init__()
        self._offset = offset

    def now(self) -> datetime:
        """What the clock shows."""
        return super().now() + self._offset


async def run_outpost(options: AgentOptions, settings: Settings, *, notify: Callable[[str], None]) -> int:
    """Work until SIGTERM or SIGINT; gives back how many requests were made."""
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
    http = replace(settings.http, wire_bytes=min(settings.http.wire_bytes, WIRE_BYTES))
    return replace(settings, http=http, crawl=replace(settings.crawl, concurrency=FETCH_CONCURRENCY))


def _pace(settings: Settings) -> Pace:
    return pace_from_settings(
        settings.pace,
        delay_cap=settings.robots.crawl_delay_cap,
        anonymous=settings.identity.contact is None and settings.pace.mode != "own",
        per_day=settings.revisit.site_budget,
    )


def _transport(options: AgentOptions, settings: Settings, clock: Clock) -> Fetcher:
    agent = user_agent(settings.identity, __version__)
    if options.read is not None:
        from evercrawl.outpost.fetcher import FolderFetcher

        if not options.read.is_dir():
            raise ConfigError(f"--read {options.read}: there is no such folder")
        return FolderFetcher(options.read, clock, http=settings.http, user_agent=agent)
    from evercrawl.adapters.http.client import HttpFetcher

    # Bodies in the open: that the link near the site is short is the point, and only plain text has deltas.
    return HttpFetcher(settings, clock, agent, accept_encoding="identity")


def _allowed_routes(options: AgentOptions, state: AgentState) -> tuple[str, ...]:
    """The hosts that may be asked; those of the last start where none are named now."""
    if options.allow:
        try:
            routes = [normalise_route(text) for text in options.allow]
        except ValueError as error:
            raise ConfigError(f"--allow {' '.join(options.allow)}: {error}") from None
        state.set(allow="\n".join(routes))
    kept = state.get("allow")
    if not kept:
        raise ConfigError("name the hosts that may be asked, for instance: --allow example.org")
    return tuple(kept.split("\n"))


def _credentials(options: AgentOptions, state: AgentState) -> tuple[Credentials, str, bytes]:
    """Who we are, where home is and how it is recognised: from the code, or from the last start."""
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
        raise ConfigError("this outpost is not paired; get a code at home with: evercrawl outpost pair")
    code_key = state.get("code_key")
    credentials = Credentials(
        outpost, bytes.fromhex(key), bytes.fromhex(nonce), bytes.fromhex(code_key) if code_key else None
    )
    return credentials, home, bytes.fromhex(pin)


def _start_pairing(text: str, state: AgentState) -> None:
    """Write down what follows from a code before it is used, so that a crash in between costs nothing."""
    try:
        code = parse_code(text)
    except ValueError as error:
        raise ConfigError(f"--code {error}; get one at home with: evercrawl outpost pair") from None
    if state.get("outpost") == code.name:
        return
    nonce = secrets.token_bytes(NONCE_BYTES)
    state.set(
        outpost=code.name,
        key=outpost_key(code.key, nonce).hex(),
        nonce=nonce.hex(),
        pin=code.pin.hex(),
        code_key=code.key.hex(),
    )
