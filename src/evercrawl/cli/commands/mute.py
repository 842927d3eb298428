"""`evercrawl mute`: parts of pages whose changes nobody wants to be told of any more."""

from __future__ import annotations

import getpass

import click

from evercrawl.cli.exit_codes import ExitCode
from evercrawl.cli.output import emit_json, moment
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session
from evercrawl.core.moment import from_us
from evercrawl.model.history import Mute


@click.group("mute")
@common_options
def command() -> None:
    """Hear no more of changes in a part of a page or a site: a counter, a list of who is online, the weather.

    A part is named by what stays the same in it; * stands for anything. What is muted is left out of
    `changes`, of the inbox and feed of `serve`, and of alerts. It is visited, compared and kept as before.

    \b
    evercrawl mute add 'Visitors today: *' --site https://example.org
    evercrawl mute list --json
    evercrawl mute undo 3
    """


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_session
def list_(session: Session, as_json: bool) -> None:
    """The parts that are muted, newest first.

    \b
    evercrawl mute list --json | jq -r .pattern
    """
    with session.open_collection() as collection:
        found = collection.mutes()
    for one in found:
        if as_json:
            emit_json("mute", _fields(one))
        else:
            click.echo(f"{one.id:>4}  {safe_line(one.place)}  {safe_line(one.pattern)}")
            click.echo(f"      {moment(from_us(one.at_us))} by {safe_line(one.who)}")
    if not found and not as_json:
        session.note("nothing is muted")


@command.command("add")
@click.argument("pattern")
@click.option("--site", metavar="SITE", help="On every page of this site (origin or host).")
@click.option("--page", metavar="URL", help="On this page alone.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def add(session: Session, pattern: str, site: str | None, page: str | None, as_json: bool) -> None:
    """Mute edits whose old and new text both have the form of PATTERN; capitals and spaces do not count.

    \b
    evercrawl mute add 'Last updated * ago' --page https://example.org/status
    """
    if (site is None) == (page is None):
        raise click.UsageError("say where: --site SITE or --page URL")
    with session.open_collection() as collection:
        done = collection.mute(pattern, site=site, page=page, who=_who())
    if as_json:
        emit_json("mute", _fields(done))
    else:
        click.echo(f"muted on {safe_line(done.place)}: {safe_line(done.pattern)}")
        session.note(f"take it back with: evercrawl mute undo {done.id}")


@command.command("undo")
@click.argument("number", type=int)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def undo(session: Session, number: int, as_json: bool) -> int:
    """Take the mute of this NUMBER back: its changes are told again, also those since then.

    \b
    evercrawl mute undo 3
    """
    with session.open_collection() as collection:
        done = collection.unmute(number)
    if as_json:
        emit_json("mute-undo", {"id": number, "done": done is not None})
    elif done is not None:
        click.echo(f"muted no more on {safe_line(done.place)}: {safe_line(done.pattern)}")
    else:
        session.note(f"there is no mute {number}; see: evercrawl mute list")
    return ExitCode.OK if done is not None else ExitCode.ERROR


def _fields(one: Mute) -> dict[str, object]:
    return {"id": one.id, "at": from_us(one.at_us), "by": one.who, "place": one.place, "pattern": one.pattern}


def _who() -> str:
    """The name of whoever sits at the terminal."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "command line"
