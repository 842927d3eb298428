"""`evercrawl sentiment URL`: how friendly a page is, was, and its site."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from evercrawl.cli.commands.crawl import seed_url
from evercrawl.cli.output import counted, emit_json, moment
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session

if TYPE_CHECKING:
    from evercrawl.model.history import PageSentiment


@click.command("sentiment")
@click.argument("url")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def command(session: Session, url: str, as_json: bool) -> None:
    """Say how friendly a page is, version by version, and the mean of its site, from -1 to 1.

    Scores are made when a version is new, if the analyser is switched on, and only for English.

    \b
    evercrawl config analysis.enabled sentiment
    evercrawl sentiment https://example.org/
    """
    with session.open_collection() as collection:
        found = collection.sentiment(seed_url(url))
    if as_json:
        emit_json("sentiment", asdict(found))
    else:
        _show(found)


def _show(found: PageSentiment) -> None:
    click.echo(safe_line(found.url))
    if not found.versions:
        click.echo("  no score: not in English, or the analyser was off; evercrawl config analysis.enabled sentiment")
    for then in found.versions:
        rests_on = counted(then.sentences, "sentence")
        click.echo(f"  v{then.version:<4} {moment(then.seen_at)}  {then.score:+.3f}  {rests_on}")
    if found.site.score is not None:
        rests_on = counted(found.site.pages, "page")
        click.echo(f"  site {safe_line(found.site.site)}  {found.site.score:+.3f}  {rests_on}")
