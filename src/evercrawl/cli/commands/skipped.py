"""`evercrawl skipped`: what was not asked for, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from evercrawl.cli.output import emit_json
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session
from evercrawl.model.reason import REASON_TEXT

if TYPE_CHECKING:
    from evercrawl.model.report import SkippedUrl


@click.command("skipped")
@click.argument("site", required=False)
@click.option("--by", type=click.Choice(["reason"]), help="Count instead of listing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_session
def command(session: Session, site: str | None, by: str | None, as_json: bool) -> None:
    """List the URLs that were met and not asked for, of one SITE or of all.

    \b
    evercrawl skipped --by reason
    evercrawl skipped example.org --json | jq -r .url
    """
    with session.open_collection() as collection:
        found = collection.skipped(site)
        if by:
            _counted(found, as_json=as_json)
        else:
            _listed(found, as_json=as_json)


def _listed(found: Iterable[SkippedUrl], *, as_json: bool) -> None:
    for one in found:
        if as_json:
            fields = {"url": one.url, "reason": one.reason, "detail": one.detail, "parent": one.parent}
            emit_json("skipped", fields)
        else:
            detail = f" ({safe_line(one.detail, longest=120)})" if one.detail else ""
            click.echo(f"{one.reason:<20} {safe_line(one.url)}{detail}")


def _counted(found: Iterable[SkippedUrl], *, as_json: bool) -> None:
    for reason, count in Counter(one.reason for one in found).most_common():
        if as_json:
            emit_json("skipped-by-reason", {"reason": reason, "count": count})
        else:
            click.echo(f"{count:>9,}  {reason:<20} {REASON_TEXT[reason]}")
