"""`evercrawl alert retry`: once more what was set aside."""

from __future__ import annotations

import click

from evercrawl.cli.exit_codes import ExitCode
from evercrawl.cli.output import counted, emit_json
from evercrawl.cli.session import Session, common_options, pass_session


@click.command("retry")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print the number of messages as JSON.")
@common_options
@pass_session
def alert_retry_command(session: Session, /, name: str, as_json: bool) -> int:
    """Send messages again that were set aside because they did not arrive for `notify.patience`.

    \b
    evercrawl alert log prices --state failed
    evercrawl alert retry prices
    """
    count = session.open_collection().alerts.retry(name)
    if as_json:
        emit_json("alert-retry", {"name": name, "messages": count})
    else:
        click.echo(f"{counted(count, 'message')} will be sent again")
    return ExitCode.OK
