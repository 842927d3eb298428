"""`evercrawl changes`: what changed on which pages, the same edit only once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from evercrawl.cli.output import counted, emit_json
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session

if TYPE_CHECKING:
    from evercrawl.model.history import ChangeGroup

_PAGES_SHOWN = 3
_LONGEST_LINE = 200


@click.command("changes")
@click.argument("site", required=False)
@click.option(
    "--since", default="7d", show_default=True, metavar="TIME", help="From when on: 7d, yesterday, 2026-11-01."
)
@click.option(
    "--noise", is_flag=True, help="Also what single pages show beside their content: adverts, counters, menus."
)
@click.option("--muted", is_flag=True, help="Also what lies in parts that were muted.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_session
def changes_command(session: Session, site: str | None, since: str, noise: bool, muted: bool, as_json: bool) -> None:
    """List what changed since TIME on the pages of one SITE or of all, the most significant first.

    The same edit on many pages is one entry. Pages that were seen for the first time are not changes. What
    you do not want to see again: evercrawl mute

    \b
    evercrawl changes --since yesterday
    evercrawl changes example.org --since 7d --json | jq -r '.pages[]'
    """
    from evercrawl.core.when import parse_when

    moment = parse_when(since, now=datetime.now(UTC))
    with session.open_collection() as collection:
        groups = collection.changes(moment, site=site, noise=noise, muted=muted)
    for group in groups:
        if as_json:
            _emit_group(group)
        else:
            _show_group(group)
    if not groups:
        session.note(f"nothing has changed since {since}")


def _emit_group(group: ChangeGroup) -> None:
    fields = {"class": group.change_class, "size": group.size, "pages": group.pages, "example": group.example}
    emit_json("changes", fields)


def _show_group(group: ChangeGroup) -> None:
    first, others = group.pages[0], len(group.pages) - 1
    where = f"{counted(len(group.pages), 'page')}: the same edit" if others else safe_line(first)
    click.echo(f"{group.change_class} {group.size:.1%}  {where}")
    if others:
        for url in group.pages[:_PAGES_SHOWN]:
            click.echo(f"    {safe_line(url)}")
        if len(group.pages) > _PAGES_SHOWN:
            click.echo(f"    and {len(group.pages) - _PAGES_SHOWN:,} more")
    for line in group.example.splitlines():
        click.echo(f"  {safe_line(line, longest=_LONGEST_LINE)}")
