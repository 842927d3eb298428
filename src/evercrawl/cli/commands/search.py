"""The commands `search` and `index`: full-text search and its index."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import CliContext, CommandGroup, common_options, json_option, with_cli
from evercrawl.cli.terminal import emit_json, format_size, local_time, plural
from evercrawl.errors import ConfigError
from evercrawl.model.sanitize import safe_line

if TYPE_CHECKING:
    from rich.text import Text

    from evercrawl.model.search import Hit, SearchResults

_TITLE_CHARS = 100
SLOW_LAG = 2000  # With more visits to index, the search says that it takes a moment.


@click.command("search")
@click.argument("words", nargs=-1, metavar="QUERY...")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=10, show_default=True, metavar="N", help="Maximum number of hits."
)
@click.option("--as-of", metavar="TIME", help="Search the collection as it was then. Also as-of:TIME in the query.")
@click.option(
    "--in", "sources", multiple=True, metavar="DIR|URL",
    help="Search this collection instead, a folder or a served one. Repeatable.",
)  # fmt: skip
@click.option("--timeout", type=click.FloatRange(0.1, 600), metavar="SECONDS", help="Maximum wait for each --in.")
@click.option("--rebuild", is_flag=True, help="Rebuild the index first.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line, best hit first.")
@with_cli
def search_command(cli: CliContext, /, words: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Search pages by text, title, URL and the text of links to them.

    \b
    evercrawl search crash safety                pages with both words, in any form
    evercrawl search '"crash safety" -windows'   the exact phrase, without a word
    evercrawl search 'site:docs.example.org changed:>7d release'
    evercrawl search 'lang:de title:Handbuch'
    evercrawl search 'price as-of:2026-05'       as of the end of May
    evercrawl search cats --in ./a.evercrawl --in https://archive.example.org

    Also: word OR word, url:word, sentiment:pos|neg|neutral, changed:2026-05, changed:<2026-01-01.
    Pages that are gone are marked. Near-duplicates are listed once.
    """
    found = _run_search(cli, " ".join(words), **options)
    for trouble in found.source_errors:
        cli.note(f"! {safe_line(trouble.source)}: {safe_line(trouble.problem)}")
    if as_json:
        for hit in found.hits:
            emit_json("search", hit_fields(hit))
    else:
        _show_hits(cli, found)
    if found.source_errors and not found.hits:
        raise ConfigError(f"no result: {plural(len(found.source_errors), 'collection')} did not answer")


def _run_search(
    cli: CliContext,
    text: str,
    *,
    limit: int,
    as_of: str | None,
    sources: tuple[str, ...],
    timeout: float | None,
    rebuild: bool,
) -> SearchResults:
    from evercrawl.model.time import parse_time

    at = None if as_of is None else parse_time(as_of, now=datetime.now(UTC).astimezone(), at_end=True)
    if sources:
        from evercrawl.collection.search import search_collections

        settings = cli.load_settings(cli.find_collection()).settings
        timeout_s = timeout or settings.search.source_timeout.total_seconds()
        return search_collections(sources, text, limit=limit, timeout_s=timeout_s, as_of=at, http=settings.http)
    with cli.open_collection() as collection:
        if rebuild:
            count = collection.rebuild_index()
            cli.note(f"index rebuilt: {plural(count, 'version')}")
        elif collection.index_state().lag > SLOW_LAG:
            cli.note("indexing new visits; this takes a moment")
        return collection.search(text, limit=limit, as_of=at)


def hit_fields(hit: Hit) -> dict[str, Any]:
    """Return the fields that scripts rely on, then the rest."""
    fields = {
        "rank": hit.rank,
        "url": hit.url,
        "title": hit.title,
        "snippet": hit.snippet_text,
        "score": hit.score,
        "version": hit.version,
        "fetched_at": hit.fetched_at,
        "lang": hit.lang,
        "gone": hit.is_gone,
        "near_duplicates": hit.near_duplicates,
        "marks": _highlights(hit),
    }
    if hit.sentiment is not None:
        fields["sentiment"] = hit.sentiment
    return fields | ({} if hit.source is None else {"source": hit.source})


def _highlights(hit: Hit) -> list[tuple[int, int]]:
    """Return start and end of each query word in the snippet, in characters."""
    marks, at = [], 0
    for span in hit.snippet:
        if span.is_hit:
            marks.append((at, at + len(span.text)))
        at += len(span.text)
    return marks


def _show_hits(cli: CliContext, found: SearchResults) -> None:
    from rich.padding import Padding
    from rich.text import Text

    for hit in found.hits:
        head = Text(f"{hit.rank:>2}. ")
        head.append(safe_line(hit.title or hit.url, longest=_TITLE_CHARS), style="bold")
        if hit.is_gone:
            head.append("  [gone]", style="red")
        cli.out.print(head, soft_wrap=True)
        cli.out.print(Text(f"    {safe_line(hit.url)}", style="cyan"), soft_wrap=True)
        cli.out.print(Padding(_snippet(hit), (0, 0, 0, 4)))
        cli.out.print(Text(f"    {_hit_footer(hit)}", style="dim"))
    if not found.hits:
        cli.note("no results")
    else:
        more = ", with most of the words" if found.is_partial else ""
        cli.note(f"{plural(found.total, 'matching version')}{more}; {found.took_ms:.0f} ms")
    if found.lag:
        cli.note(f"{plural(found.lag, 'visit')} of the running crawl not indexed yet")


def _snippet(hit: Hit) -> Text:
    from rich.text import Text

    line = Text()
    for span in hit.snippet:
        line.append(safe_line(span.text), style="bold yellow" if span.is_hit else "")
    return line


def _hit_footer(hit: Hit) -> str:
    parts = [f"v{hit.version}, {local_time(hit.fetched_at)}"]
    if hit.near_duplicates:
        parts.append(plural(hit.near_duplicates, "near-duplicate"))
    if hit.sentiment is not None:
        parts.append(f"sentiment {hit.sentiment:+.2f}")
    if hit.source is not None:
        parts.append(f"in {safe_line(hit.source)}")
    return " · ".join(parts)


@click.group("index", cls=CommandGroup, invoke_without_command=True)
@json_option
@common_options
@click.pass_context
def index_command(ctx: click.Context, as_json: bool) -> None:
    """Show or rebuild the search index.

    \b
    evercrawl index
    evercrawl index rebuild

    Crawls and searches keep the index up to date. It can always be rebuilt from the collection.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(index_status, as_json=as_json)


@index_command.command("status")
@json_option
@with_cli
def index_status(cli: CliContext, as_json: bool) -> None:
    """Show how many versions are indexed, how many visits are not, and the size on disk."""
    with cli.open_collection() as collection:
        state = collection.index_state()
    if as_json:
        emit_json("index", asdict(state))
        return
    click.echo(f"{plural(state.documents, 'version')} of {state.versions:,} indexed, {format_size(state.bytes)}")
    if state.lag:
        click.echo(f"{plural(state.lag, 'visit')} not indexed yet; the next search will do it")


@index_command.command("rebuild")
@json_option
@with_cli
def index_rebuild(cli: CliContext, as_json: bool) -> None:
    """Delete the index and the link graph, and rebuild them from the collection."""
    with cli.open_collection() as collection:
        count = collection.rebuild_index()
        state = collection.index_state()
    if as_json:
        emit_json("index", asdict(state) | {"indexed": count})
    else:
        click.echo(f"{plural(count, 'version')} indexed, {format_size(state.bytes)}")
