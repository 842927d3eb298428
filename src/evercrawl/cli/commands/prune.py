"""`evercrawl store prune`: versions that a retention rule does not keep leave the collection."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from evercrawl.cli.output import counted, emit_json, size
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session

if TYPE_CHECKING:
    from evercrawl.model.history import PruneReport


@click.command("prune")
@click.option(
    "--keep", "rule", required=True, metavar="RULE",
    help="What stays: latest:N, hourly:N, daily:N, weekly:N, monthly:N, yearly:N, each with a number or *.",
)  # fmt: skip
@click.option("--yes", is_flag=True, help="Delete. Without it only what would go is shown.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def command(session: Session, rule: str, yes: bool, as_json: bool) -> None:
    """Delete versions that RULE does not keep; the newest version of a page always stays.

    daily:30 keeps the last version of each of the newest 30 days that have one; several parts add up.
    Texts and archive records go with their versions; a record whose bytes a kept version shares stays.

    \b
    evercrawl store prune --keep "daily:30 weekly:12 monthly:*"
    evercrawl store prune --keep "daily:30 weekly:12 monthly:*" --yes
    """
    with session.open_collection() as collection:
        report = collection.prune(rule, do=yes)
    if as_json:
        emit_json("prune", asdict(report))
    else:
        _show(session, report)


def _show(session: Session, report: PruneReport) -> None:
    went = "deleted" if report.done else "would go"
    pages = counted(report.pages, "page")
    click.echo(f"{counted(report.versions, 'version')} of {pages} {went}, {report.versions_kept:,} stay")
    if report.kept_for_others:
        click.echo(f"{counted(report.kept_for_others, 'version')} stay because others share their bytes")
    least = "" if report.done else "at least "
    click.echo(f"{least}{size(report.archive_bytes)} of the archive {went}")
    for name in report.untouched_files:
        session.note(f"{safe_line(name)} is damaged and was left as it is")
    if not report.done and report.versions:
        session.note("nothing was changed; delete them with the same command and --yes")
