"""`evercrawl sitemap`: the site owner's side."""

from __future__ import annotations

import click

from evercrawl.cli.lazy_group import LazyGroup
from evercrawl.cli.session import common_options

SUBCOMMANDS = {"build": "sitemap_build", "serve": "sitemap_serve", "check": "sitemap_check", "ping": "sitemap_ping"}


@click.group("sitemap", cls=LazyGroup, subcommands=SUBCOMMANDS)
@common_options
def command() -> None:
    """Make, serve, judge and announce the sitemap of a site that is yours.

    \b
    evercrawl sitemap build public/ --base-url https://example.org/
    evercrawl sitemap check https://example.org/ --json
    """
