"""One attempt to deliver one message, by webhook, mail, Atom file or apprise. Failures are values."""

from __future__ import annotations

import asyncio
import logging
import os
import smtplib
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from evercrawl.adapters.http.poster import JsonPoster
from evercrawl.adapters.system import write_atomically
from evercrawl.collection.alerts.alert_outbox import AlertOutbox, StoredAlert
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
from evercrawl.core.alerts.message_format import atom_feed, plain_text, subject_line, webhook_body, webhook_headers
from evercrawl.core.faults import retry_after
from evercrawl.engine.ports import Clock
from evercrawl.errors import ConfigError, EvercrawlError
from evercrawl.model import __version__
from evercrawl.model.alerts import Alert, Channel, PendingEvent
from evercrawl.model.fetch import header
from evercrawl.model.settings import AlertSettings, Settings
from evercrawl.model.time import from_us, to_us
from evercrawl.model.user_agent import user_agent

PASSWORD_VARIABLE = "EVERCRAWL_MAIL_PASSWORD"
ATOM_ENTRIES = 100
"""A feed holds the newest changes, no more than this."""
LONGEST_DETAIL = 300

log = logging.getLogger(__name__)


class OutgoingMessage(NamedTuple):
    """All that an attempt needs."""

    alert: Alert
    message: AlertMessage
    notices: Sequence[PendingEvent]
    recent: Sequence[PendingEvent]
    """For a feed: the newest notices up to this message, its own among them."""
    uid: str
    """A word for the outbox that it comes from."""


class MessageSender(Protocol):
    """Delivers letters."""

    async def send(self, letter: OutgoingMessage, *, now: datetime) -> DeliveryAttempt:
        """How the attempt ended; every way has a limit of its own, so that none is left to go on unseen."""

    async def close(self) -> None:
        """Let go of everything."""


class ChannelSender:
    """The real ways out."""

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

    async def send(self, letter: OutgoingMessage, *, now: datetime) -> DeliveryAttempt:
        """How the attempt ended, whatever happened."""
        try:
            return await self._ways[letter.alert.target.channel](letter, now)
        except (EvercrawlError, OSError, ValueError) as error:
            return DeliveryAttempt(False, _shown(error))
        except Exception as error:
            log.exception("alert %s: a defect in delivery", letter.alert.name)
            return DeliveryAttempt(False, f"defect: {_shown(error)}")

    async def close(self) -> None:
        """Let go of the resolver."""
        if self._poster is not None:
            await self._poster.close()

    async def _webhook(self, letter: OutgoingMessage, now: datetime) -> DeliveryAttempt:
        message, target = letter.message, letter.alert.target
        body = webhook_body(
            letter.alert, letter.notices, message_id=message.id, collection=self._collection, made_us=message.made_us
        )
        headers = webhook_headers(target.secret, message.id, body, now=now)
        posted = await self._opened_poster().post(target.address, body, headers=headers)
        if posted.status is None:
            return DeliveryAttempt(False, posted.detail[:LONGEST_DETAIL])
        wait = retry_after(header(posted.headers, "retry-after"), now=now)
        return DeliveryAttempt(200 <= posted.status < 300, f"HTTP {posted.status}", wait)

    def _opened_poster(self) -> JsonPoster:
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

    async def _mail(self, letter: OutgoingMessage, now: datetime) -> DeliveryAttempt:
        settings = self._settings.alerts
        sender = settings.mail_from or self._settings.identity.contact
        if settings.mail_host is None or sender is None or "@" not in sender:
            return DeliveryAttempt(False, "set alerts.mail_host and alerts.mail_from to send mail")

        mail = build_mail(letter, sender, collection=self._collection)
        await asyncio.to_thread(send_mail, mail, settings, self._password())
        return DeliveryAttempt(True, f"taken by {settings.mail_host}")

    def _password(self) -> str | None:
        file = self._settings.alerts.mail_password_file
        if file is None:
            return self._env.get(PASSWORD_VARIABLE)
        return Path(file).expanduser().read_text(encoding="utf-8").strip()

    async def _atom(self, letter: OutgoingMessage, now: datetime) -> DeliveryAttempt:
        recent = letter.recent if letter.notices else ()
        feed_id = f"urn:evercrawl:{letter.uid}:{letter.alert.name}"
        feed = atom_feed(letter.alert, recent, feed_id=feed_id, collection=self._collection)
        path = Path(letter.alert.target.address)
        if not letter.notices and path.exists():
            return DeliveryAttempt(os.access(path, os.W_OK), f"{path.name} is there")
        await asyncio.to_thread(write_atomically, path, feed)
        return DeliveryAttempt(True, f"written to {path.name}")

    async def _apprise(self, letter: OutgoingMessage, now: datetime) -> DeliveryAttempt:
        title = subject_line(letter.alert, letter.notices)
        text = plain_text(letter.alert, letter.notices, collection=self._collection)
        is_sent = await asyncio.to_thread(_by_apprise, letter.alert.target.address, title, text)
        return DeliveryAttempt(is_sent, "sent by apprise" if is_sent else "apprise says that it could not be sent")


