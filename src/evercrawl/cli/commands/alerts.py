"""`evercrawl alert`: being told of changes."""

from __future__ import annotations

import asyncio
import signal
from datetime import time
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import CliContext, pass_cli
from evercrawl.cli.options import CommandGroup, common_options
from evercrawl.cli.terminal import ExitCode, emit_json, exact_time, plural
from evercrawl.errors import ConfigError
from evercrawl.model.sanitize import safe_line

if TYPE_CHECKING:
    from pathlib import Path

    from evercrawl.collection.alerts.registry import AlertStatus
    from evercrawl.model.alerts import Alert, Destination
    from evercrawl.model.settings import Settings


@click.group("alert", cls=CommandGroup)
@common_options
def alert_command() -> None:
    """Be told of changes: by webhook, mail or feed, at once or as a digest.

    \b
    evercrawl alert add prices --page https://example.org/prices --mail you@example.org
    evercrawl alert test prices
    evercrawl alert log prices --json
    """


CHANNELS = ("webhook", "mail", "atom", "apprise")


def _time_of_day(context: click.Context, option: click.Parameter, text: str) -> time:
    try:
        return time.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a time of day like 07:00", context, option) from None


@alert_command.command("add")
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
@pass_cli
def alert_add_command(
    cli: CliContext, /, name: str, replacing: bool, allow_private: bool, as_json: bool, **options: Any
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
    from evercrawl.collection.alerts.registry import AlertRegistry

    path = cli.require_collection()
    flags: dict[str, object] = {"http.allow_private": True} if allow_private else {}
    book = AlertRegistry(path, cli.configured(path, flags).settings)
    alert = book.add(_new_alert(name, options), replacing=replacing)
    _report_added(cli, alert, as_json=as_json)
    return ExitCode.OK


def _new_alert(name: str, options: dict[str, Any]) -> Alert:
    from evercrawl.collection.alerts.registry import default_batch_size
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
        most=options["most"] or default_batch_size(target.channel, rhythm),
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


def _report_added(cli: CliContext, alert: Alert, *, as_json: bool) -> None:
    from evercrawl.core.alerts.definition import alert_fields

    if as_json:
        emit_json("alert", alert_fields(alert, with_secret=True))
        return
    cli.note(f"alert {alert.name}: changes from now on; try it with: evercrawl alert test {alert.name}")
    if alert.target.secret is not None:
        cli.note("the secret that its messages are signed with, shown only now:")
        click.echo(alert.target.secret)


@alert_command.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@common_options
@pass_cli
def alert_list_command(cli: CliContext, /, as_json: bool) -> int:
    """Every alert, what waits for it, and what holds it up.

    \b
    evercrawl alert list
    evercrawl alert list --json
    """
    from evercrawl.core.alerts.definition import alert_fields

    found = cli.open_collection().alerts.all()
    for status in found:
        if as_json:
            emit_json("alert", alert_fields(status.alert, with_secret=False) | status.counts._asdict())
        else:
            _show_alert(status)
    if not found:
        cli.note("no alert; add one with: evercrawl alert add NAME --page URL --mail ADDRESS")
    return ExitCode.OK


def _show_alert(status: AlertStatus) -> None:
    alert, counts = status.alert, status.counts
    way, address = alert.target.channel.value, safe_line(alert.target.address)
    click.echo(f"{alert.name}  {alert.rhythm.value} by {way} {address}")
    click.echo(f"  {_subject_text(status)}")
    waits = f"{plural(counts.delivered, 'change')} told, {counts.waiting:,} waiting"
    click.echo(f"  {waits}" + (f", {counts.failed:,} set aside" if counts.failed else ""))
    if counts.trouble:
        click.echo(f"  held up: {safe_line(counts.trouble)}")


def _subject_text(status: AlertStatus) -> str:
    subject = status.alert.subject
    kinds = ", ".join(sorted(kind.value for kind in subject.kinds))
    where = ", ".join(map(safe_line, (*subject.pages, *subject.patterns))) or "every page"
    more = f", saying {safe_line(subject.query)}" if subject.query else ""
    more += f", at least {subject.least_size:.0%}" if subject.least_size else ""
    return f"{kinds} of {where}{more}" + (", sentiment turned" if subject.is_turn else "")


@alert_command.command("test")
@click.argument("name")
@click.option("--allow-private", is_flag=True, help="Allow loopback, private and link-local addresses.")
@click.option("--json", "as_json", is_flag=True, help="Print how it ended as JSON.")
@common_options
@pass_cli
def alert_test_command(cli: CliContext, /, name: str, allow_private: bool, as_json: bool) -> int:
    """Send a test message now, also in quiet hours. Exit code 1 when it was not taken.

    \b
    evercrawl alert test prices
    """
    from evercrawl.collection.alerts.registry import AlertRegistry

    path = cli.require_collection()
    flags: dict[str, object] = {"http.allow_private": True} if allow_private else {}
    attempt = asyncio.run(AlertRegistry(path, cli.configured(path, flags).settings).test(name))
    if as_json:
        emit_json("alert-test", {"name": name, "delivered": attempt.is_delivered, "detail": attempt.detail})
    else:
        words = "the test was taken" if attempt.is_delivered else "the test was not delivered"
        click.echo(f"{words}: {safe_line(attempt.detail)}")
    return ExitCode.OK if attempt.is_delivered else ExitCode.ERROR


@alert_command.command("log")
@click.argument("name", required=False)
@click.option(
    "--state", type=click.Choice(["waiting", "sending", "delivered", "failed"]), help="Only messages that stand so."
)
@click.option("-n", "--most", type=click.IntRange(1), default=50, metavar="N", help="Newest N. Default: 50.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@common_options
@pass_cli
def alert_log_command(cli: CliContext, /, name: str | None, state: str | None, most: int, as_json: bool) -> int:
    """The newest messages, newest first: when each was made, how it stands, after how many attempts.

    \b
    evercrawl alert log
    evercrawl alert log prices --state failed
    """
    from evercrawl.core.alerts.delivery import MessageState

    chosen = None if state is None else MessageState(state)
    found = cli.open_collection().alerts.log(name, state=chosen, most=most)
    for logged in found:
        fields = logged.fields()
        if as_json:
            emit_json("alert-message", fields)
        else:
            detail = f": {safe_line(fields['detail'])}" if fields["detail"] else ""
            tries = plural(fields["tries"], "attempt")
            what = f"{fields['alert']}  {plural(fields['changes'], 'change')}"
            click.echo(f"{exact_time(fields['made_at'])}  {what}  {fields['state']}, {tries}{detail}")
    if not found:
        cli.note("no message yet")
    return ExitCode.OK


@alert_command.command("retry")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print the number of messages as JSON.")
@common_options
@pass_cli
def alert_retry_command(cli: CliContext, /, name: str, as_json: bool) -> int:
    """Send messages again that were set aside because they did not arrive for `notify.patience`.

    \b
    evercrawl alert log prices --state failed
    evercrawl alert retry prices
    """
    count = cli.open_collection().alerts.retry(name)
    if as_json:
        emit_json("alert-retry", {"name": name, "messages": count})
    else:
        click.echo(f"{plural(count, 'message')} will be sent again")
    return ExitCode.OK


@alert_command.command("remove")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print what was dropped as JSON.")
@common_options
@pass_cli
def alert_remove_command(cli: CliContext, /, name: str, as_json: bool) -> int:
    """Remove an alert, its log, and what still waits for it.

    \b
    evercrawl alert remove prices
    """
    dropped = cli.open_collection().alerts.remove(name)
    if as_json:
        emit_json("alert-remove", {"name": name, "dropped": dropped})
    else:
        waiting = f"; {plural(dropped, 'change')} waited and will not be told" if dropped else ""
        click.echo(f"alert {name} is removed{waiting}")
    return ExitCode.OK


@alert_command.command("run")
@click.option("--once", is_flag=True, help="Take in what was met, try what waits, and end.")
@click.option("--allow-private", is_flag=True, help="Allow loopback, private and link-local addresses.")
@click.option("--resolve", multiple=True, metavar="HOST:PORT:ADDR", help="Use this address, as curl does.")
@click.option("--json", "as_json", is_flag=True, help="At the end, one JSON object a line for each alert.")
@common_options
@pass_cli
def alert_run_command(
    cli: CliContext, /, once: bool, allow_private: bool, resolve: tuple[str, ...], as_json: bool
) -> int:
    """Follow the collection and deliver messages until stopped. `crawl` and `watch` do this by themselves:
    this is for a collection that others crawl, and for messages that wait between two crawls.

    \b
    evercrawl alert run
    evercrawl alert run --once      for a timer; exit code 1 when something could not be delivered

    Only one process at a time delivers; another one waits until that has ended.
    """
    from evercrawl.cli.context import close_log, open_log

    path = cli.require_collection()
    flags: dict[str, object] = {"http.allow_private": True} if allow_private else {}
    flags |= {"http.resolve": resolve} if resolve else {}
    settings = cli.configured(path, flags).settings
    open_log(path, verbose=cli.verbose)
    try:
        number = asyncio.run(_deliver_once(path, settings) if once else _deliver_until_stopped(cli, path, settings))
    finally:
        close_log()
    held_up = _report_alerts(cli, as_json=as_json)
    if number is not None:
        return 128 + number
    return ExitCode.ERROR if held_up else ExitCode.OK


async def _deliver_once(path: Path, settings: Settings) -> None:
    from evercrawl.collection.alerts.alert_outbox import outbox_path
    from evercrawl.collection.alerts.notifier import deliver_once

    if outbox_path(path).exists():
        await deliver_once(path, settings)


async def _deliver_until_stopped(cli: CliContext, path: Path, settings: Settings) -> int | None:
    """Gives the signal that ended it."""
    from evercrawl.collection.alerts.notifier import deliver_until_stopped

    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    came: list[int] = []

    def end(number: int) -> None:
        came.append(number)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end, int(number))
    await deliver_until_stopped(path, settings, stop, say=cli.note)
    return came[0] if came else None


def _report_alerts(cli: CliContext, *, as_json: bool) -> bool:
    """Print how the alerts stand; True: a message is held up."""
    from evercrawl.core.alerts.definition import alert_fields

    found = cli.open_collection().alerts.all()
    for status in found:
        if as_json:
            emit_json("alert", alert_fields(status.alert, with_secret=False) | status.counts._asdict())
    return any(status.counts.trouble for status in found)
