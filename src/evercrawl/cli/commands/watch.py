"""`evercrawl watch`: keep a collection fresh, for ever."""

from __future__ import annotations

from typing import Any

import click

from evercrawl.cli.commands.crawl import carry_out, given_flags, plan_run, run_options
from evercrawl.cli.session import Session, common_options, pass_session


@click.command("watch")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@run_options
@common_options
@pass_session
def command(session: Session, /, urls: tuple[str, ...], as_json: bool, **flags: Any) -> int:
    """Keep the collection fresh until stopped: pages when a visit is worth it, sitemaps, new pages.

    \b
    evercrawl watch                                        whatever the collection knows
    evercrawl watch https://example.org --budget 500/day   at most 500 requests a day
    evercrawl plan --budget 500/day                        what that would bring, sending nothing

    Every visit is learned from: pages that change often are seen often, pages that rest seldom, none never.
    Ctrl-C (or SIGTERM) stops safely, and the next call goes on; a crash loses nothing.
    """
    chosen = given_flags(flags) | {"crawl.max_pages": None}
    return carry_out(session, plan_run(session, urls, flags=chosen, forever=True), as_json=as_json)
