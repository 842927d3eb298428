"""`evercrawl verify`: every stored version read back and held against its digests."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from evercrawl.cli.counter import live_line
from evercrawl.cli.exit_codes import ExitCode
from evercrawl.cli.output import counted, emit_json, size
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session

if TYPE_CHECKING:
    from evercrawl.collection.exchange.verify import VerifyReport

_MOST_SHOWN = 10


@click.command("verify")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a file, then a summary.")
@common_options
@pass_session
def command(session: Session, as_json: bool) -> int:
    """Prove that every stored version can be read back and is what was stored, archive file by archive file.

    \b
    evercrawl verify
    evercrawl verify --json | jq 'select(.damaged > 0)'

    The exit code is 5 when something is damaged. Nothing is changed.
    """
    with session.open_collection() as collection, live_line(session) as show:
        report = collection.verify(
            on_progress=lambda so_far: show(f"{so_far.versions:,} versions read · {so_far.damaged:,} damaged")
        )
    if as_json:
        _emit(report)
    else:
        _show(report)
    return ExitCode.OK if report.is_sound() else ExitCode.STORE


def _emit(report: VerifyReport) -> None:
    for file in report.files.values():
        fields = asdict(file)
        emit_json("verify-file", {"file": fields.pop("name"), **fields})
    summary = {"files": len(report.files), "versions": report.versions, "damaged": report.damaged}
    emit_json("verify", summary | {"sound": report.is_sound()})


def _show(report: VerifyReport) -> None:
    for file in report.files.values():
        verdict = f"{file.damaged:,} damaged" if file.damaged else "sound"
        click.echo(f"{file.name}  {size(file.bytes):>8}  {counted(file.versions, 'version'):>16}  {verdict}")
        for problem in file.problems[:_MOST_SHOWN]:
            click.echo(f"  {safe_line(problem)}")
    verdict = f"{report.damaged:,} damaged" if report.damaged else "all can be read back"
    click.echo(f"{counted(report.versions, 'version')} in {counted(len(report.files), 'file')}: {verdict}")
