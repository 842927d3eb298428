"""`evercrawl mute`: parts of pages whose changes nobody wants to be told of any more."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import CliContext, pass_cli
from evercrawl.cli.options import CommandGroup, common_options
from evercrawl.cli.terminal import ExitCode, emit_json, exact_time
from evercrawl.model.history import Mute
from evercrawl.model.sanitize import safe_line
from evercrawl.model.time import from_us

if TYPE_CHECKING:
    from evercrawl.core.sitemap.websub_protocol import Subscription


@click.group("mute", cls=CommandGroup)
@common_options
def mute_command() -> None:
    """Hear no more of changes in a part of a page or a site: a counter, a list of who is online, the weather.

    A part is named by what stays the same in it; * stands for anything. What is muted is left out of
    `changes`, of the inbox and feed of `serve`, and of alerts. It is visited, compared and kept as before.

    \b
    evercrawl mute add 'Visitors today: *' --site https://example.org
    evercrawl mute list --json
    evercrawl mute undo 3
    """


@mute_command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_cli
def mute_list(cli: CliContext, as_json: bool) -> None:
    """The parts that are muted, newest first.

    \b
    evercrawl mute list --json | jq -r .pattern
    """
    with cli.open_collection() as collection:
        found = collection.mutes()
    for one in found:
        if as_json:
            emit_json("mute", _mute_fields(one))
        else:
            click.echo(f"{one.id:>4}  {safe_line(one.place)}  {safe_line(one.pattern)}")
            click.echo(f"      {exact_time(from_us(one.at_us))} by {safe_line(one.who)}")
    if not found and not as_json:
        cli.note("nothing is muted")


@mute_command.command("add")
@click.argument("pattern")
@click.option("--site", metavar="SITE", help="On every page of this site (origin or host).")
@click.option("--page", metavar="URL", help="On this page alone.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def mute_add(cli: CliContext, pattern: str, site: str | None, page: str | None, as_json: bool) -> None:
    """Mute edits whose old and new text both have the form of PATTERN; capitals and spaces do not count.

    \b
    evercrawl mute add 'Last updated * ago' --page https://example.org/status
    """
    if (site is None) == (page is None):
        raise click.UsageError("say where: --site SITE or --page URL")
    with cli.open_collection() as collection:
        done = collection.mute(pattern, site=site, page=page, who=_user_name())
    if as_json:
        emit_json("mute", _mute_fields(done))
    else:
        click.echo(f"muted on {safe_line(done.place)}: {safe_line(done.pattern)}")
        cli.note(f"take it back with: evercrawl mute undo {done.id}")


@mute_command.command("undo")
@click.argument("number", type=int)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def mute_undo(cli: CliContext, number: int, as_json: bool) -> int:
    """Take the mute of this NUMBER back: its changes are told again, also those since then.

    \b
    evercrawl mute undo 3
    """
    with cli.open_collection() as collection:
        done = collection.unmute(number)
    if as_json:
        emit_json("mute-undo", {"id": number, "done": done is not None})
    elif done is not None:
        click.echo(f"muted no more on {safe_line(done.place)}: {safe_line(done.pattern)}")
    else:
        cli.note(f"there is no mute {number}; see: evercrawl mute list")
    return ExitCode.OK if done is not None else ExitCode.ERROR


def _mute_fields(one: Mute) -> dict[str, object]:
    return {"id": one.id, "at": from_us(one.at_us), "by": one.who, "place": one.place, "pattern": one.pattern}


def _user_name() -> str:
    """The name of whoever sits at the terminal."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "command line"


@click.group("hub", cls=CommandGroup)
@common_options
def websub_command() -> None:
    """Let hubs tell of news, so that we need not ask (WebSub).

    A hub checks every subscription, and brings its news, at the address of `evercrawl serve --public-url`.
    That server must run, and --public-url must name the same address here. It also renews
    subscriptions in time.

    \b
    evercrawl hub subscribe https://example.org/feed --public-url https://crawl.example.net
    evercrawl hub list --json
    evercrawl hub unsubscribe https://example.org/feed --public-url https://crawl.example.net
    """


def _public_url_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--public-url",
        metavar="URL",
        envvar="EVERCRAWL_PUBLIC_URL",
        required=True,
        help="Address at which hubs reach `evercrawl serve`; or in EVERCRAWL_PUBLIC_URL.",
    )(function)


@websub_command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_cli
def websub_list(cli: CliContext, as_json: bool) -> None:
    """Every subscription, how it stands and how long it lasts.

    asked: the hub has not called back yet; active: it tells of news; denied: it does not want to; ending: it
    was asked to tell no more.

    \b
    evercrawl hub list --json | jq -r 'select(.phase != "active") | .topic'
    """
    with cli.open_collection() as collection:
        found = collection.websub().subscriptions()
    for one in found:
        _show_subscription(one, as_json=as_json)
    if not found and not as_json:
        cli.note("no hub was asked for anything; see: evercrawl hub subscribe --help")


@websub_command.command("subscribe")
@click.argument("url")
@_public_url_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def websub_subscribe(cli: CliContext, url: str, public_url: str, as_json: bool) -> int:
    """Ask the hub that the page or feed URL names to tell us of its news.

    What a hub brings is not believed: the pages that it names are visited soon. The exit code is 1 when the
    hub did not take the question; it is asked again while `serve` runs.

    \b
    evercrawl hub subscribe https://example.org/feed --public-url https://crawl.example.net
    """
    with cli.open_collection() as collection:
        made = asyncio.run(collection.websub(public_url).subscribe(url))
    _show_subscription(made, as_json=as_json)
    if not made.detail:
        cli.note("the hub checks it at the address of `evercrawl serve`; see: evercrawl hub list")
    return ExitCode.ERROR if made.detail else ExitCode.OK


@websub_command.command("unsubscribe")
@click.argument("topic")
@_public_url_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def websub_unsubscribe(cli: CliContext, topic: str, public_url: str, as_json: bool) -> int:
    """Ask the hub to tell us no more of TOPIC, as `hub list` shows it.

    \b
    evercrawl hub unsubscribe https://example.org/feed --public-url https://crawl.example.net
    """
    with cli.open_collection() as collection:
        websub = collection.websub(public_url)
        done = asyncio.run(websub.unsubscribe(topic))
    if as_json:
        emit_json("hub-unsubscribe", {"topic": topic, "done": done})
    elif done:
        click.echo(f"the hub was asked to tell no more of {safe_line(topic)}")
    else:
        cli.note(f"there is no subscription to {safe_line(topic)}; see: evercrawl hub list")
    return ExitCode.OK if done else ExitCode.ERROR


def _show_subscription(one: Subscription, *, as_json: bool) -> None:
    from evercrawl.collection.alerts.subscriptions import subscription_fields

    fields = subscription_fields(one)
    if as_json:
        emit_json("hub", fields)
        return
    until = f", until {exact_time(fields['until'])}" if fields["until"] else ""
    click.echo(f"{one.phase.value:<7} {safe_line(one.topic)}{until}")
    click.echo(f"        by {safe_line(one.hub)}{'' if one.secret else ', not signed: the hub has no TLS'}")
    if one.detail:
        click.echo(f"        {safe_line(one.detail, longest=200)}")
