"""`evercrawl alert add`: what to be told of, and how."""

from __future__ import annotations

from datetime import time
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.exit_codes import ExitCode
from evercrawl.cli.output import emit_json
from evercrawl.cli.session import Session, common_options, pass_session
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.model.alerts import Alert, Destination

CHANNELS = ("webhook", "mail", "atom", "apprise")


def _time_of_day(context: click.Context, option: click.Parameter, text: str) -> time:
    try:
        return time.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a time of day like 07:00", context, option) from None


@click.command("add")
@click.argument("name")
@click.option("--page", "pages", multiple=True, metavar="URL", help="This page. Repeatable.")
@click.option(
    "--pattern",
    "patterns",
    multiple=True,
    metavar="URL",
    help="Pages whose URL is of this form; * stands for anything. Repeatable.",
)
@click.option("--query", metavar="WORDS", help='Pages that say these words; also "a phrase", -not, OR.')
@click.option(
    "--class",
    "kinds",
    multiple=True,
    type=click.Choice(["content", "metadata", "new", "gone"]),
    help="What must have happened. Repeatable. Default: content and metadata.",
)
@click.option(
    "--min-size",
    type=click.FloatRange(0, 1),
    default=0.0,
    metavar="SHARE",
    help="Least share of the page's words that differ, 0 to 1.",
)
@click.option("--sentiment-turn", is_flag=True, help="Only where a friendly page turned unfriendly, or back.")
@click.option("--webhook", metavar="URL", help="Deliver by POST of JSON, signed.")
@click.option("--mail", metavar="ADDRESS", help="Deliver by mail; see the settings notify.mail_host and more.")
@click.option("--atom", metavar="FILE", help="Deliver into a feed in this file.")
@click.option("--apprise", metavar="URL", help="Deliver by the library apprise (extra `apprise`).")
@click.option(
    "--secret", metavar="SECRET", help="What a webhook is signed with: whsec_ and base64. Default: a new one."
)
@click.option("--digest", type=click.Choice(["hourly", "daily"]), help="Gather changes, and tell them together.")
@click.option(
    "--at",
    "daily_at",
    metavar="HH:MM",
    default="07:00",
    callback=_time_of_day,
    help="When a daily digest goes (UTC). Default: 07:00.",
)
@click.option("--quiet-hours", "quiet", multiple=True, metavar="HH:MM-HH:MM", help="Send nothing then (UTC).")
@click.option("--most", type=click.IntRange(1, 500), metavar="N", help="Most changes in one message.")
@click.option("--replace", "replacing", is_flag=True, help="Change the alert of this name, if there is one.")
@click.option("--allow-private", is_flag=True, help="Allow loopback, private and link-local addresses.")
@click.option("--json", "as_json", is_flag=True, help="Print the alert as JSON.")
@common_options
@pass_session
def alert_add_command(
    session: Session, /, name: str, replacing: bool, allow_private: bool, as_json: bool, **options: Any
) -> int:  # fmt: skip
    """Be told when something changes. Every condition that is given must hold; several pages or patterns mean
    any of them.

    \b
    evercrawl alert add prices --page https://example.org/prices --webhook https://me.example/hook
    evercrawl alert add news --pattern 'https://example.org/news/*' --class new --mail you@example.org
    evercrawl alert add harbour --query '"new ferry"' --atom ferry.xml --digest daily

    Told is what is met from now on, while `crawl` or `watch` runs, or by `alert run`. A webhook's secret is
    printed here and never again.
    """
    from evercrawl.collection.alerts.book import AlertBook

    path = session.require_collection()
    flags: dict[str, object] = {"http.allow_private": True} if allow_private else {}
    book = AlertBook(path, session.configured(path, flags).settings)
    alert = book.add(_new_alert(name, options), replacing=replacing)
    _report_added(session, alert, as_json=as_json)
    return ExitCode.OK


def _new_alert(name: str, options: dict[str, Any]) -> Alert:
    from evercrawl.collection.alerts.book import usual_most
    from evercrawl.model.alerts import CHANGES, Alert, AlertFilter, EventKind, Frequency

    target = _alert_target(options)
    rhythm = Frequency(options["digest"]) if options["digest"] else Frequency.AT_ONCE
    return Alert(
        name=name,
        subject=AlertFilter(
            pages=options["pages"],
            patterns=options["patterns"],
            query=options["query"],
            kinds=frozenset(map(EventKind, options["kinds"])) or CHANGES,
            least_size=options["min_size"],
            is_turn=options["sentiment_turn"],
        ),
        target=target,
        rhythm=rhythm,
        daily_at=options["daily_at"],
        quiet=options["quiet"],
        most=options["most"] or usual_most(target.channel, rhythm),
    )


def _alert_target(options: dict[str, Any]) -> Destination:
    from evercrawl.model.alerts import Channel, Destination

    given = [(channel, options[channel]) for channel in CHANNELS if options[channel]]
    if len(given) != 1:
        raise ConfigError("say how the alert is delivered: one of --webhook, --mail, --atom, --apprise")
    ((channel, address),) = given
    if options["secret"] and channel != "webhook":
        raise ConfigError("--secret is for --webhook")
    return Destination(Channel(channel), address, options["secret"])


def _report_added(session: Session, alert: Alert, *, as_json: bool) -> None:
    from evercrawl.core.alerts.stored import alert_fields

    if as_json:
        emit_json("alert", alert_fields(alert, with_secret=True))
        return
    session.note(f"alert {alert.name}: changes from now on; try it with: evercrawl alert test {alert.name}")
    if alert.target.secret is not None:
        session.note("the secret that its messages are signed with, shown only now:")
        click.echo(alert.target.secret)
