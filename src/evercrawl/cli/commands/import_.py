"""`evercrawl import FORM FILE...`: a collection with history out of existing archives."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evercrawl.cli.counter import live_line
from evercrawl.cli.output import counted, emit_json
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session

if TYPE_CHECKING:
    from evercrawl.collection.exchange.into_shard import ImportReport

_MAX_DAMAGE = 10
_LEFT_OUT = {
    "already": "were there already",
    "older": "are older than what the collection has of their page: take older archives in first",
    "ignored": "are no answer to a GET of a page on the web",
    "unresolved": "repeat content that is neither in these files nor in the collection",
    "damaged": "are damaged",
}


@click.command("import")
@click.argument("form", type=click.Choice(["warc", "wacz"]), metavar="FORM")
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
@click.option("--json", "as_json", is_flag=True, help="Print what was taken in as JSON.")
@common_options
@pass_session
def import_command(session: Session, form: str, files: tuple[Path, ...], as_json: bool) -> None:
    """Take in WARC or WACZ files: every answer in them becomes a visit at its time.

    \b
    evercrawl -C old.evercrawl import warc crawl-*.warc.gz
    evercrawl import wacz site.wacz

    The collection is the one that -C names or that is found here, and is made if there is none. The records
    are copied into its archive. Importing a file again changes nothing. No link is followed, nothing is
    requested.
    """
    from evercrawl.collection import library

    path = _import_collection(session, files[0])
    with library.open(path, create=True) as found:
        collection = library.Collection(found.path, session.configured(path).settings)
        with live_line(session) as show:
            report = collection.import_(form, files, on_progress=lambda so_far: show(_import_progress(so_far)))
    if as_json:
        emit_json("import", {"collection": str(path), **asdict(report)})
    else:
        _report_import(session, path, report)


def _import_collection(session: Session, first: Path) -> Path:
    """The collection that is named or found; otherwise a new one here, named after the first file."""
    found = session.named_collection() or session.find_collection()
    if found is not None:
        return found
    from evercrawl.config.place import FOLDER_ENDING

    return Path(first.name.partition(".")[0] + FOLDER_ENDING)


def _import_progress(report: ImportReport) -> str:
    done = report.versions + report.unchanged + report.already
    return f"{report.records:,} records found · {done:,} taken in · {report.versions:,} versions"


def _report_import(session: Session, path: Path, report: ImportReport) -> None:
    session.note(
        f"{counted(report.versions, 'version')} and {counted(report.unchanged, 'other visit')} of"
        f" {counted(report.records, 'record')}, {counted(report.new_pages, 'new page')}, in {path}"
    )
    for name, words in _LEFT_OUT.items():
        if number := getattr(report, name):
            session.note(f"  {number:,} {words}")
    for problem in report.damage[:_MAX_DAMAGE]:
        session.note(f"  damaged: {safe_line(problem)}")
