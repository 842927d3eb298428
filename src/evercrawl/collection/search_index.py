"""Update the search index from the visit logs.
The index commits its position in each log together with the indexed versions, so it is consistent after a crash. A
changed number of versions (after pruning or a power failure) causes a rebuild of the shard."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evercrawl.adapters.analysers import detect_language
from evercrawl.adapters.sql.log_reader import LogReader, VersionNumber, VersionRow, VisitToIndex, log_reader
from evercrawl.adapters.sql.state_reader import shards_of
from evercrawl.adapters.tantivy import IndexedVersion, TextIndex
from evercrawl.adapters.tantivy.text_index import TextIndexWriter, remove_index
from evercrawl.core.search.query_parser import primary_language
from evercrawl.errors import StoreUnavailable
from evercrawl.model.search import IndexState
from evercrawl.model.settings import SearchSettings

VISITS_AT_A_TIME = 500
COMMIT_VERSIONS = 20_000  # Versions per commit.
REBUILD_HEAP_BYTES = 128 * 1024 * 1024  # Memory for a rebuild, in which larger segments save merging.


def open_text_index(collection: Path) -> TextIndex:
    """Open the index of a collection; replace one that cannot be read by an empty one."""
    try:
        return TextIndex(collection)
    except StoreUnavailable:
        remove_index(collection)
        return TextIndex(collection)


def index_lag(collection: Path, index: TextIndex) -> int:
    """Return the number of visits that are stored but not indexed."""
    lag, searcher = 0, index.searcher()
    for shard in shards_of(collection):
        with log_reader(collection, shard) as reader:
            end = reader.log_end()
            lag += max(0, end.id - int(index.cursor(shard, searcher).get("visit", 0))) if end else 0
    return lag


def index_state(collection: Path, index: TextIndex) -> IndexState:
    """Return the size of the index and how far it lags behind the collection."""
    documents = versions = 0
    searcher = index.searcher()
    for shard in shards_of(collection):
        with log_reader(collection, shard) as reader:
            versions += reader.version_count()
        documents += index.versions_of(shard, searcher)
    return IndexState(documents, versions, index_lag(collection, index), index.size())


def rebuild_index(collection: Path, settings: SearchSettings) -> int:
    """Rebuild the index; return the number of versions indexed."""
    remove_index(collection)
    heap_bytes = max(REBUILD_HEAP_BYTES, settings.index_buffer_bytes)
    return catch_up(collection, open_text_index(collection), settings, heap_bytes=heap_bytes)


def catch_up(collection: Path, index: TextIndex, settings: SearchSettings, *, heap_bytes: int | None = None) -> int:
    """Index new versions and return their number; raise IndexBusy if another process is doing it."""
    behind = [shard for shard in shards_of(collection) if not _is_up_to_date(collection, index, shard)]
    if not behind:
        return 0
    with index.writing(heap_bytes or settings.index_buffer_bytes) as writer:
        indexed = sum(_update_shard(collection, index, writer, shard, settings.max_text_chars) for shard in behind)
        writer.commit()
        return indexed


def _is_up_to_date(collection: Path, index: TextIndex, shard: int) -> bool:
    searcher = index.searcher()
    cursor = index.cursor(shard, searcher)
    with log_reader(collection, shard) as reader:
        end = reader.log_end()
        if end is None or cursor.get("visit", 0) != end.id or not _is_same_log(reader, cursor):
            return end is None
        return reader.version_count() == cursor.get("versions")


def _is_same_log(reader: LogReader, cursor: dict[str, int]) -> bool:
    """Return whether the log still has the line of the cursor."""
    line = reader.log_line(cursor.get("visit", 0))
    return line is not None and (line.at_us, line.page_id) == (cursor.get("at_us"), cursor.get("page"))


def _update_shard(collection: Path, index: TextIndex, writer: TextIndexWriter, shard: int, max_text_chars: int) -> int:
    with log_reader(collection, shard) as reader:
        cursor = index.cursor(shard)
        indexer = _ShardIndexer(reader, writer, shard, cursor, max_text_chars)
        if cursor and not indexer.can_continue():
            writer.delete_shard(shard)
            indexer = _ShardIndexer(reader, writer, shard, {}, max_text_chars)
        indexed = indexer.run()
        if not indexer.is_consistent():
            # Versions were pruned, so the index of this shard does not match the log.
            writer.delete_shard(shard)
            indexer = _ShardIndexer(reader, writer, shard, {}, max_text_chars)
            indexed += indexer.run()
        return indexed


class _ShardIndexer:
    """Indexes one shard from a line of its log to the end."""

    def __init__(
        self, reader: LogReader, writer: TextIndexWriter, shard: int, cursor: dict[str, int], max_text_chars: int
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._shard = shard
        self._visit = cursor.get("visit", 0)
        self._cursor = cursor
        self._max_text_chars = max_text_chars
        self._is_from_scratch = not cursor
        self._versions = cursor.get("versions", 0)
        self._uncommitted = 0

    def can_continue(self) -> bool:
        """Return whether the log still has the line of the cursor."""
        return _is_same_log(self._reader, self._cursor)

    def is_consistent(self) -> bool:
        """Return whether all versions are indexed, or the log has more lines."""
        count = self._reader.version_count()
        end = self._reader.log_end()
        is_at_end = end is None or end.id <= self._visit
        return not is_at_end or self._versions == count

    def run(self) -> int:
        """Index everything up to the end of the log, with intermediate commits; return the number of versions."""
        indexed = 0
        while visits := self._reader.next_visits(self._visit, VISITS_AT_A_TIME):
            indexed += self._index(visits)
            last = visits[-1]
            self._visit = last.id
            self._cursor = {"visit": last.id, "at_us": last.at_us, "page": last.page_id}
            if self._uncommitted >= COMMIT_VERSIONS:
                self._store_cursor()
                self._writer.commit()
                self._uncommitted = 0
        if self._is_from_scratch and not self.is_consistent():
            # Some versions have no visit in the log; do not try to find them at every update.
            self._versions = self._reader.version_count()
        self._store_cursor()
        return indexed

    def _store_cursor(self) -> None:
        if self._cursor:
            self._writer.set_cursor(self._shard, self._cursor | {"versions": self._versions})

    def _index(self, visits: Sequence[VisitToIndex]) -> int:
        fresh, again = self._affected_versions(visits)
        rows = self._reader.version_rows([*fresh, *(again - fresh.keys())])
        for row in rows:
            place = (row.page_id, row.number)
            self._writer.add(self._index_entry(row), replaces=place not in fresh)
        self._versions += sum((row.page_id, row.number) in fresh for row in rows)
        self._uncommitted += len(rows)
        return len(rows)

    def _affected_versions(
        self, visits: Sequence[VisitToIndex]
    ) -> tuple[dict[VersionNumber, None], set[VersionNumber]]:
        """Return new versions, and versions that were replaced, gone or came back."""
        fresh: dict[VersionNumber, None] = {}
        again: set[VersionNumber] = set()
        for visit in visits:
            if visit.new_version is not None:
                fresh[visit.page_id, visit.new_version] = None
                before = self._version_before(visit)
                if before is not None:
                    again.add((visit.page_id, before))
            elif visit.is_gone_or_back:
                again.add((visit.page_id, visit.version))
        return fresh, again

    def _version_before(self, visit: VisitToIndex) -> int | None:
        if visit.new_version is None or visit.new_version <= 1:
            return None
        return self._reader.version_before(visit.page_id, visit.new_version)

    def _index_entry(self, row: VersionRow) -> IndexedVersion:
        text = self._reader.text_in(row)[: self._max_text_chars]
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
