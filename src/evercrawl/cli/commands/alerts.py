"""The command `alert`: get notified about changes."""

from __future__ import annotations

import asyncio
import signal
from datetime import time
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import (
    CliContext,
    CommandGroup,
    allow_private_option,
    common_options,
    json_lines_option,
    network_flags,
    resolve_option,
    with_cli,
)
from evercrawl.cli.terminal import ExitCode, emit_json, local_time, plural
from evercrawl.errors import ConfigError
from evercrawl.model.sanitize import safe_line

if TYPE_CHECKING:
    from pathlib import Path

    from evercrawl.collection.alerts.mail import SetupProblem
    from evercrawl.collection.alerts.registry import AlertStatus
    from evercrawl.model.alerts import Alert, Destination, MessageTemplates
    from evercrawl.model.settings import Settings


@click.group("alert", cls=CommandGroup)
@common_options
def alert_command() -> None:
    """Get changes by webhook, mail or feed, at once or as a digest.

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
@click.option("--page", "pages", multiple=True, metavar="URL", help="Watch this page. Repeatable.")
@click.option(
    "--pattern", "patterns", multiple=True, metavar="URL", help="Watch URLs that match; * matches anything. Repeatable."
)
@click.option("--query", metavar="WORDS", help='Only pages that contain this; also "a phrase", -not, OR.')
@click.option(
    "--class",
    "kinds",
    multiple=True,
    type=click.Choice(["content", "metadata", "new", "gone"]),
    help="Kind of change. Repeatable. Default: content and metadata.",
)
@click.option(
    "--min-size",
    type=click.FloatRange(0, 1),
    default=0.0,
    metavar="SHARE",
    help="Minimum change, as a share of the words, 0 to 1.",
)
@click.option("--sentiment-shift", is_flag=True, help="Only if the sentiment turned positive or negative.")
@click.option(
    "--field",
    metavar="CONDITION",
    help="Only if a field changed so: price, price below 50, price changes by 10%, price appears, title matches sale.",
)
@click.option("--webhook", metavar="URL", help="Send signed JSON by POST.")
@click.option("--mail", metavar="ADDRESS", help="Send mail, as text and HTML.")
@click.option("--atom", metavar="FILE", help="Write an Atom feed to this file.")
@click.option("--apprise", metavar="URL", help="Send through Apprise (extra `apprise`).")
@click.option(
    "--secret", metavar="SECRET", help="Signing secret of the webhook: whsec_ and base64. Default: a new one."
)
@click.option("--digest", type=click.Choice(["hourly", "daily"]), help="Send changes together.")
@click.option(
    "--at",
    "daily_at",
    metavar="HH:MM",
    default="07:00",
    callback=_time_of_day,
    help="Time of the daily digest (UTC). Default: 07:00.",
)
@click.option("--quiet-hours", multiple=True, metavar="HH:MM-HH:MM", help="Send nothing then (UTC). Repeatable.")
@click.option("--max-changes", type=click.IntRange(1, 500), metavar="N", help="Maximum changes per message.")
@click.option(
    "--template",
    "templates",
    multiple=True,
    metavar="PART=TEXT",
    help="Your own subject, text or html of mails, or body of webhooks (Jinja). @FILE reads a file. Repeatable.",
)
@click.option("--replace", "overwrite", is_flag=True, help="Replace an existing alert of this name.")
@allow_private_option
@click.option("--json", "as_json", is_flag=True, help="Print the alert as JSON.")
@with_cli
def alert_add_command(
    cli: CliContext, /, name: str, overwrite: bool, allow_private: bool, as_json: bool, **options: Any
) -> None:  # fmt: skip
    """Add an alert. A change must meet all conditions; with several pages or patterns, any of them.

    \b
    evercrawl alert add prices --page https://example.org/prices --webhook https://me.example/hook
    evercrawl alert add news --pattern 'https://example.org/news/*' --class new --mail you@example.org
    evercrawl alert add cheap --field 'price below 50' --mail you@example.org
    evercrawl alert add harbour --query '"new ferry"' --atom ferry.xml --digest daily

    You'll be notified about changes found from now on, while `crawl`, `watch`, `serve` or `alert run` is running.
    The secret of a webhook is printed only once, here.
    """
    from evercrawl.collection.alerts.registry import AlertRegistry

    path = cli.require_collection()
    registry = AlertRegistry(path, cli.load_settings(path, network_flags(allow_private=allow_private)).settings)
    alert = registry.add(_new_alert(name, options), overwrite=overwrite)
    _report_added(cli, alert, registry.setup_problem(alert.destination.channel), as_json=as_json)


def _new_alert(name: str, options: dict[str, Any]) -> Alert:
    from evercrawl.collection.alerts.registry import default_batch_size
    from evercrawl.model.alerts import CHANGES, Alert, AlertFilter, EventKind, Frequency

    target = _alert_target(options)
    rhythm = Frequency(options["digest"]) if options["digest"] else Frequency.AT_ONCE
    return Alert(
        name=name,
        filter=AlertFilter(
            pages=options["pages"],
            patterns=options["patterns"],
            query=options["query"],
            kinds=frozenset(map(EventKind, options["kinds"])) or CHANGES,
            min_size=options["min_size"],
            sentiment_shift=options["sentiment_shift"],
            field=options["field"],
        ),
        destination=target,
        frequency=rhythm,
        daily_at=options["daily_at"],
        quiet_hours=options["quiet_hours"],
        max_changes=options["max_changes"] or default_batch_size(target.channel, rhythm),
        templates=_templates(options["templates"]),
    )


def _templates(given: tuple[str, ...]) -> MessageTemplates:
    from dataclasses import fields
    from pathlib import Path

    from evercrawl.model.alerts import MessageTemplates

    parts = [part.name for part in fields(MessageTemplates)]
    found: dict[str, str] = {}
    for one in given:
        part, is_named, text = one.partition("=")
        if not is_named or part not in parts:
            raise ConfigError(f"--template {one!r} must begin with one of {', '.join(f'{name}=' for name in parts)}")
        try:
            found[part] = Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"--template {part}: {text[1:]} cannot be read: {error}") from error
    return MessageTemplates(**found)


def _alert_target(options: dict[str, Any]) -> Destination:
    from evercrawl.model.alerts import Channel, Destination

    given = [(channel, options[channel]) for channel in CHANNELS if options[channel]]
    if len(given) != 1:
        raise ConfigError("choose one way to send the alert: --webhook, --mail, --atom or --apprise")
    ((channel, address),) = given
    if options["secret"] and channel != "webhook":
        raise ConfigError("--secret works only with --webhook")
    return Destination(Channel(channel), address, options["secret"])


def _report_added(cli: CliContext, alert: Alert, problem: SetupProblem | None, *, as_json: bool) -> None:
    from evercrawl.collection.alerts.registry import alert_fields

    if as_json:
        fields = alert_fields(alert, with_secret=True)
        emit_json("alert", fields | {"problem": None if problem is None else str(problem)})
        return
    if problem is None:
        cli.note(f"alert {alert.name} added; test it with: evercrawl alert test {alert.name}")
    else:
        click.echo(f"alert {alert.name} added, but it cannot send yet: {problem.detail}", err=True)
        click.echo(f"{problem.remedy}\nthen: evercrawl alert test {alert.name}", err=True)
    if alert.destination.channel.value == "webhook" and alert.destination.secret is None:
        cli.note("the webhook keeps its signing secret")
    if alert.destination.secret is not None:
        cli.note("signing secret of the webhook, shown only once:")
        click.echo(alert.destination.secret)


@alert_command.command("list")
@json_lines_option
@with_cli
def alert_list_command(cli: CliContext, /, as_json: bool) -> None:
    """List the alerts with sent, pending and failed changes.

    \b
    evercrawl alert list
    evercrawl alert list --json
    """
    found = cli.open_collection().alerts.all()
    for status in found:
        if as_json:
            emit_json("alert", status.fields())
        else:
            _show_alert(status)
    if not found:
        cli.note("no alerts; add one with: evercrawl alert add NAME --page URL --mail ADDRESS")


def _show_alert(status: AlertStatus) -> None:
    alert, counts = status.alert, status.counts
    way, address = alert.destination.channel.value, safe_line(status.fields()["address"])
    paused = ", paused" if status.is_paused else ""
    click.echo(f"{alert.name}  {alert.frequency.value} by {way} {address}{paused}")
    click.echo(f"  {_subject_text(status)}")
    sent = f"{plural(counts.sent, 'change')} sent, {counts.pending:,} pending"
    click.echo(f"  {sent}" + (f", {counts.failed:,} failed" if counts.failed else ""))
    if status.problem is not None:
        click.echo(f"  cannot send: {safe_line(str(status.problem))}")
    if counts.last_error:
        click.echo(f"  last error: {safe_line(counts.last_error)}")


def _subject_text(status: AlertStatus) -> str:
    subject = status.alert.filter
    kinds = ", ".join(sorted(kind.value for kind in subject.kinds))
    where = ", ".join(map(safe_line, (*subject.pages, *subject.patterns))) or "every page"
    more = f", containing {safe_line(subject.query)}" if subject.query else ""
    more += f", at least {subject.min_size:.0%}" if subject.min_size else ""
    more += f", if {safe_line(subject.field)}" if subject.field else ""
    return f"{kinds}: {where}{more}" + (", sentiment turned positive or negative" if subject.sentiment_shift else "")


@alert_command.command("test")
@click.argument("name")
@allow_private_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@with_cli
def alert_test_command(cli: CliContext, /, name: str, allow_private: bool, as_json: bool) -> int:
    """Send a test message now, even in quiet hours. The exit code is 1 if that fails.

    \b
    evercrawl alert test prices
    """
    from evercrawl.collection.alerts.registry import AlertRegistry

    path = cli.require_collection()
    registry = AlertRegistry(path, cli.load_settings(path, network_flags(allow_private=allow_private)).settings)
    attempt = asyncio.run(registry.test(name))
    if as_json:
        emit_json("alert-test", {"name": name, "delivered": attempt.is_delivered, "detail": attempt.detail})
    else:
        result = "test message sent" if attempt.is_delivered else "test message failed"
        click.echo(f"{result}: {safe_line(attempt.detail)}")
    return ExitCode.OK if attempt.is_delivered else ExitCode.ERROR


@alert_command.command("log")
@click.argument("name", required=False)
@click.option(
    "--state", type=click.Choice(["pending", "sending", "sent", "failed"]), help="Only messages in this state."
)
@click.option("-n", "--limit", type=click.IntRange(1), default=50, metavar="N", help="Show the newest N. Default: 50.")
@json_lines_option
@with_cli
def alert_log_command(cli: CliContext, /, name: str | None, state: str | None, limit: int, as_json: bool) -> None:
    """List messages, newest first, with their state and attempts.

    \b
    evercrawl alert log
    evercrawl alert log prices --state failed
    """
    from evercrawl.collection.alerts.registry import MessageState

    chosen = None if state is None else MessageState(state)
    found = cli.open_collection().alerts.log(name, state=chosen, limit=limit)
    for logged in found:
        fields = logged.fields()
        if as_json:
            emit_json("alert-message", fields)
        else:
            detail = f": {safe_line(fields['detail'])}" if fields["detail"] else ""
            tries = plural(fields["attempts"], "attempt")
            what = f"{fields['alert']}  {plural(fields['changes'], 'change')}"
            click.echo(f"{local_time(fields['created_at'])}  {what}  {fields['state']}, {tries}{detail}")
            click.echo(f"  {safe_line(fields['summary'])}")
    if not found:
        cli.note("no messages yet")


@alert_command.command("retry")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@with_cli
def alert_retry_command(cli: CliContext, /, name: str, as_json: bool) -> None:
    """Retry messages that failed for good.

    \b
    evercrawl alert log prices --state failed
    evercrawl alert retry prices
    """
    count = cli.open_collection().alerts.retry(name)
    if as_json:
        emit_json("alert-retry", {"name": name, "messages": count})
    else:
        click.echo(f"retrying {plural(count, 'message')}")


@alert_command.command("pause")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@with_cli
def alert_pause_command(cli: CliContext, /, name: str, as_json: bool) -> None:
    """Stop the messages of an alert, as "Unsubscribe" in a mail does. Pending changes are dropped.

    \b
    evercrawl alert pause prices
    """
    cli.open_collection().alerts.pause(name)
    if as_json:
        emit_json("alert-pause", {"name": name, "paused": True})
    else:
        cli.note(f"alert {name} paused; resume it with: evercrawl alert resume {name}")


@alert_command.command("resume")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@with_cli
def alert_resume_command(cli: CliContext, /, name: str, as_json: bool) -> None:
    """Send the messages of a paused alert again, about changes found from now on.

    \b
    evercrawl alert resume prices
    """
    cli.open_collection().alerts.resume(name)
    if as_json:
        emit_json("alert-resume", {"name": name, "paused": False})
    else:
        cli.note(f"alert {name} resumed")


@alert_command.command("remove")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@with_cli
def alert_remove_command(cli: CliContext, /, name: str, as_json: bool) -> None:
    """Remove an alert, its log and its pending changes.

    \b
    evercrawl alert remove prices
    """
    dropped = cli.open_collection().alerts.remove(name)
    if as_json:
        emit_json("alert-remove", {"name": name, "dropped": dropped})
    else:
        pending = f"; {plural(dropped, 'pending change')} dropped" if dropped else ""
        click.echo(f"alert {name} removed{pending}")


@alert_command.command("run")
@click.option("--once", is_flag=True, help="Check for changes, send what is pending, and exit.")
@allow_private_option
@resolve_option
@click.option("--json", "as_json", is_flag=True, help="At the end, print one JSON object per alert.")
@with_cli
def alert_run_command(
    cli: CliContext, /, once: bool, allow_private: bool, resolve: tuple[str, ...], as_json: bool
) -> int:
    """Send alerts until stopped, for a collection that another process crawls.

    \b
    evercrawl alert run
    evercrawl alert run --once      for a timer; the exit code is 1 if a message failed

    `crawl` and `watch` send alerts themselves. Only one process sends at a time; others wait for it.
    """
    from evercrawl.cli.context import close_log, open_log

    path = cli.require_collection()
    settings = cli.load_settings(path, network_flags(allow_private=allow_private, resolve=resolve)).settings
    open_log(path, verbose=cli.verbose)
    try:
        number = asyncio.run(_deliver_once(path, settings) if once else _deliver_until_stopped(cli, path, settings))
    finally:
        close_log()
    has_errors = _report_alerts(cli, as_json=as_json)
    if number is not None:
        return 128 + number
    return ExitCode.ERROR if has_errors else ExitCode.OK


async def _deliver_once(path: Path, settings: Settings) -> None:
    from evercrawl.collection.alerts.delivery_run import deliver_once
    from evercrawl.config.load import outbox_path

    if outbox_path(path).exists():
        await deliver_once(path, settings)


async def _deliver_until_stopped(cli: CliContext, path: Path, settings: Settings) -> int | None:
    """Deliver until a signal arrives, and return its number."""
    from evercrawl.collection.alerts.delivery_run import deliver_until_stopped

    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    received: list[int] = []

    def handle_signal(number: int) -> None:
        received.append(number)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, handle_signal, int(number))
    await deliver_until_stopped(path, settings, stop, say=cli.note)
    return received[0] if received else None


def _report_alerts(cli: CliContext, *, as_json: bool) -> bool:
    """Print the alerts as JSON; return whether a message failed."""
    found = cli.open_collection().alerts.all()
    for status in found:
        if as_json:
            emit_json("alert", status.fields())
    return any(status.counts.last_error for status in found)
