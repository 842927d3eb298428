"""`evercrawl status`: what the collection holds, and what is due."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

import click

from evercrawl.cli.commands.crawl import seed_url
from evercrawl.cli.forecast_words import freshness_words, steering_words
from evercrawl.cli.output import counted, emit_json, moment, size
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evercrawl.model.history import PageStatistics
    from evercrawl.model.report import Savings, Status


@click.command("status")
@click.option("--page", "url", metavar="URL", help="The statistics of one page instead.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def command(session: Session, url: str | None, as_json: bool) -> None:
    """Show pages by outcome and reason, sites, load, what is due and how fresh the copies are.

    Freshness is the estimated share of pages whose copy is current, with one standard error. What was saved
    is counted from the log of visits: answers 304, and the bytes on the wire of the bodies that they spared.

    \b
    evercrawl status
    evercrawl status --page https://example.org/
    evercrawl status --json | jq .due_now
    """
    with session.open_collection() as collection:
        if url is not None:
            _show_page(collection.facts(seed_url(url)), as_json=as_json)
            return
        status = collection.status()
    if as_json:
        emit_json("status", asdict(status))
    else:
        _show(session, status)


def _show_page(facts: PageStatistics, *, as_json: bool) -> None:
    """Parent, ASCII count, last modified, frequency of change, file: and what they rest on."""
    if as_json:
        emit_json("page", asdict(facts))
        return
    for name, value in asdict(facts).items():
        text = moment(value) if isinstance(value, datetime) else str("-" if value is None else value)
        click.echo(f"{name.replace('_', ' '):<20} {safe_line(text)}")


def _show(session: Session, status: Status) -> None:
    lines = {
        "collection": safe_line(status.path),
        "pages": f"{status.pages:,} known, {status.queued:,} in the queue, {counted(status.versions, 'version')}",
        "sites": f"{status.sites:,}",
        "due": f"{status.due_now:,} now" + (f", next {moment(status.next_due)}" if status.next_due else ""),
        "freshness": freshness_words(status.freshness) if status.freshness else "",
        "steered by": steering_words(status.steering) if status.steering else "",
        "load": f"{counted(status.requests, 'request')}, {size(status.bytes)}",
        "saved": _saved(status.saved) if status.saved else "",
        "disk": f"{counted(status.archive_files, 'WARC file')} with {size(status.archive_bytes)}, "
        f"state {size(status.state_bytes)}",
        "refused": f"{counted(status.refused, 'URL')} (see: evercrawl skipped)",
    }
    for name, text in lines.items():
        if text:
            click.echo(f"{name:<11} {text}")
    _table(session, "outcome", status.by_outcome)
    _table(session, "reason", status.by_reason)
    for closed in status.closed_sites:
        reason = safe_line(closed.reason, longest=100)
        click.echo(f"closed until {moment(closed.opens_at)}: {safe_line(closed.site)} ({reason})")
    for slowed in status.slowed:
        click.echo(f"slowed by you: {safe_line(slowed.site)}, one request in {slowed.gap_s:g} s")
    for trap in status.traps:
        evidence = safe_line(trap.evidence, longest=160)
        click.echo(f"trap on {safe_line(trap.site)}: {safe_line(trap.pattern)} is left out ({evidence})")
    if status.traps:
        session.note("all of them: evercrawl trap list")


def _saved(saved: Savings) -> str:
    """What the log proves, in words."""
    spared = f"{counted(saved.not_modified, 'answer')} 304 spared {size(saved.not_modified_bytes)}"
    return f"{spared}; {counted(saved.not_due, 'known page')} not worth a request now"


def _table(session: Session, name: str, counts: Mapping[str, int]) -> None:
    if not counts:
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(name, "URLs", box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.columns[1].justify = "right"
    for label, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        table.add_row(Text(str(label).replace("_", " ")), Text(f"{count:,}"))
    session.out.print()
    session.out.print(table)
