"""`evercrawl store`: the room that a collection takes."""

from __future__ import annotations

from dataclasses import asdict

import click

from evercrawl.cli.commands.move import store_move as move
from evercrawl.cli.commands.prune import command as prune
from evercrawl.cli.commands.upload import command as upload
from evercrawl.cli.output import emit_json, size
from evercrawl.cli.session import Session, common_options, pass_session


@click.group("store", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Show the space that the collection takes (without more words as `stats` does), and reclaim it.

    \b
    evercrawl store
    evercrawl store vacuum
    evercrawl store prune --keep "daily:30 weekly:12 monthly:*"
    evercrawl store move --to postgresql://crawler@db.example.org/crawls
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(stats, as_json=as_json)


command.add_command(prune)
command.add_command(move)
command.add_command(upload)


@command.command("stats")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def stats(session: Session, as_json: bool) -> None:
    """Bytes by part: state, archive, log and the rest; `free` is what vacuum would give back."""
    with session.open_collection() as collection:
        parts = collection.space()
    total = sum(part.bytes for part in parts)
    if as_json:
        emit_json("store", {"bytes": total, "parts": [asdict(part) for part in parts]})
        return
    for part in parts:
        if part.files:
            free = f"  ({size(part.reclaimable)} free)" if part.reclaimable else ""
            click.echo(f"{part.name:<18} {size(part.bytes):>9}  {part.files:>6,} files{free}")
    click.echo(f"{'in all':<18} {size(total):>9}")


@command.command("vacuum")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def vacuum(session: Session, as_json: bool) -> None:
    """Write the state files anew without gaps; no page, version or record is touched."""
    with session.open_collection() as collection:
        freed = collection.vacuum()
    if as_json:
        emit_json("store-vacuum", {"freed": freed})
    else:
        click.echo(f"{size(max(freed, 0))} freed")
