"""A running crawl on the terminal: progress, Ctrl-C, and the summary at the end."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from evercrawl.cli.terminal import format_duration, format_size, plural, relative_time
from evercrawl.model.reason import Reason
from evercrawl.model.run import Progress, Summary
from evercrawl.model.sanitize import safe_line

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live
    from rich.text import Text

    from evercrawl.cli.context import CliContext

PLAIN_EVERY_S = 30.0
LIVE_EVERY_S = 0.2
_NOTE_CHARS = 60
_HINT = "  [Ctrl-C stops safely]"
_MIN_COLUMNS = 20  # Columns for the counts on a very narrow terminal, which cuts off the hint.
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class ProgressView(Protocol):
    """Show the progress of a run."""

    last: Progress

    def update(self, progress: Progress) -> None:
        """Take the newest state and show it if it is time to."""

    def say(self, text: str) -> None:
        """Print a line."""

    def dump(self) -> None:
        """Print the current state as a line."""


@contextmanager
def open_progress(cli: CliContext) -> Iterator[ProgressView]:
    """Yield a live line on a terminal; otherwise print a plain line now and then."""
    wants_live = cli.progress and not cli.quiet and not cli.env.get("CI")
    if not (wants_live and cli.err.is_terminal):
        yield PlainProgress(cli)
        return
    from rich.live import Live

    with Live(console=cli.err, auto_refresh=False, transient=True, redirect_stdout=False) as live:
        yield LiveProgress(cli, live)


class PlainProgress:
    """Print a line on stderr every `PLAIN_EVERY_S` seconds."""

    def __init__(self, cli: CliContext) -> None:
        self.cli = cli
        self.last = Progress()
        self.next_at_s = PLAIN_EVERY_S

    def update(self, progress: Progress) -> None:
        self.last = progress
        if progress.elapsed_s >= self.next_at_s and self.cli.progress:
            self.next_at_s = progress.elapsed_s + PLAIN_EVERY_S
            self.say(progress_line(progress))

    def say(self, text: str) -> None:
        self.cli.note(text)

    def dump(self) -> None:
        self.say(progress_line(self.last))


class LiveProgress:
    """Rewrite one line in place."""

    def __init__(self, cli: CliContext, live: Live) -> None:
        self.cli = cli
        self.live = live
        self.last = Progress()
        self.frame = 0
        self.next_at_s = 0.0

    def update(self, progress: Progress) -> None:
        self.last = progress
        if progress.elapsed_s < self.next_at_s:
            return
        self.next_at_s = progress.elapsed_s + LIVE_EVERY_S
        self.frame += 1
        self.live.update(self._line(progress), refresh=True)

    def say(self, text: str) -> None:
        self.cli.err.print(text)

    def dump(self) -> None:
        self.say(progress_line(self.last))

    def _line(self, progress: Progress) -> Text:
        from rich.text import Text

        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(_FRAMES[self.frame % len(_FRAMES)] + " ", style="cyan")
        room = self.cli.err.width - len(_HINT) - 2
        line.append(progress_line(progress, longest=max(room, _MIN_COLUMNS)))
        return line.append(_HINT, style="dim")


def progress_line(progress: Progress, *, longest: int | None = None) -> str:
    """Return one line: pages, time left, rate, bytes, errors, and what the run waits for; the last parts are left out
    if they do not fit."""
    parts = [f"{progress.fetched:,}/{progress.known:,} pages"]
    if progress.queued and progress.requests_per_s > 0:
        parts.append(f"~{format_duration(progress.queued / progress.requests_per_s)} left")
    parts += [f"{progress.requests_per_s:.1f} req/s", format_size(progress.bytes), plural(progress.errors, "error")]
    if progress.harvest_ratio is not None:
        parts.append(f"{progress.harvest_ratio:.0%} on topic")
    if progress.skipped:
        parts.append(f"{progress.skipped:,} skipped")
    if progress.sites_closed:
        parts.append(plural(progress.sites_closed, "site") + " paused")
    note = progress.closed_note or progress.current_site
    if note:
        parts.append(safe_line(note, longest=_NOTE_CHARS))
    while longest is not None and len(parts) > 1 and len(" · ".join(parts)) > longest:
        parts.pop()
    return " · ".join(parts)


STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stoppable(Protocol):
    """The library's StopSignal."""

    def finish(self) -> None:
        """Start no more requests; let those in flight finish."""

    def cancel(self) -> None:
        """Cancel the requests in flight."""


