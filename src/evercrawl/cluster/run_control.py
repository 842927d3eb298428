"""Pause, resume or stop a running crawl from another process, by a small file in the collection's folder.
Every process of the crawl reads it, wherever it was started. A pause lasts until it is ended or a person starts a
crawl; a request to stop only affects runs that began before it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from evercrawl.errors import StoreUnavailable

FILE = "run-control.json"
POLL_INTERVAL_S = 1.0


class RunControl(NamedTuple):
    """What was requested, when and by whom."""

    action: str  # pause or stop
    at: datetime
    by: str


def request_control(collection: Path, action: str, *, by: str) -> RunControl:
    """Ask the running crawl to pause or to stop."""
    control = RunControl(action, datetime.now(UTC), by)
    fresh = collection / f"{FILE}.{os.getpid()}.new"
    try:
        fresh.write_text(json.dumps(control._asdict() | {"at": control.at.isoformat()}), encoding="utf-8")
        fresh.replace(collection / FILE)
    except OSError as error:
        raise StoreUnavailable(f"{collection / FILE} cannot be written: {error.strerror or error}") from error
    return control


def end_control(collection: Path) -> bool:
    """End a pause; return False if there was none."""
    control = read_control(collection)
    (collection / FILE).unlink(missing_ok=True)
    return control is not None and control.action == "pause"


def read_control(collection: Path) -> RunControl | None:
    """Return what was requested last; None: nothing, or the file is not readable."""
    try:
        fields = json.loads((collection / FILE).read_text(encoding="utf-8"))
        return RunControl(str(fields["action"]), datetime.fromisoformat(fields["at"]), str(fields["by"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def pause_of(collection: Path) -> RunControl | None:
    """Return the pause that lasts; None: there is none."""
    control = read_control(collection)
    return control if control is not None and control.action == "pause" else None


async def stop_on_request(collection: Path, stop: Callable[[], None], *, began: datetime) -> None:
    """Call `stop` when a stop is requested after the run began."""
    while True:
        control = read_control(collection)
        if control is not None and control.action == "stop" and control.at > began:
            stop()
            return
        await asyncio.sleep(POLL_INTERVAL_S)
