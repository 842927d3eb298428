"""The real browser and the real command: `evercrawl serve` in a process of its own, Chromium in another."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.command_server import start_command
from tests.programs import find_program

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass(frozen=True)
class Served:
    """Where the interface is, and the link that opens it once."""

    address: str
    first_link: str
    replay: str


@contextmanager
def serving(
    collection: Path, *flags: str, env: dict[str, str] | None = None, is_folder: bool = False
) -> Iterator[Served]:
    """Run `evercrawl serve` for the block, for a collection or a folder of them."""
    named = ("serve", str(collection)) if is_folder else ("-C", str(collection), "serve")
    process = start_command(
        *(*named, "--port", "0", "--json", "--no-open", *flags),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **(env or {})},
    )
    try:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        yield Served(told["address"], told["first_link"], told["replay"])
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, headless."""
    path = find_program("chromium", package="chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS, headless=True)
        try:
            yield browser
        finally:
            browser.close()
