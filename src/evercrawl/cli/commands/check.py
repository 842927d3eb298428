"""`evercrawl check`: what should be corrected on the sites themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.exit_codes import ExitCode
from evercrawl.cli.output import counted, emit_json
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session

if TYPE_CHECKING:
    from evercrawl.model.links import BadLink

_LONGEST_TEXT = 60


@click.group("check", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@click.pass_context
def check_command(ctx: click.Context, as_json: bool) -> int:
    """Check the pages of the collection (without more words their links, as `links` does).

    \b
    evercrawl check links
    evercrawl check orphans

    Links that are dead or lead elsewhere, and pages that nobody links to.
    """
    if ctx.invoked_subcommand is not None:
        return ExitCode.OK
    return int(ctx.invoke(check_links, site=None, only_dead=False, as_json=as_json))


@check_command.command("links")
@click.option("--site", metavar="HOST", help="Only links on the pages of this host or origin.")
@click.option("--dead", "only_dead", is_flag=True, help="Only links that lead nowhere.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_session
def check_links(session: Session, site: str | None, only_dead: bool, as_json: bool) -> int:
    """List dead links and links to pages that have moved, by the page that they stand on.

    \b
    evercrawl check links
    evercrawl check links --site example.org --dead --json

    Known is what was visited: links out of the scope are not followed, so they are not judged. With dead
    links or loops the exit code is 1.
    """
    from evercrawl.model.links import LinkTrouble

    broken = (LinkTrouble.DEAD, LinkTrouble.LOOP)
    page, count, broken_count = None, 0, 0
    with session.open_collection() as collection:
        for found in collection.bad_links(site):
            broken_count += found.trouble in broken
            if only_dead and found.trouble not in broken:
                continue
            count += 1
            if as_json:
                emit_json("check-links", bad_link_fields(found))
                continue
            if found.url != page:
                page = found.url
                click.echo(safe_line(page))
            click.echo(f"  {_bad_link_line(found)}")
    session.note(f"{counted(count, 'link')} to correct, {broken_count:,} of them lead nowhere")
    return ExitCode.ERROR if broken_count else ExitCode.OK


def bad_link_fields(found: BadLink) -> dict[str, Any]:
    """A bad link for programs."""
    return {
        "url": found.url,
        "target": found.target,
        "text": found.text,
        "problem": found.trouble.value,
        "status": found.status,
        "reason": found.reason,
        "chain": list(found.chain),
    }


def _bad_link_line(found: BadLink) -> str:
    text = safe_line(found.text, longest=_LONGEST_TEXT)
    cause = f"status {found.status}" if found.status and found.status >= 400 else found.reason or ""
    way = " -> ".join(safe_line(url) for url in found.chain)
    said = f"{found.trouble.value:<8} {safe_line(found.target)}" + (f" -> {way}" if way else "")
    return said + (f" ({cause})" if found.trouble.value == "dead" else "") + (f'  "{text}"' if text else "")


@check_command.command("orphans")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_session
def check_orphans(session: Session, as_json: bool) -> None:
    """List known pages that no page of the collection links to, such as those that only a sitemap names."""
    with session.open_collection() as collection:
        for url in collection.orphans():
            if as_json:
                emit_json("check-orphans", {"url": url})
            else:
                click.echo(safe_line(url))
