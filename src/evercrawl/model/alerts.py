"""Alerts: which events to report, where to send them, and the events themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import time
from enum import StrEnum
from typing import NamedTuple

from evercrawl.model.change import Edit


class EventKind(StrEnum):
    """What happened to a page."""

    CONTENT = "content"
    METADATA = "metadata"
    NEW = "new"
    GONE = "gone"
    BACK = "back"  # It was gone; alerts for pages that are gone report it too.


CHANGES = frozenset({EventKind.CONTENT, EventKind.METADATA})


class Channel(StrEnum):
    """How a message is sent."""

    WEBHOOK = "webhook"
    MAIL = "mail"
    ATOM = "atom"
    APPRISE = "apprise"


class Frequency(StrEnum):
    """When messages are sent."""

    AT_ONCE = "at-once"
    HOURLY = "hourly"
    DAILY = "daily"


@dataclass(frozen=True, slots=True)
class AlertFilter:
    """Which events an alert reports; every given condition must hold."""

    pages: tuple[str, ...] = ()  # Canonical URLs, any of them; empty: no condition.
    patterns: tuple[str, ...] = ()  # URL patterns in which `*` matches anything, any of them; empty: no condition.
    query: str | None = None
    kinds: frozenset[EventKind] = CHANGES
    min_size: float = 0.0  # Minimum share of the page's words that differ, 0 to 1.
    sentiment_shift: bool = False  # The page's sentiment must have changed its sign.
    field: str | None = None  # A condition on a field, such as `price below 50`.


@dataclass(frozen=True, slots=True)
class Destination:
    """Where messages go: a URL, a mail address or a file."""

    channel: Channel
    address: str
    secret: str | None = None  # The key that signs a webhook.


@dataclass(frozen=True, slots=True)
class MessageTemplates:
    """The user's own parts of messages, as Jinja templates; None: the standard part."""

    subject: str | None = None
    text: str | None = None
    html: str | None = None
    body: str | None = None  # Of a webhook, as JSON.

    def given(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the template of each part that has one."""
        for part in fields(self):
            template: str | None = getattr(self, part.name)
            if template is not None:
                yield part.name, template


@dataclass(frozen=True, slots=True)
class Alert:
    """A named rule: report these events there."""

    name: str
    filter: AlertFilter
    destination: Destination
    frequency: Frequency = Frequency.AT_ONCE
    daily_at: time = time(7)  # When a daily digest is sent, in UTC.
    quiet_hours: tuple[str, ...] = ()  # Hours in UTC without messages.
    max_changes: int = 1  # Maximum number of changes in one message.
    templates: MessageTemplates = MessageTemplates()


class SentimentShift(NamedTuple):
    """The sentiment of a page before and after, -1 to 1."""

    before: float
    after: float


class Event(NamedTuple):
    """Something that a visit found on a page."""

    shard: int
    visit: int  # The line in the shard's log; with the shard it identifies the event.
    page_id: int
    url: str
    kind: EventKind
    size: float
    at_us: int
    version: int  # The newest version after the event.
    title: str | None = None
    edits: tuple[Edit, ...] = ()  # The first edits outside the template.
    shift: SentimentShift | None = None
    omitted: int = 0  # Edits that are left out because there are too many.
    excerpt: str = ""  # The start of the text of a new page.


class PendingEvent(NamedTuple):
    """An event to report to one alert, with its place in the order."""

    number: int
    noted_us: int
    event: Event
