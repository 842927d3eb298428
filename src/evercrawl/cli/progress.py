"""How a running crawl looks: one live line on a terminal, a plain line every half minute elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from evercrawl.cli.output import size, span
from evercrawl.cli.safe_text import safe_line
from evercrawl.model.report import Progress

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

    from evercrawl.cli.session import Session

PLAIN_EVERY_S = 30.0
LIVE_EVERY_S = 0.2
_LONGEST_NOTE = 60
_HINT = "  [Ctrl-C stops safely]"
_LEAST_ROOM = 20
"""Columns for the counts on the narrowest of terminals; the hint is cut off there."""
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class View(Protocol):
    """Shows the progress of a run."""

    last: Progress

    def update(self, progress: Progress) -> None:
        """Take in the newest state; the view decides whether to show it."""

    def say(self, text: str) -> None:
        """One line of its own."""

    def dump(self) -> None:
        """The state now, as a line of its own."""


@contextmanager
def view_for(session: Session) -> Iterator[View]:
    """The view that suits the terminal, the flags and CI."""
    wants_live = session.progress and not session.quiet and not session.env.get("CI")
    if not (wants_live and session.err.is_terminal):
        yield PlainView(session)
        return
    from rich.live import Live

    with Live(console=session.err, auto_refresh=False, transient=True, redirect_stdout=False) as live:
        yield LiveView(session, live)


class PlainView:
    """A line on stderr every `PLAIN_EVERY_S` seconds of the run."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.last = Progress()
        self.next_at_s = PLAIN_EVERY_S

    def update(self, progress: Progress) -> None:
        self.last = progress
        if progress.elapsed_s >= self.next_at_s and self.session.progress:
            self.next_at_s = progress.elapsed_s + PLAIN_EVERY_S
            self.say(progress_line(progress))

    def say(self, text: str) -> None:
        self.session.note(text)

    def dump(self) -> None:
        self.say(progress_line(self.last))


class LiveView:
    """One line that is written again in place."""

    def __init__(self, session: Session, live: Live) -> None:
        self.session = session
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
        self.session.err.print(text)

    def dump(self) -> None:
        self.say(progress_line(self.last))

    def _line(self, progress: Progress) -> Text:
        from rich.text import Text

        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(_FRAMES[self.frame % len(_FRAMES)] + " ", style="cyan")
        room = self.session.err.width - len(_HINT) - 2
        line.append(safe_line(progress_line(progress), longest=max(room, _LEAST_ROOM)))
        return line.append(_HINT, style="dim")


def progress_line(progress: Progress) -> str:
    """The state of a run in one line: pages, rate, bytes, errors, what is left, and what it waits for."""
    parts = [
        f"{progress.fetched:,}/{progress.known:,} pages",
        f"{progress.requests_per_s:.1f} req/s",
        size(progress.bytes),
        f"{progress.errors:,} errors",
    ]
    if progress.harvest_ratio is not None:
        parts.append(f"{progress.harvest_ratio:.0%} on topic")
    if progress.skipped:
        parts.append(f"{progress.skipped:,} skipped")
    if progress.queued and progress.requests_per_s > 0:
        parts.append(f"~{span(progress.queued / progress.requests_per_s)} left")
    if progress.sites_closed:
        parts.append(f"{progress.sites_closed:,} sites closed")
    note = progress.closed_note or progress.current_site
    if note:
        parts.append(safe_line(note, longest=_LONGEST_NOTE))
    return " · ".join(parts)
