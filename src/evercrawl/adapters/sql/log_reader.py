"""Read the log of visits in the order of its commits, for search, the link graph and alerts.
Times cannot serve as positions in the log: a slow visit that began first may be committed last. The numbers of
visits come from the only process that may write the shard, so nothing is ever inserted before a number that was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import zstandard

from evercrawl.adapters.sql.database import BlockingQueries, Row, edits_from
from evercrawl.adapters.sql.state_reader import ROWS_AT_A_TIME, ShardReader, open_queries
from evercrawl.core.alerts.matching import PageText
from evercrawl.core.document.compression import MAX_TEXT_BYTES, unpack_outline
from evercrawl.errors import StoreUnavailable
from evercrawl.model.alerts import Event, EventKind
from evercrawl.model.document import Outline
from evercrawl.model.reason import GONE_REASONS, Outcome, Reason

_CHANGED = frozenset({EventKind.CONTENT.value, EventKind.METADATA.value})
_PRESENT = frozenset({Outcome.FETCHED, Outcome.UNCHANGED, Outcome.DUPLICATE, Outcome.TRUNCATED})
VersionNumber = tuple[int, int]  # Page and number of a version.


class LogEntry(NamedTuple):
    """A visit in the log, as a bookmark."""

    id: int
    at_us: int
    page_id: int


class VisitToIndex(NamedTuple):
    """A visit as the search index needs it."""

    id: int
    page_id: int
    at_us: int
    reason: str
    version: int  # The newest version after it; 0: none.
    new_version: int | None  # The version that it stored.
    reason_before: str | None

    @property
    def is_gone_or_back(self) -> bool:
        """Whether the page disappeared or came back."""
        return self.version > 0 and (self.reason in GONE_REASONS) != (self.reason_before in GONE_REASONS)


class VersionRow(NamedTuple):
    """What the search index holds of a version."""

    page_id: int
    number: int
    url: str
    seen_us: int
    title: str | None
    lang: str | None
    words: int
    text_digest: bytes | None
    base: int | None
    frame: bytes | None
    reason: str | None
    last_us: int | None
    newest: int
    outline: bytes | None
    next_us: int | None

    @property
    def gone_us(self) -> int | None:
        """When a visit found the page missing; None: it exists, or this is not its newest version."""
        return self.last_us if self.number == self.newest and self.reason in GONE_REASONS else None


class FoundRow(NamedTuple):
    """What a search result shows of a version."""

    page_id: int
    number: int
    url: str
    title: str | None
    lang: str | None
    seen_us: int
    words: int
    signature: bytes | None
    text_digest: bytes | None
    reason: str | None
    last_us: int | None
    newest: int
    content_type: str | None


class GraphPage(NamedTuple):
    """What the link graph needs of a page."""

    id: int
    key: bytes
    site_id: int
    depth: int
    version: int
    status: int | None
    reason: str | None
    moved_to: str | None


class LogReader(ShardReader):
    """One shard, read along its log of visits."""

    def __init__(self, queries: BlockingQueries) -> None:
        super().__init__(queries)
        self._decompressor = zstandard.ZstdDecompressor()

    def log_end(self) -> LogEntry | None:
        """Return the newest visit; None: the log is empty."""
        row = self.queries.row("last_log_entry")
        return None if row is None else LogEntry._make(row)

    def log_line(self, number: int) -> LogEntry | None:
        """Return a visit by its number."""
        row = self.queries.row("log_entry", id=number)
        return None if row is None else LogEntry._make(row)

    def next_visits(self, after: int, most: int) -> list[VisitToIndex]:
        """Return the next visits after a number."""
        return list(map(VisitToIndex._make, self.queries.rows("visits_to_index", after=after, most=most)))

    def version_rows(self, numbers: Sequence[VersionNumber]) -> list[VersionRow]:
        """Return what the index holds of the known versions among these."""
        return list(map(VersionRow._make, self.queries.rows_for("indexed_version", numbers)))

    def found_rows(self, numbers: Sequence[VersionNumber]) -> dict[VersionNumber, FoundRow]:
        """Return what search results show of the known versions among these."""
        rows = map(FoundRow._make, self.queries.rows_for("found_version", numbers))
        return {(row.page_id, row.number): row for row in rows}

    def text_in(self, row: VersionRow) -> str:
        """Return the main text of a row; a delta is read together with its base."""
        if row.frame is None:
            return ""
        if row.base is not None:
            return self.text(row.page_id, row.number) or ""
        try:
            return self._plain(row.frame)
        except (ValueError, zstandard.ZstdError) as error:
            raise StoreUnavailable(f"the text of {row.url} cannot be read: {error}") from error

    def _plain(self, frame: bytes) -> str:
        """Decompress a frame without a base; one that is larger than any text is damaged."""
        if not 0 <= zstandard.frame_content_size(frame) <= MAX_TEXT_BYTES:
            raise ValueError("its size is larger than any text")
        return self._decompressor.decompress(frame).decode("utf-8", "surrogatepass")

    def version_before(self, page_id: int, number: int) -> int | None:
        """Return the stored version of a page before a number; None: there is none."""
        before: int | None = self._first("version_before", page_id=page_id, number=number)[0]
        return before

    def version_count(self) -> int:
        """Return the number of versions."""
        count: int = self._first("count_versions")[0]
        return count

    # Outlines and the link graph

    def headings_in(self, row: VersionRow) -> Outline:
        """Return the outline of a row without its links; empty if there is none."""
        if row.outline is None:
            return Outline()
        return self._unpack_outline(row.outline, with_links=False)

    def outline(self, page_id: int) -> Outline | None:
        """Return the outline of the newest content of a page; None: there is none."""
        row = self.queries.row("outline", page_id=page_id)
        return None if row is None else self._unpack_outline(row[0])

    def outlines(self) -> Iterator[tuple[int, Outline]]:
        """Yield every outline, in order of page."""
        after = 0
        while rows := self.queries.rows("outlines", after=after, most=ROWS_AT_A_TIME):
            for page_id, frame in rows:
                yield page_id, self._unpack_outline(frame)
            after = rows[-1][0]

    def _unpack_outline(self, frame: bytes, *, with_links: bool = True) -> Outline:
        try:
            return unpack_outline(frame, with_links=with_links, decompressor=self._decompressor)
        except ValueError as error:
            raise StoreUnavailable(str(error)) from error

    def graph_pages(self, *, with_problems: bool = False) -> Iterator[GraphPage]:
        """Yield every page, or those that redirect or may have failed, in order of their numbers."""
        name, after = "problem_pages" if with_problems else "graph_pages", 0
        while rows := self.queries.rows(name, after=after, most=ROWS_AT_A_TIME):
            yield from map(GraphPage._make, rows)
            after = rows[-1][0]

    def urls(self, page_ids: Sequence[int]) -> dict[int, str]:
        """Return the URLs of some pages."""
        rows = self.queries.rows_for("page_url", [(page_id,) for page_id in page_ids])
        return dict(rows)


def open_log(collection: Path, shard: int) -> LogReader:
    """Open a reader of one shard, which the caller closes."""
    return LogReader(open_queries(collection, shard))


@contextmanager
def log_reader(collection: Path, shard: int) -> Iterator[LogReader]:
    """Open a reader of one shard for the block."""
    with closing(open_log(collection, shard)) as reader:
        yield reader


# Events


def visit_before(state: ShardReader, at_us: int, upto: int) -> int:
    """Return the number of a visit, not after `upto`, from which on all visits since a time follow."""
    low, high = 0, upto
    while low < high:
        middle = (low + high) // 2
        row = state.queries.row("visit_from", id=middle + 1)
        if row is None or row[1] >= at_us:
            high = middle
        else:
            low = row[0]
    return low


def events_between(state: ShardReader, shard: int, after: int, upto: int) -> list[Event]:
    """Return what the visits after `after` and up to `upto` found, in their order."""
    rows = state.queries.rows("events", after=after, upto=upto)
    return [event for row in rows if (event := _event(shard, row)) is not None]


def late_events(state: ShardReader, shard: int, after: int, upto: int) -> list[Event]:
    """Return the changes among the late verdicts after `after` and up to `upto`, in the order of the verdicts."""
    rows = state.queries.rows("late_events", after=after, upto=upto)
    return [event for row in rows if (event := _event(shard, row)) is not None]


def text_after(state: ShardReader, event: Event) -> PageText:
    """Return title and text of the version after the event."""
    row = state.queries.row("version_title", page_id=event.page_id, number=event.version)
    title, lang = (event.title, None) if row is None else row
    return PageText(event.url, title or "", state.text(event.page_id, event.version) or "", lang)


def text_before(state: ShardReader, event: Event) -> str:
    """Return the main text of the version before; empty: it is no longer stored."""
    row = state.queries.row("version_before", page_id=event.page_id, number=event.version)
    number = None if row is None else row[0]
    return "" if number is None else state.text(event.page_id, number) or ""


def _event(shard: int, row: Row) -> Event | None:
    *place, title, stored, stored_size, kind, size, edits, before, outcome = row
    line, page_id, at_us, url, reason, version, number = place
    event = Event(shard, line, page_id, url, EventKind.CONTENT, 1.0, at_us, version, title)
    if reason in GONE_REASONS and (outcome == Outcome.ERROR or number == 1):
        # A page whose first answer was an error message was never there.
        is_news = outcome == Outcome.ERROR and version > 0 and before not in GONE_REASONS
        return event._replace(kind=EventKind.GONE) if is_news else None
    if number == 1:
        return event._replace(kind=EventKind.NEW)
    known = kind if kind in _CHANGED else stored
    is_there = outcome in _PRESENT and reason not in GONE_REASONS and reason != Reason.REDIRECT
    if before in GONE_REASONS and version > 0 and is_there:
        known = EventKind.BACK.value
    elif known not in _CHANGED:
        return None
    measure = size if kind in _CHANGED else stored_size
    found, omitted = edits_from(edits) if edits else ((), 0)
    own = tuple(edit for edit in found if not edit.is_template)
    return event._replace(kind=EventKind(known), size=measure or 0.0, edits=own, omitted=omitted)
