"""`evercrawl version`: the versions that matter in a report of a defect."""

from __future__ import annotations

import platform
import sqlite3

import click

from evercrawl.cli.output import emit_json
from evercrawl.cli.session import common_options
from evercrawl.model.version import __version__


@click.command("version")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
def command(as_json: bool) -> None:
    """The version of evercrawl and of what it stands on."""
    versions = {"evercrawl": __version__, "python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    if as_json:
        emit_json("version", versions)
        return
    for name, version in versions.items():
        click.echo(f"{name} {version}")
