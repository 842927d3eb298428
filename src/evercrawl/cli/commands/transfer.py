"""The commands `export`, `import` and `verify`: data in and out."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evercrawl.cli.context import CliContext, with_cli
from evercrawl.cli.terminal import ExitCode, emit_json, format_size, live_line, plural
from evercrawl.errors import ConfigError
from evercrawl.model.sanitize import safe_line

if TYPE_CHECKING:
    from evercrawl.collection.collection import Collection
    from evercrawl.collection.exchange.export_run import ExportReport
    from evercrawl.collection.exchange.import_shard import ImportReport
    from evercrawl.collection.maintenance import VerifyReport
    from evercrawl.model.listing import VersionSelection

EXPORT_FORMATS = [
    "warc", "wacz", "cdxj", "parquet", "jsonl", "csv", "markdown", "mirror", "sqlite", "dataset", "chunks",
]  # fmt: skip
WATCH_FORMATS = ["archivebox", "changedetection", "heritrix", "scrapy", "urls"]
_MAX_PROBLEMS = 10


@click.command("export")
@click.argument("form", type=click.Choice(EXPORT_FORMATS), metavar="FORMAT")
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="Output file or folder. Default: standard output for jsonl, csv, cdxj and chunks, else the collection's name.",
)
@click.option("--site", metavar="S", help="Only pages of this host or origin.")
@click.option("--since", metavar="T", help="Only versions since then: 7d, yesterday, 2026-11-01.")
@click.option("--until", metavar="T", help="Only versions until then; a date includes its whole day.")
@click.option("--lang", metavar="L", help="Only this language; en includes en-GB.")
@click.option(
    "--usable-for",
    metavar="USE",
    help="Leave out versions whose publisher refuses this use: search, ai-input, ai-train, ai-train-images, tdm.",
)
@click.option("--latest/--all-versions", "latest", default=True, help="Newest version of each page (default), or all.")
@click.option("--as-sent", is_flag=True, help="Mirror: keep every file as sent, without changing links.")
@click.option(
    "--cursor",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Export only what is new since the last export with this file, and update the file.",
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print a report as JSON, unless the data goes to standard output."
)
@with_cli
def export_command(
    cli: CliContext,
    form: str,
    output: Path | None,
    site: str | None,
    since: str | None,
    until: str | None,
    lang: str | None,
    usable_for: str | None,
    latest: bool,
    as_sent: bool,
    cursor: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Export pages and versions in one of these formats.

    \b
    warc      one self-contained WARC 1.1 file, without revisit records
    wacz      the same as a package for ReplayWeb.page and others
    cdxj      an index of the collection's own WARC files
    jsonl     one JSON object per version: url, fetched_at, status, text and more
    csv       the same as a table; cells cannot become formulas
    parquet   the same for DuckDB, pandas and others (needs evercrawl[parquet])
    dataset   a folder of Parquet files per shard: pages, links and text, for
              DuckDB, Spark, Ray (needs evercrawl[parquet])
    sqlite    one file with the tables pages, versions and redirects
    markdown  a folder with the main text of each page
    chunks    one JSON object per section of each page, as Markdown with stable
              ids, for search engines and language models
    mirror    a folder (time / domain / path) that opens from disk, with links
              between the copies

    \b
    evercrawl export jsonl | jq -r .title
    evercrawl export wacz -o site.wacz --site example.org
    evercrawl export chunks --cursor index.cursor | load-into-my-index
    evercrawl export jsonl --usable-for ai-train > training.jsonl
    evercrawl export mirror -o snapshots --all-versions --since 2026-11-01

    If a version cannot be read, it is left out and the exit code is 5; see: evercrawl verify
    """
    selection = replace(
        _selection(site=site, since=since, until=until, lang=lang, all_versions=not latest), usable_for=usable_for
    )
    to = None if output == Path("-") else output
    with cli.open_collection() as collection, live_line(cli) as show:
        report = collection.export(
            form,
            to,
            selection=selection,
            force=force,
            as_sent=as_sent,
            cursor=cursor,
            on_progress=lambda so_far: show(f"{so_far.versions:,} versions · {format_size(so_far.bytes)} read"),
        )
    _report_export(cli, report, as_json=as_json)
    return ExitCode.STORE if report.damaged else ExitCode.OK


