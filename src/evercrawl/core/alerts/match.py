"""Does an alert want this event? What is cheap to know is asked first."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from evercrawl.core.alerts.words import SaidPage
from evercrawl.model.alerts import AlertFilter, Event, EventKind, SentimentShift

CLEAR_TONE = 0.1
"""A sentiment nearer to 0 is none, so that a page in the middle does not turn at every word."""

Says = Callable[[str, SaidPage], bool]
"""Query and page -> the page is among what the query asks for."""
Tone = Callable[[str], float | None]
"""Text -> its sentiment, -1 to 1; None: it cannot be judged."""


class Texts(NamedTuple):
    """What the page says after the event, and its text before it; read when they are needed."""

    after: Callable[[], SaidPage]
    before: Callable[[], str]


def wanted(subject: AlertFilter, event: Event, texts: Texts, *, says: Says, tone: Tone) -> Event | None:
    """The event as it is told, with the turn of sentiment where that was asked for; None: not wanted."""
    if event.kind not in subject.kinds or not _is_large(subject, event) or not _is_about(subject, event.url):
        return None
    if subject.query is not None and not says(subject.query, texts.after()):
        return None
    if not subject.is_turn:
        return event
    turn = turn_of(tone(texts.before()), tone(texts.after().text))
    return None if turn is None else event._replace(turn=turn)


def _is_large(subject: AlertFilter, event: Event) -> bool:
    """Only changes have a size."""
    return event.kind in (EventKind.NEW, EventKind.GONE) or event.size >= subject.least_size


def _is_about(subject: AlertFilter, url: str) -> bool:
    if not subject.pages and not subject.patterns:
        return True
    return url in subject.pages or any(matches(pattern, url) for pattern in subject.patterns)


def matches(pattern: str, url: str) -> bool:
    """The whole URL is of this form; `*` stands for anything. Takes time in proportion to the URL."""
    first, *others = pattern.split("*")
    if not others:
        return url == pattern
    *middle, last = others
    if not url.startswith(first) or len(url) < len(first) + len(last) or not url.endswith(last):
        return False
    at, end = len(first), len(url) - len(last)
    for part in middle:
        found = url.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def turn_of(before: float | None, after: float | None) -> SentimentShift | None:
    """The turn from clearly friendly to clearly unfriendly, or back; None: there is none."""
    if before is None or after is None:
        return None
    is_clear = abs(before) >= CLEAR_TONE and abs(after) >= CLEAR_TONE
    return SentimentShift(before, after) if is_clear and (before > 0) != (after > 0) else None