class InterruptHandler:
    """Stop a run in three stages: finish, cancel, exit. `signal_number` is the first signal."""

    def __init__(
        self, stop: Stoppable, *, say: Callable[[str], None], in_flight: Callable[[], int], timeout: timedelta
    ) -> None:
        self.stop = stop
        self.say = say
        self.in_flight = in_flight
        self.timeout = timeout
        self.count = 0
        self.signal_number: int | None = None

    def handle(self, number: int) -> None:
        """Go one stage further."""
        self.count += 1
        self.signal_number = self.signal_number or number
        if self.count == 1:
            limit, count = format_duration(self.timeout.total_seconds()), self.in_flight()
            left = plural(count, "request") if count else "requests in flight"
            self.say(f"stopping: {left} may finish ({limit}); press Ctrl-C again to cancel")
            self.stop.finish()
        elif self.count == 2:
            self.say("cancelling requests in flight; press Ctrl-C again to exit now")
            self.stop.cancel()
        else:
            os._exit(128 + self.signal_number)


@contextmanager
def handle_signals(handler: InterruptHandler, dump: Callable[[], None]) -> Iterator[None]:
    """Send stop signals to the handler and SIGUSR1 to `dump` until the block ends."""
    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, handler.handle, int(number))
    loop.add_signal_handler(signal.SIGUSR1, dump)
    try:
        yield
    finally:
        for number in (*STOP_SIGNALS, signal.SIGUSR1):
            loop.remove_signal_handler(number)


SUMMARY_FIELDS = (
    "requests", "fetched", "new", "changed", "unchanged", "not_modified", "not_needed", "skipped", "errors",
    "bytes", "seconds", "not_needed_by", "url_seen", "gone", "stopped", "remaining",
    "withheld",
)  # fmt: skip
"""The fields that scripts rely on, in this order."""
_MAX_REASONS = 4
_MAX_NOTE_CHARS = 300
_ENDINGS = {
    "limit": "stopped at a limit or the budget",
    "interrupted": "interrupted; the state is saved",
    "closed": "unfinished: the remaining sites are paused or do not answer",
}

_CAUSES = {
    "sitemap": "unchanged in the sitemap",
    "cache": "fresh by HTTP caching",
    "model": "up to date",
    "failed": "retry later",
    "gone": "gone",
}
"""Why known pages are left alone, in words."""


def summary_fields(summary: Summary) -> dict[str, Any]:
    """Return the summary as `crawl --json` prints it."""
    fields = {name: getattr(summary, name) for name in SUMMARY_FIELDS} | {"seconds": round(summary.seconds, 3)}
    if summary.harvest_ratio is not None:
        fields["harvest_ratio"] = summary.harvest_ratio
    return fields


def summary_box(summary: Summary, collection: Path | None) -> RenderableType:
    """Return the summary for people, with the next commands to run if there is a collection to run them on."""
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    facts = Text("\n").join([_counts(summary), *(Text(line) for line in _facts(summary))])
    panel = Panel(facts, title="summary", title_align="left", border_style="dim", expand=False)
    if collection is None:
        return panel
    steps = Text("\n").join(
        Text.assemble((f" {name:<9}", "dim"), text) for name, text in _next_steps(summary, collection)
    )
    return Group(panel, steps)


def _counts(summary: Summary) -> Text:
    from rich.text import Text

    line = Text()
    counts = {
        "fetched": (summary.fetched, "bold"),
        "new": (summary.new, "green"),
        "changed": (summary.changed, "yellow"),
        "unchanged": (summary.unchanged + summary.not_modified, ""),
        "gone": (summary.gone, "magenta"),
        "errors": (summary.errors, "red"),
    }
    for name, (count, style) in counts.items():
        line.append(f"{name} ").append(f"{count:,}", style=style if count else "dim").append("   ")
    line.rstrip()
    return line


