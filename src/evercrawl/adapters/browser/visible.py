"""A visible browser in which a person signs in. Afterwards its cookies are read over the DevTools protocol.
It is the user's own: it has a network and a window, its profile is new, and it is deleted in the end."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import tempfile
from collections.abc import Awaitable
from contextlib import suppress
from pathlib import Path
from typing import Any

from evercrawl.adapters.browser.devtools import DevTools, DevToolsError
from evercrawl.adapters.browser.launch import NO_SANDBOX, START_TIMEOUT_S, BrowserProcess, find_browser
from evercrawl.errors import ConfigError

POLL_S = 1.0  # How often cookies are read, so that closing the window loses none.
DISPLAY_VARIABLES = ("DISPLAY", "WAYLAND_DISPLAY")
_PIPE_FDS = (3, 4)  # Where --remote-debugging-pipe reads and writes.
_FIRST_FREE_FD = 10
_FLAGS = ("--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--password-store=basic")


def has_display() -> bool:
    """Return whether a window can be opened."""
    return any(os.environ.get(name) for name in DISPLAY_VARIABLES)


async def read_cookies(
    url: str, *, browser: str | None, is_done: Awaitable[object], more_flags: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """Open a page for the user, and return the browser's cookies when `is_done` is, or when the window was closed."""
    opened = await _open(find_browser(browser), url, more_flags)
    waiting = asyncio.ensure_future(is_done)
    cookies: list[dict[str, Any]] = []
    try:
        while not opened.devtools.closed.done():
            with suppress(DevToolsError):
                cookies = (await opened.devtools.call("Storage.getCookies"))["cookies"] or cookies
            if waiting.done():
                break
            await asyncio.wait((waiting, opened.devtools.closed), timeout=POLL_S, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        await opened.end()
    return [_with_host(cookie) for cookie in cookies]


def _with_host(cookie: dict[str, Any]) -> dict[str, Any]:
    return cookie | {"hostOnly": not str(cookie.get("domain", "")).startswith(".")}


async def _open(binary: str, url: str, more_flags: tuple[str, ...]) -> BrowserProcess:
    profile = Path(tempfile.mkdtemp(prefix="evercrawl-login-"))
    flags = [*_FLAGS, f"--user-data-dir={profile}", *([NO_SANDBOX] if os.geteuid() == 0 else []), *more_flags]
    ours, theirs = _pipes()
    try:
        process = await asyncio.create_subprocess_exec(
            binary,
            *flags,
            url,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            pass_fds=_PIPE_FDS,
            preexec_fn=lambda: [os.dup2(theirs[place], fd) for place, fd in enumerate(_PIPE_FDS)],
        )
    except OSError as error:
        shutil.rmtree(profile, ignore_errors=True)
        raise ConfigError(f"{binary} does not start: {error.strerror}") from error
    finally:
        for fd in theirs:
            os.close(fd)
    opened = BrowserProcess(DevTools(), process, profile, has_sandbox=NO_SANDBOX not in flags)
    try:
        await opened.devtools.connect(*ours)
        async with asyncio.timeout(START_TIMEOUT_S):
            await opened.devtools.call("Browser.getVersion")
    except (DevToolsError, TimeoutError) as error:
        await opened.end()
        raise ConfigError(f"{binary} does not open a window; use --cookies FILE or --form instead") from error
    return opened


def _pipes() -> tuple[tuple[int, int], tuple[int, int]]:
    """Return two pipes as (our input, our output) and (their input, their output), above the browser's numbers."""
    their_input, our_output = os.pipe()
    our_input, their_output = os.pipe()
    theirs = tuple(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE_FD) for fd in (their_input, their_output))
    os.close(their_input)
    os.close(their_output)
    return (our_input, our_output), (theirs[0], theirs[1])
