"""`evercrawl graph`: the link graph in numbers, as files and as a picture."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from evercrawl.cli.output import counted, emit_json
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session
from evercrawl.errors import ConfigError

_OUTPUT_FILE = click.Path(path_type=Path, dir_okay=False)
SCORES = {"pagerank": "ranks", "hubs": "hubs", "authorities": "authorities"}


@click.group("graph", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@click.pass_context
def graph_command(ctx: click.Context, as_json: bool) -> None:
    """Show the link graph in numbers (without more words as `stats` does), take it out or draw it.

    \b
    evercrawl graph
    evercrawl graph top hubs
    evercrawl graph draw --to site.svg
    evercrawl graph export graphml --to links.graphml
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(graph_stats, as_json=as_json)


@graph_command.command("stats")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def graph_stats(session: Session, as_json: bool) -> None:
    """Pages, links, orphans, and how many clicks the pages are from a seed."""
    with session.open_collection() as collection:
        found = collection.graph()
    if as_json:
        emit_json("graph", asdict(found))
        return
    click.echo(f"{counted(found.pages, 'page')}, {counted(found.links, 'link')}")
    click.echo(f"{counted(found.orphans, 'orphan')}; no way leads to {counted(found.unreached, 'page')}")
    for clicks, pages in enumerate(found.by_depth):
        click.echo(f"  {clicks:>3} clicks  {pages:,}")


@graph_command.command("top")
@click.argument("by", type=click.Choice(list(SCORES)), default="pagerank")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Most pages.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_session
def graph_top(session: Session, by: str, limit: int, as_json: bool) -> None:
    """List the most important pages, the best hubs or the best authorities."""
    with session.open_collection() as collection:
        pages = collection.best_pages(SCORES[by], limit)
    for rank, (url, score) in enumerate(pages, start=1):
        if as_json:
            emit_json("graph-top", {"rank": rank, "url": url, "score": score})
        else:
            click.echo(f"{rank:>4}  {score:.3g}  {safe_line(url)}")


@graph_command.command("export")
@click.argument("form", type=click.Choice(["graphml", "parquet"]))
@click.option("--to", required=True, type=_OUTPUT_FILE, metavar="FILE", help="Where to.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@common_options
@pass_session
def graph_export(session: Session, form: str, to: Path, force: bool) -> None:
    """Write pages and links with their scores: one GraphML file, or two of Parquet (.pages and .links)."""
    with session.open_collection() as collection:
        counts = collection.export_graph(form, to, force=force)
    session.note(f"{counted(counts['pages'], 'page')} and {counted(counts['links'], 'link')} written")


@graph_command.command("draw")
@click.option("--site", metavar="HOST", help="Only this host or origin.")
@click.option("--to", type=_OUTPUT_FILE, metavar="FILE", help="Where to; else stdout.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@common_options
@pass_session
def graph_draw(session: Session, site: str | None, to: Path | None, force: bool) -> None:
    """Draw the structure of the collection, or of one site, as SVG.

    Folders are opened as far as the picture can be read; what is not shown is summed up.
    """
    if to is not None and to.exists() and not force:
        raise ConfigError(f"{to} exists already; write it anew with --force")
    with session.open_collection() as collection:
        picture = collection.draw_graph(site)
    if to is None:
        click.echo(picture, nl=False)
    else:
        to.write_text(picture, "utf-8")


@graph_command.command("rebuild")
@common_options
@pass_session
def graph_rebuild(session: Session) -> None:
    """Make the link graph anew from what is stored, with PageRank and anchor texts."""
    with session.open_collection() as collection:
        collection.rebuild_graph()
