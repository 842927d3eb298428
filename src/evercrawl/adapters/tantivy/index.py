"""One folder with the index: opened, asked, written; what tantivy raises ends here."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tantivy

from evercrawl.adapters.tantivy.asking import count_of
from evercrawl.adapters.tantivy.schema import FORMAT, open_index, version_schema
from evercrawl.adapters.tantivy.writing import IndexWriting, cursor_key, shard_term, version_key
from evercrawl.errors import EvercrawlError, StoreUnavailable

LEAST_HEAP_BYTES = 15_000_000
"""Tantivy takes no less for a thread."""


class IndexBusy(EvercrawlError):
    """Another process writes the index; it can be searched all the same."""

    exit_code = 5


class TextIndex:
    """The index of a collection. Reading needs no lock; one process at a time writes."""

    def __init__(self, collection: Path) -> None:
        self.folder = index_folder(collection)
        self.schema = version_schema()
        with _translating(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self.index = open_index(self.schema, str(self.folder))
        self._loaded: tuple[int, int, int] | None = None

    def searcher(self) -> tantivy.Searcher:
        """What is committed at this moment."""
        with _translating(self.folder):
            if (state := self._state()) != self._loaded:
                self.index.reload()
                self._loaded = state
            return self.index.searcher()

    def _state(self) -> tuple[int, int, int]:
        """Differs after every commit, which puts a new list of segments into place."""
        found = (self.folder / "meta.json").stat()
        return found.st_mtime_ns, found.st_ino, found.st_size

    @contextmanager
    def writing(self, heap_bytes: int) -> Iterator[IndexWriting]:
        """The one writer; IndexBusy where another process has it. What was not committed is lost."""
        try:
            writer = self.index.writer(max(heap_bytes, LEAST_HEAP_BYTES), num_threads=1)
        except ValueError as error:
            if "lock" in str(error).lower():
                raise IndexBusy(f"another process writes the index {self.folder}") from error
            raise StoreUnavailable(f"the index {self.folder} cannot be written: {error}") from error
        with _translating(self.folder):
            writing = IndexWriting(writer)
            try:
                # What a killed process has left would be in the way: it bears the names of our next files.
                writer.garbage_collect_files()
                yield writing
            except BaseException:
                writer.rollback()
                raise
            finally:
                writing.close()

    def cursor(self, shard: int, searcher: tantivy.Searcher | None = None) -> dict[str, Any]:
        """The note of the last commit about a shard; empty: nothing of it is indexed."""
        searcher = searcher or self.searcher()
        query = tantivy.Query.term_query(self.schema, "key", cursor_key(shard), "basic")
        hits = searcher.search(query, 1).hits
        if not hits:
            return {}
        note = searcher.doc(hits[0][1]).get_first("note")
        found: dict[str, Any] = json.loads(bytes(note)) if note is not None else {}
        return found

    def versions_of(self, shard: int, searcher: tantivy.Searcher | None = None) -> int:
        """Versions of a shard that are indexed."""
        query = tantivy.Query.term_query(self.schema, "site", shard_term(shard), "basic")
        return count_of((searcher or self.searcher()).search(query, 1))

    def has_version(self, shard: int, page_id: int, number: int, searcher: tantivy.Searcher) -> bool:
        """The version is indexed, once."""
        key = version_key(shard, page_id, number)
        query = tantivy.Query.term_query(self.schema, "key", key, "basic")
        return count_of(searcher.search(query, 1)) == 1

    def size(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in self.folder.iterdir() if path.is_file())


def index_folder(collection: Path) -> Path:
    """Where the index of a collection lies."""
    return collection / "index" / f"format-{FORMAT}"


def remove_index(collection: Path) -> None:
    """Take the index away, that of other formats too."""
    shutil.rmtree(collection / "index", ignore_errors=True)


@contextmanager
def _translating(folder: Path) -> Iterator[None]:
    try:
        yield
    except (ValueError, OSError) as error:
        raise StoreUnavailable(
            f"the index {folder} cannot be used: {error}; make it anew with: evercrawl index rebuild"
        ) from error
