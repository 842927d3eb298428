"""The commands `mute` and `websub`: hide unwanted changes, and subscribe to pushed updates."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import (
    CliContext,
    CommandGroup,
    common_options,
    json_lines_option,
    json_option,
    pass_cli,
    with_cli,
)
from evercrawl.cli.terminal import ExitCode, emit_json, emit_list, local_time
from evercrawl.model.change import Mute, PartVerdict
from evercrawl.model.sanitize import safe_line
from evercrawl.model.time import from_us

if TYPE_CHECKING:
    from evercrawl.collection.alerts.subscriptions import Subscription


@click.group("mute", cls=CommandGroup)
@common_options
def mute_command() -> None:
    """Correct what counts as noise in a part of a page or site.

    A pattern names the part by the text that stays the same; * matches anything. Muted changes do not show up
    in `changes`, alerts, or the inbox and feed of `serve`; versions are stored as before. An exception is the
    opposite: its changes are reported from the next visit on, even if they look like noise. See what was called
    noise with: evercrawl changes --noise

    \b
    evercrawl mute add 'Visitors today: *' --site https://example.org
    evercrawl mute except 'Seats left: *' --page https://example.org/booking
    evercrawl mute list --json
    evercrawl mute undo 3
    """


@mute_command.command("list")
@json_lines_option
@with_cli
def mute_list(cli: CliContext, as_json: bool) -> None:
    """List the muted parts and the exceptions, newest first.

    \b
    evercrawl mute list --json | jq -r .pattern
    """
    with cli.open_collection() as collection:
        found = [*collection.mutes(), *collection.mutes(PartVerdict.CONTENT)]
    found.sort(key=lambda one: one.id, reverse=True)
    emit_list(cli, "mute", found, _mute_fields, _mute_text, "nothing is muted", as_json=as_json)


def _mute_text(one: Mute) -> str:
    head = f"{one.id:>4}  {_VERDICTS[one.verdict]}  {safe_line(one.place)}  {safe_line(one.pattern)}"
    return f"{head}\n      {local_time(from_us(one.at_us))} by {safe_line(one.who)}"


_VERDICTS = {PartVerdict.NOISE: "muted   ", PartVerdict.CONTENT: "reported"}
_Command = Callable[..., None]


def _place_options(command: _Command) -> _Command:
    """Add the argument and the options of a rule for a part."""
    for add in (
        pass_cli,
        common_options,
        json_option,
        click.option("--page", metavar="URL", help="On this page only."),
        click.option("--site", metavar="SITE", help="On all pages of this host or origin."),
        click.argument("pattern"),
    ):
        command = add(command)
    return command


@mute_command.command("add")
@_place_options
def mute_add(cli: CliContext, pattern: str, site: str | None, page: str | None, as_json: bool) -> None:
    """Mute edits whose old and new text both match PATTERN, ignoring case and spaces.

    \b
    evercrawl mute add 'Last updated * ago' --page https://example.org/status
    """
    _add_rule(cli, PartVerdict.NOISE, pattern, site, page, as_json=as_json)


@mute_command.command("except")
@_place_options
def mute_except(cli: CliContext, pattern: str, site: str | None, page: str | None, as_json: bool) -> None:
    """Report edits whose old and new text both match PATTERN, even if they look like noise.

    It applies from the next visit on.

    \b
    evercrawl changes --noise
    evercrawl mute except 'Seats left: *' --site https://example.org
    """
    _add_rule(cli, PartVerdict.CONTENT, pattern, site, page, as_json=as_json)


def _add_rule(
    cli: CliContext, verdict: PartVerdict, pattern: str, site: str | None, page: str | None, *, as_json: bool
) -> None:
    if (site is None) == (page is None):
        raise click.UsageError("choose where: --site SITE or --page URL")
    with cli.open_collection() as collection:
        done = collection.mute(pattern, site=site, page=page, who=_user_name(), verdict=verdict)
    if as_json:
        emit_json("mute", _mute_fields(done))
    else:
        click.echo(f"{_VERDICTS[verdict].strip()} on {safe_line(done.place)}: {safe_line(done.pattern)}")
        cli.note(f"undo with: evercrawl mute undo {done.id}")


@mute_command.command("undo")
@click.argument("number", type=int)
@json_option
@with_cli
def mute_undo(cli: CliContext, number: int, as_json: bool) -> int:
    """Remove the mute or exception with this NUMBER.

    Changes in a part that was muted show up again.

    \b
    evercrawl mute undo 3
    """
    with cli.open_collection() as collection:
        done = collection.unmute(number)
    if as_json:
        emit_json("mute-undo", {"id": number, "done": done is not None})
    elif done is not None:
        click.echo(f"no longer {_VERDICTS[done.verdict].strip()} on {safe_line(done.place)}: {safe_line(done.pattern)}")
    else:
        cli.note(f"there is no mute {number}; list them with: evercrawl mute list")
    return ExitCode.OK if done is not None else ExitCode.ERROR


def _mute_fields(one: Mute) -> dict[str, object]:
    return {
        "id": one.id,
        "at": from_us(one.at_us),
        "by": one.who,
        "place": one.place,
        "pattern": one.pattern,
        "verdict": one.verdict.value,
    }


def _user_name() -> str:
    """Return the name of the user."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "command line"


