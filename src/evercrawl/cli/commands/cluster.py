"""`evercrawl cluster`: the workers of a collection in a database."""

from __future__ import annotations

import click

from evercrawl.cli.output import emit_json, size
from evercrawl.cli.session import Session, common_options, pass_session


@click.group("cluster")
def cluster_command() -> None:
    """Show the workers of a collection that lies in PostgreSQL, and send them home.

    \b
    evercrawl cluster status --json
    evercrawl cluster drain 3f9a
    """


@cluster_command.command("status")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a worker.")
@common_options
@pass_session
def cluster_status(session: Session, as_json: bool) -> None:
    """List the workers that live: where, since when, how many shards, what they have done in this run."""
    from evercrawl.cluster.look import members

    with session.open_collection() as collection:
        found = members(collection.path, collection.settings.store.url)
    for member in found:
        if as_json:
            emit_json("cluster", member._asdict() | {"id": str(member.id)})
            continue
        state = "draining" if member.draining else "resting" if member.quiet else "at work"
        done = f"{member.shards:>5} shards  {member.visits:>9,} visits  {size(member.wire_bytes):>9}"
        place = f"{member.host} ({member.pid}), since {member.began:%Y-%m-%d %H:%M} UTC"
        click.echo(f"{str(member.id)[:8]}  {state:<9} {done}  {place}")
    if not found and not as_json:
        click.echo("nobody works on this collection")


@cluster_command.command("drain")
@click.argument("worker", metavar="ID|all")
@common_options
@pass_session
def cluster_drain(session: Session, worker: str) -> None:
    """Ask workers to finish their requests, save, let go of their shards and end.

    ID is the beginning of a worker's id as `cluster status` shows it.
    """
    from evercrawl.cluster.look import send_home

    with session.open_collection() as collection:
        asked = send_home(collection.path, worker, collection.settings.store.url)
    if not asked:
        raise click.ClickException(f"no worker's id begins with {worker!r}; see: evercrawl cluster status")
    session.note(f"{asked} asked; each ends with its next heartbeat")
