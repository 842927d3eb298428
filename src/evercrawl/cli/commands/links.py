"""The commands `links`, `graph` and `credit`: links of a page, links to fix, the link graph, and credit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import CliContext, CommandGroup, common_options, json_lines_option, json_option, with_cli
from evercrawl.cli.terminal import ExitCode, emit_json, plural
from evercrawl.collection.urls import parse_page_url
from evercrawl.errors import ConfigError
from evercrawl.model.sanitize import safe_line

if TYPE_CHECKING:
    from evercrawl.model.listing import BadLink, LinkEnd, PageBalance, PageLinks

_ANCHOR_CHARS = 60


@click.command("links")
@click.argument("url", required=False)
@click.option("--dead", "problem", flag_value="dead", help="List links that lead nowhere.")
@click.option("--broken", "problem", flag_value="broken", help="List dead links, redirects, chains and loops.")
@click.option("--orphans", "problem", flag_value="orphans", help="List pages that no page links to.")
@click.option("--site", metavar="HOST", help="With --dead or --broken: only links on this host or origin.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: one object for a page, else one per line.")
@with_cli
def links_command(cli: CliContext, url: str | None, problem: str | None, site: str | None, as_json: bool) -> int:
    """Show the links to and from a page, or find links to fix.

    \b
    evercrawl links https://example.org/
    evercrawl links https://example.org/ --json | jq .pagerank
    evercrawl links --dead --site example.org
    evercrawl links --orphans

    Only visited pages are checked, so links out of the scope are not. With dead links or loops, the exit
    code is 1. PageRank is the page's share of all importance; hub and authority are Kleinberg's scores.
    """
    if (url is None) == (problem is None):
        raise click.UsageError("give a URL, or one of --dead, --broken and --orphans")
    if problem == "orphans":
        return _list_orphans(cli, as_json=as_json)
    if url is None:
        return _list_bad_links(cli, site, only_dead=problem == "dead", as_json=as_json)
    with cli.open_collection() as collection:
        found = collection.links(parse_page_url(collection.typed_url(url)))
    if as_json:
        emit_json("links", links_fields(found))
    else:
        _show_links(found)
    return ExitCode.OK


def _show_links(found: PageLinks) -> None:
    click.echo(safe_line(found.url))
    if found.pagerank is not None and found.times_average is not None:
        clicks = "not linked" if found.clicks is None else plural(found.clicks, "click")
        scores = f"PageRank {found.pagerank:.3g}, {found.times_average:.1f} times the average"
        click.echo(f"  {scores}; {clicks} from a start URL")
    _show_link_ends("linked from", found.incoming, found.incoming_count)
    _show_link_ends("links to", found.outgoing, len(found.outgoing))


def links_fields(found: PageLinks) -> dict[str, Any]:
    """Return the fields that scripts rely on, then the rest."""
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
    click.echo(f"  {title} {plural(count, 'page')}" + (", the first:" if count > len(ends) else ""))
    for end in ends:
        text = safe_line(end.text, longest=_ANCHOR_CHARS)
        mark = "  (nofollow)" if end.nofollow else ""
        click.echo(f"    {safe_line(end.url)}  {text}{mark}".rstrip())


def _list_bad_links(cli: CliContext, site: str | None, *, only_dead: bool, as_json: bool) -> int:
    """Print links to fix, grouped by the page they are on; return 1 if any is dead."""
    from evercrawl.model.listing import LinkProblem

    dead = (LinkProblem.DEAD, LinkProblem.LOOP)
    page, count, dead_count = None, 0, 0
    with cli.open_collection() as collection:
        for found in collection.bad_links(site):
            dead_count += found.problem in dead
            if only_dead and found.problem not in dead:
                continue
            count += 1
            if as_json:
                emit_json("bad-link", bad_link_fields(found))
                continue
            if found.url != page:
                page = found.url
                click.echo(safe_line(page))
            click.echo(f"  {_bad_link_line(found)}")
    cli.note(f"{plural(count, 'link')} to fix, {dead_count:,} dead")
    return ExitCode.ERROR if dead_count else ExitCode.OK


def bad_link_fields(found: BadLink) -> dict[str, Any]:
    """Return a link to fix for programs."""
    return {
        "url": found.url,
        "target": found.target,
        "text": found.text,
        "problem": found.problem.value,
        "status": found.status,
        "reason": found.reason,
        "chain": list(found.chain),
    }


def _bad_link_line(found: BadLink) -> str:
    text = safe_line(found.text, longest=_ANCHOR_CHARS)
    cause = f"status {found.status}" if found.status and found.status >= 400 else found.reason or ""
    way = " -> ".join(safe_line(url) for url in found.chain)
    line = f"{found.problem.value:<8} {safe_line(found.target)}" + (f" -> {way}" if way else "")
    return line + (f" ({cause})" if found.problem.value == "dead" else "") + (f'  "{text}"' if text else "")


def _list_orphans(cli: CliContext, *, as_json: bool) -> int:
    with cli.open_collection() as collection:
        for url in collection.orphans():
            if as_json:
                emit_json("orphan", {"url": url})
            else:
                click.echo(safe_line(url))
    return ExitCode.OK


_OUTPUT_FILE = click.Path(path_type=Path, dir_okay=False)
SCORES = {"pagerank": "ranks", "hubs": "hubs", "authorities": "authorities"}


@click.group("graph", cls=CommandGroup, invoke_without_command=True)
@json_option
@common_options
@click.pass_context
def graph_command(ctx: click.Context, as_json: bool) -> None:
    """Summarise, export or draw the link graph.

    \b
    evercrawl graph
    evercrawl graph top hubs
    evercrawl graph draw --to site.svg
    evercrawl graph export graphml --to links.graphml
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(graph_stats, as_json=as_json)


