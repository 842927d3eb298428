"""`evercrawl simulate`: replay history against revisit policies."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evercrawl.cli.context import CliContext, pass_cli
from evercrawl.cli.options import common_options
from evercrawl.cli.terminal import emit_json, live_line
from evercrawl.errors import ConfigError
from evercrawl.model.sanitize import safe_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evercrawl.collection.simulation import PolicyTrial
    from evercrawl.collection.tools_tmp import Tool
    from evercrawl.lab.trace import Trace

DEFAULT_PAGES = 600
"""Pages of a trace that are replayed: enough for a comparison, and done within seconds."""
DEFAULT_BUDGETS = "0.02,0.05,0.1,0.2,0.5"


@click.command("simulate")
@click.option(
    "--trace",
    "traces",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A recorded history: JSON lines, also as .gz. Repeatable.",
)
@click.option("--policy", default="optimal,uniform", show_default=True, metavar="A,B", help="Which policies.")
@click.option(
    "--budget",
    default=DEFAULT_BUDGETS,
    show_default=True,
    metavar="N,M",
    help="Requests per page and day; or for all pages together as 1000/day.",
)
@click.option(
    "--signal",
    type=click.Choice(["none", "true", "poor"]),
    default="none",
    help="What the site announces: nothing, every change, or 70 % of them with 40 % false ones.",
)
@click.option(
    "--pages", type=click.IntRange(1), default=DEFAULT_PAGES, show_default=True, help="Replay at most so many."
)
@click.option("--plot", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), help="Draw it as an SVG file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_cli
def simulate_command(
    cli: CliContext,
    /,
    traces: tuple[Path, ...],
    policy: str,
    budget: str,
    signal: str,
    pages: int,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Replay what happened against revisit policies, with the code of a real crawl, and compare.

    The history is that of trace files, or of the collection: when its versions came to be. Freshness is the
    share of time in which the copies of living pages were current, behind a warm-up of a quarter of the
    history. Nothing is sent.

    \b
    evercrawl simulate --collection example.org.evercrawl --policy optimal,uniform --budget 0.05,0.1
    evercrawl simulate --trace peps.jsonl.gz --policy optimal,nutch --plot peps.svg
    evercrawl simulate --policy optimal --budget 1000/day --json

    Policies: optimal, uniform, fixed, paper-adaptive, paper-selective, paper-pdfc, nutch, stormcrawler, and
    oracle, which is told the true change rates.
    """
    from evercrawl.collection.simulation import trials
    from evercrawl.collection.simulation import checked_policies

    names = checked_policies(policy)
    histories = _read_traces(cli, traces, pages)
    budgets = [text.strip() for text in budget.split(",") if text.strip()]
    runs: list[PolicyTrial] = []
    with live_line(cli) as show:
        for run in trials(histories, names, budgets, signal=signal, on_begin=show):
            runs.append(run)
            if as_json:
                emit_json("simulate", run._asdict())
    if not as_json:
        _show_simulation(histories, runs)
    if plot is not None:
        _write_chart(plot, runs)


def _read_traces(cli: CliContext, traces: Sequence[Path], pages: int) -> list[Trace]:
    from evercrawl.collection.simulation import trace_in, trace_of

    if traces:
        return [trace_in(file, most_pages=pages) for file in traces]
    found = cli.find_collection()
    if found is None:
        raise ConfigError("nothing to replay: name a history with --trace FILE, or a collection with -C DIR")
    return [trace_of(found, most_pages=pages)]


def _show_simulation(histories: Sequence[Trace], runs: Sequence[PolicyTrial]) -> None:
    for trace in histories:
        pages = f"{len(trace.pages):,} pages over {trace.days:,.0f} days"
        click.echo(f"{safe_line(trace.site)}: {pages}")
        click.echo(f"  {'policy':<16}{'budget':>9}{'freshness':>11}{'requests':>10}{'useful':>8}")
        for run in runs:
            if run.trace == trace.site:
                click.echo(_simulation_row(run))
    click.echo("budget and requests are per page and day; useful: visits that found something new")


def _simulation_row(run: PolicyTrial) -> str:
    return (
        f"  {run.policy:<16}{run.budget:>9.3g}{run.freshness:>11.4f}"
        f"{run.requests_per_page_day:>10.4f}{run.useful_share:>8.1%}"
    )


def _write_chart(plot: Path, runs: Sequence[PolicyTrial]) -> None:
    from evercrawl.collection.simulation import drawing

    try:
        plot.write_text(drawing(runs), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"the picture cannot be written to {plot}: {error.strerror}") from None


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
def tool_command(name: str, examples: str | None, as_json: bool) -> None:
    """Read JSON lines on stdin and write one JSON line for each on stdout, in order, with the same `id`.

    \b
    echo '{"id": 1, "input": "HTTP://Example.org/%7Ea"}' | evercrawl tool url
    evercrawl tool robots < cases.jsonl

    No request is made, and it is the code that a crawl uses. The names are robots, url, extract, changed,
    similar, sitemap, trap, sentiment and relevance (with --examples FILE).
    """
    from evercrawl.collection.tools_tmp import TOOLS, answer_lines, tool_named

    if name == "relevance":
        tool = _relevance_tool(examples)
    elif name in TOOLS:
        tool = tool_named(name)
    else:
        known = ", ".join(sorted((*TOOLS, "relevance")))
        raise ConfigError(f"there is no tool {name!r}; the tools are {known}")
    answer_lines(tool, sys.stdin.buffer, sys.stdout.buffer)


def _relevance_tool(examples: str | None) -> Tool:
    """What the examples teach; ConfigError where there are none or they cannot be read."""
    from evercrawl.collection.tools_tmp import read_rows, relevance_tool

    if examples is None:
        raise ConfigError("tool relevance needs examples to learn from: --examples FILE")
    try:
        return relevance_tool(read_rows(Path(examples)))
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"the examples in {examples} cannot be used: {error}") from error
