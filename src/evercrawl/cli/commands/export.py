"""`evercrawl export FORM`: pages and versions for other programs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evercrawl.cli.counter import live_line
from evercrawl.cli.exit_codes import ExitCode
from evercrawl.cli.output import counted, emit_json, size
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session

if TYPE_CHECKING:
    from evercrawl.collection.exchange.run import ExchangeReport
    from evercrawl.collection.library import Selection

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
@pass_session
def export_command(
    session: Session,
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
    with session.open_collection() as collection, live_line(session) as show:
        report = collection.export(
            form,
            to,
            selection=selection,
            force=force,
            on_progress=lambda so_far: show(f"{so_far.versions:,} versions · {size(so_far.bytes)} read"),
        )
    _report_export(session, report, as_json=as_json)
    return ExitCode.STORE if report.damaged else ExitCode.OK


def _selection(
    *, site: str | None, since: str | None, until: str | None, lang: str | None, all_versions: bool
) -> Selection:
    from evercrawl.collection.library import Selection
    from evercrawl.core.when import parse_when

    now = datetime.now(UTC)
    return Selection(
        site=site,
        since=parse_when(since, now=now) if since else None,
        until=parse_when(until, now=now, at_end=True) if until else None,
        lang=lang,
        all_versions=all_versions,
    )


def _report_export(session: Session, report: ExchangeReport, *, as_json: bool) -> None:
    if as_json and report.path is not None:
        fields = {"path": report.path, "pages": report.pages, "versions": report.versions, "damaged": report.damaged}
        emit_json("export", fields)
    else:
        where = f" in {report.path}" if report.path else ""
        session.note(f"{counted(report.versions, 'version')} of {counted(report.pages, 'page')}{where}")
    for problem in report.damage[:_MAX_PROBLEMS]:
        click.echo(f"left out: {safe_line(problem)}", err=True)
    if report.damaged:
        click.echo(f"{counted(report.damaged, 'version')} could not be read; see: evercrawl verify", err=True)