def _facts(summary: Summary) -> list[str]:
    facts = [_up_to_date(summary)] if _is_up_to_date(summary) else []
    if summary.skipped:
        facts.append(f"skipped {summary.skipped:,}{_by_reason(summary)}")
    if summary.not_needed and not _is_up_to_date(summary):
        due = f", next visit {relative_time(summary.next_visit)}" if summary.next_visit and not summary.fetched else ""
        facts.append(f"not needed {summary.not_needed:,}{_by_cause(summary)}{due}")
    if summary.withheld:
        facts.append(f"withheld {summary.withheld:,}: they change at every visit; their outposts send them later")
    if summary.harvest_ratio is not None:
        facts.append(f"on topic: {summary.harvest_ratio:.0%} of the fetched pages")
    facts.append(_load(summary))
    if summary.nothing_reachable:
        facts.append(_unreachable(summary))
    elif summary.stopped in _ENDINGS:
        facts.append(f"{_ENDINGS[summary.stopped]}; {plural(summary.remaining, 'page')} left in the queue")
    if summary.stopped == "closed" and summary.closed_note:
        facts.append(f"closed: {safe_line(summary.closed_note, longest=_MAX_NOTE_CHARS)}")
    if summary.stopped == "closed" and not summary.nothing_reachable:
        facts.append("run it again to continue, or wait longer with --wait 10m")
    if summary.errors and not (summary.fetched or summary.unchanged or summary.not_modified or summary.not_needed):
        facts.append("no page could be stored; check the URL")
    cause = (summary.first_error or "").partition(": ")[2]
    is_said = bool(cause) and cause in (summary.closed_note or "")
    if summary.first_error and not is_said and set(summary.skipped_by) != {Reason.PRIVATE_ADDRESS}:
        facts.append(f"first error: {safe_line(summary.first_error, longest=_MAX_NOTE_CHARS)}")
    return facts


def _unreachable(summary: Summary) -> str:
    """Return that no site could be reached, with what to do."""
    if set(summary.skipped_by) == {Reason.PRIVATE_ADDRESS}:
        return "nothing was requested: the address is private; if the site is yours, add --allow-private"
    return "no site could be reached; check the network with: evercrawl doctor"


def _is_up_to_date(summary: Summary) -> bool:
    """Return whether a run ended because no known page was due, and nothing failed."""
    is_waiting = "failed" in summary.not_needed_by
    is_quiet = not (summary.fetched or summary.errors or summary.remaining or summary.first_error or is_waiting)
    return is_quiet and summary.not_needed > 0 and summary.stopped == "done"


def _up_to_date(summary: Summary) -> str:
    """Return that all is up to date, and when the next page is due."""
    text = f"up to date: {plural(summary.not_needed, 'page')}"
    return text if summary.next_visit is None else f"{text}, next visit {relative_time(summary.next_visit)}"


def _by_reason(summary: Summary) -> str:
    """Return the most common reasons, counted as `skipped --by reason` does."""
    ranked = sorted(summary.skipped_by.items(), key=lambda item: (-item[1], item[0]))
    named = [f"{str(reason).replace('_', ' ')} {count:,}" for reason, count in ranked[:_MAX_REASONS]]
    if len(ranked) > _MAX_REASONS:
        named.append(f"other {sum(count for _, count in ranked[_MAX_REASONS:]):,}")
    return f" ({', '.join(named)})" if named else ""


def _by_cause(summary: Summary) -> str:
    """Return why known pages were not visited."""
    named = [f"{_CAUSES.get(cause, cause)} {count:,}" for cause, count in summary.not_needed_by.items()]
    return f" ({', '.join(named)})" if named else ""


def _load(summary: Summary) -> str:
    took = format_duration(summary.seconds)
    load = f"load: {plural(summary.requests, 'request')}, {format_size(summary.bytes)} in {took}"
    if summary.median_response_ms is not None:
        load += f", median {summary.median_response_ms:,} ms"
    if summary.max_concurrent_per_site:
        load += f", at most {summary.max_concurrent_per_site:,} per site at once"
    return load


def _next_steps(summary: Summary, collection: Path) -> list[tuple[str, str]]:
    command = command_for(collection)
    again = "resume" if summary.remaining else "update"
    steps = [
        ("data", str(display_path(collection))),
        ("browse", f"{command} serve"),
        (again, f"{command} crawl"),
        ("status", f"{command} status"),
    ]
    if summary.skipped:
        steps.append(("why not", f"{command} skipped"))
    return steps


def display_path(path: Path) -> Path | str:
    """Return the path as the user would type it from here."""
    try:
        inside = path.resolve().relative_to(Path.cwd())
    except ValueError:
        return path
    return f".{os.sep}{inside}"


def command_for(collection: Path) -> str:
    """Return the shortest `evercrawl` call that finds this collection from here."""
    from evercrawl.config import find_collection
    from evercrawl.errors import ConfigError

    try:
        found = find_collection(Path.cwd())
    except ConfigError:
        found = None
    if found is not None and found.resolve() == collection.resolve():
        return "evercrawl"
    return f"evercrawl -C {shlex.quote(str(display_path(collection)))}"
