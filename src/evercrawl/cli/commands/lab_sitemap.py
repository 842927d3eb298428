"""`evercrawl lab sitemap`: paper C's example, rerun."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evercrawl.cli.context import CliContext, pass_cli
from evercrawl.cli.experiment import draw, json_option, plot_option, present
from evercrawl.cli.options import common_options

if TYPE_CHECKING:
    from research.papers.sitemap import SitemapExperiment, TableRow

TITLES = (
    "Table 1: record of downloaded pages after the first visit",
    "Table 2: extended sitemap on the server",
    "Table 3: pages downloaded again",
    "Table 4: record after the second visit",
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

        draw(plot, drawing(found.seconds))
    return present("lab-sitemap", found, as_json=as_json, fields=_sitemap_fields, show=_show_sitemap)


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
