"""`evercrawl show URL`: the newest stored version of a page, in the form that is asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.commands.crawl import seed_url
from evercrawl.cli.output import emit_json
from evercrawl.cli.safe_text import safe_block, safe_line
from evercrawl.cli.session import Session, common_options, pass_session

if TYPE_CHECKING:
    from evercrawl.model.report import PageView


@click.command("show")
@click.argument("url")
@click.argument("form", default="text", type=click.Choice(["text", "html", "headers", "links", "raw"]))
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
@common_options
@pass_session
def command(session: Session, url: str, form: str, as_json: bool) -> None:
    """Show the newest stored version of a page: its text, html, headers, links, or the raw answer.

    \b
    evercrawl show https://example.org/
    evercrawl show https://example.org/ html > page.html

    On a terminal control characters are removed; html and raw go to a pipe or file byte for byte.
    """
    with session.open_collection() as collection:
        page = collection.show(seed_url(url))
    if as_json:
        emit_json("show", page_fields(page))
    else:
        _FORMS[form](page)


def page_fields(page: PageView) -> dict[str, Any]:
    """The page for programs; the body only as text, its bytes come from the html form."""
    return {
        "url": page.url,
        "status": page.status,
        "fetched_at": page.fetched_at,
        "version": page.version,
        "title": page.title,
        "content_type": page.content_type,
        "headers": page.headers,
        "links": [{"url": link.url, "text": link.text, "nofollow": link.nofollow} for link in page.links],
        "text": page.text,
        "html": page.html,
    }


def _text(page: PageView) -> None:
    click.echo(safe_block(page.text))


def _headers(page: PageView) -> None:
    for name, value in page.headers:
        click.echo(f"{safe_line(name)}: {safe_line(value)}")


def _links(page: PageView) -> None:
    for link in page.links:
        click.echo(f"{safe_line(link.url)}\t{safe_line(link.text)}")


def _bytes(content: bytes) -> None:
    """To a file or pipe as they are; to a terminal without anything that it would obey."""
    if sys.stdout.isatty():
        click.echo(safe_block(content.decode("utf-8", "replace")))
    else:
        sys.stdout.buffer.write(content)


_FORMS: dict[str, Callable[[PageView], None]] = {
    "text": _text,
    "html": lambda page: _bytes(page.html),
    "headers": _headers,
    "links": _links,
    "raw": lambda page: _bytes(page.raw),
}
