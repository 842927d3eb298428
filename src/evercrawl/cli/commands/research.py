"""Commands for research: `simulate`, `tool` and `lab`."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evercrawl.cli.context import CliContext, CommandGroup, common_options, json_lines_option, with_cli
from evercrawl.cli.terminal import emit_json, live_line
from evercrawl.errors import ConfigError
from evercrawl.model.sanitize import safe_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evercrawl.collection.simulation import PolicyTrial, Trace
    from evercrawl.collection.tools import Tool

DEFAULT_PAGES = 600  # Enough pages for a comparison that takes seconds.
DEFAULT_BUDGETS = "0.02,0.05,0.1,0.2,0.5"


@click.command("simulate")
@click.option(
    "--trace",
    "traces",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Recorded history as JSON lines, also .gz. Repeatable.",
)
@click.option("--policy", default="optimal,uniform", show_default=True, metavar="A,B", help="Policies to compare.")
@click.option(
    "--budget",
    default=DEFAULT_BUDGETS,
    show_default=True,
    metavar="N,M",
    help="Requests per page and day, or for all pages together: 1000/day.",
)
@click.option(
    "--signal",
    type=click.Choice(["none", "true", "poor"]),
    default="none",
    help="What the site announces: nothing, every change, or 70 % of changes with 40 % false ones.",
)
@click.option(
    "--pages",
    type=click.IntRange(1),
    default=DEFAULT_PAGES,
    show_default=True,
    help="Replay at most N pages.",
    metavar="N",
)
@click.option(
    "--plot", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), help="Write a chart to this SVG file."
)
@json_lines_option
@with_cli
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
    """Compare revisit policies on recorded history, without sending a request.

    The history comes from trace files, or from the versions in the collection. The policies are those of a
    real crawl. Freshness is the share of time that copies were current, after a warm-up of a quarter.

    \b
    evercrawl simulate --collection example.org.evercrawl --policy optimal,uniform --budget 0.05,0.1
    evercrawl simulate --trace peps.jsonl.gz --policy optimal,nutch --plot peps.svg
    evercrawl simulate --policy optimal --budget 1000/day --json

    Policies: optimal, uniform, fixed, paper-adaptive, paper-selective, paper-tree (its rival in the paper, only here),
    paper-pdfc, paper-sitemap (with --signal), nutch, stormcrawler and oracle (knows the true change rates).
    """
    from evercrawl.collection.simulation import parse_policies, run_trials

    names = parse_policies(policy)
    histories = _read_traces(cli, traces, pages)
    budgets = [text.strip() for text in budget.split(",") if text.strip()]
    runs: list[PolicyTrial] = []
    with live_line(cli) as show:
        for run in run_trials(histories, names, budgets, signal=signal, on_begin=show):
            runs.append(run)
            if as_json:
                emit_json("simulate", run._asdict())
    if not as_json:
        _show_simulation(histories, runs)
    if plot is not None:
        _write_chart(plot, runs)


def _read_traces(cli: CliContext, traces: Sequence[Path], pages: int) -> list[Trace]:
    from evercrawl.collection.simulation import read_trace_file, trace_of_collection

    if traces:
        return [read_trace_file(file, max_pages=pages) for file in traces]
    found = cli.find_collection()
    if found is None:
        raise ConfigError("no history to replay; give --trace FILE, or a collection with -C DIR")
    return [trace_of_collection(found, max_pages=pages)]


def _show_simulation(histories: Sequence[Trace], runs: Sequence[PolicyTrial]) -> None:
    for trace in histories:
        pages = f"{len(trace.pages):,} pages over {trace.days:,.0f} days"
        click.echo(f"{safe_line(trace.site)}: {pages}")
        click.echo(f"  {'policy':<16}{'budget':>9}{'freshness':>11}{'requests':>10}{'useful':>8}")
        for run in runs:
            if run.trace == trace.site:
                click.echo(_simulation_row(run))
    click.echo("budget and requests: per page and day; useful: visits that found something new")


def _simulation_row(run: PolicyTrial) -> str:
    return (
        f"  {run.policy:<16}{run.budget:>9.3g}{run.freshness:>11.4f}"
        f"{run.requests_per_page_day:>10.4f}{run.useful_share:>8.1%}"
    )


def _write_chart(plot: Path, runs: Sequence[PolicyTrial]) -> None:
    from evercrawl.collection.simulation import freshness_chart

    try:
        plot.write_text(freshness_chart(runs), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write the chart to {plot}: {error.strerror}") from None


@click.command("tool")
@click.argument("name")
@click.option(
    "--examples",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Examples for relevance: JSON lines of url, html or text, on_topic.",
)
@click.option("--json", "as_json", is_flag=True, help="No effect: a tool always prints JSON.")
@common_options
def tool_command(name: str, examples: str | None, as_json: bool) -> None:
    """Run one crawler decision on JSON lines: one answer per input line, in order, with the same `id`.

    \b
    echo '{"id": 1, "input": "HTTP://Example.org/%7Ea"}' | evercrawl tool url
    evercrawl tool robots < cases.jsonl

    Tools: robots, url, extract, changed, similar, sitemap, trap, sentiment, relevance (with --examples FILE).
    They run the code of a crawl and send no request.
    """
    from evercrawl.collection.tools import TOOLS, answer_lines, tool_named

    if name == "relevance":
        tool = _relevance_tool(examples)
    elif name in TOOLS:
        tool = tool_named(name)
    else:
        known = sorted((*TOOLS, "relevance"))
        close = get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"the tools are {', '.join(known)}"
        raise ConfigError(f"there is no tool {name!r}; {hint}")
    answer_lines(tool, sys.stdin.buffer, sys.stdout.buffer)


def _relevance_tool(examples: str | None) -> Tool:
    """Return the tool trained on the examples; raise ConfigError if they cannot be used."""
    from evercrawl.collection.tools import read_rows, relevance_tool

    if examples is None:
        raise ConfigError("tool relevance needs examples; give them with --examples FILE")
    try:
        return relevance_tool(read_rows(Path(examples)))
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"cannot use the examples in {examples}: {error}") from error


_REPOSITORY = Path(__file__).resolve().parents[4]


class LabGroup(CommandGroup):
    """The experiments in `research/papers`, which only a clone of the repository has."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_experiments())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _experiments().get(cmd_name)


def _experiments() -> dict[str, click.Command]:
    if not (_REPOSITORY / "research" / "papers").is_dir():
        raise ConfigError("the experiments are not installed; run this in a clone of the repository")
    if str(_REPOSITORY) not in sys.path:
        sys.path.insert(0, str(_REPOSITORY))
    commands: dict[str, click.Command] = import_module("research.papers.commands").COMMANDS
    return commands


@click.group("lab", cls=LabGroup)
@common_options
def lab_command() -> None:
    """Rerun the experiments of the papers that evercrawl builds on, in virtual time.

    \b
    evercrawl lab pdfc --plot pdfc.svg
    evercrawl lab sitemap --json
    evercrawl lab d10
    """
