"""`evercrawl lab d10`: paper D's run, rerun on one node and on two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evercrawl.cli.context import CliContext, pass_cli
from evercrawl.cli.experiment import json_option, present
from evercrawl.cli.options import common_options
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from research.papers.d10 import D10Experiment


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
    return present("lab-d10", found, as_json=as_json, fields=_d10_fields, show=_show_d10)


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
