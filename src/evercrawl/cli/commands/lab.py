"""`evercrawl lab`: the papers' experiments, with the code of a real crawl in virtual time."""

from __future__ import annotations

import click

from evercrawl.cli.main import LazyGroup
from evercrawl.cli.options import common_options

SUBCOMMANDS = {"pdfc": "lab_pdfc", "sitemap": "lab_sitemap", "d10": "lab_d10"}


@click.group("lab", cls=CommandGroup, cls=LazyGroup, subcommands=SUBCOMMANDS)
@common_options
def lab_command() -> None:
    """Rerun the experiments of the papers that evercrawl stands on; nothing is sent.

    \b
    evercrawl lab pdfc --plot pdfc.svg
    evercrawl lab sitemap --json
    evercrawl lab d10
    """
