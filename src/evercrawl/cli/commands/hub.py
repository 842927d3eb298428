"""`evercrawl hub`: subscriptions at hubs that tell of news (WebSub)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.exit_codes import ExitCode
from evercrawl.cli.output import emit_json, moment
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session

if TYPE_CHECKING:
    from evercrawl.core.websub import Subscription


@click.group("hub")
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
@pass_session
def websub_list(session: Session, as_json: bool) -> None:
    """Every subscription, how it stands and how long it lasts.

    asked: the hub has not called back yet; active: it tells of news; denied: it does not want to; ending: it
    was asked to tell no more.

    \b
    evercrawl hub list --json | jq -r 'select(.phase != "active") | .topic'
    """
    with session.open_collection() as collection:
        found = collection.websub().subscriptions()
    for one in found:
        _show_subscription(one, as_json=as_json)
    if not found and not as_json:
        session.note("no hub was asked for anything; see: evercrawl hub subscribe --help")


@websub_command.command("subscribe")
@click.argument("url")
@_public_url_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def websub_subscribe(session: Session, url: str, public_url: str, as_json: bool) -> int:
    """Ask the hub that the page or feed URL names to tell us of its news.

    What a hub brings is not believed: the pages that it names are visited soon. The exit code is 1 when the
    hub did not take the question; it is asked again while `serve` runs.

    \b
    evercrawl hub subscribe https://example.org/feed --public-url https://crawl.example.net
    """
    with session.open_collection() as collection:
        made = asyncio.run(collection.websub(public_url).subscribe(url))
    _show_subscription(made, as_json=as_json)
    if not made.detail:
        session.note("the hub checks it at the address of `evercrawl serve`; see: evercrawl hub list")
    return ExitCode.ERROR if made.detail else ExitCode.OK


@websub_command.command("unsubscribe")
@click.argument("topic")
@_public_url_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def websub_unsubscribe(session: Session, topic: str, public_url: str, as_json: bool) -> int:
    """Ask the hub to tell us no more of TOPIC, as `hub list` shows it.

    \b
    evercrawl hub unsubscribe https://example.org/feed --public-url https://crawl.example.net
    """
    with session.open_collection() as collection:
        websub = collection.websub(public_url)
        done = asyncio.run(websub.unsubscribe(topic))
    if as_json:
        emit_json("hub-unsubscribe", {"topic": topic, "done": done})
    elif done:
        click.echo(f"the hub was asked to tell no more of {safe_line(topic)}")
    else:
        session.note(f"there is no subscription to {safe_line(topic)}; see: evercrawl hub list")
    return ExitCode.OK if done else ExitCode.ERROR


def _show_subscription(one: Subscription, *, as_json: bool) -> None:
    from evercrawl.collection.alerts.websub import told_of

    fields = told_of(one)
    if as_json:
        emit_json("hub", fields)
        return
    until = f", until {moment(fields['until'])}" if fields["until"] else ""
    click.echo(f"{one.phase.value:<7} {safe_line(one.topic)}{until}")
    click.echo(f"        by {safe_line(one.hub)}{'' if one.secret else ', not signed: the hub has no TLS'}")
    if one.detail:
        click.echo(f"        {safe_line(one.detail, longest=200)}")
