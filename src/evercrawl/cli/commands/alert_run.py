"""`evercrawl alert run`: tell of what another process crawls."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

import click

from evercrawl.cli.exit_codes import ExitCode
from evercrawl.cli.output import emit_json
from evercrawl.cli.session import Session, common_options, pass_session

if TYPE_CHECKING:
    from pathlib import Path

    from evercrawl.model.settings import Settings


@click.command("run")
@click.option("--once", is_flag=True, help="Take in what was met, try what waits, and end.")
@click.option("--allow-private", is_flag=True, help="Allow loopback, private and link-local addresses.")
@click.option("--resolve", multiple=True, metavar="HOST:PORT:ADDR", help="Use this address, as curl does.")
@click.option("--json", "as_json", is_flag=True, help="At the end, one JSON object a line for each alert.")
@common_options
@pass_session
def alert_run_command(session: Session, /, once: bool, allow_private: bool, resolve: tuple[str, ...], as_json: bool) -> int:
    """Follow the collection and deliver messages until stopped. `crawl` and `watch` do this by themselves:
    this is for a collection that others crawl, and for messages that wait between two crawls.

    \b
    evercrawl alert run
    evercrawl alert run --once      for a timer; exit code 1 when something could not be delivered

    Only one process at a time delivers; another one waits until that has ended.
    """
    from evercrawl.cli.log import log_to, stop_logging

    path = session.require_collection()
    flags: dict[str, object] = {"http.allow_private": True} if allow_private else {}
    flags |= {"http.resolve": resolve} if resolve else {}
    settings = session.configured(path, flags).settings
    log_to(path, verbose=session.verbose)
    try:
        number = asyncio.run(_deliver_once(path, settings) if once else _deliver_until_stopped(session, path, settings))
    finally:
        stop_logging()
    held_up = _report_alerts(session, as_json=as_json)
    if number is not None:
        return 128 + number
    return ExitCode.ERROR if held_up else ExitCode.OK


async def _deliver_once(path: Path, settings: Settings) -> None:
    from evercrawl.collection.alerts.outbox import outbox_path
    from evercrawl.collection.alerts.run import tell_once

    if outbox_path(path).exists():
        await tell_once(path, settings)


async def _deliver_until_stopped(session: Session, path: Path, settings: Settings) -> int | None:
    """Gives the signal that ended it."""
    from evercrawl.collection.alerts.run import tell

    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    came: list[int] = []

    def end(number: int) -> None:
        came.append(number)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end, int(number))
    await tell(path, settings, stop, say=session.note)
    return came[0] if came else None


def _report_alerts(session: Session, *, as_json: bool) -> bool:
    """Print how the alerts stand; True: a message is held up."""
    from evercrawl.core.alerts.stored import alert_fields

    found = session.open_collection().alerts.all()
    for status in found:
        if as_json:
            emit_json("alert", alert_fields(status.alert, with_secret=False) | status.counts._asdict())
    return any(status.counts.trouble for status in found)
