"""The alerts of a collection: add, list, preview, test and remove them, and read the message log."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from heapq import nlargest
from pathlib import Path
from typing import Any, NamedTuple

from evercrawl.collection.alerts.alert_outbox import AlertOutbox, MessageCounts, StoredAlert
from evercrawl.collection.alerts.event_reader import JUDGES, CollectionLogs, EventJudges, Logs, event_texts
from evercrawl.collection.alerts.mail import TEMPLATE_PARTS as TEMPLATE_PARTS
from evercrawl.collection.alerts.mail import SetupProblem, mail_problem, template_problem
from evercrawl.collection.alerts.sender import ChannelSender, OutgoingMessage, has_apprise, require_apprise
from evercrawl.config.load import outbox_path
from evercrawl.core.alerts.definition import HOSTED_SERVICES as HOSTED_SERVICES
from evercrawl.core.alerts.definition import alert_fields as alert_fields
from evercrawl.core.alerts.definition import alert_problem as alert_problem
from evercrawl.core.alerts.definition import apprise_problem as apprise_problem
from evercrawl.core.alerts.definition import redact_address as redact_address
from evercrawl.core.alerts.delivery import AlertMessage, DeliveryAttempt, retry_message
from evercrawl.core.alerts.delivery import MessageState as MessageState
from evercrawl.core.alerts.headline import event_headline as event_headline
from evercrawl.core.alerts.headline import headline
from evercrawl.core.alerts.html_message import MessageLinks, is_signed_link
from evercrawl.core.alerts.html_message import mute_patterns_of as mute_patterns_of
from evercrawl.core.alerts.matching import match_event
from evercrawl.core.alerts.message_format import MIN_SECRET_BYTES, MessageContent, format_secret
from evercrawl.core.http.ip_address import address_refusal, parse_ip_literal
from evercrawl.core.url import canonical, shard_of_site, site_of, site_parts
from evercrawl.errors import ConfigError
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination, Event, Frequency, PendingEvent
from evercrawl.model.sanitize import has_credentials
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us, to_us

SINGLE, BUNDLE, DIGEST = 1, 50, 200  # Default number of changes in one message: to a program, to people, in a digest.
MAX_RETRIED = 100_000
MAIL_PASSWORD_FILE = "mail-password"  # File of the collection with a password that was entered in the interface.


@dataclass(frozen=True, slots=True)
class AlertStatus:
    """An alert, its message counts, and what is missing to send its messages."""

    alert: Alert
    counts: MessageCounts
    is_paused: bool = False
    problem: SetupProblem | None = None

    def fields(self) -> dict[str, Any]:
        """Return the JSON fields, without secrets."""
        problem = None if self.problem is None else str(self.problem)
        state = {"paused": self.is_paused, "problem": problem}
        return alert_fields(self.alert, with_secret=False) | self.counts._asdict() | state


@dataclass(frozen=True, slots=True)
class MessageLogEntry:
    """A message, what it says and the number of its changes."""

    message: AlertMessage
    changes: int
    place: int  # Its place in the order of all messages.
    summary: str

    def fields(self) -> dict[str, Any]:
        """Return the JSON fields."""
        message = self.message
        return {
            "id": message.id,
            "alert": message.alert,
            "state": message.state.value,
            "changes": self.changes,
            "summary": self.summary,
            "created_at": from_us(message.created_us),
            "attempts": message.tries,
            "next_attempt": from_us(message.next_us) if message.next_us else None,
            "ended_at": None if message.ended_us is None else from_us(message.ended_us),
            "detail": message.detail,
        }


def default_batch_size(channel: Channel, frequency: Frequency) -> int:
    """Return the default number of changes in one message."""
    if frequency is not Frequency.AT_ONCE:
        return DIGEST
    return SINGLE if channel is Channel.WEBHOOK else BUNDLE


class AlertRegistry:
    """The alerts of a collection; they can be changed while another process delivers messages."""

    def __init__(self, collection: Path, settings: Settings) -> None:
        self._collection = collection
        self._settings = settings

    def add(self, alert: Alert, *, overwrite: bool = False) -> Alert:
        """Add an alert and return it, with the secret of a webhook only if it is new: one that exists is never shown.
        A replaced alert keeps its secret unless the address changes, whose owner must not get messages signed with it.
        Raise ConfigError if it is invalid, or if its name exists and `overwrite` is not set."""
        alert, kept = self.validate(alert), None
        with self._outbox() as outbox:
            known = outbox.find(alert.name)
            if known is not None and not overwrite:
                raise ConfigError(f"the alert {alert.name!r} exists; change it with --replace")
            _require_own_file(alert, [one.alert for one in outbox.alerts()])
            if alert.destination.channel is Channel.WEBHOOK and alert.destination.secret is None:
                before = known.alert.destination if known is not None else alert.destination
                kept = before.secret if before.address == alert.destination.address else None
                secret = kept or format_secret(secrets.token_bytes(MIN_SECRET_BYTES))
                alert = replace(alert, destination=replace(alert.destination, secret=secret))
            ends = {} if outbox.alerts() else CollectionLogs(self._collection).ends()
            outbox.put(alert, now_us=to_us(datetime.now(UTC)), ends=ends)
        return alert if kept is None else replace(alert, destination=replace(alert.destination, secret=None))

    def all(self) -> list[AlertStatus]:
        """Return every alert, by name."""
        if not outbox_path(self._collection).exists():
            return []
        with self._outbox() as outbox:
            return [self._status(outbox, known) for known in outbox.alerts()]

    def get(self, name: str) -> AlertStatus:
        """Return the alert with this name; raise ConfigError if there is none."""
        with self._existing(name) as outbox:
            known = outbox.find(name)
            assert known is not None
            return self._status(outbox, known)

    def _status(self, outbox: AlertOutbox, known: StoredAlert) -> AlertStatus:
        problem = self.setup_problem(known.alert.destination.channel)
        return AlertStatus(known.alert, outbox.counts(known.id), known.is_paused, problem)

    def setup_problem(self, channel: Channel) -> SetupProblem | None:
        """Return what is missing to send messages by this channel; None if nothing is."""
        if channel is Channel.APPRISE and not has_apprise():
            return SetupProblem("apprise is not installed", "run: pip install 'evercrawl[apprise]'")
        return mail_problem(self._settings) if channel is Channel.MAIL else None

    def pause(self, name: str) -> None:
        """Stop the messages of an alert and drop pending ones."""
        with self._existing(name) as outbox:
            known = outbox.find(name)
            assert known is not None
            outbox.pause(known.id)

    def resume(self, name: str) -> None:
        """Report changes to an alert again, from now on."""
        with self._existing(name) as outbox:
            known = outbox.find(name)
            assert known is not None
            outbox.resume(known.id, now_us=to_us(datetime.now(UTC)))

    def alert_of_link(self, number: int, signature: str) -> AlertStatus | None:
        """Return the alert that a signed link to unsubscribe names; None if the link is not valid."""
        if not outbox_path(self._collection).exists():
            return None
        with self._outbox() as outbox:
            known = next((one for one in outbox.alerts() if one.id == number), None)
            is_valid = is_signed_link(outbox.link_key, "unsubscribe", number, signature)
            return self._status(outbox, known) if known is not None and is_valid else None

    def change_of_link(self, number: int, signature: str) -> Event | None:
        """Return the change that a signed link to mute a part names; None if the link is not valid or too old."""
        if not outbox_path(self._collection).exists():
            return None
        with self._outbox() as outbox:
            found = outbox.event(number)
            is_valid = is_signed_link(outbox.link_key, "mute", number, signature)
            return found.event if found is not None and is_valid else None

    def remove(self, name: str) -> int:
        """Remove an alert; return the number of its pending changes."""
        with self._existing(name) as outbox:
            return outbox.remove(name) or 0

    def log(
        self, name: str | None = None, *, state: MessageState | None = None, limit: int = 50, before: int | None = None
    ) -> list[MessageLogEntry]:
        """Return the newest messages, newest first; with `before`, those before this place."""
        if name is None and not outbox_path(self._collection).exists():
            return []
        with self._existing(name) if name is not None else self._outbox() as outbox:
            rows = outbox.messages(name, state=state, limit=limit, before=before)
            return [MessageLogEntry(*row, _summary(outbox, row[0])) for row in rows]

    def retry(self, name: str) -> int:
        """Send failed messages again; return their number."""
        now = datetime.now(UTC)
        with self._existing(name) as outbox:
            failed = outbox.messages(name, state=MessageState.FAILED, limit=MAX_RETRIED)
            for message, _, _ in failed:
                outbox.update_message(retry_message(message, now=now))
            return len(failed)

    async def test(self, name: str) -> DeliveryAttempt:
        """Send a test message now, even in quiet hours."""
        with self._existing(name) as outbox:
            known = outbox.find(name)
            assert known is not None
            now = datetime.now(UTC)
            message = AlertMessage(f"msg_{outbox.uid}_test_{secrets.token_hex(6)}", name, to_us(now), tries=1)
            outgoing = OutgoingMessage(known.alert, message, (), (), outbox.uid, known.id, outbox.link_key)
        senders = ChannelSender(self._settings, collection=self._collection.resolve().name)
        try:
            return await senders.send(outgoing, now=now)
        finally:
            await senders.close()

    async def test_mail(self, address: str) -> DeliveryAttempt:
        """Send a test message by mail, without an alert; raise ConfigError if the address is not valid."""
        now, alert = datetime.now(UTC), Alert("test", AlertFilter(), Destination(Channel.MAIL, address))
        alert = self.validate(alert)
        message = AlertMessage(f"msg_test_{secrets.token_hex(6)}", alert.name, to_us(now), tries=1)
        senders = ChannelSender(self._settings, collection=self._collection.resolve().name)
        try:
            return await senders.send(OutgoingMessage(alert, message, (), (), "test", 0, b""), now=now)
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
            if outbox.find(name) is None:
                raise ConfigError(f"there is no alert {name!r}; see: evercrawl alert list")
            yield outbox

    def validate(self, alert: Alert) -> Alert:
        """Return the alert in its stored form; raise ConfigError if it is invalid."""
        alert = replace(alert, destination=self._validate_destination(alert.destination))
        pages = tuple(canonical(page) or _refuse(page) for page in alert.filter.pages)
        alert = replace(alert, filter=replace(alert.filter, pages=pages))
        wrong = alert_problem(alert)
        wrong = wrong or template_problem(alert, self._example)
        if wrong is not None:
            raise ConfigError(wrong)
        return alert

    def _example(self, alert: Alert, changes: tuple[PendingEvent, ...]) -> MessageContent:
        """Return a message with these changes."""
        collection = self._collection.resolve().name
        return MessageContent(alert, changes, MessageLinks(collection, alert.name, self._settings.web.public_url))

    def _validate_destination(self, target: Destination) -> Destination:
        match target.channel:
            case Channel.WEBHOOK:
                url = canonical(target.address) or _refuse(target.address)
                if has_credentials(url):
                    raise ConfigError("the URL of a webhook has no user name or password: check the signature instead")
                self._guard(url)
                return replace(target, address=url)
            case Channel.ATOM:
                path = Path(target.address).expanduser().absolute()
                if not path.parent.is_dir() or path.is_dir():
                    raise ConfigError(f"{path} is not a valid file: name a file in an existing folder")
                return replace(target, address=str(path))
            case Channel.APPRISE:
                require_apprise()
                if (problem := apprise_problem(target.address, is_own=True)) is not None:
                    raise ConfigError(problem)
                return target
            case Channel.MAIL:
                return target

    def _guard(self, url: str) -> None:
        """Raise ConfigError for a private IP address; host names are checked at each attempt."""
        for ip in parse_ip_literal(site_parts(site_of(url)).host) or ():
            refused = address_refusal(ip)
            if refused is not None and not self._settings.http.allow_private:
                raise ConfigError(f"{url} cannot be a webhook: {refused}; http.allow_private allows it")


def _summary(outbox: AlertOutbox, message: AlertMessage) -> str:
    events = [change.event for change in outbox.message_events(message.id)]
    return headline(events) if events else ""


def _refuse(url: str) -> str:
    raise ConfigError(f"{url!r} is not a URL; write it like https://example.org/")


_SITE_NAMED = re.compile(r"(https?://[^/*?@$]+)/")
PREVIEW_LINES = 4000  # Log lines that a preview reads, over all shards.
MIN_LINES_PER_SHARD = 50
MAX_EXAMPLES = 10
PREVIEW_TIMEOUT_S = 2.0


class AlertPreview(NamedTuple):
    """Events that an alert would have reported."""

    matched: int
    checked: int
    since: datetime | None  # The oldest event checked; None: there was none.
    examples: tuple[Event, ...]  # The newest, newest first.


def _shards_of(subject: AlertFilter, shard_count: int) -> set[int] | None:
    """Return the shards of the sites that a filter names; None: it may be about any site."""
    found = [_SITE_NAMED.match(place) for place in (*subject.pages, *subject.patterns)]
    sites = [one[1] for one in found if one is not None]
    return {shard_of_site(site, shard_count) for site in sites} if sites and len(sites) == len(found) else None


def preview_alert(
    subject: AlertFilter,
    logs: Logs,
    *,
    shard_count: int,
    judges: EventJudges = JUDGES,
    clock: Callable[[], float] = time.monotonic,
) -> AlertPreview:
    """Return which of the newest events an alert would have reported; of sites that it names, only their shards."""
    wanted, end = _shards_of(subject, shard_count), clock() + PREVIEW_TIMEOUT_S
    shards = [shard for shard in logs.shards() if wanted is None or shard in wanted]
    lines = max(MIN_LINES_PER_SHARD, PREVIEW_LINES // max(1, len(shards)))
    checked, oldest_us = 0, 2**62
    matched: list[Event] = []
    for shard in shards:
        with logs.open(shard) as shard_log:
            newest = shard_log.end().line
            for event in reversed(shard_log.events(max(0, newest - lines), newest)):
                if clock() > end:
                    break
                checked, oldest_us = checked + 1, min(oldest_us, event.at_us)
                found = match_event(
                    subject, event, event_texts(shard_log, event), matches=judges.matches, score=judges.tone
                )
                if found is not None:
                    matched.append(found)
    examples = nlargest(MAX_EXAMPLES, matched, key=lambda event: event.at_us)
    return AlertPreview(len(matched), checked, from_us(oldest_us) if checked else None, tuple(examples))


def _require_own_file(alert: Alert, others: Iterable[Alert]) -> None:
    """Raise ConfigError if another alert writes its feed to the same file, which holds one feed only."""
    for other in others:
        is_same = other.destination.address == alert.destination.address and other.name != alert.name
        if is_same and alert.destination.channel is other.destination.channel is Channel.ATOM:
            raise ConfigError(
                f"the alert {other.name!r} writes its feed to {alert.destination.address}; choose another file"
            )
