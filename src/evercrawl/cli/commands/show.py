"""`evercrawl show URL[@TIME]`: a stored version of a page, in the form that is asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.output import emit_json
from evercrawl.cli.safe_text import safe_block, safe_line
from evercrawl.cli.session import Session, common_options, pass_session

if TYPE_CHECKING:
    from evercrawl.model.report import PageContent

FORMS = ("text", "html", "headers", "links", "analysis", "raw")


@click.command("show")
@click.argument("url", metavar="URL[@TIME]")
@click.argument("form", required=False, type=click.Choice(FORMS))
@click.option("--text", "flag", flag_value="text", help="The main text (the default).")
@click.option("--html", "flag", flag_value="html", help="The decoded body as the server sent it.")
@click.option("--headers", "flag", flag_value="headers", help="The header fields of the answer.")
@click.option("--links", "flag", flag_value="links", help="The links with their anchor texts.")
@click.option("--analysis", "flag", flag_value="analysis", help="What analysers said about this version.")
@click.option("--raw", "flag", flag_value="raw", help="The answer as it lies in the archive: head and body.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
@common_options
@pass_session
def command(session: Session, url: str, form: str | None, flag: str | None, as_json: bool) -> None:
    """Show a stored version of a page, the newest unless TIME names another.

    TIME is a moment (7d, yesterday, 2026-11-01: the version that the page had then), a place from the end
    (-1: the one before the newest) or a number (v3).

    \b
    evercrawl show https://example.org/
    evercrawl show https://example.org/@-1
    evercrawl show https://example.org/@2026-11-01 --html > page.html

    On a terminal control characters are removed; html and raw go to a pipe or file byte for byte.
    """
    with session.open_collection() as collection:
        page = collection.show(url if "://" in url else f"https://{url}")
    if as_json:
        emit_json("show", page_fields(page))
    else:
        _FORMS[flag or form or "text"](page)


def page_fields(page: PageContent) -> dict[str, Any]:
    """The page for programs; the body only as text, its bytes come from the html form."""
    return {
        "url": page.url,
        "status": page.status,
        "fetched_at": page.fetched_at,
        "version": page.version,
        "title": page.title,
        "author": page.author,
        "published": page.published,
        "modified": page.modified,
        "content_type": page.content_type,
        "analysis": dict(page.analysis),
        "headers": page.headers,
        "links": [{"url": link.url, "text": link.text, "nofollow": link.nofollow} for link in page.links],
        "text": page.text,
        "html": page.html,
    }


def _text(page: PageContent) -> None:
    click.echo(safe_block(page.text))


def _headers(page: PageContent) -> None:
    for name, value in page.headers:
        click.echo(f"{safe_line(name)}: {safe_line(value)}")


def _links(page: PageContent) -> None:
    for link in page.links:
        click.echo(f"{safe_line(link.url)}\t{safe_line(link.text)}")


def _analysis(page: PageContent) -> None:
    for name, value in page.analysis.items():
        click.echo(f"{safe_line(name)}: {safe_line(str(value))}")


def _bytes(content: bytes) -> None:
    """To a file or pipe as they are; to a terminal without anything that it would obey."""
    if sys.stdout.isatty():
        click.echo(safe_block(content.decode("utf-8", "replace")))
    else:
        sys.stdout.buffer.write(content)


_FORMS: dict[str, Callable[[PageContent], None]] = {
    "text": _text,
    "html": lambda page: _bytes(page.html),
    "headers": _headers,
    "links": _links,
    "analysis": _analysis,
    "raw": lambda page: _bytes(page.raw),
}
