"""`evercrawl lab pdfc`: paper B's experiment, rerun."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evercrawl.cli.context import CliContext, pass_cli
from evercrawl.cli.experiment import draw, json_option, plot_option, present
from evercrawl.cli.options import common_options

if TYPE_CHECKING:
    from research.papers.pdfc import Experiment


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

        draw(plot, charts(found))
    return present("lab-pdfc", found, as_json=as_json, fields=_pdfc_fields, show=_show_pdfc)


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
