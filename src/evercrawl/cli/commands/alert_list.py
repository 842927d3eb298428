"""`evercrawl alert list`: every alert and how it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evercrawl.cli.exit_codes import ExitCode
from evercrawl.cli.output import counted, emit_json
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session

if TYPE_CHECKING:
    from evercrawl.collection.alerts.book import AlertStatus


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@common_options
@pass_session
def alert_list_command(session: Session, /, as_json: bool) -> int:
    """Every alert, what waits for it, and what holds it up.

    \b
    evercrawl alert list
    evercrawl alert list --json
    """
    from evercrawl.core.alerts.stored import alert_fields

    found = session.open_collection().alerts.all()
    for status in found:
        if as_json:
            emit_json("alert", alert_fields(status.alert, with_secret=False) | status.counts._asdict())
        else:
            _show_alert(status)
    if not found:
        session.note("no alert; add one with: evercrawl alert add NAME --page URL --mail ADDRESS")
    return ExitCode.OK


def _show_alert(status: AlertStatus) -> None:
    alert, counts = status.alert, status.counts
    way, address = alert.target.channel.value, safe_line(alert.target.address)
    click.echo(f"{alert.name}  {alert.rhythm.value} by {way} {address}")
    click.echo(f"  {_subject_text(status)}")
    waits = f"{counted(counts.delivered, 'change')} told, {counts.waiting:,} waiting"
    click.echo(f"  {waits}" + (f", {counts.failed:,} set aside" if counts.failed else ""))
    if counts.trouble:
        click.echo(f"  held up: {safe_line(counts.trouble)}")


def _subject_text(status: AlertStatus) -> str:
    subject = status.alert.subject
    kinds = ", ".join(sorted(kind.value for kind in subject.kinds))
    where = ", ".join(map(safe_line, (*subject.pages, *subject.patterns))) or "every page"
    more = f", saying {safe_line(subject.query)}" if subject.query else ""
    more += f", at least {subject.least_size:.0%}" if subject.least_size else ""
    return f"{kinds} of {where}{more}" + (", sentiment turned" if subject.is_turn else "")
