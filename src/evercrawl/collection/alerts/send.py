"""One attempt to deliver one message, by webhook, mail, Atom file or apprise. Failures are values."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, Protocol

from evercrawl.adapters.http.post import JsonPoster
from evercrawl.core.alerts.delivery import Attempt, Message
from evercrawl.core.alerts.message_format import atom_feed, document, plain_text, signed_headers, subject_line
from evercrawl.core.faults import retry_after
from evercrawl.errors import ConfigError, EvercrawlError
from evercrawl.model import __version__
from evercrawl.model.alerts import Alert, Channel, PendingEvent
from evercrawl.model.fetch import header
from evercrawl.model.settings import Settings
from evercrawl.model.user_agent import user_agent
from evercrawl.sitemaps.atomic import write_whole

PASSWORD_VARIABLE = "EVERCRAWL_MAIL_PASSWORD"
ATOM_ENTRIES = 100
"""A feed holds the newest changes, no more than this."""
LONGEST_DETAIL = 300

log = logging.getLogger(__name__)


class Letter(NamedTuple):
    """All that an attempt needs."""

    alert: Alert
    message: Message
    notices: Sequence[PendingEvent]
    recent: Sequence[PendingEvent]
    """For a feed: the newest notices up to this message, its own among them."""
    uid: str
    """A word for the outbox that it comes from."""


class Sender(Protocol):
    """Delivers letters."""

    async def send(self, letter: Letter, *, now: datetime) -> Attempt:
        """How the attempt ended; every way has a limit of its own, so that none is left to go on unseen."""

    async def close(self) -> None:
        """Let go of everything."""


class Senders:
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

    async def send(self, letter: Letter, *, now: datetime) -> Attempt:
        """How the attempt ended, whatever happened."""
        try:
            return await self._ways[letter.alert.target.channel](letter, now)
        except (EvercrawlError, OSError, ValueError) as error:
            return Attempt(False, _shown(error))
        except Exception as error:
            log.exception("alert %s: a defect in delivery", letter.alert.name)
            return Attempt(False, f"defect: {_shown(error)}")

    async def close(self) -> None:
        """Let go of the resolver."""
        if self._poster is not None:
            await self._poster.close()

    async def _webhook(self, letter: Letter, now: datetime) -> Attempt:
        message, target = letter.message, letter.alert.target
        body = document(
            letter.alert, letter.notices, message_id=message.id, collection=self._collection, made_us=message.made_us
        )
        headers = signed_headers(target.secret, message.id, body, now=now)
        posted = await self._opened_poster().post(target.address, body, headers=headers)
        if posted.status is None:
            return Attempt(False, posted.detail[:LONGEST_DETAIL])
        wait = retry_after(header(posted.headers, "retry-after"), now=now)
        return Attempt(200 <= posted.status < 300, f"HTTP {posted.status}", wait)

    def _opened_poster(self) -> JsonPoster:
        if self._poster is None:
            limit, http = self._settings.notify.timeout, self._settings.http
            http = replace(http, connect=min(http.connect, limit), first_byte=limit, idle=limit, total=limit)
            settings = replace(self._settings, http=http)
            self._poster = JsonPoster(settings, user_agent(settings.identity, __version__))
        return self._poster

    async def _mail(self, letter: Letter, now: datetime) -> Attempt:
        settings = self._settings.notify
        sender = settings.mail_from or self._settings.identity.contact
        if settings.mail_host is None or sender is None or "@" not in sender:
            return Attempt(False, "set notify.mail_host and notify.mail_from to send mail")
        from evercrawl.collection.alerts.mail import hand_over, mail_of  # its libraries take time to load

        mail = mail_of(letter, sender, collection=self._collection)
        await asyncio.to_thread(hand_over, mail, settings, self._password())
        return Attempt(True, f"taken by {settings.mail_host}")

    def _password(self) -> str | None:
        file = self._settings.notify.mail_password_file
        if file is None:
            return self._env.get(PASSWORD_VARIABLE)
        return Path(file).expanduser().read_text(encoding="utf-8").strip()

    async def _atom(self, letter: Letter, now: datetime) -> Attempt:
        recent = letter.recent if letter.notices else ()
        feed_id = f"urn:evercrawl:{letter.uid}:{letter.alert.name}"
        feed = atom_feed(letter.alert, recent, feed_id=feed_id, collection=self._collection)
        path = Path(letter.alert.target.address)
        if not letter.notices and path.exists():
            return Attempt(os.access(path, os.W_OK), f"{path.name} is there")
        await asyncio.to_thread(write_whole, path, feed)
        return Attempt(True, f"written to {path.name}")

    async def _apprise(self, letter: Letter, now: datetime) -> Attempt:
        title = subject_line(letter.alert, letter.notices)
        text = plain_text(letter.alert, letter.notices, collection=self._collection)
        is_sent = await asyncio.to_thread(_by_apprise, letter.alert.target.address, title, text)
        return Attempt(is_sent, "sent by apprise" if is_sent else "apprise says that it could not be sent")


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