def _selection(
    *, site: str | None, since: str | None, until: str | None, lang: str | None, all_versions: bool
) -> VersionSelection:
    from evercrawl.model.listing import VersionSelection
    from evercrawl.model.time import parse_time

    now = datetime.now(UTC)
    return VersionSelection(
        site=site,
        since=parse_time(since, now=now) if since else None,
        until=parse_time(until, now=now, at_end=True) if until else None,
        lang=lang,
        all_versions=all_versions,
    )


def _report_export(cli: CliContext, report: ExportReport, *, as_json: bool) -> None:
    if as_json and report.path is not None:
        fields = {"path": report.path, "pages": report.pages, "versions": report.versions, "damaged": report.damaged}
        fields |= {"refused": report.refused}
        emit_json("export", fields)
    else:
        where = f" to {report.path}" if report.path else ""
        cli.note(f"exported {plural(report.versions, 'version')} of {plural(report.pages, 'page')}{where}")
        if report.refused:
            cli.note(f"left out {plural(report.refused, 'version')} whose publishers refuse this use")
        if report.path and report.first_page:
            cli.note(f"open {report.path}/{report.first_page}")
    for problem in report.damage[:_MAX_PROBLEMS]:
        click.echo(f"left out: {safe_line(problem)}", err=True)
    if report.damaged:
        click.echo(f"{plural(report.damaged, 'unreadable version')}; see: evercrawl verify", err=True)


_MAX_DAMAGE = 10
_LEFT_OUT = {
    "already": "already in the collection",
    "older": "older than the collection's versions; import older archives first",
    "ignored": "not responses to a GET of a web page",
    "unresolved": "revisit records without their original",
    "damaged": "damaged",
}


@click.command("import")
@click.argument("form", type=click.Choice(["warc", "wacz", *WATCH_FORMATS]), metavar="FORMAT")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path, exists=True))
@click.option("--json", "as_json", is_flag=True, help="Print a report as JSON.")
@with_cli
def import_command(cli: CliContext, form: str, files: tuple[Path, ...], as_json: bool) -> int:
    """Import archives, or the pages that another program watches.

    \b
    evercrawl -C old.evercrawl import warc crawl-*.warc.gz
    evercrawl import wacz site.wacz
    evercrawl import wacz several/datapackage.json
    evercrawl -C watched.evercrawl import changedetection changedetection-backup-*.zip
    evercrawl -C watched.evercrawl import urls bookmarks.html
    evercrawl -C mine.evercrawl import archivebox ~/archivebox

    warc and wacz: every response becomes a visit at its time.
    changedetection: the watches of a changedetection.io backup, with filters as fields, intervals and history.
    urls: the pages of a list, OPML file, bookmarks file or sitemap.
    archivebox: a folder; its pages, and its snapshots as versions.
    heritrix: the seeds of a job folder, crawler-beans.cxml or seeds.txt.
    scrapy: the start URLs in a spider or project, without running it.

    A multi-WACZ is a ZIP file of WACZ files, or a manifest that lists some in its folder.

    The collection is created if it does not exist. Records are copied into its archive. Importing a file again
    changes nothing. No request is sent. If something is damaged, the exit code is 5 and the rest is imported.
    """
    from evercrawl.collection.collection import Collection
    from evercrawl.collection.collection import open as open_collection

    if form in ("warc", "wacz", "changedetection", "urls") and (folders := [one for one in files if one.is_dir()]):
        raise ConfigError(f"{folders[0]} is a folder; name the files in it")
    path = _import_collection(cli, files[0])
    with _removed_if_empty(path), open_collection(path, create=True) as found:
        collection = Collection(found.path, cli.load_settings(path).settings)
        if form in WATCH_FORMATS:
            _import_watches(cli, collection, form, files, as_json=as_json)
            return ExitCode.OK
        with live_line(cli) as show:
            report = collection.import_(form, files, on_progress=lambda so_far: show(_import_progress(so_far)))
        if not report.records:
            raise ConfigError(_nothing_found(files, report))
    if as_json:
        emit_json("import", {"collection": str(path), **asdict(report)})
    else:
        _report_import(cli, path, report)
    return ExitCode.STORE if report.damaged else ExitCode.OK


