"""The index follows the log of visits: a cursor for each shard is committed together with what was indexed.

So the index is at every moment what the collection was at some line of its log, also after a crash, and
catching up begins where it ended. What no log tells (versions that were pruned, a log that a power cut
shortened) is found by counting, and the shard is indexed anew.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

from evercrawl.adapters.analysers import detect_language
from evercrawl.adapters.sql.log_reader import FollowedVisit, LogReader, VersionNumber, VersionRow, log_reader
from evercrawl.adapters.sql.state_reader import shards_of
from evercrawl.adapters.tantivy import IndexedVersion, TextIndex
from evercrawl.adapters.tantivy.text_index import TextIndexWriter, remove_index
from evercrawl.core.search.query_parser import primary_language
from evercrawl.errors import StoreUnavailable
from evercrawl.model.search import IndexState
from evercrawl.model.settings import SearchSettings

VISITS_AT_A_TIME = 500
COMMIT_VERSIONS = 20_000
"""A long way is committed in steps of so many versions."""
REBUILD_HEAP_BYTES = 128 * 1024 * 1024
"""Where no crawl runs beside it, larger portions save merging."""


def open_text_index(collection: Path) -> TextIndex:
    """The collection's index; one that cannot be read is thrown away, for it can be made anew."""
    try:
        return TextIndex(collection)
    except StoreUnavailable:
        remove_index(collection)
        return TextIndex(collection)


def index_lag(collection: Path, index: TextIndex) -> int:
    """Visits that are stored and not indexed yet."""
    lag, searcher = 0, index.searcher()
    for shard in shards_of(collection):
        with log_reader(collection, shard) as reader:
            end = reader.log_end()
            lag += max(0, end.id - int(index.cursor(shard, searcher).get("visit", 0))) if end else 0
    return lag


def index_state(collection: Path, index: TextIndex) -> IndexState:
    """How the index stands to the collection."""
    documents = versions = 0
    searcher = index.searcher()
    for shard in shards_of(collection):
        with log_reader(collection, shard) as reader:
            versions += reader.version_count()
        documents += index.versions_of(shard, searcher)
    return IndexState(documents, versions, index_lag(collection, index), index.size())


def rebuild_index(collection: Path, settings: SearchSettings) -> int:
    """Make the index anew from the collection; gives the number of versions indexed."""
    remove_index(collection)
    heap_bytes = max(REBUILD_HEAP_BYTES, settings.index_buffer_bytes)
    return catch_up(collection, open_text_index(collection), settings, heap_bytes=heap_bytes)


def catch_up(collection: Path, index: TextIndex, settings: SearchSettings, *, heap_bytes: int | None = None) -> int:
    """Index what the collection has and the index has not; gives the number of versions that were indexed.

    IndexBusy where another process is doing it.
    """
    behind = [shard for shard in shards_of(collection) if not _is_level(collection, index, shard)]
    if not behind:
        return 0
    with index.writing(heap_bytes or settings.index_buffer_bytes) as writing:
        indexed = sum(_follow_shard(collection, index, writing, shard) for shard in behind)
        writing.commit()
        return indexed


def _is_level(collection: Path, index: TextIndex, shard: int) -> bool:
    searcher = index.searcher()
    note = index.cursor(shard, searcher)
    with log_reader(collection, shard) as reader:
        end = reader.log_end()
        if end is None or note.get("visit", 0) != end.id or not _is_same_log(reader, note):
            return end is None
        return reader.version_count() == note.get("versions")


def _is_same_log(reader: LogReader, note: dict[str, int]) -> bool:
    """The line at which the index stands is still the one that it was."""
    line = reader.log_line(note.get("visit", 0))
    return line is not None and (line.at_us, line.page_id) == (note.get("at_us"), note.get("page"))


def _follow_shard(collection: Path, index: TextIndex, writing: TextIndexWriter, shard: int) -> int:
    with log_reader(collection, shard) as reader:
        note = index.cursor(shard)
        way = _Way(reader, writing, shard, note)
        if note and not way.can_go_on():
            writing.delete_shard(shard)
            way = _Way(reader, writing, shard, {})
        indexed = way.go()
        if not way.is_plausible():
            # Versions were pruned: what the index holds of this shard is not what the log tells.
            writing.delete_shard(shard)
            way = _Way(reader, writing, shard, {})
            indexed += way.go()
        return indexed


