"""Read the visit logs of a collection, and deliver its alerts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path

from evercrawl.adapters.system import SystemClock, wait_for_first
from evercrawl.collection.alerts.alert_outbox import AlertOutbox
from evercrawl.collection.alerts.event_reader import CollectionLogs, EventReader, Logs
from evercrawl.collection.alerts.sender import ChannelSender, Deliverer, MessageSender, retry_policy
from evercrawl.engine.ports import Clock
from evercrawl.errors import EvercrawlError
from evercrawl.model.settings import Settings
from evercrawl.model.time import to_us

FINISH_S = 10.0  # How long to wait for running deliveries at the end.
DELETE_EVERY = timedelta(hours=1)

log = logging.getLogger(__name__)


class Notifier:
    """Reads the visit logs and delivers the alerts of an outbox."""

    def __init__(
        self,
        outbox: AlertOutbox,
        settings: Settings,
        *,
        logs: Logs,
        sender: MessageSender,
        clock: Clock,
        off_loop: Callable[[Callable[[], object]], Awaitable[object]] = asyncio.to_thread,
    ) -> None:
        self._outbox = outbox
        self._settings = settings.alerts
        self._clock = clock
        self._off_loop = off_loop
        self._sender = sender
        self._delivered = asyncio.Event()
        self._reader = EventReader(outbox, logs)
        self._deliverer = Deliverer(
            outbox,
            sender,
            clock=clock,
            retries=retry_policy(settings.alerts),
            quiet_hours=settings.alerts.quiet_hours,
            off_loop=off_loop,
            on_delivered=self._delivered.set,
        )
        self._deleted_at: datetime | None = None

    async def tick(self) -> None:
        """Read new events and start due deliveries."""
        now_us = to_us(self._clock.now())
        try:
            await self._off_loop(lambda: self._reader.read(now_us=now_us))
            await self._deliverer.start_due()
            await self._delete_old()
        except EvercrawlError as error:
            log.warning("alerts: %s", error)

    async def run(self, stop: asyncio.Event) -> None:
        """Tick until `stop` is set."""
        while not stop.is_set():
            await self.tick()
            await self._pause(stop)

    async def catch_up(self, *, within_s: float) -> None:
        """Read all new events and try every due message once."""
        await self.tick()
        await self._deliverer.settle(within_s=within_s)

    async def close(self) -> None:
        """Wait briefly for running deliveries, then release all resources."""
        await self._deliverer.settle(within_s=FINISH_S)
        await self._sender.close()
        self._outbox.close()

    async def _pause(self, stop: asyncio.Event) -> None:
        """Wait until the next tick or the next due message, whichever is first."""
        end = self._clock.now() + self._settings.check_interval
        while not stop.is_set():
            until = min(end, self._deliverer.next_moment() or end)
            span = (until - self._clock.now()).total_seconds()
            if span <= 0:
                return
            self._delivered.clear()
            await wait_for_first(stop, self._delivered, within_s=span)

    async def _delete_old(self) -> None:
        now = self._clock.now()
        if self._deleted_at is None or now - self._deleted_at >= DELETE_EVERY:
            self._deleted_at = now
            before_us = to_us(now - self._settings.keep_log)
            await self._off_loop(lambda: self._outbox.delete_sent(before_us=before_us))


def open_notifier(collection: Path, settings: Settings) -> Notifier:
    """Return the notifier of a collection."""
    return Notifier(
        AlertOutbox(collection),
        settings,
        logs=CollectionLogs(collection),
        sender=ChannelSender(settings, collection=collection.resolve().name),
        clock=SystemClock(),
    )
