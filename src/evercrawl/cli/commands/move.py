"""`evercrawl store move`: the state of a collection from files into PostgreSQL, or back."""

from __future__ import annotations

import click

from evercrawl.cli.counter import live_line
from evercrawl.cli.output import emit_json
from evercrawl.cli.session import Session, common_options, pass_session
from evercrawl.errors import ConfigError


@click.command("move")
@click.option("--to", "to", required=True, metavar="DSN|files", help="postgresql://user@host/database, or: files")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def store_move(session: Session, to: str, as_json: bool) -> None:
    """Move the state of the collection into PostgreSQL, or back into its files.

    Every row is copied, read back and compared; only then the collection is switched over and the old place
    cleared. Broken off before, nothing has changed. Nobody may be crawling meanwhile. WARC files stay where
    they are.

    \b
    evercrawl store move --to postgresql://crawler@db.example.org/crawls
    evercrawl store move --to files
    """
    try:
        from evercrawl.cluster.move import move, without_password
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"PostgreSQL needs an extra ({error.name} is missing): pip install 'evercrawl[postgres]'"
        ) from error

    collection = session.require_collection()
    settings = session.configured(collection).settings
    with live_line(session) as show:
        done = move(
            collection,
            settings,
            to,
            on_rows=lambda so_far: show(f"{so_far.shards} shards · {so_far.rows:,} rows copied"),
        )
    where = without_password(to)
    if as_json:
        fields = {"to": where, "shards": done.shards, "rows": done.rows, "by_table": done.by_table}
        emit_json("store-move", fields)
    else:
        click.echo(f"{done.rows:,} rows of {done.shards} shards are now in {where}")
