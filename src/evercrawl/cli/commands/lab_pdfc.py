"""`evercrawl lab pdfc`."""

from __future__ import annotations

import click


@click.command("pdfc")
def command() -> None:
    """x."""
