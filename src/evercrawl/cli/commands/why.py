"""`evercrawl why URL`: the decision about a URL, its rule and its evidence."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.commands.crawl import seed_url
from evercrawl.cli.exit_codes import ExitCode
from evercrawl.cli.output import counted, emit_json, moment
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session
from evercrawl.core.duration import in_words
from evercrawl.model.reason import REASON_TEXT

if TYPE_CHECKING:
    from evercrawl.model.report import Announcements, Explanation, PageForecast, PastVisit

_MOST_VISITS = 10


@click.command("why")
@click.argument("url")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def command(session: Session, url: str, as_json: bool) -> int:
    """Say why a URL was or was not asked for, how it changes, and when it will be visited.

    \b
    evercrawl why https://example.org/private/
    evercrawl why https://example.org/ --json | jq .reason

    The exit code is 1 when the collection has never met the URL.
    """
    with session.open_collection() as collection:
        found = collection.why(seed_url(url))
    if as_json:
        emit_json("why", explanation_fields(found))
    else:
        _show(found)
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
        "decisions": [_visit_fields(visit) for visit in found.decisions],
        "habits": None if found.habits is None else asdict(found.habits),
    }


def _habit_lines(habits: PageForecast) -> dict[str, str]:
    """Rate and evidence, signals, value and threshold, the next visit."""
    lied = counted(habits.validators_that_lied, "validator")
    return {
        "habit": habits.words,
        "copy": f"current with probability {habits.chance_current:.2f}",
        "value": _value_words(habits),
        "signals": _signal_words(habits.announcements) if habits.announcements else "",
        "validators": f"not trusted on this site: {lied} lied" if habits.validators_that_lied else "",
        "next visit": habits.next_visit_words,
    }


def _value_words(habits: PageForecast) -> str:
    if habits.value_days is None:
        return "a visit has to be made in any case"
    brings, asked = in_words(habits.value_days), in_words(habits.threshold_days)
    return f"a visit now brings {brings} of a current copy; the threshold is {asked}"


def _signal_words(told: Announcements) -> str:
    polled = f"last read {moment(told.last_poll)}" if told.last_poll else "never read"
    if not told.trusted:
        return f"the site announces nothing that can be used ({polled})"
    waiting = counted(told.waiting, "announcement")
    return (
        f"{told.recall:.0%} of changes are announced, {told.false_share:.0%} of this page's announcements "
        f"are false; {waiting} since the last visit; {polled}"
    )


def _relevance_words(relevance: float) -> str:
    return f"{relevance:.2f}, {'on' if relevance > 0.5 else 'off'} the topic of the focus"


def _visit_fields(visit: PastVisit) -> dict[str, Any]:
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


def _show(found: Explanation) -> None:
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
        "relevance": "" if found.relevance is None else _relevance_words(found.relevance),
        "site opens": moment(found.site_opens_at) if found.site_opens_at else "",
        "slowed": "" if found.slowed_to_s is None else f"by you, to one request in {found.slowed_to_s:g} s",
        "due": moment(found.due) if found.due else "",
        **(_habit_lines(found.habits) if found.habits else {}),
    }
    for name, text in facts.items():
        if text:
            click.echo(f"  {name:<11} {text}")
    for visit in found.decisions[:_MOST_VISITS]:
        click.echo(f"  {moment(visit.at)}  {visit.status or '-':<4} {visit.outcome}: {visit.reason}")
