"""Output of commands: JSON for programs, text for people, and exit codes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evercrawl.model.time import format_days

if TYPE_CHECKING:
    from evercrawl.cli.context import CliContext
    from evercrawl.model.report import FreshnessEstimate, RevisitStatus
    from evercrawl.model.run import Summary

T = TypeVar("T")
_BYTE_UNITS = ("B", "kB", "MB", "GB", "TB")
SHOW_EVERY_S = 0.2


def emit_json(name: str, fields: Mapping[str, Any]) -> None:
    """Print one JSON object on one line, its schema first; non-ASCII is escaped, so it is safe on a terminal."""
    line = json.dumps({"schema": f"evercrawl.{name}/1", **fields}, default=_plain)
    click.echo(line.replace("\x7f", "\\u007f"))


def emit_list(
    cli: CliContext, name: str, found: Sequence[T], fields: Callable[[T], Mapping[str, Any]],
    text: Callable[[T], str], none: str, *, as_json: bool,
) -> None:  # fmt: skip
    """Print a list as JSON lines or as text; on stderr, that it is empty."""
    for one in found:
        if as_json:
            emit_json(name, fields(one))
        else:
            click.echo(text(one))
    if not found and not as_json:
        cli.note(none)


def _plain(value: object) -> object:
    match value:
        case datetime():
            return exact_time(value)
        case timedelta():
            return value.total_seconds()
        case Mapping():
            return dict(value)
        case bytes():
            return value.decode("utf-8", "replace")
        case _:
            raise TypeError(f"no JSON form for {type(value).__name__}")


def exact_time(at: datetime) -> str:
    """Return a time as ISO 8601 in UTC, to the second."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def local_time(at: datetime) -> str:
    """Return a time in the user's time zone, to the minute: 2026-11-16 10:40."""
    return at.astimezone().strftime("%Y-%m-%d %H:%M")


def relative_time(at: datetime, *, now: datetime | None = None) -> str:
    """Return a time relative to now: 2 minutes ago, in 3 hours."""
    seconds = (at - (now or datetime.now(UTC))).total_seconds()
    amount = abs(seconds)
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if amount >= size * (1.5 if unit == "day" else 1):
            words = plural(round(amount / size), unit)
            return f"in {words}" if seconds > 0 else f"{words} ago"
    return "just now" if seconds <= 0 else "in a moment"


def format_size(count: int) -> str:
    """Return a number of bytes for people: 41 MB."""
    amount = float(count)
    for unit in _BYTE_UNITS:
        if amount < 1000 or unit == _BYTE_UNITS[-1]:
            return f"{amount:.1f} {unit}" if amount < 10 and unit != "B" else f"{amount:,.0f} {unit}"
        amount /= 1000
    raise AssertionError("the last unit has no limit")


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: 1 page, 2,000 pages."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def format_duration(seconds: float) -> str:
    """Return a duration for people: 42 s, 29 min, 3 h 20 min, 4 days."""
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes // 1440} days"


@contextmanager
def live_line(cli: CliContext) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows a text in place of the last one; the line disappears at the end."""
    wanted = cli.progress and not cli.quiet and not cli.env.get("CI")
    if not (wanted and cli.err.is_terminal):
        yield lambda text: None
        return
    from rich.live import Live
    from rich.text import Text

    next_at = 0.0
    with Live(console=cli.err, auto_refresh=False, transient=True, redirect_stdout=False) as live:

        def show(text: str) -> None:
            nonlocal next_at
            if time.monotonic() >= next_at:
                next_at = time.monotonic() + SHOW_EVERY_S
                live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)

        yield show


class ExitCode(IntEnum):
    """The exit codes; `EXIT_TEXT` explains them."""

    OK = 0
    ERROR = 1
    USAGE = 2
    NOTHING_REACHABLE = 4
    STORE = 5
    REFUSED = 6
    LIMIT = 7
    THROTTLED = 8
    UNFINISHED = 9
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


EXIT_TEXT: dict[ExitCode, str] = {
    ExitCode.OK: "success",
    ExitCode.ERROR: "any other error, or a failed check (`doctor`, `sitemap check`, `links --dead`, `lab`)",
    ExitCode.USAGE: "wrong usage: a flag, setting, file or URL is not valid",
    ExitCode.NOTHING_REACHABLE: "no site could be reached",
    ExitCode.STORE: "the collection cannot be read or written: in use, damaged, or the disk is full",
    ExitCode.REFUSED: "robots.txt forbids every page",
    ExitCode.LIMIT: "the run reached a limit; the state is saved, and the same command continues",
    ExitCode.THROTTLED: "the site asks us to wait longer than the run may take; the state is saved",
    ExitCode.UNFINISHED: "pages are left in the queue because their sites do not answer or robots.txt cannot be read; "
    "the state is saved, and the same command tries them again",
    ExitCode.INTERRUPTED: "interrupted with Ctrl-C; the state is saved",
    ExitCode.BROKEN_PIPE: "the program that reads the output ended first, such as `head`; the output may be incomplete",
    ExitCode.TERMINATED: "stopped by SIGTERM; the state is saved",
}


def exit_code_of(summary: Summary, *, signal_number: int | None) -> int:
    """Return the exit code of a run; an interruption wins over everything else."""
    if summary.stopped == "interrupted":
        return 128 + signal_number if signal_number else ExitCode.INTERRUPTED
    if summary.nothing_reachable:
        return ExitCode.NOTHING_REACHABLE
    if summary.robots_refused_all:
        return ExitCode.REFUSED
    if summary.throttled:
        return ExitCode.THROTTLED
    if summary.stopped == "closed":
        return ExitCode.UNFINISHED
    return ExitCode.LIMIT if summary.stopped == "limit" else ExitCode.OK


def format_share(value: float, uncertainty: float) -> str:
    """Return a share with its standard error: 93.4% ± 0.8%."""
    return f"{value:.1%} ± {uncertainty:.1%}"


def format_rate(per_day: float) -> str:
    """Return a rate: 1,000 per day, 0.25 per day."""
    return f"{per_day:,.0f} per day" if per_day >= 10 else f"{per_day:.2g} per day"


def freshness_text(found: FreshnessEstimate) -> str:
    """Return the estimated freshness and its basis."""
    if not found.pages:
        return "no estimate yet"
    text = f"{format_share(found.freshness, found.uncertainty)} of {plural(found.pages, 'page')} (estimate)"
    if found.without_copy:
        text += f"; {found.without_copy:,} not fetched yet, {found.of_copies:.1%} of the others"
    return text


def revisit_text(status: RevisitStatus) -> str:
    """Return policy and budget, and how much a visit must gain."""
    budget = "no budget" if status.budget_per_day is None else f"budget {format_rate(status.budget_per_day)}"
    text = f"{status.policy}, {budget}"
    if status.policy == "optimal":
        text += f", a visit must gain {format_days(status.threshold_days)} of a current copy"
    return text
