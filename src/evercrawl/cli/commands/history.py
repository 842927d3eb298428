"""`evercrawl history URL`: the versions of a page, and when each came to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.commands.crawl import seed_url
from evercrawl.cli.output import counted, emit_json, moment, size
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session

if TYPE_CHECKING:
    from evercrawl.model.history import PageHistory, PastVersion
    from evercrawl.model.report import PastVisit

_TITLE_CHARS = 60


@click.command("history")
@click.argument("url")
@click.option("--visits", is_flag=True, help="List every visit too: unchanged, gone, failed and refused ones.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line, oldest version first.")
@common_options
@pass_session
def history_command(session: Session, url: str, visits: bool, as_json: bool) -> None:
    """List the stored versions of a page, oldest first.

    A page changed between two visits: the last that still saw the version before, and the first that saw the
    new one.

    \b
    evercrawl history https://example.org/
    evercrawl history https://example.org/ --visits
    """
    with session.open_collection() as collection:
        found = collection.history(seed_url(url))
    if as_json:
        _emit_history(found, with_visits=visits)
        return
    click.echo(safe_line(found.url))
    for version in found.versions:
        click.echo(_history_line(version))
    if visits:
        click.echo(counted(len(found.visits), "visit"))
        for visit in reversed(found.visits):
            click.echo(f"  {moment(visit.at)}  {visit.status or '-':<4} {visit.outcome}: {visit.reason}")


def version_fields(version: PastVersion) -> dict[str, Any]:
    """What scripts rely on, then the rest."""
    return {
        "version": version.version,
        "seen_at": version.seen_at,
        "changed_after": version.changed_after,
        "class": version.change_class,
        "size": version.size,
        "digest": version.digest,
        "status": version.status,
        "seen_until": version.seen_until,
        "title": version.title,
        "content_type": version.content_type,
        "words": version.words,
        "bytes": version.body_bytes,
        "file": version.file,
        "offset": version.offset,
        "analysis": dict(version.analysis),
    }


def _emit_history(found: PageHistory, *, with_visits: bool) -> None:
    for version in found.versions:
        emit_json("history", version_fields(version))
    for visit in reversed(found.visits if with_visits else ()):
        emit_json("history-visit", _history_visit_fields(visit))


def _history_visit_fields(visit: PastVisit) -> dict[str, Any]:
    return {
        "at": visit.at,
        "outcome": visit.outcome,
        "reason": visit.reason,
        "status": visit.status,
        "version": visit.version,
    }


def _history_line(version: PastVersion) -> str:
    """Which version, when, what kind of change, how large, what it is called."""
    span = f"{moment(version.seen_at)}"
    since = f"after {moment(version.changed_after)}" if version.changed_after else "first seen"
    change = version.change_class or "-"
    share = "" if version.size is None else f" {version.size:.1%}"
    title = safe_line(version.title or "", longest=_TITLE_CHARS)
    what = f"{change}{share}"
    body = size(version.body_bytes)
    mood = version.analysis.get("sentiment")
    friendly = "" if mood is None else f"  sentiment {mood:+.2f}"
    return f"  v{version.version:<4} {span}  {since:<26} {what:<16} {body:>8}{friendly}  {title}".rstrip()