@contextmanager
def _removed_if_empty(path: Path) -> Iterator[None]:
    """Remove a collection that was created for an import that failed."""
    is_new = not path.exists()
    try:
        yield
    except BaseException:
        if is_new:
            shutil.rmtree(path, ignore_errors=True)
        raise


def _nothing_found(files: Sequence[Path], report: ImportReport) -> str:
    names = safe_line(", ".join(file.name for file in files), longest=80)
    cause = f": {safe_line(report.damage[0])}" if report.damage else ""
    return f"nothing was imported: {names} has no record that can be read{cause}"


def _import_watches(
    cli: CliContext, collection: Collection, form: str, files: tuple[Path, ...], *, as_json: bool
) -> None:
    for file in files:
        report = collection.import_watches(form, file)
        if as_json:
            emit_json("import", {"collection": str(collection.path), **asdict(report)})
            continue
        cli.note(
            f"{plural(report.pages, 'page')} added to {collection.path}, with {plural(report.fields, 'field')},"
            f" {plural(report.schedules, 'schedule')} and {plural(report.versions, 'version')} of history"
        )
        for note in report.notes:
            cli.note(f"  {safe_line(note)}")
        cli.note("fetch them with: evercrawl crawl")


def _import_collection(cli: CliContext, first: Path) -> Path:
    """Return the named or enclosing collection, else a new one named after the first file."""
    found = cli.named_collection() or cli.find_collection()
    if found is not None:
        return found
    from evercrawl.config.load import FOLDER_ENDING

    return Path(first.name.partition(".")[0] + FOLDER_ENDING)


def _import_progress(report: ImportReport) -> str:
    done = report.versions + report.unchanged + report.already
    return f"{report.records:,} records · {done:,} imported · {report.versions:,} versions"


def _report_import(cli: CliContext, path: Path, report: ImportReport) -> None:
    cli.note(
        f"imported {plural(report.versions, 'version')} and {plural(report.unchanged, 'unchanged visit')} from"
        f" {plural(report.records, 'record')}, {plural(report.new_pages, 'new page')}, into {path}"
    )
    for name, words in _LEFT_OUT.items():
        if number := getattr(report, name):
            cli.note(f"  {number:,} {words}")
    for problem in report.damage[:_MAX_DAMAGE]:
        cli.note(f"  damaged: {safe_line(problem)}")


_MAX_FILE_PROBLEMS = 10


@click.command("verify")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per file, then a summary.")
@with_cli
def verify_command(cli: CliContext, as_json: bool) -> int:
    """Check that every stored version can be read back and matches its digest.

    \b
    evercrawl verify
    evercrawl verify --json | jq 'select(.damaged > 0)'

    If something is damaged, the exit code is 5. Nothing is changed.
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
    emit_json("verify", summary | {"sound": report.is_sound(), "resources": report.resources})


def _show_verify(report: VerifyReport) -> None:
    for file in report.files.values():
        verdict = f"{file.damaged:,} damaged" if file.damaged else "ok"
        click.echo(f"{file.name}  {format_size(file.bytes):>8}  {plural(file.versions, 'version'):>16}  {verdict}")
        for problem in file.problems[:_MAX_FILE_PROBLEMS]:
            click.echo(f"  {safe_line(problem)}")
    verdict = f"{report.damaged:,} damaged" if report.damaged else "all readable"
    click.echo(f"{plural(report.versions, 'version')} in {plural(len(report.files), 'file')}: {verdict}")
    if report.resources:
        click.echo(f"assets and redirects checked as well: {report.resources:,}")
