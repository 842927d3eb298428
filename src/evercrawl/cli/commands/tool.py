"""`evercrawl tool NAME`: one decision of the crawler, asked from a pipe."""

from __future__ import annotations

import sys

import click

from evercrawl.cli.session import common_options
from evercrawl.errors import ConfigError


@click.command("tool")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Nothing changes: a tool always speaks JSON.")
@common_options
def command(name: str, as_json: bool) -> None:
    """Read JSON lines on stdin and write one JSON line for each on stdout, in order, with the same `id`.

    \b
    echo '{"id": 1, "input": "HTTP://Example.org/%7Ea"}' | evercrawl tool url
    evercrawl tool robots < cases.jsonl

    No request is made, and it is the code that a crawl uses. The names are robots, url, extract, changed,
    similar and sitemap.
    """
    from evercrawl.tools.stream import TOOLS, run_tool

    if name not in TOOLS:
        raise ConfigError(f"there is no tool {name!r}; the tools are {', '.join(sorted(TOOLS))}")
    run_tool(name, sys.stdin.buffer, sys.stdout.buffer)
