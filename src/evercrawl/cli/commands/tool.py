"""`evercrawl tool NAME`: one decision of the crawler, asked from a pipe."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evercrawl.cli.session import common_options
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.collection.tools.stream import Tool


@click.command("tool")
@click.argument("name")
@click.option(
    "--examples",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="For relevance: JSON lines of url, html or text, on_topic.",
)
@click.option("--json", "as_json", is_flag=True, help="Nothing changes: a tool always speaks JSON.")
@common_options
def command(name: str, examples: str | None, as_json: bool) -> None:
    """Read JSON lines on stdin and write one JSON line for each on stdout, in order, with the same `id`.

    \b
    echo '{"id": 1, "input": "HTTP://Example.org/%7Ea"}' | evercrawl tool url
    evercrawl tool robots < cases.jsonl

    No request is made, and it is the code that a crawl uses. The names are robots, url, extract, changed,
    similar, sitemap, trap, sentiment and relevance (with --examples FILE).
    """
    from evercrawl.collection.tools.stream import TOOLS, answer_lines, tool_named

    if name == "relevance":
        tool = _relevance(examples)
    elif name in TOOLS:
        tool = tool_named(name)
    else:
        known = ", ".join(sorted((*TOOLS, "relevance")))
        raise ConfigError(f"there is no tool {name!r}; the tools are {known}")
    answer_lines(tool, sys.stdin.buffer, sys.stdout.buffer)


def _relevance(examples: str | None) -> Tool:
    """What the examples teach; ConfigError where there are none or they cannot be read."""
    from evercrawl.collection.tools.relevance import relevance_tool
    from evercrawl.collection.tools.stream import read_rows

    if examples is None:
        raise ConfigError("tool relevance needs examples to learn from: --examples FILE")
    try:
        return relevance_tool(read_rows(Path(examples)))
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"the examples in {examples} cannot be used: {error}") from error
