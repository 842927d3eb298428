"""`evercrawl sitemap check`: what a search engine would think of a sitemap."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.counter import live_line
from evercrawl.cli.exit_codes import ExitCode
from evercrawl.cli.output import counted, emit_json
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.model.settings import Settings
    from evercrawl.sitemaps.judge import Judgement
    from evercrawl.sitemaps.survey import Survey

WEB = ("http://", "https://")
DEFAULT_SAMPLE = 20
MOST_BYTES = 64 * 1024 * 1024
DEFAULT_LEAST = 80


@click.command("check")
@click.argument("subject", metavar="URL|FILE")
@click.option(
    "--sample",
    type=click.IntRange(0, 10_000),
    default=DEFAULT_SAMPLE,
    show_default=True,
    help="Pages to look at; half of them those with the newest dates.",
)
@click.option(
    "--least",
    type=click.IntRange(0, 100),
    default=DEFAULT_LEAST,
    show_default=True,
    help="The score below which the exit code is 1.",
)
@click.option("--offline", is_flag=True, help="With FILE: make no request.")
@click.option("--allow-private", is_flag=True, help="Allow loopback, private and link-local addresses.")
@click.option("--resolve", multiple=True, metavar="HOST:PORT:ADDR", help="Use this address, as curl does.")
@click.option("--pace", type=click.Choice(["gentle", "paper", "own"]), help="How gently to ask.")
@click.option("--json", "as_json", is_flag=True, help="Print score, findings and examples as JSON.")
@common_options
@pass_session
def command(session: Session, /, subject: str, least: int, as_json: bool, **options: Any) -> int:
    """Judge a sitemap: dates that lie, are all equal or lie ahead, pages that are dead, hidden or missing.

    \b
    evercrawl sitemap check https://example.org/
    evercrawl sitemap check public/sitemap.xml --offline
    evercrawl sitemap check https://example.org/ -C example.org.evercrawl --json

    A site's sitemaps are those that robots.txt names, else /sitemap.xml. A sample of the pages is asked for,
    with the manners of a crawl. Dates are held against what the collection (with -C) saw happen, else against
    the date that the page states, else against Last-Modified. Files that an index names are looked for beside
    FILE. The score is 100 where nothing is wrong. Exit codes: 0 at or above --least, 1 below, 4 where the
    site cannot be reached, 6 where robots.txt refuses everything.
    """
    from evercrawl.cli.commands.crawl import given_flags

    names = ("allow_private", "resolve", "pace")
    flags = given_flags({name: options[name] for name in names})
    collection = session.find_collection() if session.named_collection() is not None else None
    settings = session.configured(collection, flags).settings
    with live_line(session) as show:
        wanted = _survey(subject, settings, sample=options["sample"], offline=options["offline"], show=show)
        survey = asyncio.run(wanted)
    if survey.closed is not None and not survey.entries:
        return _tell_closed(session, survey)
    judgement = _judged(survey, collection, settings)
    if as_json:
        emit_json("sitemap-check", _fields(survey, judgement, least))
    else:
        _show(survey, judgement)
    return ExitCode.OK if judgement.score >= least else ExitCode.ERROR


async def _survey(
    subject: str, settings: Settings, *, sample: int, offline: bool, show: Callable[[str], None]
) -> Survey:
    from evercrawl.adapters.clock import SystemClock
    from evercrawl.adapters.http.client import HttpFetcher
    from evercrawl.cli.commands.crawl import seed_url
    from evercrawl.cluster.build import pace_for
    from evercrawl.core.identity import user_agent
    from evercrawl.model.version import __version__
    from evercrawl.sitemaps.survey import Surveyor, require_sitemap_file
    from evercrawl.sitemaps.visitor import PoliteVisitor

    now = datetime.now(UTC)
    is_file = not subject.lower().startswith(WEB) and Path(subject).exists()
    if offline:
        return await Surveyor(None, settings, sample=0).of_file(require_sitemap_file(Path(subject)), now=now)
    # What is beyond the protocol's limit of 50 MiB has to be seen to be named.
    http = replace(settings.http, wire_bytes=MOST_BYTES, decoded_bytes=MOST_BYTES)
    settings = replace(settings, http=http)
    clock = SystemClock()
    fetcher = HttpFetcher(settings, clock, user_agent(settings.identity, __version__))
    try:
        visitor = PoliteVisitor(
            fetcher, clock, settings, pace=pace_for(settings), on_request=lambda url: show(safe_line(url))
        )
        surveyor = Surveyor(visitor, settings, sample=sample)
        if is_file:
            return await surveyor.of_file(require_sitemap_file(Path(subject)), now=now)
        return await surveyor.of_site(seed_url(subject), now=now)
    finally:
        await fetcher.close()


def _tell_closed(session: Session, survey: Survey) -> int:
    record = survey.closed
    assert record is not None
    if record.stance == "private":
        raise ConfigError(f"{record.detail}; a host of your own is allowed with --allow-private")
    session.note(f"evercrawl: {survey.site}: {safe_line(record.detail)}")
    is_away = record.unreachable_since_us is not None
    return ExitCode.NOTHING_REACHABLE if is_away else ExitCode.REFUSED


def _judged(survey: Survey, collection: Path | None, settings: Settings) -> Judgement:
    from evercrawl.collection.past.stored import StoredPage, stored_page
    from evercrawl.sitemaps.collected import listable_pages
    from evercrawl.sitemaps.judge import judge

    if collection is None:
        return judge(survey)
    survey.known = listable_pages(collection, settings, survey.site)

    def history(url: str) -> StoredPage | None:
        try:
            return stored_page(collection, settings, url)
        except ConfigError:
            return None

    return judge(survey, history)


def _fields(survey: Survey, judgement: Judgement, least: int) -> dict[str, Any]:
    from evercrawl.sitemaps.finding import WEIGHTS

    return {
        "site": survey.site,
        "score": judgement.score,
        "ok": judgement.score >= least,
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
        "entries": judgement.entries,
        "dated": judgement.dated,
        "sampled": judgement.sampled,
        "witnessed": judgement.witnessed,
        "requests": judgement.requests,
        "findings": [
            {
                "fault": one.fault,
                "words": WEIGHTS[one.fault].words,
                "count": one.count,
                "of": one.of,
                "cost": round(one.cost, 1),
                "examples": [dict(example._asdict()) for example in one.examples],
            }
            for one in judgement.findings
        ],
    }


def _show(survey: Survey, judgement: Judgement) -> None:
    from evercrawl.sitemaps.finding import WEIGHTS

    about = f"{counted(judgement.files, 'file')}, {judgement.entries:,} entries, {judgement.dated:,} with dates"
    looked = f"{counted(judgement.sampled, 'page')} looked at, {counted(judgement.witnessed, 'date')} held"
    click.echo(f"{safe_line(survey.site)}: score {judgement.score} of 100 ({about}; {looked})")
    for one in judgement.findings:
        click.echo(f"  -{one.cost:<4.0f} {one.count:,} of {one.of:,}: {WEIGHTS[one.fault].words} [{one.fault}]")
        for example in one.examples:
            click.echo(f"        {safe_line(example.url)}  {safe_line(example.detail)}")
    if not judgement.findings:
        click.echo("  nothing is wrong")
