"""`evercrawl export FORM`: pages and versions for other programs."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evercrawl.cli.context import CliContext, pass_cli
from evercrawl.cli.options import common_options
from evercrawl.cli.terminal import ExitCode, emit_json, format_size, live_line, plural
from evercrawl.model.sanitize import safe_line

if TYPE_CHECKING:
    from evercrawl.collection.collection import Selection
    from evercrawl.collection.exchange.export_run import ExportReport
    from evercrawl.collection.exchange.import_shard import ImportReport
    from evercrawl.collection.maintenance import VerifyReport

EXPORT_FORMATS = ["warc", "wacz", "cdxj", "parquet", "jsonl", "csv", "markdown", "mirror", "sqlite", "dataset"]
_MAX_PROBLEMS = 10


@click.command("export")
@click.argument("form", type=click.Choice(EXPORT_FORMATS), metavar="FORM")
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="Where to write to. Otherwise jsonl, csv and cdxj go to standard output, the others to a file or"
    " folder here that has the collection's name.",
)
@click.option("--site", metavar="S", help="Only this host or origin.")
@click.option("--since", metavar="T", help="Only versions from then on: 7d, yesterday, 2026-11-01 ...")
@click.option("--until", metavar="T", help="Only versions up to then; a date means its end.")
@click.option("--lang", metavar="L", help="Only this language: en takes in en-GB too.")
@click.option(
    "--latest/--all-versions", "latest", default=True, help="The newest version of each page (default), or all of them."
)
@click.option("--force", is_flag=True, help="Replace what is there.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print what was written as JSON, unless standard output has the data itself.",
)
@common_options
@pass_cli
def export_command(
    cli: CliContext,
    form: str,
    output: Path | None,
    site: str | None,
    since: str | None,
    until: str | None,
    lang: str | None,
    latest: bool,
    force: bool,
    as_json: bool,
) -> int:
    """Take pages and versions out, in one of these forms.

    \b
    warc      one WARC 1.1 file that needs no other: no revisit records
    wacz      the same as a package that ReplayWeb.page and others open
    cdxj      an index of the collection's own WARC files
    jsonl     one JSON object a version: url, fetched_at, status, text ...
    csv       the same as a table; cells cannot become formulas
    parquet   the same for DuckDB, pandas and others (needs evercrawl[parquet])
    dataset   a folder of Parquet files by shard: pages, links and text, for
              DuckDB, Spark, Ray (needs evercrawl[parquet])
    sqlite    one file with the tables pages and versions
    markdown  a folder with the main text of each page
    mirror    a folder: moment / domain / path, with the pages as they were sent

    \b
    evercrawl export jsonl | jq -r .title
    evercrawl export wacz -o site.wacz --site example.org
    evercrawl export mirror -o snapshots --all-versions --since 2026-11-01

    The exit code is 5 when a version could not be read; it is left out then, see: evercrawl verify
    """
    selection = _selection(site=site, since=since, until=until, lang=lang, all_versions=not latest)
    to = None if output == Path("-") else output
    with cli.open_collection() as collection, live_line(cli) as show:
        report = collection.export(
            form,
            to,
            selection=selection,
            force=force,
            on_progress=lambda so_far: show(f"{so_far.versions:,} versions · {format_size(so_far.bytes)} read"),
        )
    _report_export(cli, report, as_json=as_json)
    return ExitCode.STORE if report.damaged else ExitCode.OK


def _selection(
    *, site: str | None, since: str | None, until: str | None, lang: str | None, all_versions: bool
) -> Selection:
    from evercrawl.collection.collection import Selection
    from evercrawl.model.time import parse_time

    now = datetime.now(UTC)
    return Selection(
        site=site,
        since=parse_time(since, now=now) if since else None,
        until=parse_time(until, now=now, at_end=True) if until else None,
        lang=lang,
        all_versions=all_versions,
    )


def _report_export(cli: CliContext, report: ExportReport, *, as_json: bool) -> None:
    if as_json and report.path is not None:
        fields = {"path": report.path, "pages": report.pages, "versions": report.versions, "damaged": report.damaged}
        emit_json("export", fields)
    else:
        where = f" in {report.path}" if report.path else ""
        cli.note(f"{plural(report.versions, 'version')} of {plural(report.pages, 'page')}{where}")
    for problem in report.damage[:_MAX_PROBLEMS]:
        click.echo(f"left out: {safe_line(problem)}", err=True)
    if report.damaged:
        click.echo(f"{plural(report.damaged, 'version')} could not be read; see: evercrawl verify", err=True)


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
@pass_cli
def import_command(cli: CliContext, form: str, files: tuple[Path, ...], as_json: bool) -> None:
    """Take in WARC or WACZ files: every answer in them becomes a visit at its time.

    \b
    evercrawl -C old.evercrawl import warc crawl-*.warc.gz
    evercrawl import wacz site.wacz

    The collection is the one that -C names or that is found here, and is made if there is none. The records
    are copied into its archive. Importing a file again changes nothing. No link is followed, nothing is
    requested.
    """
    from evercrawl.collection.collection import Collection
    from evercrawl.collection.collection import open as open_collection

    path = _import_collection(cli, files[0])
    with open_collection(path, create=True) as found:
        collection = Collection(found.path, cli.configured(path).settings)
        with live_line(cli) as show:
            report = collection.import_(form, files, on_progress=lambda so_far: show(_import_progress(so_far)))
    if as_json:
        emit_json("import", {"collection": str(path), **asdict(report)})
    else:
        _report_import(cli, path, report)


def _import_collection(cli: CliContext, first: Path) -> Path:
    """The collection that is named or found; otherwise a new one here, named after the first file."""
    found = cli.named_collection() or cli.find_collection()
    if found is not None:
        return found
    from evercrawl.config.load import FOLDER_ENDING

    return Path(first.name.partition(".")[0] + FOLDER_ENDING)


def _import_progress(report: ImportReport) -> str:
    done = report.versions + report.unchanged + report.already
    return f"{report.records:,} records found · {done:,} taken in · {report.versions:,} versions"


def _report_import(cli: CliContext, path: Path, report: ImportReport) -> None:
    cli.note(
        f"{plural(report.versions, 'version')} and {plural(report.unchanged, 'other visit')} of"
        f" {plural(report.records, 'record')}, {plural(report.new_pages, 'new page')}, in {path}"
    )
    for name, words in _LEFT_OUT.items():
        if number := getattr(report, name):
            cli.note(f"  {number:,} {words}")
    for problem in report.damage[:_MAX_DAMAGE]:
        cli.note(f"  damaged: {safe_line(problem)}")


_MAX_FILE_PROBLEMS = 10


@click.command("verify")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a file, then a summary.")
@common_options
@pass_cli
def verify_command(cli: CliContext, as_json: bool) -> int:
    """Prove that every stored version can be read back and is what was stored, archive file by archive file.

    \b
    evercrawl verify
    evercrawl verify --json | jq 'select(.damaged > 0)'

    The exit code is 5 when something is damaged. Nothing is changed.
    """
    with cli.open_collection() as collection, live_line(cli) as show:
        report = collection.verify(
            on_progress=lambda so_far: show(f"{so_far.versions:,} versions read · {so_far.damaged:,} damaged")
        )
    if as_json:
        _emit_verify(report)
    else:
        _show_verify(report)
    return ExitCode.OK if report.is_sound() else ExitCode.STORE


def _emit_verify(report: VerifyReport) -> None:
    for file in report.files.values():
        fields = asdict(file)
        emit_json("verify-file", {"file": fields.pop("name"), **fields})
    summary = {"files": len(report.files), "versions": report.versions, "damaged": report.damaged}
    emit_json("verify", summary | {"sound": report.is_sound()})


def _show_verify(report: VerifyReport) -> None:
    for file in report.files.values():
        verdict = f"{file.damaged:,} damaged" if file.damaged else "sound"
        click.echo(f"{file.name}  {format_size(file.bytes):>8}  {plural(file.versions, 'version'):>16}  {verdict}")
        for problem in file.problems[:_MAX_FILE_PROBLEMS]:
            click.echo(f"  {safe_line(problem)}")
    verdict = f"{report.damaged:,} damaged" if report.damaged else "all can be read back"
    click.echo(f"{plural(report.versions, 'version')} in {plural(len(report.files), 'file')}: {verdict}")
