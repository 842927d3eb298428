"""Send alerts during a crawl, or for a collection that another process crawls."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

from evercrawl.adapters.system import CollectionLock, SystemClock
from evercrawl.collection.alerts.alert_outbox import AlertOutbox, outbox_path
from evercrawl.collection.alerts.event_reader import CollectionLogs, EventReader, Logs
from evercrawl.collection.alerts.sender import ChannelSender, Deliverer, MessageSender, require_trust, retry_policy
from evercrawl.engine.ports import Clock
from evercrawl.errors import CollectionBusy, EvercrawlError
from evercrawl.model.settings import Settings
from evercrawl.model.time import to_us

LOCK = "alerts.lock"
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
            await _first_of(stop, self._delivered, within_s=span)

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


async def deliver_until_stopped(
    collection: Path, settings: Settings, stop: asyncio.Event, *, say: Callable[[str], None] = log.info
) -> None:
    """Deliver until stopped; wait while there is no alert or another process delivers."""
    require_trust(settings)
    lock = CollectionLock(collection, LOCK)
    is_reported = False
    while not stop.is_set():
        try:
            if outbox_path(collection).exists():
                lock.acquire()
                break
        except CollectionBusy as busy:
            if not is_reported:
                say(f"alerts are delivered by another process: {busy}")
                is_reported = True
        await _first_of(stop, within_s=settings.alerts.check_interval.total_seconds())
    else:
        return
    try:
        await _deliver(collection, settings, stop)
    finally:
        lock.release()


async def _deliver(collection: Path, settings: Settings, stop: asyncio.Event) -> None:
    notifier = open_notifier(collection, settings)
    try:
        await notifier.run(stop)
        await notifier.catch_up(within_s=FINISH_S)
    finally:
        await notifier.close()


async def deliver_once(collection: Path, settings: Settings) -> None:
    """Read all new events and try pending messages once; raise CollectionBusy if another process delivers."""
    require_trust(settings)
    with CollectionLock(collection, LOCK):
        notifier = open_notifier(collection, settings)
        try:
            await notifier.catch_up(within_s=settings.alerts.delivery_timeout.total_seconds() + FINISH_S)
        finally:
            await notifier.close()


async def _first_of(*events: asyncio.Event, within_s: float) -> None:
    """Return when one of the events is set, or after the time."""
    tasks = [asyncio.create_task(event.wait()) for event in events]
    await asyncio.wait(tasks, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def run_notifier(collection: Path, settings: Settings) -> AsyncIterator[None]:
    """Deliver alerts while the block runs, and once after it; their errors do not end the block."""
    if not (settings.alerts.enabled and settings.is_trusted):
        yield
        return
    stop = asyncio.Event()
    task = asyncio.create_task(deliver_until_stopped(collection, settings, stop))
    try:
        yield
    finally:
        stop.set()
        (ended,) = await asyncio.gather(task, return_exceptions=True)
        if isinstance(ended, Exception):
            log.warning("alerts were not sent: %s", ended)
