"""From the log of the collection into the outbox: each event once, together with the place in the log."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from evercrawl.adapters.sql.log_reader import MOST_EDITS, events_between, last_visit_id, text_after, text_before
from evercrawl.adapters.sql.state_reader import ShardReader, StateReader
from evercrawl.adapters.sqlite.store import shard_path
from evercrawl.collection.alerts.alert_outbox import AlertOutbox, MatchedEvent, StoredAlert
from evercrawl.collection.change_inbox import ChangeInbox
from evercrawl.core.alerts.matching import EventTexts, MatchesQuery, PageText, ScoreText, match_event, page_matches
from evercrawl.core.change.review import is_muted
from evercrawl.errors import StoreUnavailable
from evercrawl.model.alerts import Event
from evercrawl.model.history import Mute

LINES_AT_A_TIME = 5000
"""Lines of a log that are taken in by one transaction."""
SETTLED_S = 1.0
"""A file that was written later than so long ago may be written again at what counts as the same moment."""

T = TypeVar("T")
log = logging.getLogger(__name__)


class ShardLog(Protocol):
    """The log of one shard, and the texts of its pages."""

    def end(self) -> int:
        """The number of its newest line."""

    def events(self, after: int, upto: int) -> Sequence[Event]:
        """What the lines between two numbers met, in their order."""

    def page_after(self, event: Event) -> PageText:
        """What the page says after the event."""

    def text_before(self, event: Event) -> str:
        """The text of the page before it."""


class Logs(Protocol):
    """The logs of a collection."""

    def shards(self) -> Sequence[int]:
        """The shards that hold something."""

    def stamp(self, shard: int) -> object | None:
        """Something that differs when the shard was written; None: it must be looked at."""

    def open(self, shard: int) -> AbstractContextManager[ShardLog]:
        """One log, closed behind the block."""


class EventJudges(NamedTuple):
    """How queries and sentiment are judged."""

    matches: MatchesQuery
    tone: ScoreText


def _tone(text: str) -> float | None:
    from evercrawl.adapters.learned import load_sentiment_model  # few alerts ask for it
    from evercrawl.core.sentiment.sentences import page_sentiment

    found = page_sentiment(text, load_sentiment_model().score)
    return None if found is None else found.score


def _says(query: str, page: PageText) -> bool:
    from evercrawl.adapters.tantivy.text_query import index_words, stem_words  # takes time to load

    return page_matches(query, page, cut=index_words, stem=stem_words)


BY_WORDS = EventJudges(_says, _tone)
"""Queries mean what they mean in search, of the page as it is now."""


class EventReader:
    """Reads on where the outbox says that it stopped."""

    def __init__(self, outbox: AlertOutbox, logs: Logs, *, judging: EventJudges = BY_WORDS) -> None:
        self._outbox = outbox
        self._logs = logs
        self._judging = judging
        self._stamps: dict[int, object] = {}

    def follow(self, *, now_us: int) -> int:
        """Take in everything that was committed; gives the number of notices."""
        alerts = self._outbox.alerts()
        if not alerts:
            return 0
        cursors, noted = self._outbox.cursors(), 0
        for shard in self._logs.shards():
            stamp = self._logs.stamp(shard)
            if stamp is None or stamp != self._stamps.get(shard):
                noted += self._follow_shard(shard, cursors.get(shard, 0), alerts, now_us)
                self._stamps[shard] = stamp
        return noted

    def _follow_shard(self, shard: int, after: int, alerts: Sequence[StoredAlert], now_us: int) -> int:
        noted = 0
        with self._logs.open(shard) as shard_log:
            end = shard_log.end()
            if end < after:
                log.warning("the log of shard %d ends before the place that was read; it goes on there", shard)
                self._outbox.note(shard, before=after, after=end, told=(), now_us=now_us)
            while after < end:
                upto = min(end, after + LINES_AT_A_TIME)
                told = self._wanted(shard_log, shard_log.events(after, upto), alerts)
                if not self._outbox.note(shard, before=after, after=upto, told=told, now_us=now_us):
                    return noted
                after, noted = upto, noted + len(told)
        return noted

    def _wanted(
        self, shard_log: ShardLog, events: Sequence[Event], alerts: Sequence[StoredAlert]
    ) -> list[MatchedEvent]:
        told = []
        for event in events:
            texts = event_texts(shard_log, event)
            for known in alerts:
                if event.at_us < known.since_us:
                    continue
                found = match_event(
                    known.alert.subject, event, texts, matches=self._judging.matches, score=self._judging.tone
                )
                if found is not None:
                    told.append(MatchedEvent(known.id, found))
        return told


def event_texts(shard_log: ShardLog, event: Event) -> EventTexts:
    """The texts of an event, read when they are needed."""
    nothing = PageText(event.url, event.title or "", "", None)
    return EventTexts(_once(shard_log.page_after, event, nothing), _once(shard_log.text_before, event, ""))


def _once(read: Callable[[Event], T], event: Event, nothing: T) -> Callable[[], T]:
    """The text of an event, read at most once; one that cannot be read is nothing and holds up nothing."""

    @cache
    def text() -> T:
        try:
            return read(event)
        except StoreUnavailable as error:
            log.warning("alerts: the text of %s: %s", event.url, error)
            return nothing

    return text


class _StoredLog:
    """The log of one shard in its file or database."""

    def __init__(self, shard: int, state: ShardReader, mutes: Sequence[Mute]) -> None:
        self._shard = shard
        self._state = state
        self._mutes = mutes

    def end(self) -> int:
        return last_visit_id(self._state)

    def events(self, after: int, upto: int) -> list[Event]:
        found = events_between(self._state, self._shard, after, upto)
        return [event for event in found if not self._is_muted(event)] if self._mutes else found

    def _is_muted(self, event: Event) -> bool:
        """Every edit of the event lies in a part that is muted, and no other is unknown."""
        is_known = 0 < len(event.edits) < MOST_EDITS
        return is_known and all(is_muted(self._mutes, event.url, *edit) for edit in event.edits)

    def page_after(self, event: Event) -> PageText:
        return text_after(self._state, event)

    def text_before(self, event: Event) -> str:
        return text_before(self._state, event)


class CollectionLogs:
    """The logs of a collection in files or in a database."""

    def __init__(self, collection: Path) -> None:
        self._collection = collection
        self._reader = StateReader(collection)

    def shards(self) -> list[int]:
        """The shards that hold something."""
        # Made anew: a collection's first crawl says where its state lies.
        self._reader = StateReader(self._collection)
        return self._reader.shards()

    def stamp(self, shard: int) -> object | None:
        """When the files of the shard were written; None: just now, or they are none."""
        path = shard_path(self._collection, shard)
        try:
            times = [file.stat().st_mtime for file in (path, path.with_name(f"{path.name}-wal")) if file.exists()]
        except OSError:
            return None
        return tuple(times) if times and time.time() - max(times) > SETTLED_S else None

    @contextmanager
    def open(self, shard: int) -> Iterator[ShardLog]:
        """One log, closed behind the block."""
        with self._reader.shard(shard) as state:
            yield _StoredLog(shard, state, ChangeInbox(self._collection).mutes())

    def ends(self) -> dict[int, int]:
        """Shard -> the newest line of its log."""
        found = {}
        for shard in self.shards():
            with self.open(shard) as shard_log:
                found[shard] = shard_log.end()
        return found
