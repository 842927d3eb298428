"""One outpost as home sees it: its lease, its queue, and what it was asked for."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from evercrawl.model.fetch import FetchResult, Request
from evercrawl.outpost.home_book import OutpostRow
from evercrawl.outpost.link import SecureChannel
from evercrawl.outpost.protocol.lease import GrantedLease
from evercrawl.outpost.protocol.message import MOST_JOBS

MAX_ABANDONED = 4096
"""Jobs that were handed out and whose asker has gone; their results are still welcome."""


class FetchDirectly(NamedTuple):
    """The crawler has to ask itself, when the site has had its rest."""

    rest_us: int = 0


@dataclass(eq=False)
class PendingFetch:
    """One fetch of the engine that waits for an outpost."""

    number: int
    request: Request
    answer: asyncio.Future[FetchResult | FetchDirectly]


@dataclass(eq=False)
class RemoteOutpost:
    """Home's side of one outpost.

    Invariant: an ask stands in `waiting` (first come, first served) or in `given`, never in both.
    """

    row: OutpostRow
    grant: GrantedLease
    taken: int
    link: SecureChannel | None = None
    is_ready: bool = False
    room: int = 0
    waiting: deque[PendingFetch] = field(default_factory=deque)
    given: dict[int, PendingFetch] = field(default_factory=dict)
    handed_out: dict[int, Request] = field(default_factory=dict)
    more: asyncio.Event = field(default_factory=asyncio.Event)
    counted: tuple[int, int] = (0, 0)
    """Bytes of the present link that are counted already."""

    def add(self, ask: PendingFetch) -> None:
        """Line up."""
        self.waiting.append(ask)
        self.more.set()

    def remove(self, ask: PendingFetch) -> None:
        """Nobody waits for this any more."""
        if self.given.pop(ask.number, None) is None and ask in self.waiting:
            self.waiting.remove(ask)

    def next_asks(self) -> list[PendingFetch]:
        """As many as the outpost has room for, in order; they count as given."""
        chosen: list[PendingFetch] = []
        while self.is_ready and self.waiting and len(self.given) < min(self.room, MOST_JOBS):
            ask = self.waiting.popleft()
            self.given[ask.number] = ask
            self._remember(ask)
            chosen.append(ask)
        return chosen

    def _remember(self, ask: PendingFetch) -> None:
        self.handed_out[ask.number] = ask.request
        if len(self.handed_out) > MAX_ABANDONED:
            self.handed_out.pop(next(iter(self.handed_out)))

    def came_up(self, link: SecureChannel) -> None:
        """The outpost has proved itself on a new connection; an older one is closed."""
        if self.link is not None:
            self.link.close()
        self.link, self.is_ready, self.counted = link, False, (0, 0)

    def became_ready(self, running: tuple[int, ...], room: int) -> None:
        """What was given and is neither delivered nor under way is given again, in the old order."""
        lost = sorted(number for number in self.given if number not in running)
        for number in reversed(lost):
            self.waiting.appendleft(self.given.pop(number))
        self.is_ready, self.room = True, room
        self.more.set()

    def went_down(self, link: SecureChannel) -> None:
        """A connection ended."""
        if self.link is link:
            self.link, self.is_ready = None, False

    def uncounted(self) -> dict[str, int]:
        """Bytes of the link since the last call."""
        if self.link is None:
            return {}
        now = self.link.bytes_in, self.link.bytes_out
        new = {"bytes_in": now[0] - self.counted[0], "bytes_out": now[1] - self.counted[1]}
        self.counted = now
        return new
