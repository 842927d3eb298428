"""From the outbox to the receivers: one task for each alert, so that a slow receiver holds up nobody else."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TypeVar

from evercrawl.collection.alerts.outbox import KnownAlert, Outbox
from evercrawl.collection.alerts.send import ATOM_ENTRIES, Letter, Sender
from evercrawl.core.alerts.delivery import Compose, Message, Patience, Send, Wait, begun, ended, next_step
from evercrawl.engine.ports import Clock
from evercrawl.model.alerts import Channel
from evercrawl.model.settings import NotifySettings
from evercrawl.model.time import to_us

MOST_AT_A_TIME = 256
"""Alerts that are served at the same time."""

T = TypeVar("T")
log = logging.getLogger(__name__)


def patience_of(settings: NotifySettings) -> Patience:
    """How attempts are spread over time."""
    return Patience(settings.first_wait, settings.longest_wait, settings.patience)


class Deliverer:
    """Serves the alerts of one outbox; only one process at a time may do so."""

    def __init__(
        self,
        outbox: Outbox,
        sender: Sender,
        *,
        clock: Clock,
        patience: Patience,
        quiet: tuple[str, ...] = (),
        off_loop: Callable[[Callable[[], object]], Awaitable[object]] = asyncio.to_thread,
        stirred: Callable[[], None] = lambda: None,
    ) -> None:
        """`quiet` are the hours of alerts that name none; `off_loop` runs what waits for the disk; `stirred`
        is called when an alert has been served.
        """
        self._outbox = outbox
        self._sender = sender
        self._clock = clock
        self._patience = patience
        self._quiet = quiet
        self._off_loop = off_loop
        self._stirred = stirred
        self._serving: dict[int, asyncio.Task[None]] = {}
        self._next: dict[int, datetime] = {}

    async def start_due(self) -> None:
        """Begin to serve every alert that has something to send and is not being served."""
        busy, alerts = await self._off(lambda: (self._outbox.busy_alerts(), self._outbox.alerts()))
        self._next.clear()
        for known in alerts:
            is_free = known.id in busy and known.id not in self._serving
            if is_free and len(self._serving) < MOST_AT_A_TIME:
                task = asyncio.create_task(self._serve(self._resting(known)))
                self._serving[known.id] = task
                task.add_done_callback(partial(self._served, known.id))

    def _resting(self, known: KnownAlert) -> KnownAlert:
        alert = known.alert
        return known._replace(alert=replace(alert, quiet=alert.quiet or self._quiet))

    def next_moment(self) -> datetime | None:
        """When something can be done for an alert that waits; None: nothing waits for a moment."""
        return min(self._next.values(), default=None)

    @property
    def is_serving(self) -> bool:
        """Some alert is being served."""
        return bool(self._serving)

    async def settle(self, *, within_s: float) -> None:
        """Let what is on its way arrive, but no longer than this; the rest is for the next time."""
        if self._serving:
            await asyncio.wait(self._serving.values(), timeout=within_s)
        for task in list(self._serving.values()):
            task.cancel()
        await asyncio.gather(*self._serving.values(), return_exceptions=True)

    def _served(self, number: int, task: asyncio.Task[None]) -> None:
        del self._serving[number]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("alert %d cannot be served", number, exc_info=error)
        self._stirred()

    async def _serve(self, known: KnownAlert) -> None:
        """One step after the other until the alert has to wait."""
        while True:
            now = self._clock.now()
            queue = await self._off(lambda: self._outbox.queue(known.id))
            match next_step(known.alert, queue, now=now):
                case Wait(until):
                    if until is not None:
                        self._next[known.id] = until
                    return
                case Compose(upto_us):
                    make = partial(self._outbox.compose, known, upto_us=upto_us, now_us=to_us(now))
                    await self._off(make)
                case Send(message):
                    await self._send(known, message)

    async def _send(self, known: KnownAlert, message: Message) -> None:
        on_its_way = begun(message)
        letter = await self._off(lambda: self._letter(known, on_its_way))
        attempt = await self._sender.send(letter, now=self._clock.now())
        after = ended(on_its_way, attempt, self._patience, now=self._clock.now())
        await self._off(lambda: self._outbox.write(after))
        if not attempt.is_delivered:
            log.warning("alert %s: %s (attempt %d)", known.alert.name, attempt.detail, after.tries)

    def _letter(self, known: KnownAlert, message: Message) -> Letter:
        """Note that the message is on its way, and gather what it says."""
        self._outbox.write(message)
        notices = self._outbox.notices(message.id)
        recent = (
            self._outbox.last_notices(known.id, upto=notices[-1].number, most=ATOM_ENTRIES)
            if known.alert.target.channel is Channel.ATOM and notices
            else []
        )
        return Letter(known.alert, message, notices, recent, self._outbox.uid)

    async def _off(self, work: Callable[[], T]) -> T:
        done: T = await self._off_loop(work)  # type: ignore[assignment]
        return done
