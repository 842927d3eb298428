"""The commands `store`, `backup`, `restore` and `remove`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evercrawl.cli.context import CliContext, CommandGroup, common_options, json_option, with_cli
from evercrawl.cli.terminal import ExitCode, emit_json, format_size, live_line, plural
from evercrawl.model.sanitize import safe_line

if TYPE_CHECKING:
    from evercrawl.collection.removal import Removal
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
@with_cli
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
@with_cli
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
@with_cli
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
@with_cli
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
@with_cli
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


@click.command("backup")
@click.argument("target", type=click.Path(path_type=Path), metavar="DIR")
@json_option
@with_cli
def backup_command(cli: CliContext, target: Path, as_json: bool) -> None:
    """Copy the collection to DIR, also while a crawl runs. The next backup to DIR copies only what is new.

    Logs, the search index and the link graph are left out; they are rebuilt. DIR is itself a collection, so that you
    can look into it: evercrawl -C DIR status

    \b
    evercrawl backup /mnt/backup/example
    evercrawl backup /mnt/backup/example --json | jq .bytes
    """
    from evercrawl.collection.backup import back_up

    with cli.open_collection() as collection:
        done = back_up(collection.path, collection.settings, target)
    if as_json:
        emit_json("backup", asdict(done))
    else:
        click.echo(f"{plural(done.files, 'file')}, {format_size(done.bytes)}; {format_size(done.copied_bytes)} copied")


@click.command("restore")
@click.argument("source", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR")
@click.option("--yes", is_flag=True, help="Do not ask before an existing collection is replaced.")
@json_option
@with_cli
def restore_command(cli: CliContext, source: Path, yes: bool, as_json: bool) -> None:
    """Restore the backup in DIR as the collection that -C names, by default where it was.

    Every stored version is read back first; a damaged backup changes nothing. A collection that is there is kept
    beside it under another name. What was removed on request since the backup is removed again.

    \b
    evercrawl -C example.org.evercrawl restore /mnt/backup/example
    evercrawl -C example.org.evercrawl restore /mnt/backup/example --yes --json
    """
    from evercrawl.collection.backup import read_manifest, restore

    found = read_manifest(source)
    target = cli.named_collection() or Path(found.source)
    if target.exists() and not yes:
        if not sys.stdin.isatty():
            raise click.UsageError(f"{target} exists; to replace it without a question, add --yes")
        if not click.confirm(f"Replace {target} by the backup of {found.at}?"):
            cli.note("nothing was restored")
            return
    aside, report = restore(source, target)
    if as_json:
        fields = {"collection": str(target), "versions": report.versions, "backup": found.at}
        emit_json("restore", fields | {"old": None if aside is None else str(aside)})
        return
    click.echo(f"restored {target} as of {found.at}: {plural(report.versions, 'version')}, all read back")
    if aside is not None:
        click.echo(f"the collection that was there is now {aside}; delete it when you no longer need it")


@click.command("remove")
@click.argument("kind", type=click.Choice(["page", "version", "site", "list", "undo"]))
@click.argument("name", default="", metavar="[URL|URL@VERSION|SITE]")
@click.option("--request", default="", metavar="TEXT", help="Why, or on whose request; kept in the archive.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@json_option
@with_cli
def remove_command(cli: CliContext, kind: str, name: str, request: str, dry_run: bool, yes: bool, as_json: bool) -> int:
    """Remove a site, a page or a version everywhere, for takedown and privacy requests.

    State, archive records, search index, pending alerts and caches are rewritten. The archive keeps a record that
    something was removed, when and on which request. Exports and backups that you made before are not changed.
    The page or site is not requested again, until you `undo` the removal; that does not restore anything.

    \b
    evercrawl remove page https://example.org/people/ann --dry-run
    evercrawl remove page https://example.org/people/ann --request "ticket 4711"
    evercrawl remove version https://example.org/@v3
    evercrawl remove site https://example.org
    evercrawl remove undo https://example.org
    evercrawl remove list --json
    """
    from evercrawl.collection.removal import allow_again, removals

    if (kind == "list") == bool(name):
        raise click.UsageError("give a URL or a site" if kind != "list" else "list takes no name")
    with cli.open_collection() as collection:
        name = name if kind in ("site", "list") else collection.typed_url(name)
        if kind == "list":
            found = removals(collection.path)
        elif kind == "undo":
            done = allow_again(collection.path, name)
            cli.note(f"{safe_line(name)} " + ("may be requested again" if done else "was not removed"))
            return ExitCode.OK if done else ExitCode.ERROR
        else:
            found = [collection.remove(kind, name)]
            if not as_json:
                _show(found[0])
            if not dry_run and (yes or _confirm()):
                found = [collection.remove(kind, name, request=request, who="command line", apply=True)]
    for one in found:
        if as_json:
            emit_json("removal", asdict(one))
        elif one.state != "preview":
            target = safe_line(one.target) + (f"@v{one.version}" if one.version else "")
            click.echo(f"{one.requested_at}  {one.state:<7} {one.kind:<7} {target}  {safe_line(one.request)}".rstrip())
        for file in one.damaged_files:
            cli.note(f"archive/{safe_line(file)} is damaged and was not searched; repair or delete it")
    return ExitCode.ERROR if any(one.damaged_files for one in found) else ExitCode.OK


def _confirm() -> bool:
    if not sys.stdin.isatty():
        raise click.UsageError("to remove it without a question, add --yes")
    return click.confirm("Remove this for good?")


def _show(plan: Removal) -> None:
    click.echo(f"{plan.kind}: {safe_line(plan.target)}" + (f", version {plan.version}" if plan.version else ""))
    parts = f"{plural(plan.pages, 'page')}, {plural(plan.versions, 'version')}, {plural(plan.resources, 'asset')}"
    click.echo(f"  {parts}, {format_size(plan.archive_bytes)} in the archive")
    if plan.shared_pages:
        click.echo(f"  {plural(plan.shared_pages, 'other page')} with some of the same content keep it")
