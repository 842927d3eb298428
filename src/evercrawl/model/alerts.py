"""What somebody wants to be told of, how, and what there is to tell."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time
from enum import StrEnum
from typing import NamedTuple


class EventKind(StrEnum):
    """What happened to a page."""

    CONTENT = "content"
    METADATA = "metadata"
    NEW = "new"
    GONE = "gone"


CHANGES = frozenset({EventKind.CONTENT, EventKind.METADATA})


class Channel(StrEnum):
    """The way that a message goes."""

    WEBHOOK = "webhook"
    MAIL = "mail"
    ATOM = "atom"
    APPRISE = "apprise"


class Frequency(StrEnum):
    """When a message goes."""

    AT_ONCE = "at-once"
    HOURLY = "hourly"
    DAILY = "daily"


@dataclass(frozen=True, slots=True)
class AlertFilter:
    """What an alert is about; every condition that is given must hold."""

    pages: tuple[str, ...] = ()
    """Canonical URLs, any of them; empty: not asked."""
    patterns: tuple[str, ...] = ()
    """URLs in which `*` stands for anything, any of them; empty: not asked."""
    query: str | None = None
    kinds: frozenset[EventKind] = CHANGES
    least_size: float = 0.0
    """Share of the page's words that must differ, 0 to 1."""
    is_turn: bool = False
    """The page's sentiment must have turned from friendly to unfriendly or back."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where messages go: a URL, a mail address, a file."""

    channel: Channel
    address: str
    secret: str | None = None
    """What a webhook is signed with."""


@dataclass(frozen=True, slots=True)
class Alert:
    """One wish, by a name that its owner chose."""

    name: str
    subject: AlertFilter
    target: Destination
    rhythm: Frequency = Frequency.AT_ONCE
    daily_at: time = time(7)
    """When a daily digest goes, in UTC."""
    quiet: tuple[str, ...] = ()
    """Hours in UTC in which nothing is sent."""
    most: int = 1
    """Changes in one message."""


class SentimentShift(NamedTuple):
    """The sentiment of a page before and after, -1 to 1."""

    before: float
    after: float


class Event(NamedTuple):
    """Something that a visit met on a page."""

    shard: int
    visit: int
    """The line of the shard's log: with the shard it names the event."""
    page_id: int
    url: str
    kind: EventKind
    size: float
    at_us: int
    version: int
    """The newest version after it."""
    title: str | None = None
    edits: tuple[tuple[str, str], ...] = ()
    """The first few edits: what went, what came."""
    turn: SentimentShift | None = None


class PendingEvent(NamedTuple):
    """An event that is to be told to one alert, with its place in the order."""

    number: int
    noted_us: int
    event: Event
