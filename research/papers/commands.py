"""The commands of `evercrawl lab`: rerun the papers' experiments, print and plot the results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from evercrawl.cli.context import CliContext, pass_cli
from evercrawl.cli.options import common_options, json_option
from evercrawl.cli.terminal import ExitCode, emit_json
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from research.papers.d10 import D10Experiment
    from research.papers.pdfc import Experiment
    from research.papers.sitemap import SitemapExperiment, TableRow

Result = TypeVar("Result", bound="ExperimentResult")
Command = TypeVar("Command", bound=Callable[..., Any])
TITLES = (
    "Table 1: record of downloaded pages after the first visit",
    "Table 2: extended sitemap on the server",
    "Table 3: pages downloaded again",
    "Table 4: record after the second visit",
)


class ExperimentResult(Protocol):
    """The result of an experiment."""

    @property
    def matches(self) -> bool:
        """The result agrees with the paper."""


def plot_option(text: str) -> Callable[[Command], Command]:
    """Return the option `--plot FILE` with its help."""
    kind = click.Path(path_type=Path, dir_okay=False)
    return click.option("--plot", metavar="FILE", type=kind, help=text)


def print_result(
    kind: str,
    found: Result,
    *,
    as_json: bool,
    fields: Callable[[Result], dict[str, object]],
    show: Callable[[Result], None],
) -> int:
    """Print a result and return the exit code: 1 if it does not match the paper."""
    if as_json:
        emit_json(kind, fields(found))
    else:
        show(found)
    return ExitCode.OK if found.matches else ExitCode.ERROR


def write_plot(plot: Path, picture: str) -> None:
    """Write an SVG picture."""
    try:
        plot.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write the picture to {plot}: {error.strerror}") from None


@click.command("d10")
@click.option("--seed", type=int, default=1, show_default=True, help="Which web.")
@click.option(
    "--scale",
    type=click.FloatRange(0.001, 1.0),
    default=0.05,
    show_default=True,
    help="1: all 176,804 pages, most of an hour; below, pages, hosts, connections and line shrink alike.",
)
@json_option
@common_options
@pass_cli
def lab_d10(cli: CliContext, /, seed: int, scale: float, as_json: bool) -> int:
    """200 connections, 5 look-ups, depth 15, 35 s between requests to a server: one node, then two.

    \b
    evercrawl lab d10
    evercrawl lab d10 --scale 1 --json

    The crawl of "Semantic Web Crawler using Early Detection and Sentimental Analysis" (176,804 pages, 6.16 GB
    over a line of 8 Mbit/s in 2 hours; in 3.25 hours with two nodes) by the engine and the cluster code of
    production in virtual time, on a generated web of many hosts. The exit code is 1 where it takes longer
    than the paper says, a server is asked too soon, or a second node with a line of its own does not make it
    faster by half.
    """
    try:
        from research.papers.d10 import d10_experiment
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"two nodes need the extra postgres ({error.name} is missing): pip install 'evercrawl[postgres]'"
        ) from error
    found = d10_experiment(seed=seed, scale=scale)
    return print_result("lab-d10", found, as_json=as_json, fields=_d10_fields, show=_show_d10)


def _d10_fields(found: D10Experiment) -> dict[str, object]:
    return {
        "matches": found.matches,
        "scale": found.scale,
        "hosts": found.hosts,
        "pages_there": found.pages_there,
        "gain": round(found.gain, 3),
        "runs": [
            run._asdict() | {"gigabytes": round(run.gigabytes, 4), "hours": round(run.hours, 3)} for run in found.runs
        ],
    }


def _show_d10(found: D10Experiment) -> None:
    click.echo(f"{'':<22}{'pages':>10}{'GB':>8}{'hours':>8}{'pages/s':>9}   paper")
    for run in found.runs:
        paper = "" if run.paper_hours is None else f"{run.paper_hours:g} hours"
        rate = run.pages / run.hours / 3600
        click.echo(f"{run.name:<22}{run.pages:>10,}{run.gigabytes:>8.2f}{run.hours:>8.2f}{rate:>9.2f}   {paper}")
    click.echo(
        f"scale {found.scale:g}: {found.hosts:,} hosts with {found.pages_there:,} pages; two nodes with a"
        f" line each are {found.gain:.2f} times as fast as one"
    )


@click.command("pdfc")
@click.option("--days", type=click.IntRange(1, 365), default=30, show_default=True, help="Rounds, one a day.")
@click.option("--seed", type=int, default=1, show_default=True, help="Which hundred sites.")
@click.option(
    "--edited",
    type=click.IntRange(1, 32),
    default=3,
    show_default=True,
    help="An edit rewrites one to so many of a page's 32 paragraphs.",
)
@click.option(
    "--outposts",
    type=click.IntRange(1, 100),
    default=5,
    show_default=True,
    help="5: one for each suffix (.com, .org, ...), as the paper has it; 100: one for each site.",
)
@plot_option("Draw the paper's three charts, with ours, as an SVG file.")
@json_option
@common_options
@pass_cli
def lab_pdfc(
    cli: CliContext, /, days: int, seed: int, edited: int, outposts: int, plot: Path | None, as_json: bool
) -> int:
    """100 sites with home pages of 10 KB, visited daily for 30 days: pages sent, load and bandwidth.

    \b
    evercrawl lab pdfc
    evercrawl lab pdfc --json --plot pdfc.svg
    evercrawl lab pdfc --edited 10 --outposts 100

    Rerun is the experiment of "A Novel Parallel Domain Focused Crawler": the existing crawler, the paper's
    without and with compression, and beside them production home and outposts in virtual time, every byte
    between them counted. Given are, from the paper, how many pages change and that a round of 100 pages of
    10 KB makes 800 kbit/s. The exit code is 1 where the paper's figures do not come out within 5 %, or where
    outposts need more than 5 % of the existing crawler's bytes or leave copies less fresh.
    """
    from research.papers.pdfc import pdfc_experiment

    found = pdfc_experiment(seed=seed, days=days, most_edited=edited, outposts=outposts)
    if plot is not None:
        from research.papers.pdfc_chart import charts

        write_plot(plot, charts(found))
    return print_result("lab-pdfc", found, as_json=as_json, fields=_pdfc_fields, show=_show_pdfc)


def _pdfc_fields(found: Experiment) -> dict[str, object]:
    from research.papers.pdfc import MOST_SHARE, TOLERANCE

    return {
        "matches": found.matches,
        "tolerance": TOLERANCE,
        "most_share": MOST_SHARE,
        "page_bytes": round(found.page_bytes, 1),
        "direct": round(found.direct, 2),
        "by_frequency": round(found.by_frequency, 2),
        "variants": [
            {
                "name": one.name,
                "pages_sent": round(one.pages_sent, 2),
                "kbit_s": round(one.kbit_s, 2),
                "bytes_share": round(one.bytes_share, 4),
                "seconds": round(one.seconds, 2),
                "freshness": round(one.freshness, 4),
                "requests": round(one.requests, 2),
                "paper": None if one.paper is None else {"pages_sent": one.paper[0], "kbit_s": one.paper[1]},
            }
            for one in found.variants
        ],
    }


def _show_pdfc(found: Experiment) -> None:
    click.echo(f"{'':<18}{'pages sent':>12}{'kbit/s':>10}{'seconds':>10}{'bytes':>9}{'fresh':>8}   paper")
    for one in found.variants:
        paper = "" if one.paper is None else f"{one.paper[0]:.0f} pages, {one.paper[1]:.0f} kbit/s"
        click.echo(
            f"{one.name:<18}{one.pages_sent:>12.1f}{one.kbit_s:>10.1f}{one.seconds:>10.1f}"
            f"{one.bytes_share:>9.1%}{one.freshness:>8.1%}   {paper}"
        )
    click.echo(
        f"of the pages that PDFC sends, {found.direct:.1f} change at every visit (paper: 41) and "
        f"{found.by_frequency:.1f} were found changed (paper: 19)"
    )


@click.command("sitemap")
@plot_option("Draw it as an SVG file.")
@json_option
@common_options
@pass_cli
def lab_sitemap(cli: CliContext, /, plot: Path | None, as_json: bool) -> int:
    """Visit the 13 pages of "Increasing the efficiency of crawler using customized sitemap" twice.

    \b
    evercrawl lab sitemap
    evercrawl lab sitemap --json --plot sitemap.svg

    Between the visits three pages change and one is added. The production crawler runs in virtual time over
    the paper's site, whose pages take as long as the paper's tables say; as there, nothing but page downloads
    is counted and the sitemap is believed. Beside it: an ordinary sitemap, ETags without sitemap, and the
    default settings, with which a sitemap has to prove true first. The exit code is 1 where sums, pages or
    tables are not the paper's.
    """
    from research.papers.sitemap import sitemap_experiment

    found = sitemap_experiment()
    if plot is not None:
        from research.papers.sitemap_chart import drawing

        write_plot(plot, drawing(found.seconds))
    return print_result("lab-sitemap", found, as_json=as_json, fields=_sitemap_fields, show=_show_sitemap)


def _sitemap_fields(found: SitemapExperiment) -> dict[str, object]:
    from research.papers.sitemap import SMALL_MS, TOLERANCE_MS

    return {
        "matches": found.matches,
        "tolerance_ms": TOLERANCE_MS,
        "small_ms": SMALL_MS,
        "first_pages": len(found.tables[0]),
        "variants": [one._asdict() | {"downloads": len(one.downloaded)} for one in found.seconds],
    } | {
        f"table_{number}": [
            {name: value for name, value in row._asdict().items() if value is not None} for row in table
        ]
        for number, table in enumerate(found.tables, start=1)
    }


def _show_sitemap(found: SitemapExperiment) -> None:
    for title, table in zip(TITLES, found.tables, strict=True):
        click.echo(f"{title} (paper | evercrawl)")
        for row in table:
            click.echo("  " + _sitemap_line(row))
    click.echo("Second visit")
    click.echo(f"  {'':<52}{'pages':>9}{'requests':>10}{'ms':>7}{'paper':>7}{'all ms':>8}")
    for one in found.seconds:
        pages = f"{len(one.downloaded)} of {one.pages}"
        paper = "" if one.paper_ms is None else f"{one.paper_ms:,}"
        click.echo(f"  {one.words:<52}{pages:>9}{one.requests:>10}{one.ms:>7,}{paper:>7}{one.counted_ms:>8,}")
    click.echo("ms: page downloads, as the paper counts; all ms: every other answer as slow as the fastest page")
    click.echo("the paper's figures came out" if found.matches else "the figures are NOT the paper's")


def _sitemap_line(row: TableRow) -> str:
    pairs = (
        (row.paper_download_ms, row.download_ms, " ms"),
        (row.paper_last_visited_ms, row.last_visited_ms, ""),
        (row.paper_last_updated_ms, row.last_updated_ms, ""),
    )
    shown = [
        f"{'-' if paper is None else paper:>13} | {'-' if ours is None else ours:>13}{unit}"
        for paper, ours, unit in pairs
        if paper is not None or ours is not None
    ]
    return f"{row.anchor_text:<20}" + "  ".join(shown)


COMMANDS = {"pdfc": lab_pdfc, "sitemap": lab_sitemap, "d10": lab_d10}
