"""What the exit code of a command means; scripts rely on these numbers."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evercrawl.model.report import Summary


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
