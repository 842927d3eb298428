"""`evercrawl status`: what the collection holds, and what is due."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import CliContext, pass_cli
from evercrawl.cli.options import common_options
from evercrawl.cli.terminal import ExitCode, emit_json, exact_time, format_size, freshness_text, plural, revisit_text
from evercrawl.collection.urls import parse_page_url
from evercrawl.model.reason import REASON_TEXT
from evercrawl.model.sanitize import safe_line
from evercrawl.model.time import in_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evercrawl.model.history import PageStatistics
    from evercrawl.model.listing import VisitLogRow
    from evercrawl.model.report import Announcements, Explanation, PageForecast, PastVisit, Savings, SkippedUrl, Status


@click.command("status")
@click.option("--page", "url", metavar="URL", help="The statistics of one page instead.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def status_command(cli: CliContext, url: str | None, as_json: bool) -> None:
    """Show pages by outcome and reason, sites, load, what is due and how fresh the copies are.

    Freshness is the estimated share of pages whose copy is current, with one standard error. What was saved
    is counted from the log of visits: answers 304, and the bytes on the wire of the bodies that they spared.

    \b
    evercrawl status
    evercrawl status --page https://example.org/
    evercrawl status --json | jq .due_now
    """
    with cli.open_collection() as collection:
        if url is not None:
            _show_page(collection.facts(parse_page_url(url)), as_json=as_json)
            return
        status = collection.status()
    if as_json:
        emit_json("status", asdict(status))
    else:
        _show_status(cli, status)


def _show_page(facts: PageStatistics, *, as_json: bool) -> None:
    """Parent, ASCII count, last modified, frequency of change, file: and what they rest on."""
    if as_json:
        emit_json("page", asdict(facts))
        return
    for name, value in asdict(facts).items():
        text = exact_time(value) if isinstance(value, datetime) else str("-" if value is None else value)
        click.echo(f"{name.replace('_', ' '):<20} {safe_line(text)}")


def _show_status(cli: CliContext, status: Status) -> None:
    lines = {
        "collection": safe_line(status.path),
        "pages": f"{status.pages:,} known, {status.queued:,} in the queue, {plural(status.versions, 'version')}",
        "sites": f"{status.sites:,}",
        "due": f"{status.due_now:,} now" + (f", next {exact_time(status.next_due)}" if status.next_due else ""),
        "freshness": freshness_text(status.freshness) if status.freshness else "",
        "steered by": revisit_text(status.steering) if status.steering else "",
        "load": f"{plural(status.requests, 'request')}, {format_size(status.bytes)}",
        "saved": _saved_text(status.saved) if status.saved else "",
        "disk": f"{plural(status.archive_files, 'WARC file')} with {format_size(status.archive_bytes)}, "
        f"state {format_size(status.state_bytes)}",
        "refused": f"{plural(status.refused, 'URL')} (see: evercrawl skipped)",
    }
    for name, text in lines.items():
        if text:
            click.echo(f"{name:<11} {text}")
    _print_counts(cli, "outcome", status.by_outcome)
    _print_counts(cli, "reason", status.by_reason)
    for closed in status.closed_sites:
        reason = safe_line(closed.reason, longest=100)
        click.echo(f"closed until {exact_time(closed.opens_at)}: {safe_line(closed.site)} ({reason})")
    for slowed in status.slowed:
        click.echo(f"slowed by you: {safe_line(slowed.site)}, one request in {slowed.gap_s:g} s")
    for trap in status.traps:
        evidence = safe_line(trap.evidence, longest=160)
        click.echo(f"trap on {safe_line(trap.site)}: {safe_line(trap.pattern)} is left out ({evidence})")
    if status.traps:
        cli.note("all of them: evercrawl trap list")


def _saved_text(saved: Savings) -> str:
    """What the log proves, in words."""
    spared = f"{plural(saved.not_modified, 'answer')} 304 spared {format_size(saved.not_modified_bytes)}"
    return f"{spared}; {plural(saved.not_due, 'known page')} not worth a request now"


def _print_counts(cli: CliContext, name: str, counts: Mapping[str, int]) -> None:
    if not counts:
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(name, "URLs", box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.columns[1].justify = "right"
    for label, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        table.add_row(Text(str(label).replace("_", " ")), Text(f"{count:,}"))
    cli.out.print()
    cli.out.print(table)


_MOST_VISITS = 10


@click.command("why")
@click.argument("url")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def why_command(cli: CliContext, url: str, as_json: bool) -> int:
    """Say why a URL was or was not asked for, how it changes, and when it will be visited.

    \b
    evercrawl why https://example.org/private/
    evercrawl why https://example.org/ --json | jq .reason

    The exit code is 1 when the collection has never met the URL.
    """
    with cli.open_collection() as collection:
        found = collection.why(parse_page_url(url))
    if as_json:
        emit_json("why", explanation_fields(found))
    else:
        _show_explanation(found)
    return ExitCode.OK if found.known else ExitCode.ERROR


def explanation_fields(found: Explanation) -> dict[str, Any]:
    """What scripts rely on, then the past visits."""
    return {
        "url": found.url,
        "known": found.known,
        "outcome": found.outcome,
        "reason": found.reason,
        "detail": found.detail,
        "status": found.status,
        "due": found.due,
        "visits": found.visits,
        "parent": found.parent,
        "depth": found.depth,
        "site_opens_at": found.site_opens_at,
        "slowed_to_s": found.slowed_to_s,
        "relevance": found.relevance,
        "duplicate_of": found.duplicate_of,
        "credit": found.credit,
        "importance": found.importance,
        "decisions": [_decision_fields(visit) for visit in found.decisions],
        "habits": None if found.habits is None else asdict(found.habits),
    }


def _change_lines(habits: PageForecast) -> dict[str, str]:
    """Rate and evidence, signals, value and threshold, the next visit."""
    lied = plural(habits.validators_that_lied, "validator")
    return {
        "habit": habits.words,
        "copy": f"current with probability {habits.chance_current:.2f}",
        "value": _value_text(habits),
        "signals": _announcement_text(habits.announcements) if habits.announcements else "",
        "validators": f"not trusted on this site: {lied} lied" if habits.validators_that_lied else "",
        "next visit": habits.next_visit_words,
    }


def _value_text(habits: PageForecast) -> str:
    if habits.value_days is None:
        return "a visit has to be made in any case"
    brings, asked = in_words(habits.value_days), in_words(habits.threshold_days)
    return f"a visit now brings {brings} of a current copy; the threshold is {asked}"


def _announcement_text(told: Announcements) -> str:
    polled = f"last read {exact_time(told.last_poll)}" if told.last_poll else "never read"
    if not told.trusted:
        return f"the site announces nothing that can be used ({polled})"
    waiting = plural(told.waiting, "announcement")
    return (
        f"{told.recall:.0%} of changes are announced, {told.false_share:.0%} of this page's announcements "
        f"are false; {waiting} since the last visit; {polled}"
    )


def _relevance_text(relevance: float) -> str:
    return f"{relevance:.2f}, {'on' if relevance > 0.5 else 'off'} the topic of the focus"


def _decision_fields(visit: PastVisit) -> dict[str, Any]:
    return {
        "at": visit.at,
        "outcome": visit.outcome,
        "reason": visit.reason,
        "detail": visit.detail,
        "status": visit.status,
        "took_ms": visit.took_ms,
        "bytes": visit.wire_bytes,
        "version": visit.version,
    }


def _show_explanation(found: Explanation) -> None:
    click.echo(safe_line(found.url))
    if not found.known or found.reason is None:
        click.echo("  not known: the collection has not met this URL")
        verdict = f"would be refused ({found.reason})" if found.reason else "would be asked for"
        click.echo(f"  a link to it {verdict}: {safe_line(found.detail)}")
        return
    click.echo(f"  {found.outcome}: {REASON_TEXT[found.reason]}")
    facts = {
        "detail": "" if found.detail == REASON_TEXT[found.reason] else safe_line(found.detail),
        "status": str(found.status or ""),
        "found on": safe_line(found.parent or ""),
        "repeats": safe_line(found.duplicate_of or ""),
        "importance": "" if found.importance is None else f"{found.importance:g} times the mean",
        "visits": str(found.visits or ""),
        "relevance": "" if found.relevance is None else _relevance_text(found.relevance),
        "site opens": exact_time(found.site_opens_at) if found.site_opens_at else "",
        "slowed": "" if found.slowed_to_s is None else f"by you, to one request in {found.slowed_to_s:g} s",
        "due": exact_time(found.due) if found.due else "",
        **(_change_lines(found.habits) if found.habits else {}),
    }
    for name, text in facts.items():
        if text:
            click.echo(f"  {name:<11} {text}")
    for visit in found.decisions[:_MOST_VISITS]:
        click.echo(f"  {exact_time(visit.at)}  {visit.status or '-':<4} {visit.outcome}: {visit.reason}")


@click.command("skipped")
@click.argument("site", required=False)
@click.option("--by", type=click.Choice(["reason"]), help="Count instead of listing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_cli
def skipped_command(cli: CliContext, site: str | None, by: str | None, as_json: bool) -> None:
    """List the URLs that were met and not asked for, of one SITE or of all.

    \b
    evercrawl skipped --by reason
    evercrawl skipped example.org --json | jq -r .url
    """
    with cli.open_collection() as collection:
        found = collection.skipped(site)
        if by:
            _count_skipped(found, as_json=as_json)
        else:
            _list_skipped(found, as_json=as_json)


def _list_skipped(found: Iterable[SkippedUrl], *, as_json: bool) -> None:
    for one in found:
        if as_json:
            fields = {"url": one.url, "reason": one.reason, "detail": one.detail, "parent": one.parent}
            emit_json("skipped", fields)
        else:
            detail = f" ({safe_line(one.detail, longest=120)})" if one.detail else ""
            click.echo(f"{one.reason:<20} {safe_line(one.url)}{detail}")


def _count_skipped(found: Iterable[SkippedUrl], *, as_json: bool) -> None:
    for reason, count in Counter(one.reason for one in found).most_common():
        if as_json:
            emit_json("skipped-by-reason", {"reason": reason, "count": count})
        else:
            click.echo(f"{count:>9,}  {reason:<20} {REASON_TEXT[reason]}")


@click.command("log")
@click.argument("site", required=False)
@click.option("--since", metavar="TIME", help="From when on: 7d, yesterday, 2026-11-01.")
@click.option("--until", metavar="TIME", help="Up to when; a date means its end.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_cli
def log_command(cli: CliContext, site: str | None, since: str | None, until: str | None, as_json: bool) -> None:
    """Print the visits to one SITE or to all, oldest first, in the form of Heritrix's crawl.log.

    Twelve fields: moment, status, bytes, URL, path of discovery, the page that led there, type, worker, begin
    and milliseconds of the fetch, SHA-1 of the body, source, remarks. Failures have Heritrix's codes.

    \b
    evercrawl log example.org --since 7d > crawl.log
    evercrawl log --json | jq -r 'select(.status == 503) | .url'
    """
    from evercrawl.collection.visit_log import heritrix_line
    from evercrawl.model.time import parse_when

    now = datetime.now(UTC)
    with cli.open_collection() as collection:
        visits = collection.log(
            site,
            since=parse_when(since, now=now) if since else None,
            until=parse_when(until, now=now, at_end=True) if until else None,
        )
        for visit in visits:
            if as_json:
                _emit_visit(visit)
            else:
                sys.stdout.write(heritrix_line(visit) + "\n")


def _emit_visit(visit: VisitLogRow) -> None:
    from evercrawl.model.time import from_us

    fields = {
        "at": from_us(visit.at_us),
        "url": visit.url,
        "outcome": visit.outcome,
        "reason": visit.reason,
        "status": visit.status,
        "took_ms": visit.took_ms,
        "bytes": visit.wire_bytes,
        "content_type": visit.content_type,
        "depth": visit.depth,
        "parent": visit.parent,
    }
    emit_json("log", fields)
