"""`evercrawl watch`: keep a collection fresh, for ever."""

from __future__ import annotations

from typing import Any

import click

from evercrawl.cli.commands.crawl import execute_run, given_flags, plan_run, run_options
from evercrawl.cli.session import Session, common_options, pass_session


@click.command("watch")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option(
    "--serve",
    "port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Serve the web interface too, at this port of this machine.",
)
@run_options
@common_options
@pass_session
def command(session: Session, /, urls: tuple[str, ...], port: int | None, as_json: bool, **flags: Any) -> int:
    """Keep the collection fresh until stopped: pages when a visit is worth it, sitemaps, new pages.

    \b
    evercrawl watch                                        whatever the collection knows
    evercrawl watch https://example.org --budget 500/day   at most 500 requests a day
    evercrawl watch --serve 8787                           and look at it in a browser meanwhile
    evercrawl plan --budget 500/day                        what that would bring, sending nothing

    Every visit is learned from: pages that change often are seen often, pages that rest seldom, none never.
    Ctrl-C (or SIGTERM) stops safely, and the next call goes on; a crash loses nothing.
    """
    chosen = given_flags(flags) | {"crawl.max_pages": None}
    if port is not None:
        from evercrawl.cli.commands.serve import serve_beside

        plan = plan_run(session, urls, flags=chosen, forever=True)
        return serve_beside(session, plan.path, port, flags=chosen, as_json=as_json)
    return execute_run(session, plan_run(session, urls, flags=chosen, forever=True), as_json=as_json)
