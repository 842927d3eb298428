"""`evercrawl alert remove`: no more messages."""

from __future__ import annotations

import click

from evercrawl.cli.exit_codes import ExitCode
from evercrawl.cli.output import counted, emit_json
from evercrawl.cli.session import Session, common_options, pass_session


@click.command("remove")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print what was dropped as JSON.")
@common_options
@pass_session
def alert_remove_command(session: Session, /, name: str, as_json: bool) -> int:
    """Remove an alert, its log, and what still waits for it.

    \b
    evercrawl alert remove prices
    """
    dropped = session.open_collection().alerts.remove(name)
    if as_json:
        emit_json("alert-remove", {"name": name, "dropped": dropped})
    else:
        waiting = f"; {counted(dropped, 'change')} waited and will not be told" if dropped else ""
        click.echo(f"alert {name} is removed{waiting}")
    return ExitCode.OK