def has_apprise() -> bool:
    """The extra is installed."""
    return find_spec("apprise") is not None


def require_apprise() -> None:
    """ConfigError where the extra is not installed."""
    try:
        import_module("apprise")
    except ModuleNotFoundError:
        raise ConfigError(
            "apprise needs the extra apprise, which is not installed: pip install 'evercrawl[apprise]'"
        ) from None


def _by_apprise(address: str, title: str, text: str) -> bool:
    require_apprise()
    apprise = import_module("apprise").Apprise()
    if not apprise.add(address):
        raise ConfigError("apprise does not understand the address")
    return bool(apprise.notify(title=title, body=text))


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:LONGEST_DETAIL]


def build_mail(letter: OutgoingMessage, sender: str, *, collection: str) -> EmailMessage:
    """The letter as a mail, the same at every attempt but for its way."""
    mail = EmailMessage()
    mail["From"], mail["To"] = sender, letter.alert.target.address
    mail["Subject"] = subject_line(letter.alert, letter.notices)
    mail["Date"] = format_datetime(from_us(letter.message.made_us))
    # The same at every attempt: mail systems drop what they have seen.
    mail["Message-ID"] = f"<{letter.message.id}@{sender.rpartition('@')[2]}>"
    mail["Auto-Submitted"] = "auto-generated"
    text = plain_text(letter.alert, letter.notices, collection=collection)
    mail.set_content(text.encode("utf-8", "replace").decode("utf-8"))
    return mail


def send_mail(mail: EmailMessage, settings: AlertSettings, password: str | None) -> None:
    """Give a mail to the server; raises what smtplib raises."""
    timeout = settings.delivery_timeout.total_seconds()
    assert settings.mail_host is not None
    context = ssl.create_default_context()
    if settings.mail_tls == "tls":
        server: smtplib.SMTP = smtplib.SMTP_SSL(
            settings.mail_host, settings.mail_port, timeout=timeout, context=context
        )
    else:
        server = smtplib.SMTP(settings.mail_host, settings.mail_port, timeout=timeout)
    with server:
        if settings.mail_tls == "starttls":
            server.starttls(context=context)
        if settings.mail_user is not None:
            server.login(settings.mail_user, password or "")
        server.send_message(mail)


MOST_AT_A_TIME = 256
"""Alerts that are served at the same time."""

T = TypeVar("T")


def retry_policy(settings: AlertSettings) -> RetryPolicy:
    """How attempts are spread over time."""
    return RetryPolicy(settings.first_retry_delay, settings.max_retry_delay, settings.retry_timeout)


class Deliverer:
    """Serves the alerts of one outbox; only one process at a time may do so."""

    def __init__(
        self,
        outbox: AlertOutbox,
        sender: MessageSender,
        *,
        clock: Clock,
        patience: RetryPolicy,
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

    def _resting(self, known: StoredAlert) -> StoredAlert:
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

    async def _serve(self, known: StoredAlert) -> None:
        """One step after the other until the alert has to wait."""
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
        on_its_way = begin_attempt(message)
        letter = await self._off(lambda: self._letter(known, on_its_way))
        attempt = await self._sender.send(letter, now=self._clock.now())
        after = finish_attempt(on_its_way, attempt, self._patience, now=self._clock.now())
        await self._off(lambda: self._outbox.write(after))
        if not attempt.is_delivered:
            log.warning("alert %s: %s (attempt %d)", known.alert.name, attempt.detail, after.tries)

    def _letter(self, known: StoredAlert, message: AlertMessage) -> OutgoingMessage:
        """Note that the message is on its way, and gather what it says."""
        self._outbox.write(message)
        notices = self._outbox.notices(message.id)
        recent = (
            self._outbox.last_notices(known.id, upto=notices[-1].number, most=ATOM_ENTRIES)
            if known.alert.target.channel is Channel.ATOM and notices
            else []
        )
        return OutgoingMessage(known.alert, message, notices, recent, self._outbox.uid)

    async def _off(self, work: Callable[[], T]) -> T:
        done: T = await self._off_loop(work)  # type: ignore[assignment]
        return done
