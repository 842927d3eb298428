"""`evercrawl alert test`: does a message arrive?"""

from __future__ import annotations

import asyncio

import click

from evercrawl.cli.exit_codes import ExitCode
from evercrawl.cli.output import emit_json
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session


@click.command("test")
@click.argument("name")
@click.option("--allow-private", is_flag=True, help="Allow loopback, private and link-local addresses.")
@click.option("--json", "as_json", is_flag=True, help="Print how it ended as JSON.")
@common_options
@pass_session
def alert_test_command(session: Session, /, name: str, allow_private: bool, as_json: bool) -> int:
    """Send a test message now, also in quiet hours. Exit code 1 when it was not taken.

    \b
    evercrawl alert test prices
    """
    from evercrawl.collection.alerts.book import AlertBook

    path = session.require_collection()
    flags: dict[str, object] = {"http.allow_private": True} if allow_private else {}
    attempt = asyncio.run(AlertBook(path, session.configured(path, flags).settings).test(name))
    if as_json:
        emit_json("alert-test", {"name": name, "delivered": attempt.is_delivered, "detail": attempt.detail})
    else:
        words = "the test was taken" if attempt.is_delivered else "the test was not delivered"
        click.echo(f"{words}: {safe_line(attempt.detail)}")
    return ExitCode.OK if attempt.is_delivered else ExitCode.ERROR
