"""The commands `status`, `why`, `skipped` and `log`: what the collection holds, and why."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import CliContext, json_lines_option, json_option, with_cli
from evercrawl.cli.terminal import (
    ExitCode,
    emit_json,
    exact_time,
    format_size,
    freshness_text,
    local_time,
    plural,
    relative_time,
    revisit_text,
)
from evercrawl.collection.urls import parse_page_url
from evercrawl.model.document import usage_text
from evercrawl.model.reason import REASON_TEXT
from evercrawl.model.sanitize import safe_line
from evercrawl.model.time import format_days

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evercrawl.model.history import PageStatistics
    from evercrawl.model.listing import SkippedUrl, VisitLogRow
    from evercrawl.model.report import Announcements, Explanation, PageForecast, PastVisit, Savings, Status


@click.command("status")
@click.option("--page", "url", metavar="URL", help="Show the statistics of one page instead.")
@json_option
@with_cli
def status_command(cli: CliContext, url: str | None, as_json: bool) -> None:
    """Show what the collection holds, what is due, and how fresh the copies are.

    Freshness is the estimated share of pages whose copy is current, with its standard error.

    \b
    evercrawl status
    evercrawl status --page https://example.org/
    evercrawl status --json | jq .due_now
    """
    with cli.open_collection() as collection:
        if url is not None:
            _show_page(collection.statistics(parse_page_url(collection.typed_url(url))), as_json=as_json)
            return
        status = collection.status()
    if as_json:
        emit_json("status", asdict(status))
    else:
        _show_status(cli, status)


def _show_page(facts: PageStatistics, *, as_json: bool) -> None:

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
        "due": f"{status.due_now:,} now" + (f", next {relative_time(status.next_due)}" if status.next_due else ""),
        "freshness": freshness_text(status.freshness) if status.freshness else "",
        "policy": revisit_text(status.revisit) if status.revisit and cli.verbose else "",
        "traffic": f"{plural(status.requests, 'request')}, {format_size(status.bytes)}",
        "saved": _saved_text(status.savings) if status.savings else "",
        "disk": f"{plural(status.archive_files, 'WARC file')} with {format_size(status.archive_bytes)}, "
        f"state {format_size(status.state_bytes)}",
        "skipped": f"{plural(status.refused, 'URL')} (list them with: evercrawl skipped)" if status.refused else "none",
    }
    for name, text in lines.items():
        if text:
            click.echo(f"{name:<11} {text}")
    _print_counts(cli, "outcome", status.by_outcome)
    _print_counts(cli, "reason", status.by_reason)
    for closed in status.closed_sites:
        reason = safe_line(closed.reason, longest=100)
        click.echo(f"closed until {local_time(closed.opens_at)}: {safe_line(closed.site)} ({reason})")
    for slow in status.slowed_sites:
        click.echo(f"slowed down: {safe_line(slow.site)}, {slow.reason}")
    for slowed in status.rate_overrides:
        click.echo(f"slowed down by you: {safe_line(slowed.site)}, one request every {slowed.delay_s:g} s")
    for trap in status.traps:
        evidence = safe_line(trap.evidence, longest=160)
        click.echo(f"trap on {safe_line(trap.site)}: {safe_line(trap.pattern)} is skipped ({evidence})")
    if status.traps:
        cli.note("list all traps with: evercrawl trap list")


def _saved_text(saved: Savings) -> str:
    answers = f"{saved.not_modified:,} × 304 Not Modified, {format_size(saved.not_modified_bytes)} not sent"
    return f"{answers}; {plural(saved.not_due, 'page')} up to date"


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


_MAX_VISITS = 10


@click.command("why")
@click.argument("url")
@json_option
@with_cli
def why_command(cli: CliContext, url: str, as_json: bool) -> int:
    """Explain why a URL was or was not fetched, how it changes, and when it is due.

    \b
    evercrawl why https://example.org/private/
    evercrawl why https://example.org/ --json | jq .reason

    The exit code is 1 if the collection does not know the URL.
    """
    with cli.open_collection() as collection:
        found = collection.why(parse_page_url(collection.typed_url(url)))
    if as_json:
        emit_json("why", explanation_fields(found))
    else:
        _show_explanation(found, is_verbose=bool(cli.verbose))
    return ExitCode.OK if found.known else ExitCode.ERROR


def explanation_fields(found: Explanation) -> dict[str, Any]:
    """Return the fields that scripts rely on, then the past visits."""
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
        "site_closed": found.site_closed,
        "delay_override_s": found.delay_override_s,
        "schedule": found.schedule,
        "relevance": found.relevance,
        "duplicate_of": found.duplicate_of,
        "credit": found.credit,
        "importance": found.importance,
        "usage": dict(found.usage),
        "decisions": [_decision_fields(visit) for visit in found.decisions],
        "forecast": None if found.forecast is None else asdict(found.forecast),
    }


def _change_lines(habits: PageForecast) -> dict[str, str]:

    wrong = plural(habits.false_validators, "wrong validator")
    return {
        "changes": habits.rate_text,
        "copy": f"current with a probability of {habits.probability_current:.0%}",
        "value": _value_text(habits),
        "announced": _announcement_text(habits.announcements) if habits.announcements else "",
        "rule": f"{habits.policy}: {habits.rule_text}" if habits.rule_text else "",
        "validators": f"not trusted on this site ({wrong})" if habits.false_validators else "",
        "next visit": habits.next_visit_text,
    }


def _value_text(habits: PageForecast) -> str:
    if habits.value_days is None:
        return "must be visited in any case"
    gain, needed = format_days(habits.value_days), format_days(habits.threshold_days)
    return f"a visit now gains {gain} of a current copy; it needs {needed}"


def _announcement_text(found: Announcements) -> str:
    polled = f"last read {relative_time(found.last_poll)}" if found.last_poll else "never read"
    if not found.trusted:
        return f"nothing reliable ({polled})"
    right, wrong = "no change found yet", "no announcement checked yet"
    if found.recall is not None:
        seen = f"{found.changes_announced:,} of {found.changes_found:,} found"
        right = f"{found.recall:.0%} of changes ({seen})"
    if found.false_share is not None:
        wrong = f"{found.false_share:.0%} of announcements false ({found.false:,} of {found.checked:,})"
    return f"{right}; {wrong}; {plural(found.pending, 'announcement')} since the last visit; {polled}"


def _relevance_text(relevance: float) -> str:
    return f"{relevance:.2f}, {'on' if relevance > 0.5 else 'off'} topic"


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


def _closed_until(found: Explanation) -> str:
    why = f": {safe_line(found.site_closed, longest=100)}" if found.site_closed else ""
    return f"until {local_time(found.site_opens_at)}{why}" if found.site_opens_at else ""


def _show_explanation(found: Explanation, *, is_verbose: bool) -> None:
    click.echo(safe_line(found.url))
    if not found.known or found.reason is None:
        click.echo("  unknown: no page of the collection links to this URL")
        verdict = f"would be skipped ({found.reason})" if found.reason else "would be followed"
        click.echo(f"  a link to it {verdict}: {safe_line(found.detail)}")
        return
    click.echo(f"  {found.outcome}: {REASON_TEXT[found.reason]}")
    facts = {
        "detail": "" if found.detail == REASON_TEXT[found.reason] else safe_line(found.detail),
        "status": str(found.status or ""),
        "found on": safe_line(found.parent or ""),
        "level": "" if found.depth is None else f"{plural(found.depth, 'link')} from a start page",
        "duplicate": safe_line(found.duplicate_of or ""),
        "importance": "" if found.importance is None else f"{found.importance:g} times the average",
        "visits": str(found.visits or ""),
        "relevance": "" if found.relevance is None else _relevance_text(found.relevance),
        "use": safe_line(usage_text(found.usage), longest=300),
        "site closed": _closed_until(found) if found.site_opens_at else "",
        "slowed down": ""
        if found.delay_override_s is None
        else f"by you, one request every {found.delay_override_s:g} s",
        "due": f"{local_time(found.due)} ({relative_time(found.due)})" if found.due else "",
        "schedule": f"yours decides: {safe_line(found.schedule)}" if found.schedule else "",
        **(_change_lines(found.forecast) if found.forecast else {}),
        **({"value": "", "rule": "", "next visit": ""} if found.schedule else {} if is_verbose else {"value": ""}),
    }
    for name, text in facts.items():
        if text:
            click.echo(f"  {name:<11} {text}")
    for visit in found.decisions[:_MAX_VISITS]:
        click.echo(
            f"  {local_time(visit.at)}  {visit.status or '-':<4} {visit.outcome}: {str(visit.reason).replace('_', ' ')}"
        )


@click.command("skipped")
@click.argument("site", required=False)
@click.option("--site", "only", metavar="HOST", help="Only this host or origin; the same as SITE.")
@click.option("--by", type=click.Choice(["reason"]), help="Count URLs per reason instead.")
@json_lines_option
@with_cli
def skipped_command(cli: CliContext, site: str | None, only: str | None, by: str | None, as_json: bool) -> None:
    """List the URLs that were found but not fetched, of one SITE or of all.

    \b
    evercrawl skipped --by reason
    evercrawl skipped example.org --json | jq -r .url
    """
    with cli.open_collection() as collection:
        found = collection.skipped(site or only)
        if by:
            _count_skipped(found, as_json=as_json)
        else:
            _list_skipped(cli, found, site or only, as_json=as_json)


def _list_skipped(cli: CliContext, found: Iterable[SkippedUrl], site: str | None, *, as_json: bool) -> None:
    one = None
    for one in found:
        if as_json:
            fields = {"url": one.url, "reason": one.reason, "detail": one.detail, "parent": one.parent}
            emit_json("skipped", fields)
        else:
            detail = f" ({safe_line(one.detail, longest=120)})" if one.detail else ""
            click.echo(f"{one.reason:<20} {safe_line(one.url)}{detail}")
    if one is None:
        cli.note(f"no URLs of {safe_line(site)} were skipped" if site else "no URLs were skipped")


def _count_skipped(found: Iterable[SkippedUrl], *, as_json: bool) -> None:
    for reason, count in Counter(one.reason for one in found).most_common():
        if as_json:
            emit_json("skipped-by-reason", {"reason": reason, "count": count})
        else:
            click.echo(f"{count:>9,}  {reason:<20} {REASON_TEXT[reason]}")


@click.command("log")
@click.argument("site", required=False)
@click.option("--since", metavar="TIME", help="Visits since then: 7d, yesterday, 2026-11-01.")
@click.option("--until", metavar="TIME", help="Visits until then; a date includes its whole day.")
@json_lines_option
@with_cli
def log_command(cli: CliContext, site: str | None, since: str | None, until: str | None, as_json: bool) -> None:
    """Print the visits to one SITE or to all, oldest first, in the format of Heritrix's crawl.log.

    The twelve fields: time, status, bytes, URL, discovery path, referring page, content type, worker, start and
    duration of the fetch, SHA-1 of the body, source, annotations. Failures have Heritrix's status codes.

    \b
    evercrawl log example.org --since 7d > crawl.log
    evercrawl log --json | jq -r 'select(.status == 503) | .url'
    """
    from evercrawl.collection.visit_log import heritrix_line
    from evercrawl.model.time import parse_time

    now = datetime.now(UTC)
    with cli.open_collection() as collection:
        visits = collection.log(
            site,
            since=parse_time(since, now=now) if since else None,
            until=parse_time(until, now=now, at_end=True) if until else None,
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
