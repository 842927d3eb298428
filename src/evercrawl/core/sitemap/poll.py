"""Which of a site's sources are asked, and when? What is remembered about them, and the rules of polling.

A poll is a visit with a value of its own: it may announce changes. Polls are paid from the requests that a
site really gets, so that they never eat the budget of a small site; where requests are not scarce, a poll
is made when the changes that it would announce are worth it.
"""

from __future__ import annotations

from typing import NamedTuple

import orjson

from evercrawl.core.revisit.announcements import days_between_polls, requests_between_polls
from evercrawl.core.revisit.rate_estimate import SiteEstimate

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


def is_poll_due(state: SignalState, belief: SiteEstimate, *, pages: int, per_day: float, threshold: float) -> bool:
    """Enough of the site's requests went to pages since the last poll: the rule that the lab measures."""
    gap = requests_between_polls(
        belief, waiting=state.waiting, silent_polls=state.silent, pages=pages, per_day=per_day, threshold=threshold
    )
    return state.requests >= gap


def poll_interval(belief: SiteEstimate, *, pages: int, threshold: float) -> float:
    """Days to the next poll where requests are not scarce, within bounds that are fair to any site."""
    return min(max(days_between_polls(belief, pages=pages, threshold=threshold), SHORTEST_DAYS), LONGEST_DAYS)


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