@graph_command.command("stats")
@json_option
@with_cli
def graph_stats(cli: CliContext, as_json: bool) -> None:
    """Show the number of pages, links and orphans, and the clicks from a start URL."""
    with cli.open_collection() as collection:
        found = collection.graph()
    if as_json:
        emit_json("graph", asdict(found))
        return
    click.echo(f"{plural(found.pages, 'page')}, {plural(found.links, 'link')}")
    click.echo(f"{plural(found.orphans, 'orphan')}, {plural(found.unreached, 'page')} not reachable")
    for clicks, pages in enumerate(found.by_depth):
        click.echo(f"  {clicks:>3} clicks  {pages:,}")


@graph_command.command("top")
@click.argument("by", type=click.Choice(list(SCORES)), default="pagerank")
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    metavar="N",
    help="Maximum number of pages.",
)
@json_lines_option
@with_cli
def graph_top(cli: CliContext, by: str, limit: int, as_json: bool) -> None:
    """List the most important pages, the best hubs or the best authorities."""
    with cli.open_collection() as collection:
        pages = collection.top_pages(SCORES[by], limit)
    for rank, (url, score) in enumerate(pages, start=1):
        if as_json:
            emit_json("graph-top", {"rank": rank, "url": url, "score": score})
        else:
            click.echo(f"{rank:>4}  {score:.3g}  {safe_line(url)}")


@graph_command.command("export")
@click.argument("form", type=click.Choice(["graphml", "parquet"]))
@click.option("--to", required=True, type=_OUTPUT_FILE, metavar="FILE", help="Output file.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@json_option
@with_cli
def graph_export(cli: CliContext, form: str, to: Path, force: bool, as_json: bool) -> None:
    """Write pages and links with their scores to one GraphML or two Parquet files."""
    with cli.open_collection() as collection:
        counts = collection.export_graph(form, to, force=force)
    if as_json:
        emit_json("graph-export", {"file": str(to), **counts})
        return
    cli.note(f"{plural(counts['pages'], 'page')} and {plural(counts['links'], 'link')} written")


@graph_command.command("draw")
@click.option("--site", metavar="HOST", help="Draw only this host or origin.")
@click.option("--to", type=_OUTPUT_FILE, metavar="FILE", help="Output file. Default: standard output.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@json_option
@with_cli
def graph_draw(cli: CliContext, site: str | None, to: Path | None, force: bool, as_json: bool) -> None:
    """Draw the collection or one site as SVG; large folders are summed up."""
    if to is not None and to.exists() and not force:
        raise ConfigError(f"{to} exists; use --force to overwrite it")
    with cli.open_collection() as collection:
        picture = collection.draw_graph(site)
    if to is not None:
        to.write_text(picture, "utf-8")
    if as_json:
        emit_json("graph-draw", {"file": None if to is None else str(to), "svg": picture if to is None else None})
    elif to is None:
        click.echo(picture, nl=False)


@graph_command.command("rebuild")
@json_option
@with_cli
def graph_rebuild(cli: CliContext, as_json: bool) -> None:
    """Rebuild the link graph from the collection, with PageRank and anchor texts."""
    with cli.open_collection() as collection:
        collection.rebuild_graph()
        found = collection.graph()
    if as_json:
        emit_json("graph", asdict(found))
        return
    cli.note(f"{plural(found.pages, 'page')}, {plural(found.links, 'link')}")


@click.command("credit")
@click.argument("url", required=False)
@click.option("-n", "--limit", type=click.IntRange(1), default=20, show_default=True, help="Number of pages to list.")
@json_option
@with_cli
def credit_command(cli: CliContext, url: str | None, limit: int, as_json: bool) -> int:
    """Show the credit of a page, or of the richest pages and the Lambda page.

    \b
    evercrawl credit
    evercrawl credit https://example.org/docs/
    evercrawl credit --json | jq .lambda_page

    A visit leaves a page with 0: a tenth goes to the Lambda page, the rest to its links. The history of a
    page is the credit that links have given to it; older credit counts less.
    """
    with cli.open_collection() as collection:
        if url is not None:
            page = collection.page_credit(parse_page_url(collection.typed_url(url)))
            if as_json:
                emit_json("credit", page._asdict())
            else:
                click.echo(safe_line(page.url))
                _show_balance(page)
            return ExitCode.OK
        found = collection.credit(limit=limit)
    if as_json:
        emit_json("credit", found._asdict() | {"richest": [page._asdict() for page in found.richest]})
        return ExitCode.OK
    click.echo(f"order    {found.order}")
    click.echo(f"credit   {found.minted:,.0f}: {found.held:,.0f} held by {plural(found.pages, 'page')}")
    click.echo(f"Lambda   {found.lambda_page:,.0f}; it has paid {found.dividend:,.1f} to each page")
    for page in found.richest:
        state = "queued" if page.is_queued else plural(page.visits, "visit")
        click.echo(f"{page.credit:>12,.1f}  history {page.history:>12,.1f}  {state:<9}  {safe_line(page.url)}")
    return ExitCode.OK


def _show_balance(page: PageBalance) -> None:
    click.echo(f"  credit      {page.credit:,.1f}")
    click.echo(f"  history     {page.history:,.1f}")
    click.echo(f"  importance  {page.importance:.3g} times the average")
