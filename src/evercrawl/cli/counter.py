"""How a long command without requests looks: one live line on a terminal, nothing elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evercrawl.cli.session import Session

SHOW_EVERY_S = 0.2


@contextmanager
def live_line(session: Session) -> Iterator[Callable[[str], None]]:
    """A function that shows a text in place of the one before; it is gone behind the block."""
    wanted = session.progress and not session.quiet and not session.env.get("CI")
    if not (wanted and session.err.is_terminal):
        yield lambda text: None
        return
    from rich.live import Live
    from rich.text import Text

    next_at = 0.0
    with Live(console=session.err, auto_refresh=False, transient=True, redirect_stdout=False) as live:

        def show(text: str) -> None:
            nonlocal next_at
            if time.monotonic() >= next_at:
                next_at = time.monotonic() + SHOW_EVERY_S
                live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)

        yield show
