"""The log of visits as the index and the link graph follow it: read-only, in short steps."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import zstandard

from evercrawl.adapters.sql.state_reader import ROWS_AT_A_TIME, ShardReader, StateReader, session_of
from evercrawl.adapters.sqlite.statements import OUTLINES, statements_in
from evercrawl.adapters.sqlite.store import shard_path
from evercrawl.core.alerts.matching import PageText
from evercrawl.core.document.compression import MAX_TEXT_BYTES, unpack_outline
from evercrawl.errors import StoreUnavailable
from evercrawl.model.alerts import Event, EventKind
from evercrawl.model.document import Outline
from evercrawl.model.reason import Reason

GONE = frozenset({Reason.GONE.value, Reason.NOT_FOUND.value})
"""What a visit says of a page that is not there any more."""

_HAS_OUTLINES = "select 1 from sqlite_master where type = 'table' and name = 'outline'"
NUMBER_BITS = 20
"""Versions of one page, in the lists that the statements take."""
VersionNumber = tuple[int, int]
"""Page and number of a version."""


class LogEntry(NamedTuple):
    """A line of the log, by which one finds the place again."""

    id: int
    at_us: int
    page_id: int


class FollowedVisit(NamedTuple):
    """A visit, as far as the index cares."""

    id: int
    page_id: int
    at_us: int
    reason: str
    version: int
    """The newest version after it; 0: none."""
    brought: int | None
    """The version that it brought."""
    reason_before: str | None

    @property
    def is_turn(self) -> bool:
        """The page went away, or came back."""
        return self.version > 0 and (self.reason in GONE) != (self.reason_before in GONE)


class VersionRow(NamedTuple):
    """What is indexed of a version."""

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
        """When a visit found the page gone; None: it is there, or this is not its newest version."""
        return self.last_us if self.number == self.newest and self.reason in GONE else None


class FoundRow(NamedTuple):
    """What a list of hits shows of a version."""

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

    def __init__(self, path: Path, connection: sqlite3.Connection | None = None) -> None:
        super().__init__(path, connection)
        self._has_outlines = True if connection is not None else None
        self._opener = zstandard.ZstdDecompressor()

    def log_end(self) -> LogEntry | None:
        """The newest line; None: nothing was visited yet."""
        rows = self._rows("log_end")
        return LogEntry._make(rows[0]) if rows else None

    def log_line(self, number: int) -> LogEntry | None:
        """One line by its number."""
        rows = self._rows("log_line", number)
        return LogEntry._make(rows[0]) if rows else None

    def followed(self, after: int, most: int) -> list[FollowedVisit]:
        """The next visits behind a line."""
        return [FollowedVisit._make(row) for row in self._rows("followed_visits", after, most)]

    def version_rows(self, places: Sequence[VersionNumber]) -> list[VersionRow]:
        """Those of the versions that there are."""
        statement, packed = OUTLINES["indexed_versions"], json.dumps(list(map(_packed_place, places)))
        if not self.has_outlines:
            statement = statement.replace("left join outline o", "left join (select 0 page_id, null frame) o")
        with self._translating:
            found = self.connection.execute(statement, (packed,)).fetchall()
        return [VersionRow._make(row) for row in found]

    def found_rows(self, places: Sequence[VersionNumber]) -> dict[VersionNumber, FoundRow]:
        """The same for a list of hits."""
        rows = map(FoundRow._make, self._rows("found_versions", json.dumps(list(map(_packed_place, places)))))
        return {(row.page_id, row.number): row for row in rows}

    def text_in(self, row: VersionRow) -> str:
        """The main text of a row; a delta is read with what it rests on."""
        if row.frame is None:
            return ""
        if row.base is not None:
            return self.text(row.page_id, row.number) or ""
        try:
            return self._plain(row.frame)
        except (ValueError, zstandard.ZstdError) as error:
            raise StoreUnavailable(f"the text of {row.url} cannot be read: {error}") from error

    def _plain(self, frame: bytes) -> str:
        """A frame that stands alone; larger ones than a text can be are damage."""
        if not 0 <= zstandard.frame_content_size(frame) <= MAX_TEXT_BYTES:
            raise ValueError("it claims a size that no text has")
        return self._opener.decompress(frame).decode("utf-8", "surrogatepass")

    def version_before(self, page_id: int, number: int) -> int | None:
        """The version that a page had before; None: it was the first that is kept."""
        before: int | None = self._rows("version_before", page_id, number)[0][0]
        return before

    def version_count(self) -> int:
        """How many versions the shard holds."""
        count: int = self._rows("version_count")[0][0]
        return count

    def version_places(self, after: VersionNumber, most: int) -> list[VersionNumber]:
        """The next versions in order of page and number."""
        return self._rows("version_places", *after, most)

    # Outlines

    @property
    def has_outlines(self) -> bool:
        """The file was written by a crawl that keeps them."""
        if self._has_outlines is None:
            with self._translating:
                self._has_outlines = self.connection.execute(_HAS_OUTLINES).fetchone() is not None
        return self._has_outlines

    def headings_in(self, row: VersionRow) -> Outline:
        """The outline of a row without its links; empty where there is none."""
        if row.outline is None:
            return Outline()
        return _unpacked(row.outline, self._opener, with_links=False)

    def outline(self, page_id: int) -> Outline | None:
        """The outline of the newest sight of a page; None: there is none."""
        rows = self._rows("outline", page_id) if self.has_outlines else []
        return _unpacked(rows[0][0], self._opener) if rows else None

    def outlines(self) -> Iterator[tuple[int, Outline]]:
        """Every outline, in order of page."""
        after = 0
        while rows := self._rows("outlines", after, ROWS_AT_A_TIME) if self.has_outlines else []:
            for page_id, frame in rows:
                yield page_id, _unpacked(frame, self._opener)
            after = rows[-1][0]

    def graph_pages(self) -> Iterator[GraphPage]:
        """Every page, in order of its number."""
        after = 0
        while rows := self._rows("graph_pages", after, ROWS_AT_A_TIME):
            yield from map(GraphPage._make, rows)
            after = rows[-1][0]

    def urls(self, page_ids: Sequence[int]) -> dict[int, str]:
        """The URLs of some pages."""
        return dict(self._rows("page_urls", json.dumps(list(page_ids))))

    def site_names(self) -> dict[int, str]:
        """The sites of the shard by number."""
        return dict(self._rows("site_names"))

    def _rows(self, name: str, *parameters: object) -> list[Any]:
        with self._translating:
            return self.connection.execute(OUTLINES[name], parameters).fetchall()


def _unpacked(frame: bytes, opener: zstandard.ZstdDecompressor, *, with_links: bool = True) -> Outline:
    """The outline of a stored frame; StoreUnavailable where it is damaged."""
    try:
        return unpack_outline(frame, with_links=with_links, decompressor=opener)
    except ValueError as error:
        raise StoreUnavailable(str(error)) from error


def _packed_place(place: VersionNumber) -> int:
    """Page and number as one number, which both databases take apart."""
    return (place[0] << NUMBER_BITS) | place[1]


def shards_of(collection: Path) -> list[int]:
    """The shards that hold something, in files or in a database."""
    return StateReader(collection).shards()


def open_log(collection: Path, shard: int) -> LogReader:
    """One shard's reader, which the caller closes."""
    return LogReader(shard_path(collection, shard), session_of(collection, shard))


