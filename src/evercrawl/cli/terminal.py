"""How data leaves a command: JSON for programs, safe text for people."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import click

from evercrawl.model.time import in_words

if TYPE_CHECKING:
    from evercrawl.cli.context import CliContext
    from evercrawl.model.report import FreshnessEstimate, RevisitStatus, Summary

_BYTE_UNITS = ("B", "kB", "MB", "GB", "TB")


def emit_json(name: str, fields: Mapping[str, Any]) -> None:
    """One JSON object on one line of stdout, its schema first.

    Everything beyond printable ASCII is escaped: nothing is lost, and the line is harmless on a terminal.
    """
    line = json.dumps({"schema": f"evercrawl.{name}/1", **fields}, default=_plain)
    click.echo(line.replace("\x7f", "\\u007f"))


def _plain(value: object) -> object:
    match value:
        case datetime():
            return moment(value)
        case timedelta():
            return value.total_seconds()
        case Mapping():
            return dict(value)
        case bytes():
            return value.decode("utf-8", "replace")
        case _:
            raise TypeError(f"{type(value).__name__} has no JSON form here")


def moment(at: datetime) -> str:
    """A time as ISO 8601 in UTC, to the second."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def size(count: int) -> str:
    """Bytes for people: 41 MB."""
    amount = float(count)
    for unit in _BYTE_UNITS:
        if amount < 1000 or unit == _BYTE_UNITS[-1]:
            return f"{amount:.1f} {unit}" if amount < 10 and unit != "B" else f"{amount:,.0f} {unit}"
        amount /= 1000
    raise AssertionError("the last unit takes everything")


def counted(count: int, noun: str) -> str:
    """A number of things: 1 page, 2,000 pages."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def span(seconds: float) -> str:
    """A duration for people: 42 s, 29 min, 3 h 20 min, 4 days."""
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes // 1440} days"


SHOW_EVERY_S = 0.2


@contextmanager
def live_line(cli: CliContext) -> Iterator[Callable[[str], None]]:
    """A function that shows a text in place of the one before; it is gone behind the block."""
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
    """Every exit code; the text of each is in `EXIT_TEXT`."""

    OK = 0
    ERROR = 1
    USAGE = 2
    NOTHING_REACHABLE = 4
    STORE = 5
    REFUSED = 6
    LIMIT = 7
    THROTTLED = 8
    INTERRUPTED = 130
    TERMINATED = 143


EXIT_TEXT: dict[ExitCode, str] = {
    ExitCode.OK: "done",
    ExitCode.ERROR: "an error that no other code names, or a failed check of `doctor`, `sitemap` or `lab`",
    ExitCode.USAGE: "wrong use: a flag, setting, file or URL that cannot be used",
    ExitCode.NOTHING_REACHABLE: "no site could be reached",
    ExitCode.STORE: "the collection cannot be read or written: in use, damaged, or the disk is full",
    ExitCode.REFUSED: "everything was refused by robots.txt",
    ExitCode.LIMIT: "a limit of the run was reached; the state is saved, the same command goes on",
    ExitCode.THROTTLED: "the site asks us to wait longer than the run's patience; the state is saved",
    ExitCode.INTERRUPTED: "interrupted by Ctrl-C; the state is saved",
    ExitCode.TERMINATED: "ended by SIGTERM; the state is saved",
}


def exit_code_of(summary: Summary, *, signal_number: int | None) -> int:
    """The exit code of a run; an interruption says more than what the run had met until then."""
    if summary.stopped == "interrupted":
        return 128 + signal_number if signal_number else ExitCode.INTERRUPTED
    if summary.nothing_reachable:
        return ExitCode.NOTHING_REACHABLE
    if summary.robots_refused_all:
        return ExitCode.REFUSED
    if summary.throttled:
        return ExitCode.THROTTLED
    return ExitCode.LIMIT if summary.stopped == "limit" else ExitCode.OK


def share(value: float, uncertainty: float) -> str:
    """A share with its standard error: 93.4 % ± 0.8 %."""
    return f"{value:.1%} ± {uncertainty:.1%}".replace("%", " %")


def rate(per_day: float) -> str:
    """Requests a day: 1,000 a day, 0.25 a day."""
    return f"{per_day:,.0f} a day" if per_day >= 10 else f"{per_day:.2g} a day"


def freshness_words(found: FreshnessEstimate) -> str:
    """The estimate and what it rests on."""
    if not found.pages:
        return "nothing to estimate yet"
    words = f"{share(found.freshness, found.uncertainty)} of {counted(found.pages, 'page')} (estimated)"
    if found.without_copy:
        words += f"; {found.without_copy:,} without a copy count as stale, of the others {found.of_copies:.1%}"
    return words.replace("%", " %").replace("  %", " %")


def steering_words(steering: RevisitStatus) -> str:
    """Policy, budget and threshold."""
    budget = "no budget" if steering.budget_per_day is None else f"budget {rate(steering.budget_per_day)}"
    words = f"{steering.policy}, {budget}"
    if steering.policy == "optimal":
        words += f", a visit should bring {in_words(steering.threshold_days)} of a current copy"
    return words
