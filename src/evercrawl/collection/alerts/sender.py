"""Deliver messages by webhook, mail, Atom file or apprise, with retries. Failures are values."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from evercrawl.adapters.guarded_apprise import send_by_apprise
from evercrawl.adapters.http.dialer import GuardedDialer, JsonPoster
from evercrawl.adapters.system import write_atomically
from evercrawl.collection.alerts.alert_outbox import AlertOutbox, StoredAlert
from evercrawl.collection.alerts.mail import (
    EXAMPLES,
    body_of,
    build_mail,
    mail_parts,
    mail_password,
    mail_problem,
    mail_sender,
    send_mail,
)
from evercrawl.config.trust import require_trust
from evercrawl.core.alerts.definition import apprise_problem
from evercrawl.core.alerts.delivery import (
    AlertMessage,
    ComposeMessage,
    DeliveryAttempt,
    RetryPolicy,
    SendMessage,
    WaitUntil,
    begin_attempt,
    finish_attempt,
    next_delivery_step,
)
from evercrawl.core.alerts.html_message import MessageLinks
from evercrawl.core.alerts.message_format import MessageContent, atom_feed, webhook_headers
from evercrawl.core.faults import retry_after
from evercrawl.engine.ports import Clock
from evercrawl.errors import ConfigError, EvercrawlError
from evercrawl.model import __version__
from evercrawl.model.alerts import Alert, Channel, PendingEvent
from evercrawl.model.fetch import header
from evercrawl.model.settings import AlertSettings, Settings
from evercrawl.model.time import to_us
from evercrawl.model.user_agent import user_agent

ATOM_ENTRIES = 100  # Maximum number of entries of a feed.
MAX_DETAIL_CHARS = 300
APPRISE_TIMEOUT = timedelta(minutes=2)  # Its plug-ins load slowly and have time limits of their own.

log = logging.getLogger(__name__)


class OutgoingMessage(NamedTuple):
    """A message with everything that an attempt needs."""

    alert: Alert
    message: AlertMessage
    events: Sequence[PendingEvent]
    recent: Sequence[PendingEvent]  # For a feed: the newest events up to and including this message.
    uid: str  # Identifies the outbox.
    alert_id: int = 0
    link_key: bytes = b""  # Signs the links.


class MessageSender(Protocol):
    """Delivers messages."""

    async def send(self, outgoing: OutgoingMessage, *, now: datetime) -> DeliveryAttempt:
        """Make one attempt, which every channel limits in time, and return how it ended."""

    async def close(self) -> None:
        """Release all resources."""


class ChannelSender:
    """Sends messages by their channel."""

    def __init__(self, settings: Settings, *, collection: str, env: Mapping[str, str] | None = None) -> None:
        self._settings = settings
        self._collection = collection
        self._env = os.environ if env is None else env
        self._poster: JsonPoster | None = None
        self._ways = {
            Channel.WEBHOOK: self._webhook,
            Channel.MAIL: self._mail,
            Channel.ATOM: self._atom,
            Channel.APPRISE: self._apprise,
        }

    async def send(self, outgoing: OutgoingMessage, *, now: datetime) -> DeliveryAttempt:
        """Make one attempt; never raise."""
        try:
            require_trust(self._settings)
            return await self._ways[outgoing.alert.destination.channel](outgoing, now)
        except EvercrawlError as error:
            return DeliveryAttempt(False, str(error)[:MAX_DETAIL_CHARS])
        except (OSError, ValueError) as error:
            return DeliveryAttempt(False, _shown(error))
        except Exception as error:
            log.exception("alert %s: bug in delivery", outgoing.alert.name)
            return DeliveryAttempt(False, f"bug in evercrawl: {_shown(error)}")

    async def close(self) -> None:
        """Close the HTTP client."""
        if self._poster is not None:
            await self._poster.close()

    def _content(self, outgoing: OutgoingMessage) -> MessageContent:
        """Return what the message says; a test of templates shows an example."""
        alert, is_test = outgoing.alert, not outgoing.events
        changes = EXAMPLES if is_test and any(alert.templates.given()) else outgoing.events
        links = MessageLinks(
            self._collection, alert.name, self._settings.web.public_url, outgoing.link_key, outgoing.alert_id
        )
        return MessageContent(alert, changes, links, is_test)

    async def _webhook(self, outgoing: OutgoingMessage, now: datetime) -> DeliveryAttempt:
        message, target = outgoing.message, outgoing.alert.destination
        body = body_of(self._content(outgoing), message_id=message.id, at_us=message.created_us)
        headers = webhook_headers(target.secret, message.id, body, now=now)
        posted = await self._open_poster().post(target.address, body, headers=headers)
        if posted.status is None:
            return DeliveryAttempt(False, posted.detail[:MAX_DETAIL_CHARS])
        wait = retry_after(header(posted.headers, "retry-after"), now=now)
        return DeliveryAttempt(200 <= posted.status < 300, f"HTTP {posted.status}", wait)

    def _open_poster(self) -> JsonPoster:
        if self._poster is None:
            limit, http = self._settings.alerts.delivery_timeout, self._settings.http
            http = replace(
                http,
                connect_timeout=min(http.connect_timeout, limit),
                first_byte_timeout=limit,
                idle_timeout=limit,
                total_timeout=limit,
            )
            settings = replace(self._settings, http=http)
            self._poster = JsonPoster(settings, user_agent(settings.identity, __version__))
        return self._poster

    async def _mail(self, outgoing: OutgoingMessage, now: datetime) -> DeliveryAttempt:
        settings, message = self._settings.alerts, outgoing.message
        problem, sender = mail_problem(self._settings, self._env), mail_sender(self._settings)
        if problem is not None or sender is None:
            return DeliveryAttempt(False, str(problem))
        content = self._content(outgoing)
        parts = mail_parts(content, message_id=message.id, at_us=message.created_us)
        mail = build_mail(content, parts, message, sender)
        dialer = GuardedDialer(self._settings.http, is_named=True)
        answer = await asyncio.to_thread(send_mail, mail, settings, mail_password(settings, self._env), dialer)
        return DeliveryAttempt(True, answer[:MAX_DETAIL_CHARS])

    async def _atom(self, outgoing: OutgoingMessage, now: datetime) -> DeliveryAttempt:
        content = self._content(outgoing)._replace(changes=outgoing.recent if outgoing.events else ())
        feed = atom_feed(content, feed_id=f"urn:evercrawl:{outgoing.uid}:{outgoing.alert.name}")
        path = Path(outgoing.alert.destination.address)
        if not outgoing.events and path.exists():
            return DeliveryAttempt(os.access(path, os.W_OK), f"{path.name} exists")
        await asyncio.to_thread(write_atomically, path, feed)
        return DeliveryAttempt(True, f"written to {path.name}")

    async def _apprise(self, outgoing: OutgoingMessage, now: datetime) -> DeliveryAttempt:
        message = outgoing.message
        parts = mail_parts(self._content(outgoing), message_id=message.id, at_us=message.created_us)
        address = outgoing.alert.destination.address
        require_apprise()
        if (problem := apprise_problem(address, is_own=True)) is not None:
            raise ConfigError(problem)
        is_private = self._settings.http.allow_private
        send = partial(send_by_apprise, allow_private=is_private, timeout=APPRISE_TIMEOUT)
        is_sent = await asyncio.to_thread(send, address, parts.subject, parts.text)
        return DeliveryAttempt(is_sent, "sent by apprise" if is_sent else "apprise could not send it")


def has_apprise() -> bool:
    """Return whether the extra is installed."""
    return find_spec("apprise") is not None


def require_apprise() -> None:
    """Raise ConfigError if the extra is not installed."""
    try:
        import_module("apprise")
    except ModuleNotFoundError:
        raise ConfigError("the extra apprise is not installed: pip install 'evercrawl[apprise]'") from None


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:MAX_DETAIL_CHARS]


MAX_CONCURRENT = 256  # Alerts that are delivered at the same time.

T = TypeVar("T")


def retry_policy(settings: AlertSettings) -> RetryPolicy:
    """Return how attempts are repeated."""
    return RetryPolicy(settings.first_retry_delay, settings.max_retry_delay, settings.retry_timeout)


class Deliverer:
    """Delivers the messages of one outbox; only one process at a time may do so."""

    def __init__(
        self,
        outbox: AlertOutbox,
        sender: MessageSender,
        *,
        clock: Clock,
        retries: RetryPolicy,
        quiet_hours: tuple[str, ...] = (),
        off_loop: Callable[[Callable[[], object]], Awaitable[object]] = asyncio.to_thread,
        on_delivered: Callable[[], None] = lambda: None,
    ) -> None:
        """Deliver by `sender`; `off_loop` runs disk access, `on_delivered` is called after each alert.
        `quiet_hours` apply to alerts without their own."""
        self._outbox = outbox
        self._sender = sender
        self._clock = clock
        self._retries = retries
        self._quiet_hours = quiet_hours
        self._off_loop = off_loop
        self._on_delivered = on_delivered
        self._running: dict[int, asyncio.Task[None]] = {}
        self._next: dict[int, datetime] = {}

    async def start_due(self) -> None:
        """Start delivery for every alert with something to send."""
        busy, alerts = await self._off(lambda: (self._outbox.busy_alerts(), self._outbox.alerts()))
        self._next.clear()
        for known in alerts:
            is_free = known.id in busy and known.id not in self._running and not known.is_paused
            if is_free and len(self._running) < MAX_CONCURRENT:
                task = asyncio.create_task(self._deliver(self._with_quiet_hours(known)))
                self._running[known.id] = task
                task.add_done_callback(partial(self._finish, known.id))

    def _with_quiet_hours(self, known: StoredAlert) -> StoredAlert:
        alert = known.alert
        return known._replace(alert=replace(alert, quiet_hours=alert.quiet_hours or self._quiet_hours))

    def next_moment(self) -> datetime | None:
        """Return the earliest time at which a pending message can be sent; None: no message is pending."""
        return min(self._next.values(), default=None)

    async def settle(self, *, within_s: float) -> None:
        """Wait for running deliveries, at most this long, and cancel the rest."""
        if self._running:
            await asyncio.wait(self._running.values(), timeout=within_s)
        for task in list(self._running.values()):
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    def _finish(self, number: int, task: asyncio.Task[None]) -> None:
        del self._running[number]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("delivery of alert %d failed", number, exc_info=error)
        self._on_delivered()

    async def _deliver(self, known: StoredAlert) -> None:
        """Compose and send messages until the alert has to wait."""
        while True:
            now = self._clock.now()
            queue = await self._off(lambda: self._outbox.queue(known.id))
            match next_delivery_step(known.alert, queue, now=now):
                case WaitUntil(until):
                    if until is not None:
                        self._next[known.id] = until
                    return
                case ComposeMessage(upto_us):
                    make = partial(self._outbox.compose, known, upto_us=upto_us, now_us=to_us(now))
                    await self._off(make)
                case SendMessage(message):
                    await self._send(known, message)

    async def _send(self, known: StoredAlert, message: AlertMessage) -> None:
        started = begin_attempt(message)
        outgoing = await self._off(lambda: self._prepare(known, started))
        attempt = await self._sender.send(outgoing, now=self._clock.now())
        after = finish_attempt(started, attempt, self._retries, now=self._clock.now())
        await self._off(lambda: self._outbox.update_message(after))
        if not attempt.is_delivered:
            log.warning("alert %s: %s (attempt %d)", known.alert.name, attempt.detail, after.tries)

    def _prepare(self, known: StoredAlert, message: AlertMessage) -> OutgoingMessage:
        """Mark the message as sending, and load its events."""
        self._outbox.update_message(message)
        events = self._outbox.message_events(message.id)
        recent = (
            self._outbox.newest_events(known.id, upto=events[-1].number, limit=ATOM_ENTRIES)
            if known.alert.destination.channel is Channel.ATOM and events
            else []
        )
        outbox = self._outbox
        return OutgoingMessage(known.alert, message, events, recent, outbox.uid, known.id, outbox.link_key)

    async def _off(self, work: Callable[[], T]) -> T:
        done: T = await self._off_loop(work)  # type: ignore[assignment]
        return done
