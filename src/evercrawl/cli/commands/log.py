"""`evercrawl log`: every visit, one a line, as crawl.log or as JSON."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from evercrawl.cli.output import emit_json
from evercrawl.cli.session import Session, common_options, pass_session

if TYPE_CHECKING:
    from evercrawl.model.listing import VisitLogRow


@click.command("log")
@click.argument("site", required=False)
@click.option("--since", metavar="TIME", help="From when on: 7d, yesterday, 2026-11-01.")
@click.option("--until", metavar="TIME", help="Up to when; a date means its end.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_session
def log_command(session: Session, site: str | None, since: str | None, until: str | None, as_json: bool) -> None:
    """Print the visits to one SITE or to all, oldest first, in the form of Heritrix's crawl.log.

    Twelve fields: moment, status, bytes, URL, path of discovery, the page that led there, type, worker, begin
    and milliseconds of the fetch, SHA-1 of the body, source, remarks. Failures have Heritrix's codes.

    \b
    evercrawl log example.org --since 7d > crawl.log
    evercrawl log --json | jq -r 'select(.status == 503) | .url'
    """
    from evercrawl.core.crawl_log import crawl_line
    from evercrawl.core.when import parse_when

    now = datetime.now(UTC)
    with session.open_collection() as collection:
        visits = collection.log(
            site,
            since=parse_when(since, now=now) if since else None,
            until=parse_when(until, now=now, at_end=True) if until else None,
        )
        for visit in visits:
            if as_json:
                _emit_visit(visit)
            else:
                sys.stdout.write(crawl_line(visit) + "\n")


def _emit_visit(visit: VisitLogRow) -> None:
    from evercrawl.core.moment import from_us

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
