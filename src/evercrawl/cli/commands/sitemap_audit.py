"""The commands `sitemap check` and `sitemap ping`, for owners of sites."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import CliContext, allow_private_option, network_flags, resolve_option, with_cli
from evercrawl.cli.terminal import ExitCode, emit_json, live_line, plural
from evercrawl.errors import ConfigError
from evercrawl.model.sanitize import safe_line

if TYPE_CHECKING:
    from evercrawl.collection.sitemap import IndexNowSubmission, SitemapReport, SitemapSurvey
    from evercrawl.model.settings import Settings

DEFAULT_SAMPLE = 20
DEFAULT_MIN_SCORE = 80


@click.command("check")
@click.argument("subject", metavar="URL|FILE")
@click.option(
    "--sample",
    type=click.IntRange(0, 10_000),
    default=DEFAULT_SAMPLE,
    show_default=True,
    metavar="N",
    help="Pages to fetch, half of them with the newest dates.",
)
@click.option(
    "--min-score",
    type=click.IntRange(0, 100),
    default=DEFAULT_MIN_SCORE,
    show_default=True,
    metavar="N",
    help="Minimum score; below it the exit code is 1.",
)
@click.option("--offline", is_flag=True, help="With FILE: send no request.")
@allow_private_option
@resolve_option
@click.option("--pace", type=click.Choice(["gentle", "paper", "own"]), help="How gently to crawl.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@with_cli
def sitemap_check(cli: CliContext, /, subject: str, min_score: int, as_json: bool, **options: Any) -> int:
    """Check a sitemap for wrong, equal or future dates, and for dead, hidden or missing pages.

    \b
    evercrawl sitemap check https://example.org/
    evercrawl sitemap check public/sitemap.xml --offline
    evercrawl sitemap check https://example.org/ -C example.org.evercrawl --json

    The sitemaps are those in robots.txt, or /sitemap.xml. Dates are compared with the history in the
    collection (with -C), the date on the page, or Last-Modified. With FILE, the files of an index are read from
    the same folder. A perfect sitemap scores 100. Exit codes: 0 at or above --min-score, 1 below, 4 if the site
    cannot be reached, 6 if robots.txt forbids every page.
    """
    from evercrawl.cli.commands.crawl import given_flags
    from evercrawl.collection.sitemap import survey_sitemap

    names = ("allow_private", "resolve", "pace")
    flags = given_flags({name: options[name] for name in names})
    collection = cli.find_collection() if cli.named_collection() is not None else None
    settings = cli.load_settings(collection, flags).settings
    sample, offline = options["sample"], options["offline"]
    with live_line(cli) as show:
        survey = asyncio.run(
            survey_sitemap(
                subject, settings, sample=sample, offline=offline, on_request=lambda url: show(safe_line(url))
            )
        )
    if survey.unavailable is not None and not survey.entries:
        return _report_closed(cli, survey)
    report = _check_survey(survey, collection, settings)
    if as_json:
        emit_json("sitemap-check", _check_fields(survey, report, min_score))
    else:
        _show_report(survey, report)
    return ExitCode.OK if report.score >= min_score else ExitCode.ERROR


def _report_closed(cli: CliContext, survey: SitemapSurvey) -> int:
    record = survey.unavailable
    assert record is not None
    if record.policy == "private":
        raise ConfigError(f"{record.detail}; for your own host use --allow-private")
    cli.note(f"evercrawl: {survey.site}: {safe_line(record.detail)}")
    is_away = record.unreachable_since_us is not None
    return ExitCode.NOTHING_REACHABLE if is_away else ExitCode.REFUSED


def _check_survey(survey: SitemapSurvey, collection: Path | None, settings: Settings) -> SitemapReport:
    from evercrawl.collection.sitemap import check_sitemap, check_with_collection

    if collection is None:
        return check_sitemap(survey)
    return check_with_collection(survey, collection, settings)


def _check_fields(survey: SitemapSurvey, report: SitemapReport, min_score: int) -> dict[str, Any]:
    from evercrawl.collection.sitemap import WEIGHTS

    return {
        "site": survey.site,
        "score": report.score,
        "ok": report.score >= min_score,
        "files": [
            {
                "url": file.url,
                "type": file.sitemap.type,
                "entries": len(file.sitemap.entries),
                "bytes": file.size,
                "error": file.sitemap.error,
            }
            for file in survey.files
        ],
        "entries": report.entries,
        "dated": report.dated,
        "sampled": report.sampled,
        "verified": report.verified,
        "requests": report.requests,
        "findings": [
            {
                "issue": one.issue,
                "description": WEIGHTS[one.issue].description,
                "count": one.count,
                "of": one.of,
                "cost": round(one.cost, 1),
                "examples": [dict(example._asdict()) for example in one.examples],
            }
            for one in report.findings
        ],
    }


def _show_report(survey: SitemapSurvey, report: SitemapReport) -> None:
    from evercrawl.collection.sitemap import WEIGHTS

    about = f"{plural(report.files, 'file')}, {report.entries:,} entries, {report.dated:,} with dates"
    checked = f"{plural(report.sampled, 'page')} and {plural(report.verified, 'date')} checked"
    click.echo(f"{safe_line(survey.site)}: score {report.score} of 100 ({about}; {checked})")
    for one in report.findings:
        click.echo(f"  -{one.cost:<4.0f} {one.count:,} of {one.of:,}: {WEIGHTS[one.issue].description} [{one.issue}]")
        for example in one.examples:
            click.echo(f"        {safe_line(example.url)}  {safe_line(example.detail)}")
    if not report.findings:
        click.echo("  no problems found")


@click.command("ping")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option(
    "--from",
    "report",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="URLs from the JSON of `sitemap build`, or one per line. -: standard input.",
)
@click.option("--key", envvar="INDEXNOW_KEY", help="Your key. Also INDEXNOW_KEY.")
@click.option("--key-file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), help="File with your key.")
@click.option("--key-location", metavar="URL", help="URL of the key file. Default: /KEY.txt.")
@click.option(
    "--make-key",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Create a key, write its file to this folder of your site, and exit.",
)
@click.option("--endpoint", metavar="URL", help="IndexNow service. Default: https://api.indexnow.org/indexnow.")
@allow_private_option
@resolve_option
@click.option("--json", "as_json", is_flag=True, help="Print the result of each request as JSON.")
@with_cli
def sitemap_ping(
    cli: CliContext, /, urls: tuple[str, ...], make_key: Path | None, as_json: bool, **options: Any
) -> int:
    """Announce new, changed and removed pages to search engines with IndexNow.

    \b
    evercrawl sitemap ping --make-key public/
    evercrawl sitemap ping --key KEY https://example.org/news/
    evercrawl sitemap build public/ --base-url https://example.org/ --json > news.json
    evercrawl sitemap ping --key KEY --from news.json

    One request holds up to 10,000 URLs. It stops at the first refusal. A first build announces nothing, since
    all its pages are new. Exit codes: 0 if everything was accepted (200 or 202), 1 if the service refused, 4 if
    it cannot be reached.
    """
    if make_key is not None:
        return _make_key(cli, make_key, as_json=as_json)
    from evercrawl.collection.sitemap import announce_urls

    wanted = [*urls, *(_urls_in(options["report"]) if options["report"] is not None else ())]
    key = _key(options)
    if not wanted and options["report"] is None:
        raise ConfigError("nothing to announce; give URLs, or --from FILE")
    flags = network_flags(allow_private=options["allow_private"], resolve=options["resolve"])
    settings = cli.load_settings(None, flags).settings
    location, endpoint = options["key_location"], options["endpoint"]
    done = asyncio.run(announce_urls(wanted, settings, key=key, key_location=location, endpoint=endpoint))
    _report_ping(cli, done, as_json=as_json)
    if any(one.status is None for one in done):
        return ExitCode.NOTHING_REACHABLE
    return ExitCode.OK if all(one.is_accepted for one in done) else ExitCode.ERROR


def _make_key(cli: CliContext, folder: Path, *, as_json: bool) -> int:
    from evercrawl.collection.sitemap import create_key

    key, path = create_key(folder)
    if as_json:
        emit_json("sitemap-key", {"key": key, "file": str(path)})
    else:
        click.echo(key)
        cli.note(f"key file: {path}; serve it as /{path.name}")
    return ExitCode.OK


def _key(options: dict[str, Any]) -> str:
    from evercrawl.collection.sitemap import read_key, validate_key

    if options["key"]:
        return validate_key(options["key"])
    if options["key_file"]:
        return read_key(options["key_file"])
    raise ConfigError("IndexNow needs a key; give --key or --key-file, or create one with --make-key DIR")


def _urls_in(path: Path) -> list[str]:
    """Return the URLs of a build report, or of a file with one per line."""
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from error
    if not text.lstrip().startswith("{"):
        return [line.strip() for line in text.splitlines() if line.strip()]
    try:
        report = json.loads(text)
        if report.get("first"):
            return []
        unlisted = set(report["unlisted"])
        news = [*report["added"], *report["changed"], *report["removed"]]
        return [str(url) for url in news if url not in unlisted]
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} is not a report of `sitemap build`: {error!r}") from error


def _report_ping(cli: CliContext, done: list[IndexNowSubmission], *, as_json: bool) -> None:
    if as_json:
        fields = [one._asdict() | {"accepted": one.is_accepted} for one in done]
        announced = sum(one.urls for one in done if one.is_accepted)
        emit_json("sitemap-ping", {"announced": announced, "requests": fields})
        return
    for one in done:
        status = "" if one.status is None else f" {one.status}"
        click.echo(f"{safe_line(one.host)}: {plural(one.urls, 'URL')}:{status} {safe_line(one.meaning)}")
        if one.retry_after is not None:
            cli.note(f"  retry after {one.retry_after.total_seconds():,.0f} s")
    if not done:
        cli.note("nothing to announce")
