"""`evercrawl simulate`: replay history against revisit policies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evercrawl.cli.counter import live_line
from evercrawl.cli.output import emit_json
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evercrawl.collection.simulate import Run
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
@pass_session
def command(
    session: Session,
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
    from evercrawl.collection.simulate import trials
    from evercrawl.collection.simulate.run import checked_policies

    names = checked_policies(policy)
    histories = _histories(session, traces, pages)
    budgets = [text.strip() for text in budget.split(",") if text.strip()]
    runs: list[Run] = []
    with live_line(session) as show:
        for run in trials(histories, names, budgets, signal=signal, on_begin=show):
            runs.append(run)
            if as_json:
                emit_json("simulate", run._asdict())
    if not as_json:
        _show(histories, runs)
    if plot is not None:
        _draw(plot, runs)


def _histories(session: Session, traces: Sequence[Path], pages: int) -> list[Trace]:
    from evercrawl.collection.simulate import trace_in, trace_of

    if traces:
        return [trace_in(file, most_pages=pages) for file in traces]
    found = session.find_collection()
    if found is None:
        raise ConfigError("nothing to replay: name a history with --trace FILE, or a collection with -C DIR")
    return [trace_of(found, most_pages=pages)]


def _show(histories: Sequence[Trace], runs: Sequence[Run]) -> None:
    for trace in histories:
        pages = f"{len(trace.pages):,} pages over {trace.days:,.0f} days"
        click.echo(f"{safe_line(trace.site)}: {pages}")
        click.echo(f"  {'policy':<16}{'budget':>9}{'freshness':>11}{'requests':>10}{'useful':>8}")
        for run in runs:
            if run.trace == trace.site:
                click.echo(_row(run))
    click.echo("budget and requests are per page and day; useful: visits that found something new")


def _row(run: Run) -> str:
    return (
        f"  {run.policy:<16}{run.budget:>9.3g}{run.freshness:>11.4f}"
        f"{run.requests_per_page_day:>10.4f}{run.useful_share:>8.1%}"
    )


def _draw(plot: Path, runs: Sequence[Run]) -> None:
    from evercrawl.collection.simulate import drawing

    try:
        plot.write_text(drawing(runs), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"the picture cannot be written to {plot}: {error.strerror}") from None
