"""`evercrawl links URL`: what links to a page, what it links to, how important it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import CliContext, pass_cli
from evercrawl.cli.options import CommandGroup, common_options
from evercrawl.cli.terminal import ExitCode, emit_json, plural
from evercrawl.collection.urls import parse_page_url
from evercrawl.errors import ConfigError
from evercrawl.model.sanitize import safe_line

if TYPE_CHECKING:
    from evercrawl.model.links import BadLink, LinkEnd, PageLinks

_ANCHOR_CHARS = 60


@click.command("links")
@click.argument("url")
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
@common_options
@pass_cli
def links_command(cli: CliContext, url: str, as_json: bool) -> None:
    """Show the links of a page, both ways, with their anchor texts.

    \b
    evercrawl links https://example.org/
    evercrawl links https://example.org/ --json | jq .pagerank

    PageRank is the page's share of all importance; hub and authority are Kleinberg's scores.
    """
    with cli.open_collection() as collection:
        found = collection.links(parse_page_url(url))
    if as_json:
        emit_json("links", links_fields(found))
        return
    click.echo(safe_line(found.url))
    if found.pagerank is not None and found.times_average is not None:
        far = "not linked from a seed" if found.clicks is None else f"{plural(found.clicks, 'click')} from one"
        click.echo(f"  PageRank {found.pagerank:.3g}, {found.times_average:.1f} times the average; {far}")
    _show_link_ends("linked from", found.incoming, found.incoming_count)
    _show_link_ends("links to", found.outgoing, len(found.outgoing))


def links_fields(found: PageLinks) -> dict[str, Any]:
    """What scripts rely on, then the rest."""
    return {
        "url": found.url,
        "in": _link_end_fields(found.incoming),
        "out": _link_end_fields(found.outgoing),
        "pagerank": found.pagerank,
        "credit": found.credit,
        "in_count": found.incoming_count,
        "hub": found.hub,
        "authority": found.authority,
        "clicks": found.clicks,
    }


def _link_end_fields(ends: Sequence[LinkEnd]) -> list[dict[str, Any]]:
    return [{"url": end.url, "text": end.text, "nofollow": end.nofollow} for end in ends]


def _show_link_ends(title: str, ends: Sequence[LinkEnd], count: int) -> None:
    click.echo(f"  {title} {plural(count, 'page')}" + (", the first of them:" if count > len(ends) else ""))
    for end in ends:
        text = safe_line(end.text, longest=_ANCHOR_CHARS)
        mark = "  (nofollow)" if end.nofollow else ""
        click.echo(f"    {safe_line(end.url)}  {text}{mark}".rstrip())


@click.group("check", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@click.pass_context
def check_command(ctx: click.Context, as_json: bool) -> int:
    """Check the pages of the collection (without more words their links, as `links` does).

    \b
    evercrawl check links
    evercrawl check orphans

    Links that are dead or lead elsewhere, and pages that nobody links to.
    """
    if ctx.invoked_subcommand is not None:
        return ExitCode.OK
    return int(ctx.invoke(check_links, site=None, only_dead=False, as_json=as_json))


@check_command.command("links")
@click.option("--site", metavar="HOST", help="Only links on the pages of this host or origin.")
@click.option("--dead", "only_dead", is_flag=True, help="Only links that lead nowhere.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_cli
def check_links(cli: CliContext, site: str | None, only_dead: bool, as_json: bool) -> int:
    """List dead links and links to pages that have moved, by the page that they stand on.

    \b
    evercrawl check links
    evercrawl check links --site example.org --dead --json

    Known is what was visited: links out of the scope are not followed, so they are not judged. With dead
    links or loops the exit code is 1.
    """
    from evercrawl.model.links import LinkTrouble

    broken = (LinkTrouble.DEAD, LinkTrouble.LOOP)
    page, count, broken_count = None, 0, 0
    with cli.open_collection() as collection:
        for found in collection.bad_links(site):
            broken_count += found.trouble in broken
            if only_dead and found.trouble not in broken:
                continue
            count += 1
            if as_json:
                emit_json("check-links", bad_link_fields(found))
                continue
            if found.url != page:
                page = found.url
                click.echo(safe_line(page))
            click.echo(f"  {_bad_link_line(found)}")
    cli.note(f"{plural(count, 'link')} to correct, {broken_count:,} of them lead nowhere")
    return ExitCode.ERROR if broken_count else ExitCode.OK


def bad_link_fields(found: BadLink) -> dict[str, Any]:
    """A bad link for programs."""
    return {
        "url": found.url,
        "target": found.target,
        "text": found.text,
        "problem": found.trouble.value,
        "status": found.status,
        "reason": found.reason,
        "chain": list(found.chain),
    }


def _bad_link_line(found: BadLink) -> str:
    text = safe_line(found.text, longest=_ANCHOR_CHARS)
    cause = f"status {found.status}" if found.status and found.status >= 400 else found.reason or ""
    way = " -> ".join(safe_line(url) for url in found.chain)
    said = f"{found.trouble.value:<8} {safe_line(found.target)}" + (f" -> {way}" if way else "")
    return said + (f" ({cause})" if found.trouble.value == "dead" else "") + (f'  "{text}"' if text else "")


@check_command.command("orphans")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_cli
def check_orphans(cli: CliContext, as_json: bool) -> None:
    """List known pages that no page of the collection links to, such as those that only a sitemap names."""
    with cli.open_collection() as collection:
        for url in collection.orphans():
            if as_json:
                emit_json("check-orphans", {"url": url})
            else:
                click.echo(safe_line(url))


_OUTPUT_FILE = click.Path(path_type=Path, dir_okay=False)
SCORES = {"pagerank": "ranks", "hubs": "hubs", "authorities": "authorities"}


@click.group("graph", cls=CommandGroup, invoke_without_command=True)
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
@pass_cli
def graph_stats(cli: CliContext, as_json: bool) -> None:
    """Pages, links, orphans, and how many clicks the pages are from a seed."""
    with cli.open_collection() as collection:
        found = collection.graph()
    if as_json:
        emit_json("graph", asdict(found))
        return
    click.echo(f"{plural(found.pages, 'page')}, {plural(found.links, 'link')}")
    click.echo(f"{plural(found.orphans, 'orphan')}; no way leads to {plural(found.unreached, 'page')}")
    for clicks, pages in enumerate(found.by_depth):
        click.echo(f"  {clicks:>3} clicks  {pages:,}")


@graph_command.command("top")
@click.argument("by", type=click.Choice(list(SCORES)), default="pagerank")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Most pages.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_cli
def graph_top(cli: CliContext, by: str, limit: int, as_json: bool) -> None:
    """List the most important pages, the best hubs or the best authorities."""
    with cli.open_collection() as collection:
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
@pass_cli
def graph_export(cli: CliContext, form: str, to: Path, force: bool) -> None:
    """Write pages and links with their scores: one GraphML file, or two of Parquet (.pages and .links)."""
    with cli.open_collection() as collection:
        counts = collection.export_graph(form, to, force=force)
    cli.note(f"{plural(counts['pages'], 'page')} and {plural(counts['links'], 'link')} written")


@graph_command.command("draw")
@click.option("--site", metavar="HOST", help="Only this host or origin.")
@click.option("--to", type=_OUTPUT_FILE, metavar="FILE", help="Where to; else stdout.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@common_options
@pass_cli
def graph_draw(cli: CliContext, site: str | None, to: Path | None, force: bool) -> None:
    """Draw the structure of the collection, or of one site, as SVG.

    Folders are opened as far as the picture can be read; what is not shown is summed up.
    """
    if to is not None and to.exists() and not force:
        raise ConfigError(f"{to} exists already; write it anew with --force")
    with cli.open_collection() as collection:
        picture = collection.draw_graph(site)
    if to is None:
        click.echo(picture, nl=False)
    else:
        to.write_text(picture, "utf-8")


@graph_command.command("rebuild")
@common_options
@pass_cli
def graph_rebuild(cli: CliContext) -> None:
    """Make the link graph anew from what is stored, with PageRank and anchor texts."""
    with cli.open_collection() as collection:
        collection.rebuild_graph()
