"""Commands that rerun the experiments, print and plot the results: `evercrawl lab` in a clone of the repository."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import click

from evercrawl.cli.context import common_options, json_option
from evercrawl.cli.terminal import ExitCode, emit_json
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from research.papers.d10 import D10Experiment
    from research.papers.pdfc import EstimatorPhase, PdfcExperiment
    from research.papers.sitemap import SitemapExperiment, TableRow

SITEMAP_TABLES = (
    "Table 1: downloaded pages after the first visit",
    "Table 2: extended sitemap on the server",
    "Table 3: pages downloaded again",
    "Table 4: downloaded pages after the second visit",
)
PAPER_FIELDS = ("pages_sent", "kbit_s", "seconds")
plot_option = click.option(
    "--plot", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), help="Write the charts to an SVG file."
)


class Experiment(Protocol):
    """The result of an experiment."""

    @property
    def matches(self) -> bool:
        """Whether the result agrees with the paper."""


Result = TypeVar("Result", bound=Experiment)


@click.command("pdfc")
@click.option("--days", type=click.IntRange(1, 365), default=30, show_default=True, help="Number of daily rounds.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the hundred sites.")
@click.option(
    "--edited",
    type=click.IntRange(1, 32),
    default=3,
    show_default=True,
    help="An edit rewrites between one and this many of a page's 32 paragraphs.",
)
@click.option(
    "--outposts",
    type=click.IntRange(1, 100),
    default=5,
    show_default=True,
    help="5: one per suffix (.com, .org, ...), as in the paper. 100: one per site.",
)
@plot_option
@json_option
@common_options
def pdfc_command(days: int, seed: int, edited: int, outposts: int, plot: Path | None, as_json: bool) -> int:
    """Visit 100 home pages of 10 KB daily for 30 days; measure pages sent, load and bandwidth.

    \b
    evercrawl lab pdfc
    evercrawl lab pdfc --json --plot pdfc.svg
    evercrawl lab pdfc --edited 10 --outposts 100

    Reruns the experiment of "A Novel Parallel Domain Focused Crawler": the existing crawler, the paper's crawler
    without and with compression, and beside them the production coordinator and outposts in virtual time, with
    every byte between them counted. The paper gives how many pages change, and that a round of 100 pages of 10 KB
    makes 800 kbit/s. Then as many days follow in which the paper's estimator decides which pages are asked for.
    The exit code is 1 if the results differ from the paper's by more than 5 %, if requests do not fall with F, or if
    outposts need more than 5 % of the existing crawler's bytes or leave copies less fresh.
    """
    from research.papers.pdfc import run_pdfc

    result = run_pdfc(seed=seed, days=days, most_edited=edited, outposts=outposts)
    if plot is not None:
        from research.papers.pdfc_chart import draw_pdfc

        _write_chart(plot, draw_pdfc(result))
    return _report("lab-pdfc", result, as_json=as_json, fields=_pdfc_fields, show=_show_pdfc)


def _pdfc_fields(result: PdfcExperiment) -> dict[str, object]:
    from research.papers.pdfc import MOST_SHARE, PAPER_KHZ, TOLERANCE

    return {
        "matches": result.matches,
        "tolerance": TOLERANCE,
        "most_share": MOST_SHARE,
        "page_bytes": round(result.page_bytes, 1),
        "direct": round(result.direct, 2),
        "by_frequency": round(result.by_frequency, 2),
        "variants": [
            {
                "name": one.name,
                "pages_sent": round(one.pages_sent, 2),
                "kbit_s": round(one.kbit_s, 2),
                "bytes_share": round(one.bytes_share, 4),
                "seconds": round(one.seconds, 2),
                "freshness": round(one.freshness, 4),
                "requests": round(one.requests, 2),
                "paper": None if one.paper is None else dict(zip(PAPER_FIELDS, one.paper, strict=True)),
            }
            for one in result.variants
        ],
        "compression": round(result.compression, 4),
        "paper_khz": PAPER_KHZ,
        "estimator": _estimator_fields(result.estimator),
    }


def _estimator_fields(phase: EstimatorPhase) -> dict[str, object]:
    return {
        "requests": round(phase.requests, 2),
        "pages_sent": round(phase.sent, 2),
        "listed": round(phase.listed, 2),
        "analysed": round(phase.analysed, 2),
        "freshness": round(phase.freshness, 4),
        "production_requests": round(phase.production_requests, 2),
        "by_frequency": [group._asdict() | {"per_page_day": round(group.per_page_day, 3)} for group in phase.groups],
    }


def _show_pdfc(result: PdfcExperiment) -> None:
    from research.papers.pdfc import PAPER_BY_FREQUENCY, PAPER_COMPRESSION, PAPER_DIRECT, PAPER_KHZ

    click.echo(f"{'':<18}{'pages sent':>12}{'kbit/s':>10}{'seconds':>10}{'bytes':>9}{'fresh':>8}   paper")
    for one in result.variants:
        paper = (
            "" if one.paper is None else f"{one.paper[0]:.0f} pages, {one.paper[1]:.0f} kbit/s, {one.paper[2]:.0f} s"
        )
        click.echo(
            f"{one.name:<18}{one.pages_sent:>12.1f}{one.kbit_s:>10.1f}{one.seconds:>10.1f}"
            f"{one.bytes_share:>9.1%}{one.freshness:>8.1%}   {paper}"
        )
    click.echo(
        f"of the pages that PDFC sends, {result.direct:.1f} change at every visit (paper: {PAPER_DIRECT:.0f}) and "
        f"{result.by_frequency:.1f} were found changed (paper: {PAPER_BY_FREQUENCY:.0f})"
    )
    click.echo(f"pages compress to {result.compression:.0%} (paper: {PAPER_COMPRESSION:.0%} at best, 35% by its loads)")
    measured = " and ".join(f"{value:.0f} kHz" for value in PAPER_KHZ.values())
    click.echo(f"the paper's bandwidth meter showed {measured}, which does not follow from its other figures")
    _show_estimator(result.estimator)


def _show_estimator(phase: EstimatorPhase) -> None:
    click.echo("then F decides which pages are asked for")
    click.echo(f"  {'F in days':<14}{'pages':>8}{'requests per page and day':>28}")
    days = max(sum(group.page_days for group in phase.groups) / 100, 1)
    for group in phase.groups:
        click.echo(f"  {group.label:<14}{group.page_days / days:>8.1f}{group.per_page_day:>28.2f}")
    click.echo(f"  {phase.requests:.1f} requests a day instead of 100; {phase.sent:.1f} pages sent")
    click.echo(f"  {phase.listed:.1f} pages in the old database file; {phase.analysed:.1f} analysed")
    click.echo(f"  {phase.freshness:.0%} of the copies are current")
    click.echo(f"  production with outposts and paper-pdfc: {phase.production_requests:.1f} requests a day")


@click.command("sitemap")
@plot_option
@json_option
@common_options
def sitemap_command(plot: Path | None, as_json: bool) -> int:
    """Visit the 13 pages of "Increasing the efficiency of crawler using customized sitemap" twice.

    \b
    evercrawl lab sitemap
    evercrawl lab sitemap --json --plot sitemap.svg

    Between the visits three pages change and one is added. The production crawler runs in virtual time on the
    paper's site, with the download times of the paper's tables. As in the paper, only page downloads count, and the
    policy is paper-sitemap. For comparison: an ordinary sitemap, ETags without a sitemap, and the default policy, which
    trusts a sitemap only once it has proved right. The exit code is 1 if sums, pages or tables differ from the paper's.
    """
    from research.papers.sitemap import run_sitemap

    result = run_sitemap()
    if plot is not None:
        from research.papers.sitemap_chart import draw_sitemap

        _write_chart(plot, draw_sitemap(result.seconds))
    return _report("lab-sitemap", result, as_json=as_json, fields=_sitemap_fields, show=_show_sitemap)


def _sitemap_fields(result: SitemapExperiment) -> dict[str, object]:
    from research.papers.sitemap import SMALL_MS, TOLERANCE_MS

    return {
        "matches": result.matches,
        "tolerance_ms": TOLERANCE_MS,
        "small_ms": SMALL_MS,
        "first_pages": len(result.tables[0]),
        "saved_ms": result.saved_ms,
        "variants": [one._asdict() | {"downloads": len(one.downloaded)} for one in result.seconds],
    } | {
        f"table_{number}": [
            {name: value for name, value in row._asdict().items() if value is not None} for row in table
        ]
        for number, table in enumerate(result.tables, start=1)
    }


def _show_sitemap(result: SitemapExperiment) -> None:
    from research.papers.sitemap import PAPER_SAVED_MS

    for title, table in zip(SITEMAP_TABLES, result.tables, strict=True):
        click.echo(f"{title} (paper | evercrawl)")
        for row in table:
            click.echo("  " + _sitemap_row(row))
    click.echo("Second visit")
    click.echo(f"  {'':<52}{'pages':>9}{'requests':>10}{'ms':>7}{'paper':>7}{'all ms':>8}")
    for one in result.seconds:
        pages = f"{len(one.downloaded)} of {one.pages}"
        paper = "" if one.paper_ms is None else f"{one.paper_ms:,}"
        click.echo(f"  {one.label:<52}{pages:>9}{one.requests:>10}{one.ms:>7,}{paper:>7}{one.counted_ms:>8,}")
    click.echo(
        "ms: page downloads, as the paper counts; all ms: plus every other request at the time of the fastest page"
    )
    click.echo(f"the extended sitemap saves {result.saved_ms:,} ms (paper: {PAPER_SAVED_MS:,})")
    click.echo("the results match the paper" if result.matches else "the results DO NOT match the paper")


def _sitemap_row(row: TableRow) -> str:
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


@click.command("d10")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the web.")
@click.option(
    "--scale",
    type=click.FloatRange(0.001, 1.0),
    default=0.05,
    show_default=True,
    help="1: all 176,804 pages, most of an hour. Below, pages, hosts, connections and bandwidth shrink alike.",
)
@json_option
@common_options
def d10_command(seed: int, scale: float, as_json: bool) -> int:
    """Crawl with 200 connections, 5 look-ups, depth 15 and 35 s between requests to a host: one node, then two.

    \b
    evercrawl lab d10
    evercrawl lab d10 --scale 1 --json

    Reruns the crawl of "Semantic Web Crawler using Early Detection and Sentimental Analysis" (176,804 pages, 6.16 GB
    over 8 Mbit/s in 2 hours; in 3.25 hours with two nodes) with the production engine and cluster code in virtual
    time, on a generated web of many hosts. The exit code is 1 if it takes longer than in the paper, if a host gets
    requests too soon, or if a second node with its own line is not at least 1.5 times as fast.
    """
    from research.papers.d10 import run_d10

    result = run_d10(seed=seed, scale=scale)
    return _report("lab-d10", result, as_json=as_json, fields=_d10_fields, show=_show_d10)


def _d10_fields(result: D10Experiment) -> dict[str, object]:
    return {
        "matches": result.matches,
        "scale": result.scale,
        "hosts": result.hosts,
        "pages_there": result.pages_there,
        "gain": round(result.gain, 3),
        "runs": [
            run._asdict() | {"gigabytes": round(run.gigabytes, 4), "hours": round(run.hours, 3)} for run in result.runs
        ],
    }


def _show_d10(result: D10Experiment) -> None:
    click.echo(f"{'':<22}{'pages':>10}{'GB':>8}{'hours':>8}{'pages/s':>9}   paper")
    for run in result.runs:
        paper = "" if run.paper_hours is None else f"{run.paper_hours:g} hours"
        rate = run.pages / run.hours / 3600
        click.echo(f"{run.name:<22}{run.pages:>10,}{run.gigabytes:>8.2f}{run.hours:>8.2f}{rate:>9.2f}   {paper}")
    click.echo(
        f"scale {result.scale:g}: {result.hosts:,} hosts with {result.pages_there:,} pages; two nodes with a line each"
        f" are {result.gain:.2f} times as fast as one"
    )


def _report(
    kind: str,
    result: Result,
    *,
    as_json: bool,
    fields: Callable[[Result], dict[str, object]],
    show: Callable[[Result], None],
) -> int:
    """Print the result as text or JSON; return exit code 1 if it does not match the paper."""
    if as_json:
        emit_json(kind, fields(result))
    else:
        show(result)
    return ExitCode.OK if result.matches else ExitCode.ERROR


def _write_chart(path: Path, svg: str) -> None:
    try:
        path.write_text(svg, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write the chart to {path}: {error.strerror}") from None


COMMANDS = {"pdfc": pdfc_command, "sitemap": sitemap_command, "d10": d10_command}
