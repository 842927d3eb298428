"""The alerts of a collection: added, listed, tested, removed, and what became of their messages."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from heapq import nlargest
from pathlib import Path
from typing import Any, NamedTuple

from evercrawl.collection.alerts.alert_outbox import AlertOutbox, MessageCounts, outbox_path
from evercrawl.collection.alerts.event_reader import BY_WORDS, CollectionLogs, EventJudges, Logs, event_texts
from evercrawl.collection.alerts.sender import ChannelSender, OutgoingMessage, require_apprise
from evercrawl.core.alerts.definition import alert_problem
from evercrawl.core.alerts.delivery import AlertMessage, DeliveryAttempt, MessageState, retry_message
from evercrawl.core.alerts.matching import match_event
from evercrawl.core.alerts.message_format import MIN_SECRET_BYTES, format_secret
from evercrawl.core.http.ip_address import address_refusal, parse_ip_literal
from evercrawl.core.url import canonical, site_of, site_parts
from evercrawl.errors import ConfigError
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination, Event, Frequency
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us, to_us

SINGLE, BUNDLE, DIGEST = 1, 50, 200
"""Changes in one message, where the alert does not say: a program takes them one by one, people do not."""
MOST_RETRIED = 100_000


@dataclass(frozen=True, slots=True)
class AlertStatus:
    """An alert, and how it stands."""

    alert: Alert
    counts: MessageCounts


@dataclass(frozen=True, slots=True)
class MessageLogEntry:
    """A message, and how many changes it tells."""

    message: AlertMessage
    changes: int
    place: int
    """Where it stands in the order of all messages."""

    def fields(self) -> dict[str, Any]:
        """What is said of it in JSON."""
        message = self.message
        return {
            "id": message.id,
            "alert": message.alert,
            "state": message.state.value,
            "changes": self.changes,
            "made_at": from_us(message.made_us),
            "tries": message.tries,
            "next_try": from_us(message.next_us) if message.next_us else None,
            "ended_at": None if message.ended_us is None else from_us(message.ended_us),
            "detail": message.detail,
        }


def default_batch_size(channel: Channel, rhythm: Frequency) -> int:
    """How many changes go into one message unless somebody says otherwise."""
    if rhythm is not Frequency.AT_ONCE:
        return DIGEST
    return SINGLE if channel is Channel.WEBHOOK else BUNDLE


class AlertRegistry:
    """What `evercrawl alert` does, for programs; alerts may be changed while another process delivers."""

    def __init__(self, collection: Path, settings: Settings) -> None:
        self._collection = collection
        self._settings = settings

    def add(self, alert: Alert, *, replacing: bool = False) -> Alert:
        """Add an alert as it is given back: checked, its webhook with a secret. ConfigError where it cannot
        be used, or where there is one of its name and `replacing` does not allow that.
        """
        alert = self.checked(alert)
        with self._outbox() as outbox:
            known = outbox.named(alert.name)
            if known is not None and not replacing:
                raise ConfigError(f"there is an alert {alert.name!r} already; change it with --replace")
            if alert.target.channel is Channel.WEBHOOK and alert.target.secret is None:
                kept = known.alert.target.secret if known is not None else None
                secret = kept or format_secret(secrets.token_bytes(MIN_SECRET_BYTES))
                alert = replace(alert, target=replace(alert.target, secret=secret))
            ends = {} if outbox.alerts() else CollectionLogs(self._collection).ends()
            outbox.put(alert, now_us=to_us(datetime.now(UTC)), ends=ends)
        return alert

    def all(self) -> list[AlertStatus]:
        """Every alert, by name."""
        if not outbox_path(self._collection).exists():
            return []
        with self._outbox() as outbox:
            return [AlertStatus(known.alert, outbox.counts(known.id)) for known in outbox.alerts()]

    def one(self, name: str) -> AlertStatus:
        """The alert of this name; ConfigError where there is none."""
        with self._existing(name) as outbox:
            known = outbox.named(name)
            assert known is not None
            return AlertStatus(known.alert, outbox.counts(known.id))

    def remove(self, name: str) -> int:
        """Take an alert away; gives the number of changes that waited and will not be told."""
        with self._existing(name) as outbox:
            return outbox.remove(name) or 0

    def log(
        self, name: str | None = None, *, state: MessageState | None = None, most: int = 50, before: int | None = None
    ) -> list[MessageLogEntry]:
        """The newest messages, newest first; `before`: those that stand before this place."""
        if name is None and not outbox_path(self._collection).exists():
            return []
        with self._existing(name) if name is not None else self._outbox() as outbox:
            rows = outbox.messages(name, state=state, most=most, before=before)
            return [MessageLogEntry(*row) for row in rows]

    def retry(self, name: str) -> int:
        """Messages that were set aside are sent again; gives their number."""
        now = datetime.now(UTC)
        with self._existing(name) as outbox:
            failed = outbox.messages(name, state=MessageState.FAILED, most=MOST_RETRIED)
            for message, _, _ in failed:
                outbox.write(retry_message(message, now=now))
            return len(failed)

    async def test(self, name: str) -> DeliveryAttempt:
        """Send a test message now, whatever the hour; nothing else is touched."""
        with self._existing(name) as outbox:
            known = outbox.named(name)
            assert known is not None
            now = datetime.now(UTC)
            message = AlertMessage(f"msg_{outbox.uid}_test_{secrets.token_hex(6)}", name, to_us(now), tries=1)
            letter = OutgoingMessage(known.alert, message, (), (), outbox.uid)
        senders = ChannelSender(self._settings, collection=self._collection.resolve().name)
        try:
            return await senders.send(letter, now=now)
        finally:
            await senders.close()

    @contextmanager
    def _outbox(self) -> Iterator[AlertOutbox]:
        outbox = AlertOutbox(self._collection)
        try:
            yield outbox
        finally:
            outbox.close()

    @contextmanager
    def _existing(self, name: str) -> Iterator[AlertOutbox]:
        if not outbox_path(self._collection).exists():
            raise ConfigError(f"there is no alert {name!r}; see: evercrawl alert list")
        with self._outbox() as outbox:
            if outbox.named(name) is None:
                raise ConfigError(f"there is no alert {name!r}; see: evercrawl alert list")
            yield outbox

    def checked(self, alert: Alert) -> Alert:
        """The alert as it would be kept; ConfigError where it cannot be used."""
        alert = replace(alert, target=self._usable(alert.target))
        pages = tuple(canonical(page) or _refuse(page) for page in alert.subject.pages)
        alert = replace(alert, subject=replace(alert.subject, pages=pages))
        wrong = alert_problem(alert)
        if wrong is not None:
            raise ConfigError(wrong)
        return alert

    def _usable(self, target: Destination) -> Destination:
        match target.channel:
            case Channel.WEBHOOK:
                url = canonical(target.address) or _refuse(target.address)
                self._guard(url)
                return replace(target, address=url)
            case Channel.ATOM:
                path = Path(target.address).expanduser().absolute()
                if not path.parent.is_dir() or path.is_dir():
                    raise ConfigError(f"{path} cannot be a file: name one in a folder that is there")
                return replace(target, address=str(path))
            case Channel.APPRISE:
                require_apprise()
                return target
            case Channel.MAIL:
                return target

    def _guard(self, url: str) -> None:
        """ConfigError at once where it can be seen that no attempt would be let through; names are looked up,
        and guarded, at each attempt.
        """
        for ip in parse_ip_literal(site_parts(site_of(url)).host) or ():
            refused = address_refusal(ip)
            if refused is not None and not self._settings.http.allow_private:
                raise ConfigError(f"{url} cannot be a webhook: {refused}; http.allow_private allows it")


def _refuse(url: str) -> str:
    raise ConfigError(f"{url!r} is not a URL; write it like https://example.org/")


LINES = 4000
"""Lines of the logs that are looked at, all shards together."""
FEWEST_OF_SHARD = 50
EXAMPLES = 10
PATIENCE_S = 2.0
"""Texts are read and judged no longer than this."""


class AlertPreview(NamedTuple):
    """Events that would have been told, of those that were looked at."""

    told: int
    looked_at: int
    since: datetime | None
    """The oldest event that was looked at; None: there was none."""
    examples: tuple[Event, ...]
    """The newest, newest first."""


def preview_alert(
    subject: AlertFilter, logs: Logs, *, judging: EventJudges = BY_WORDS, clock: Callable[[], float] = time.monotonic
) -> AlertPreview:
    """What the newest visits of a collection would have brought to an alert about this."""
    shards, end = logs.shards(), clock() + PATIENCE_S
    lines = max(FEWEST_OF_SHARD, LINES // max(1, len(shards)))
    looked_at, oldest_us = 0, 2**62
    told: list[Event] = []
    for shard in shards:
        with logs.open(shard) as shard_log:
            newest = shard_log.end()
            for event in reversed(shard_log.events(max(0, newest - lines), newest)):
                if clock() > end:
                    break
                looked_at, oldest_us = looked_at + 1, min(oldest_us, event.at_us)
                found = match_event(
                    subject, event, event_texts(shard_log, event), matches=judging.matches, score=judging.tone
                )
                if found is not None:
                    told.append(found)
    examples = nlargest(EXAMPLES, told, key=lambda event: event.at_us)
    return AlertPreview(len(told), looked_at, from_us(oldest_us) if looked_at else None, tuple(examples))