@click.group("websub", cls=CommandGroup)
@common_options
def websub_command() -> None:
    """Subscribe to sites that push their updates through a hub (WebSub).

    Hubs confirm subscriptions and send updates to `evercrawl serve --public-url URL`. That server must be
    running, with the same --public-url as here. It also renews subscriptions.

    \b
    evercrawl websub subscribe https://example.org/feed --public-url https://crawl.example.net
    evercrawl websub list --json
    evercrawl websub unsubscribe https://example.org/feed --public-url https://crawl.example.net
    """


def _public_url_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--public-url", metavar="URL", help="URL where hubs reach `evercrawl serve`. Default: web.public_url."
    )(function)


@websub_command.command("list")
@json_lines_option
@with_cli
def websub_list(cli: CliContext, as_json: bool) -> None:
    """List the subscriptions with their state and end.

    requested: not confirmed yet; active: updates arrive; denied: refused by the hub; ending: being cancelled.

    \b
    evercrawl websub list --json | jq -r 'select(.phase != "active") | .topic'
    """
    with cli.open_collection() as collection:
        found = collection.websub().subscriptions()
    for one in found:
        _show_subscription(one, as_json=as_json)
    if not found and not as_json:
        cli.note("no subscriptions; add one with: evercrawl websub subscribe URL")


@websub_command.command("subscribe")
@click.argument("url")
@_public_url_option
@json_option
@with_cli
def websub_subscribe(cli: CliContext, url: str, public_url: str | None, as_json: bool) -> int:
    """Subscribe to a page or feed at the hub that it names.

    Pages that a hub announces are visited soon, to check. If the hub refuses the request, the exit code is 1,
    and `serve` tries again later.

    \b
    evercrawl websub subscribe https://example.org/feed --public-url https://crawl.example.net
    """
    with cli.open_collection() as collection:
        subscription = asyncio.run(collection.websub(public_url).subscribe(url))
    _show_subscription(subscription, as_json=as_json)
    if not subscription.detail:
        cli.note("requested; the hub now confirms with `evercrawl serve`. See: evercrawl websub list")
    return ExitCode.ERROR if subscription.detail else ExitCode.OK


@websub_command.command("unsubscribe")
@click.argument("topic")
@_public_url_option
@json_option
@with_cli
def websub_unsubscribe(cli: CliContext, topic: str, public_url: str | None, as_json: bool) -> int:
    """Cancel the subscription to TOPIC, as `websub list` shows it.

    \b
    evercrawl websub unsubscribe https://example.org/feed --public-url https://crawl.example.net
    """
    with cli.open_collection() as collection:
        websub = collection.websub(public_url)
        done = asyncio.run(websub.unsubscribe(topic))
    if as_json:
        emit_json("websub-unsubscribe", {"topic": topic, "done": done})
    elif done:
        click.echo(f"cancelling the subscription to {safe_line(topic)}")
    else:
        cli.note(f"no subscription to {safe_line(topic)}; list them with: evercrawl websub list")
    return ExitCode.OK if done else ExitCode.ERROR


def _show_subscription(one: Subscription, *, as_json: bool) -> None:
    from evercrawl.collection.alerts.subscriptions import subscription_fields

    fields = subscription_fields(one)
    if as_json:
        emit_json("websub", fields)
        return
    until = f", until {local_time(fields['until'])}" if fields["until"] else ""
    click.echo(f"{one.phase.value:<9} {safe_line(one.topic)}{until}")
    click.echo(f"        by {safe_line(one.hub)}{'' if one.secret else ', unsigned (the hub has no TLS)'}")
    if one.detail:
        click.echo(f"        {safe_line(one.detail, longest=200)}")
