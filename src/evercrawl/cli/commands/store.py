"""The command `store`: disk use, pruning, moving and uploading."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from evercrawl.cli.context import CliContext, pass_cli
from evercrawl.cli.options import CommandGroup, common_options, json_option
from evercrawl.cli.terminal import emit_json, format_size, live_line, plural
from evercrawl.model.sanitize import safe_line

if TYPE_CHECKING:
    from evercrawl.model.history import PruneReport


@click.group("store", cls=CommandGroup, invoke_without_command=True)
@json_option
@common_options
@click.pass_context
def store_command(ctx: click.Context, as_json: bool) -> None:
    """Show disk use; prune, compact, move or upload data.

    \b
    evercrawl store
    evercrawl store vacuum
    evercrawl store prune --keep "daily:30 weekly:12 monthly:*"
    evercrawl store move --to postgresql://crawler@db.example.org/crawls
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(store_stats, as_json=as_json)


@store_command.command("stats")
@json_option
@common_options
@pass_cli
def store_stats(cli: CliContext, as_json: bool) -> None:
    """Show the disk use of state, archive, logs and the rest; vacuum frees what is free."""
    with cli.open_collection() as collection:
        parts = collection.disk_usage()
    total = sum(part.bytes for part in parts)
    if as_json:
        emit_json("store", {"bytes": total, "parts": [asdict(part) for part in parts]})
        return
    for part in parts:
        if part.files:
            free = f"  ({format_size(part.reclaimable)} free)" if part.reclaimable else ""
            click.echo(f"{part.name:<18} {format_size(part.bytes):>9}  {part.files:>6,} files{free}")
    click.echo(f"{'total':<18} {format_size(total):>9}")


@store_command.command("vacuum")
@json_option
@common_options
@pass_cli
def store_vacuum(cli: CliContext, as_json: bool) -> None:
    """Compact the state files. No page, version or record changes."""
    with cli.open_collection() as collection:
        freed = collection.vacuum()
    if as_json:
        emit_json("store-vacuum", {"freed": freed})
    else:
        click.echo(f"{format_size(max(freed, 0))} freed")


@store_command.command("move")
@click.option("--to", "to", required=True, metavar="DSN|files", help="postgresql://user@host/database, or: files")
@json_option
@common_options
@pass_cli
def store_move(cli: CliContext, to: str, as_json: bool) -> None:
    """Move the state of the collection to PostgreSQL, or back to files.

    Every row is copied, read back and compared before the collection switches over and the old rows are
    deleted. If you interrupt it before, nothing has changed. Stop crawls first. WARC files stay where they are.

    \b
    evercrawl store move --to postgresql://crawler@db.example.org/crawls
    evercrawl store move --to files
    """
    from evercrawl.collection.maintenance import move_state

    collection = cli.require_collection()
    settings = cli.load_settings(collection).settings
    with live_line(cli) as show:
        done, where = move_state(
            collection,
            settings,
            to,
            on_progress=lambda so_far: show(f"{so_far.shards} shards · {so_far.rows:,} rows copied"),
        )
    if as_json:
        fields = {"to": where, "shards": done.shards, "rows": done.rows, "by_table": done.by_table}
        emit_json("store-move", fields)
    else:
        click.echo(f"moved {done.rows:,} rows of {done.shards} shards to {where}")


@store_command.command("prune")
@click.option(
    "--keep", "rule", required=True, metavar="RULE",
    help="Versions to keep: latest:N, hourly:N, daily:N, weekly:N, monthly:N, yearly:N; * keeps all.",
)  # fmt: skip
@click.option("--yes", is_flag=True, help="Delete. Without it, only show what would be deleted.")
@json_option
@common_options
@pass_cli
def store_prune(cli: CliContext, rule: str, yes: bool, as_json: bool) -> None:
    """Delete versions that RULE does not keep. The newest version of a page always stays.

    daily:30 keeps the last version of each of the newest 30 days with a version; several parts add up. Texts and
    archive records are deleted with their versions, unless another version shares them.

    \b
    evercrawl store prune --keep "daily:30 weekly:12 monthly:*"
    evercrawl store prune --keep "daily:30 weekly:12 monthly:*" --yes
    """
    with cli.open_collection() as collection:
        report = collection.prune(rule, apply=yes)
    if as_json:
        emit_json("prune", asdict(report))
    else:
        _show_pruned(cli, report)


def _show_pruned(cli: CliContext, report: PruneReport) -> None:
    deleted = "deleted" if report.done else "to delete"
    pages = plural(report.pages, "page")
    click.echo(f"{plural(report.versions, 'version')} of {pages} {deleted}, {report.versions_kept:,} kept")
    if report.shared_versions:
        click.echo(f"{plural(report.shared_versions, 'version')} kept because others share their records")
    at_least = "" if report.done else "at least "
    click.echo(f"{at_least}{format_size(report.archive_bytes)} of the archive {deleted}")
    for name in report.damaged_files:
        cli.note(f"{safe_line(name)} is damaged and was not changed")
    if not report.done and report.versions:
        cli.note("nothing deleted yet; run the same command with --yes to delete")


@store_command.command("upload")
@json_option
@common_options
@pass_cli
def store_upload(cli: CliContext, as_json: bool) -> None:
    """Upload archive files to the object storage of `archive.url`.

    A crawl uploads its files itself. Use this after a failed upload, or for files from before `archive.url` was
    set. A crawl may run at the same time.

    \b
    evercrawl config set archive.url "s3://bucket/prefix?endpoint=https://s3.example.org"
    evercrawl store upload --json
    """
    from evercrawl.collection.maintenance import upload_archive

    collection = cli.require_collection()
    settings = cli.load_settings(collection).settings.archive
    with live_line(cli) as show:
        done = upload_archive(
            collection, settings, on_file=lambda so_far: show(f"{so_far.files} files · {format_size(so_far.bytes)}")
        )
    if as_json:
        emit_json("store-upload", {"files": done.files, "bytes": done.bytes, "busy": done.busy})
    else:
        left = f"; {plural(done.busy, 'file')} still being written" if done.busy else ""
        click.echo(f"{plural(done.files, 'file')} uploaded, {format_size(done.bytes)}{left}")
