"""Send alerts during a crawl, or for a collection that another process crawls. What sends is loaded with the first."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from evercrawl.adapters.system import CollectionLock, wait_for_first
from evercrawl.config.load import outbox_path
from evercrawl.config.trust import require_trust
from evercrawl.errors import CollectionBusy
from evercrawl.model.settings import Settings

LOCK = "alerts.lock"

log = logging.getLogger(__name__)


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
        await wait_for_first(stop, within_s=settings.alerts.check_interval.total_seconds())
    else:
        return
    try:
        await _deliver(collection, settings, stop)
    finally:
        lock.release()


async def _deliver(collection: Path, settings: Settings, stop: asyncio.Event) -> None:
    from evercrawl.collection.alerts.notifier import FINISH_S, open_notifier  # most collections have no alert

    notifier = open_notifier(collection, settings)
    try:
        await notifier.run(stop)
        await notifier.catch_up(within_s=FINISH_S)
    finally:
        await notifier.close()


async def deliver_once(collection: Path, settings: Settings) -> None:
    """Read all new events and try pending messages once; raise CollectionBusy if another process delivers."""
    from evercrawl.collection.alerts.notifier import FINISH_S, open_notifier

    require_trust(settings)
    with CollectionLock(collection, LOCK):
        notifier = open_notifier(collection, settings)
        try:
            await notifier.catch_up(within_s=settings.alerts.delivery_timeout.total_seconds() + FINISH_S)
        finally:
            await notifier.close()


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
