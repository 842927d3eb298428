"""Read events from the visit logs into the outbox, each once, together with the position in the log."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from evercrawl.adapters.sql.log_reader import events_between, late_events, text_after, text_before
from evercrawl.adapters.sql.state_reader import ShardReader, StateReader
from evercrawl.adapters.sqlite.state_file import shard_path
from evercrawl.collection.alerts.alert_outbox import AlertOutbox, LogPosition, MatchedEvent, StoredAlert
from evercrawl.collection.change_inbox import ChangeInbox
from evercrawl.core.alerts.headline import cut_at_word, single_line
from evercrawl.core.alerts.matching import EventTexts, MatchesQuery, PageText, ScoreText, match_event, page_matches
from evercrawl.core.change.review import is_muted
from evercrawl.core.fields.conditions import with_last_values
from evercrawl.errors import StoreUnavailable
from evercrawl.model.alerts import Event, EventKind
from evercrawl.model.change import Mute
from evercrawl.model.document import FieldValue

LINES_AT_A_TIME = 5000  # Lines of a log per transaction.
EXCERPT_CHARS = 300
SETTLED_S = 1.0  # A file that was written less than this ago may change again within the resolution of its time stamp.

T = TypeVar("T")
log = logging.getLogger(__name__)


class ShardLog(Protocol):
    """The log of one shard, and the texts of its pages."""

    def end(self) -> LogPosition:
        """Return the newest line and the newest late verdict."""

    def events(self, after: int, upto: int) -> Sequence[Event]:
        """Return the events between two lines, in order."""

    def late_events(self, after: int, upto: int) -> Sequence[Event]:
        """Return the changes whose verdict came later than their line, between two such verdicts."""

    def page_after(self, event: Event) -> PageText:
        """Return the page after the event."""

    def text_before(self, event: Event) -> str:
        """Return the text of the page before the event."""

    def fields(self, event: Event) -> Mapping[str, FieldValue]:
        """Return the fields of the page after the event."""


class Logs(Protocol):
    """The logs of a collection."""

    def shards(self) -> Sequence[int]:
        """Return the shards with data."""

    def stamp(self, shard: int) -> object | None:
        """Return a value that changes when the shard is written; None: unknown."""

    def open(self, shard: int) -> AbstractContextManager[ShardLog]:
        """Open the log of one shard."""


class EventJudges(NamedTuple):
    """How to judge queries and sentiment."""

    matches: MatchesQuery
    tone: ScoreText


def _sentiment(text: str) -> float | None:
    from evercrawl.adapters.learned import load_sentiment_model  # rarely needed
    from evercrawl.core.sentiment.sentences import page_sentiment

    found = page_sentiment(text, load_sentiment_model().score)
    return None if found is None else found.score


def _contains(query: str, page: PageText) -> bool:
    from evercrawl.adapters.tantivy.text_query import index_words, stem_words  # slow to load

    return page_matches(query, page, cut=index_words, stem=stem_words)


JUDGES = EventJudges(_contains, _sentiment)  # Queries have the same meaning as in search.


class EventReader:
    """Reads the logs from the positions in the outbox."""

    def __init__(self, outbox: AlertOutbox, logs: Logs, *, judges: EventJudges = JUDGES) -> None:
        self._outbox = outbox
        self._logs = logs
        self._judges = judges
        self._stamps: dict[int, object] = {}

    def read(self, *, now_us: int) -> int:
        """Store all new events that match an alert; return their number."""
        alerts = self._outbox.alerts()
        if not alerts:
            return 0
        cursors, count = self._outbox.cursors(), 0
        for shard in self._logs.shards():
            stamp = self._logs.stamp(shard)
            if stamp is None or stamp != self._stamps.get(shard):
                count += self._read_shard(shard, cursors.get(shard, LogPosition()), alerts, now_us)
                self._stamps[shard] = stamp
        return count

    def _read_shard(self, shard: int, after: LogPosition, alerts: Sequence[StoredAlert], now_us: int) -> int:
        count = 0
        with self._logs.open(shard) as shard_log:
            end = shard_log.end()
            if end.line < after.line or end.late < after.late:
                log.warning("the log of shard %d ends before the stored position; reading continues at its end", shard)
                self._outbox.add_events(shard, before=after, after=end, matched=(), now_us=now_us)
                return 0
            while after != end:
                # Verdicts last: then the lines of their visits have been read, and the outbox drops what it has.
                if after.line < end.line:
                    upto = after._replace(line=min(end.line, after.line + LINES_AT_A_TIME))
                    events = shard_log.events(after.line, upto.line)
                else:
                    upto = after._replace(late=min(end.late, after.late + LINES_AT_A_TIME))
                    events = shard_log.late_events(after.late, upto.late)
                matched = self._match(shard_log, events, alerts)
                if not self._outbox.add_events(shard, before=after, after=upto, matched=matched, now_us=now_us):
                    return count
                after, count = upto, count + len(matched)
        return count

    def _match(self, shard_log: ShardLog, events: Sequence[Event], alerts: Sequence[StoredAlert]) -> list[MatchedEvent]:
        matched = []
        for event in events:
            texts = event_texts(shard_log, event)
            for known in alerts:
                if event.at_us < known.since_us or known.is_paused:
                    continue
                found = match_event(
                    known.alert.filter, event, texts, matches=self._judges.matches, score=self._judges.tone
                )
                if found is not None:
                    matched.append(MatchedEvent(known.id, _with_excerpt(found, texts)))
        return matched


def _with_excerpt(event: Event, texts: EventTexts) -> Event:
    """Return the event of a new page with the start of its text."""
    if event.kind is not EventKind.NEW:
        return event
    start = texts.after().text[: 4 * EXCERPT_CHARS]
    return event._replace(excerpt=cut_at_word(single_line(start), EXCERPT_CHARS))


def event_texts(shard_log: ShardLog, event: Event) -> EventTexts:
    """Return the texts of an event, read when they are needed."""
    nothing = PageText(event.url, event.title or "", "", None)
    return EventTexts(
        _once(shard_log.page_after, event, nothing),
        _once(shard_log.text_before, event, ""),
        _once(shard_log.fields, event, {}),
    )


def _once(read: Callable[[Event], T], event: Event, nothing: T) -> Callable[[], T]:
    """Return a function that reads a text at most once, and returns `nothing` if it cannot be read."""
    found: list[T] = []

    def text() -> T:
        try:
            found[:] = found or [read(event)]
        except StoreUnavailable as error:
            log.warning("alerts: cannot read the text of %s: %s", event.url, error)
            found[:] = [nothing]
        return found[0]

    return text


class _StoredLog:
    """The log of one shard in its file or database."""

    def __init__(self, shard: int, state: ShardReader, mutes: Sequence[Mute]) -> None:
        self._shard = shard
        self._state = state
        self._mutes = mutes

    def end(self) -> LogPosition:
        return LogPosition(self._state.last_visit_id(), self._state.last_late_change())

    def events(self, after: int, upto: int) -> list[Event]:
        return self._unmuted(events_between(self._state, self._shard, after, upto))

    def late_events(self, after: int, upto: int) -> list[Event]:
        return self._unmuted(late_events(self._state, self._shard, after, upto))

    def _unmuted(self, events: list[Event]) -> list[Event]:
        """Return the events without edits in muted parts; one of which all edits are muted is left out."""
        if not self._mutes:
            return events
        return [left for event in events if (left := self._without_muted(event)) is not None]

    def _without_muted(self, event: Event) -> Event | None:
        edits = tuple(edit for edit in event.edits if not is_muted(self._mutes, event.url, edit.removed, edit.added))
        if edits or not event.edits or event.omitted:
            return event._replace(edits=edits or event.edits)
        return None

    def page_after(self, event: Event) -> PageText:
        return text_after(self._state, event)

    def text_before(self, event: Event) -> str:
        return text_before(self._state, event)

    def fields(self, event: Event) -> Mapping[str, FieldValue]:
        return with_last_values(self._state.analyses(event.page_id), event.version)


class CollectionLogs:
    """The logs of a collection in files or in a database."""

    def __init__(self, collection: Path) -> None:
        self._collection = collection
        self._reader = StateReader(collection)

    def shards(self) -> list[int]:
        """Return the shards with data."""
        # Opened again, because the first crawl decides where the state is stored.
        self._reader = StateReader(self._collection)
        return self._reader.shards()

    def stamp(self, shard: int) -> object | None:
        """Return when the files of the shard were written; None: just now, or there are no files."""
        path = shard_path(self._collection, shard)
        try:
            times = [file.stat().st_mtime for file in (path, path.with_name(f"{path.name}-wal")) if file.exists()]
        except OSError:
            return None
        return tuple(times) if times and time.time() - max(times) > SETTLED_S else None

    @contextmanager
    def open(self, shard: int) -> Iterator[ShardLog]:
        """Open the log of one shard."""
        with self._reader.shard(shard) as state:
            yield _StoredLog(shard, state, ChangeInbox(self._collection).mutes())

    def ends(self) -> dict[int, LogPosition]:
        """Return the end of each shard's log."""
        found = {}
        for shard in self.shards():
            with self.open(shard) as shard_log:
                found[shard] = shard_log.end()
        return found
