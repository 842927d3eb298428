"""Which of a site's sources are asked, and when? What is remembered about them, and the rules of polling.

A poll is a visit with a value of its own: it may announce changes. Polls are paid from the requests that a
site really gets, so that they never eat the budget of a small site; where requests are not scarce, a poll
is made when the changes that it would announce are worth it.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import orjson

FEWEST_REQUESTS, MOST_REQUESTS = 10, 200
"""Requests of the site between two polls: as many as announced pages wait for a visit, within bounds."""
MOST_PATIENCE = 8
"""Polls that announced nothing double the gap to the next so often."""
SHORTEST_DAYS, LONGEST_DAYS = 1.0 / 24.0, 7.0
ABSENT_DAYS = 30.0
"""A source that was not there is asked for again after this time."""
MOST_SOURCES = 500
_FORM = 1


class SourceState(NamedTuple):
    """A sitemap or feed that was asked for."""

    kind: str
    read: float | None = None
    """When it was last read, in days; None: it was not there."""
    asked: float = 0.0
    etag: str | None = None
    last_modified: str | None = None


class SignalState(NamedTuple):
    """The sources of one site."""

    sources: dict[str, SourceState] = {}  # noqa: RUF012 - a value; every change makes a new one
    feeds: tuple[str, ...] = ()
    polled: float | None = None
    requests: int = 0
    """To the site's pages since the last poll."""
    silent: int = 0
    """Polls in a row that announced nothing."""
    waiting: int = 0
    """Announced pages that the last poll left to be visited."""

    def with_source(self, url: str, source: SourceState) -> SignalState:
        """The state after a source was asked."""
        sources = self.sources | {url: source}
        if len(sources) > MOST_SOURCES:
            sources = dict(list(sources.items())[-MOST_SOURCES:])
        return self._replace(sources=sources)

    @property
    def has_source(self) -> bool:
        """Some source was found."""
        return any(source.read is not None for source in self.sources.values())


def is_worth_asking(source: SourceState | None, *, now: float) -> bool:
    """A source that was not there is left alone for a while."""
    return source is None or source.read is not None or now - source.asked >= ABSENT_DAYS


def is_poll_due(state: SignalState, *, has_signal: bool) -> bool:
    """Enough of the site's requests went to pages since the last poll."""
    gap = max(FEWEST_REQUESTS, min(MOST_REQUESTS, state.waiting))
    if not has_signal:
        gap = FEWEST_REQUESTS << min(state.silent, MOST_PATIENCE)
    return state.requests >= gap


def poll_interval(*, pages: int, recall: float, rate: float, threshold: float) -> float:
    """Days after which the changes that a poll would announce are worth the threshold.

    In d days `pages` x `rate` x `recall` x d changes are announced, and each is seen d/2 days earlier.
    """
    gain = max(pages, 1) * rate * recall
    days = sqrt(2.0 * threshold / gain) if gain > 0.0 else LONGEST_DAYS
    return min(max(days, SHORTEST_DAYS), LONGEST_DAYS)


def state_bytes(state: SignalState) -> bytes:
    """The stored form."""
    sources = [[url, *source] for url, source in state.sources.items()]
    return orjson.dumps([_FORM, sources, *state[1:]])


def state_of(stored: bytes | None) -> SignalState:
    """What was stored; nothing known where that cannot be read."""
    try:
        form, sources, feeds, *rest = orjson.loads(stored or b"")
        if form != _FORM:
            return SignalState()
        known = {url: SourceState(*fields) for url, *fields in sources}
        return SignalState(known, tuple(feeds), *rest)
    except (ValueError, TypeError):
        return SignalState()
