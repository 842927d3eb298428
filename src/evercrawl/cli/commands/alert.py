"""`evercrawl alert`: being told of changes."""

from __future__ import annotations

import click

from evercrawl.cli.lazy_group import LazyGroup
from evercrawl.cli.session import common_options

SUBCOMMANDS = {
    "add": "alert_add",
    "list": "alert_list",
    "test": "alert_test",
    "log": "alert_log",
    "retry": "alert_retry",
    "remove": "alert_remove",
    "run": "alert_run",
}


@click.group("alert", cls=LazyGroup, subcommands=SUBCOMMANDS)
@common_options
def alert_command() -> None:
    """Be told of changes: by webhook, mail or feed, at once or as a digest.

    \b
    evercrawl alert add prices --page https://example.org/prices --mail you@example.org
    evercrawl alert test prices
    evercrawl alert log prices --json
    """