class _Way:
    """From a line of one shard's log to its end."""

    def __init__(self, reader: LogReader, writing: TextIndexWriter, shard: int, note: dict[str, int]) -> None:
        self._reader = reader
        self._writing = writing
        self._shard = shard
        self._visit = note.get("visit", 0)
        self._note = note
        self._is_from_scratch = not note
        self._versions = note.get("versions", 0)
        self._uncommitted = 0

    def can_go_on(self) -> bool:
        """The log still has the line at which the index stands."""
        return _is_same_log(self._reader, self._note)

    def is_plausible(self) -> bool:
        """As many versions are indexed as there are, or more are on their way."""
        count = self._reader.version_count()
        end = self._reader.log_end()
        is_at_end = end is None or end.id <= self._visit
        return not is_at_end or self._versions == count

    def go(self) -> int:
        """Index everything up to the end of the log; a long way is committed in steps."""
        indexed = 0
        while visits := self._reader.followed(self._visit, VISITS_AT_A_TIME):
            indexed += self._take(visits)
            last = visits[-1]
            self._visit = last.id
            self._note = {"visit": last.id, "at_us": last.at_us, "page": last.page_id}
            if self._uncommitted >= COMMIT_VERSIONS:
                self._note_place()
                self._writing.commit()
                self._uncommitted = 0
        if self._is_from_scratch and not self.is_plausible():
            # There are versions that no visit tells of: they are not worth another try at every look.
            self._versions = self._reader.version_count()
        self._note_place()
        return indexed

    def _note_place(self) -> None:
        if self._note:
            self._writing.set_cursor(self._shard, self._note | {"versions": self._versions})

    def _take(self, visits: Sequence[FollowedVisit]) -> int:
        fresh, again = self._touched(visits)
        rows = self._reader.version_rows([*fresh, *(again - fresh.keys())])
        for row in rows:
            place = (row.page_id, row.number)
            self._writing.add(self._indexed(row), replaces=place not in fresh)
        self._versions += sum((row.page_id, row.number) in fresh for row in rows)
        self._uncommitted += len(rows)
        return len(rows)

    def _touched(self, visits: Sequence[FollowedVisit]) -> tuple[dict[VersionNumber, None], set[VersionNumber]]:
        """Versions that are new, and versions of which something has changed: ended, gone, come back."""
        fresh: dict[VersionNumber, None] = {}
        again: set[VersionNumber] = set()
        for visit in visits:
            if visit.brought is not None:
                fresh[visit.page_id, visit.brought] = None
                before = self._before(visit)
                if before is not None:
                    again.add((visit.page_id, before))
            elif visit.is_turn:
                again.add((visit.page_id, visit.version))
        return fresh, again

    def _before(self, visit: FollowedVisit) -> int | None:
        if visit.brought is None or visit.brought <= 1:
            return None
        return self._reader.version_before(visit.page_id, visit.brought)

    def _indexed(self, row: VersionRow) -> IndexedVersion:
        text = self._reader.text_in(row)
        outline = self._reader.headings_in(row)
        lang = primary_language(row.lang) if row.lang else detect_language(text)
        return IndexedVersion(
            shard=self._shard,
            page_id=row.page_id,
            number=row.number,
            url=row.url,
            from_us=row.seen_us,
            to_us=row.next_us,
            gone_us=row.gone_us,
            lang=lang,
            title=row.title or "",
            text=text,
            headings=outline.headings,
            noindex=outline.noindex,
        )


def missing_versions(collection: Path, index: TextIndex) -> Iterator[tuple[int, int, int]]:
    """Every version of the collection that the index misses, for checks: shard, page, number."""
    searcher = index.searcher()
    for shard in shards_of(collection):
        with log_reader(collection, shard) as reader:
            place: VersionNumber = (0, 0)
            while places := reader.version_places(place, VISITS_AT_A_TIME):
                for page_id, number in places:
                    if not index.has_version(shard, page_id, number, searcher):
                        yield shard, page_id, number
                place = places[-1]


log = logging.getLogger("evercrawl")
