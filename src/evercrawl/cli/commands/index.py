"""`evercrawl index`: how the search index stands, and making it anew."""

from __future__ import annotations

from dataclasses import asdict

import click

from evercrawl.cli.output import counted, emit_json, size
from evercrawl.cli.session import Session, common_options, pass_session


@click.group("index", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@click.pass_context
def index_command(ctx: click.Context, as_json: bool) -> None:
    """Show how the search index stands to the collection, or make it anew.

    \b
    evercrawl index
    evercrawl index rebuild

    The index follows a crawl by itself and catches up with every search; it holds nothing that the collection
    has not.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(index_status, as_json=as_json)


@index_command.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def index_status(session: Session, as_json: bool) -> None:
    """Versions indexed and stored, visits that are not indexed yet, bytes on disk."""
    with session.open_collection() as collection:
        state = collection.index_state()
    if as_json:
        emit_json("index", asdict(state))
        return
    click.echo(f"{counted(state.documents, 'version')} of {state.versions:,} indexed, {size(state.bytes)}")
    if state.lag:
        click.echo(f"{counted(state.lag, 'visit')} not looked at yet; the next search does")


@index_command.command("rebuild")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def index_rebuild(session: Session, as_json: bool) -> None:
    """Throw the index and the link graph away and make them anew from what is stored."""
    with session.open_collection() as collection:
        count = collection.rebuild_index()
        state = collection.index_state()
    if as_json:
        emit_json("index", asdict(state) | {"indexed": count})
    else:
        click.echo(f"{counted(count, 'version')} indexed, {size(state.bytes)}")
