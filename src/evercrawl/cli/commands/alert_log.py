"""`evercrawl alert log`: what became of the messages."""

from __future__ import annotations

import click

from evercrawl.cli.exit_codes import ExitCode
from evercrawl.cli.output import counted, emit_json, moment
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session


@click.command("log")
@click.argument("name", required=False)
@click.option(
    "--state", type=click.Choice(["waiting", "sending", "delivered", "failed"]), help="Only messages that stand so."
)
@click.option("-n", "--most", type=click.IntRange(1), default=50, metavar="N", help="Newest N. Default: 50.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@common_options
@pass_session
def alert_log_command(session: Session, /, name: str | None, state: str | None, most: int, as_json: bool) -> int:
    """The newest messages, newest first: when each was made, how it stands, after how many attempts.

    \b
    evercrawl alert log
    evercrawl alert log prices --state failed
    """
    from evercrawl.core.alerts.delivery import MessageState

    chosen = None if state is None else MessageState(state)
    found = session.open_collection().alerts.log(name, state=chosen, most=most)
    for logged in found:
        fields = logged.fields()
        if as_json:
            emit_json("alert-message", fields)
        else:
            detail = f": {safe_line(fields['detail'])}" if fields["detail"] else ""
            tries = counted(fields["tries"], "attempt")
            what = f"{fields['alert']}  {counted(fields['changes'], 'change')}"
            click.echo(f"{moment(fields['made_at'])}  {what}  {fields['state']}, {tries}{detail}")
    if not found:
        session.note("no message yet")
    return ExitCode.OK