@contextmanager
def log_reader(collection: Path, shard: int) -> Iterator[LogReader]:
    """One shard's reader, closed behind the block."""
    reader = open_log(collection, shard)
    try:
        yield reader
    finally:
        reader.close()


_FILE = files(__package__).joinpath("happened.sql")
HAPPENED = MappingProxyType(statements_in(_FILE.read_text(encoding="utf-8")))
_GONE_REASONS = frozenset({Reason.GONE.value, Reason.NOT_FOUND.value})
_CHANGED = frozenset({EventKind.CONTENT.value, EventKind.METADATA.value})
MOST_EDITS = 5


def last_visit_id(state: ShardReader) -> int:
    """The number of the newest line of the log; 0: there is none."""
    number: int = state.rows_of(HAPPENED["newest_line"])[0][0]
    return number


def events_between(state: ShardReader, shard: int, after: int, upto: int) -> list[Event]:
    """What the visits behind line `after` met, up to line `upto`, in their order."""
    rows = state.rows_of(HAPPENED["happened"], after, upto)
    return [event for row in rows if (event := _event(shard, row)) is not None]


def text_after(state: ShardReader, event: Event) -> PageText:
    """What the version says that the event left."""
    about = state.rows_of(HAPPENED["version_about"], event.page_id, event.version)
    title, lang = about[0] if about else (event.title, None)
    return PageText(event.url, title or "", state.text(event.page_id, event.version) or "", lang)


def text_before(state: ShardReader, event: Event) -> str:
    """The main text of the version before; empty: there is none any more."""
    number = state.rows_of(HAPPENED["version_before"], event.page_id, event.version)[0][0]
    return "" if number is None else state.text(event.page_id, number) or ""


def _event(shard: int, row: Any) -> Event | None:
    (line, page_id, at_us, url, reason, version, number, title, stored, stored_size, kind, size, edits, before) = row
    event = Event(shard, line, page_id, url, EventKind.CONTENT, 1.0, at_us, version, title)
    if reason in _GONE_REASONS:
        is_news = version > 0 and before not in _GONE_REASONS
        return event._replace(kind=EventKind.GONE) if is_news else None
    if number == 1:
        return event._replace(kind=EventKind.NEW)
    known = kind if kind in _CHANGED else stored
    if known not in _CHANGED:
        return None
    measure = size if kind in _CHANGED else stored_size
    return event._replace(kind=EventKind(known), size=measure or 0.0, edits=_edits(edits))


def _edits(written: str | None) -> tuple[tuple[str, str], ...]:
    """What went and came in the page's own part."""
    listed = json.loads(written) if written else []
    return tuple((gone, came) for _, is_template, gone, came in listed if not is_template)[:MOST_EDITS]
