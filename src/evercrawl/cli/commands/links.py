"""`evercrawl links URL`: what links to a page, what it links to, how important it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.commands.crawl import seed_url
from evercrawl.cli.output import counted, emit_json
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session

if TYPE_CHECKING:
    from evercrawl.model.links import LinkEnd, PageLinks

_LONGEST_TEXT = 60


@click.command("links")
@click.argument("url")
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
@common_options
@pass_session
def links_command(session: Session, url: str, as_json: bool) -> None:
    """Show the links of a page, both ways, with their anchor texts.

    \b
    evercrawl links https://example.org/
    evercrawl links https://example.org/ --json | jq .pagerank

    PageRank is the page's share of all importance; hub and authority are Kleinberg's scores.
    """
    with session.open_collection() as collection:
        found = collection.links(seed_url(url))
    if as_json:
        emit_json("links", links_fields(found))
        return
    click.echo(safe_line(found.url))
    if found.pagerank is not None and found.times_average is not None:
        far = "not linked from a seed" if found.clicks is None else f"{counted(found.clicks, 'click')} from one"
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
    click.echo(f"  {title} {counted(count, 'page')}" + (", the first of them:" if count > len(ends) else ""))
    for end in ends:
        text = safe_line(end.text, longest=_LONGEST_TEXT)
        mark = "  (nofollow)" if end.nofollow else ""
        click.echo(f"    {safe_line(end.url)}  {text}{mark}".rstrip())
