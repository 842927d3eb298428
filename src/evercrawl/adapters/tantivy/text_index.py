"""The search index of a collection: schema, reading and writing. Exceptions of tantivy are translated here."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import tantivy

from evercrawl.adapters.system import usable_folder
from evercrawl.core.search.tokenizer import normalize_for_index, url_words
from evercrawl.errors import EvercrawlError, StoreUnavailable

MIN_HEAP_BYTES = 15_000_000  # tantivy's minimum per thread.


FORMAT = 1  # Part of the folder's name; indexes of other formats are ignored.
FOREVER_US = 2**62  # End of a version that is still the newest.
WORDS = "words"  # The analyser of all texts: runs of letters and digits, lower-case, without accents.
STEMMERS = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "fi": "finnish", "fr": "french", "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian",
    "nb": "norwegian", "nn": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
"""Languages with stemming."""
MAX_FOLDERS = 6  # Folders of a URL that `site:` can name.
PAGE_BITS = 44  # Bits of the page id; the bits above hold the shard.


class IndexBusy(EvercrawlError):
    """Another process is writing the index; searching is still possible."""

    exit_code = 5


class TextIndex:
    """The index of a collection. Reading needs no lock; only one process at a time may write."""

    def __init__(self, collection: Path) -> None:
        self.folder = index_folder(collection)
        self.schema = version_schema()
        with _translate_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self.index = open_index(self.schema, str(self.folder))
        self._loaded: tuple[int, int, int] | None = None

    def searcher(self) -> tantivy.Searcher:
        """Return a searcher over the last commit."""
        with _translate_errors(self.folder):
            if (state := self._state()) != self._loaded:
                self.index.reload()
                self._loaded = state
            return self.index.searcher()

    def _state(self) -> tuple[int, int, int]:
        """Return a value that changes with every commit."""
        found = (self.folder / "meta.json").stat()
        return found.st_mtime_ns, found.st_ino, found.st_size

    @contextmanager
    def writing(self, heap_bytes: int) -> Iterator[TextIndexWriter]:
        """Yield the writer; raise IndexBusy if another process has it. Uncommitted changes are discarded."""
        try:
            writer = self.index.writer(max(heap_bytes, MIN_HEAP_BYTES), num_threads=1)
        except ValueError as error:
            if "lock" in str(error).lower():
                raise IndexBusy(f"another process is writing the index {self.folder}") from error
            raise StoreUnavailable(f"the index {self.folder} cannot be written: {error}") from error
        with _translate_errors(self.folder):
            writing = TextIndexWriter(writer)
            try:
                # Files of a killed process have the names of our next files.
                writer.garbage_collect_files()
                yield writing
            except BaseException:
                writer.rollback()
                raise
            finally:
                writing.close()

    def cursor(self, shard: int, searcher: tantivy.Searcher | None = None) -> dict[str, Any]:
        """Return the note of the last commit about a shard; empty if nothing is indexed."""
        searcher = searcher or self.searcher()
        query = tantivy.Query.term_query(self.schema, "key", cursor_key(shard), "basic")
        hits = searcher.search(query, 1).hits
        if not hits:
            return {}
        note = searcher.doc(hits[0][1]).get_first("note")
        found: dict[str, Any] = json.loads(bytes(note)) if note is not None else {}
        return found

    def versions_of(self, shard: int, searcher: tantivy.Searcher | None = None) -> int:
        """Return the number of indexed versions of a shard."""
        query = tantivy.Query.term_query(self.schema, "site", shard_term(shard), "basic")
        return match_count((searcher or self.searcher()).search(query, 1))

    def size(self) -> int:
        """Return the bytes on disk."""
        return sum(path.stat().st_size for path in self.folder.iterdir() if path.is_file())


def index_folder(collection: Path) -> Path:
    """Return the folder of a collection's index."""
    return usable_folder(collection, "index") / f"format-{FORMAT}"


def remove_index(collection: Path) -> None:
    """Delete the index in all formats."""
    shutil.rmtree(usable_folder(collection, "index"), ignore_errors=True)


@contextmanager
def _translate_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except (ValueError, OSError) as error:
        raise StoreUnavailable(
            f"the index {folder} cannot be used: {error}; rebuild it with: evercrawl index rebuild"
        ) from error


def version_schema() -> tantivy.Schema:
    """Return the fields of a version: texts with positions, filters as terms, numbers as columns."""
    fields = tantivy.SchemaBuilder()
    for name in ("key", "state", "lang", "site"):
        fields.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("text", "title"):
        fields.add_text_field(name, tokenizer_name=WORDS, index_option="position")
    for name in ("headings", "url"):
        fields.add_text_field(name, tokenizer_name=WORDS, index_option="freq")
    fields.add_unsigned_field("page", indexed=True, fast=True)
    for name in ("number", "from_us", "to_us", "gone_us"):
        fields.add_unsigned_field(name, fast=True)
    fields.add_bytes_field("note", stored=True)
    return fields.build()


def anchor_schema() -> tantivy.Schema:
    """Return the fields of the anchor text index."""
    fields = tantivy.SchemaBuilder()
    fields.add_unsigned_field("page", fast=True)
    fields.add_text_field("anchor", tokenizer_name=WORDS, index_option="freq")
    return fields.build()


@lru_cache(maxsize=1)
def word_analyser() -> tantivy.TextAnalyzer:
    """Return the analyser of text prepared by `core/search/tokenizer.py`."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    return builder.filter(tantivy.Filter.lowercase()).filter(tantivy.Filter.ascii_fold()).build()


@lru_cache(maxsize=len(STEMMERS))
def stem_analyser(language: str) -> tantivy.TextAnalyzer:
    """Return a stemmer of words separated by spaces."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    return builder.filter(tantivy.Filter.stemmer(STEMMERS[language])).build()


def open_index(schema: tantivy.Schema, folder: str) -> tantivy.Index:
    """Open the index in a folder, or create it."""
    index = tantivy.Index(schema, path=folder, reuse=True)
    index.register_tokenizer(WORDS, word_analyser())
    return index


def match_count(found: tantivy.SearchResult) -> int:
    """Return the number of matching documents, which tantivy's type stub omits."""
    return int(getattr(found, "count", None) or 0)


class IndexedVersion(NamedTuple):
    """The indexed fields of a version."""

    shard: int
    page_id: int
    number: int
    url: str
    from_us: int
    to_us: int | None  # When the next version was seen; None for the newest version.
    gone_us: int | None
    lang: str | None
    title: str
    text: str
    headings: tuple[str, ...] = ()
    noindex: bool = False


def page_number(shard: int, page_id: int) -> int:
    """Combine shard and page id into one number."""
    return (shard << PAGE_BITS) | page_id


def split_page_number(page: int) -> tuple[int, int]:
    """Return the shard and page id of a page number."""
    return page >> PAGE_BITS, page & ((1 << PAGE_BITS) - 1)


def version_key(shard: int, page_id: int, number: int) -> str:
    """Return the term that identifies a version."""
    return f"{shard}/{page_id}/{number}"


class TextIndexWriter:
    """Changes of the index, visible and durable after `commit`."""

    def __init__(self, writer: tantivy.IndexWriter) -> None:
        self._writer = writer

    def add(self, version: IndexedVersion, *, replaces: bool) -> None:
        """Index a version; `replaces`: delete its earlier document."""
        if replaces:
            key = version_key(version.shard, version.page_id, version.number)
            self._writer.delete_documents_by_term("key", key)
        self._writer.add_document(_document(version))

    def delete_shard(self, shard: int) -> None:
        """Delete everything of a shard, including its cursor."""
        self._writer.delete_documents_by_term("site", shard_term(shard))
        self._writer.delete_documents_by_term("key", cursor_key(shard))

    def set_cursor(self, shard: int, note: Mapping[str, Any]) -> None:
        """Store how far a shard is indexed, in the same commit."""
        self._writer.delete_documents_by_term("key", cursor_key(shard))
        document = tantivy.Document()
        document.add_text("key", cursor_key(shard))
        document.add_bytes("note", json.dumps(dict(note)).encode())
        self._writer.add_document(document)

    def commit(self) -> None:
        """Make the changes visible and durable."""
        self._writer.commit()

    def close(self) -> None:
        """Wait for running merges and release the writer's lock."""
        self._writer.wait_merging_threads()


def cursor_key(shard: int) -> str:
    """Return the term of a shard's cursor."""
    return f"cursor/{shard}"


def shard_term(shard: int) -> str:
    """Return a term of all versions of a shard that cannot be a site name."""
    return f"//{shard}"


def _document(version: IndexedVersion) -> tantivy.Document:
    document = tantivy.Document()
    is_current = version.to_us is None
    document.add_text("key", version_key(version.shard, version.page_id, version.number))
    document.add_text("state", "current" if is_current else "past")
    if version.noindex:
        document.add_text("state", "noindex")
    document.add_text("lang", version.lang or "")
    for term in site_terms(version.url):
        document.add_text("site", term)
    document.add_text("site", shard_term(version.shard))
    title = normalize_for_index(version.title)
    document.add_text("title", title)
    # The main text does not repeat the title, and a phrase may occur in either.
    document.add_text("text", f"{title}\n{normalize_for_index(version.text)}")
    if version.headings:
        document.add_text("headings", normalize_for_index("\n".join(version.headings)))
    document.add_text("url", normalize_for_index(url_words(version.url)))
    document.add_unsigned("page", page_number(version.shard, version.page_id))
    document.add_unsigned("number", version.number)
    document.add_unsigned("from_us", version.from_us)
    document.add_unsigned("to_us", FOREVER_US if version.to_us is None else version.to_us)
    document.add_unsigned("gone_us", version.gone_us or 0)
    return document


def site_terms(url: str) -> tuple[str, ...]:
    """Return the terms that `site:` can name: host, parent domains, host with port, and folders."""
    path_end = url.find("?")
    end = url.rfind("/", 0, len(url) if path_end < 0 else path_end)
    return _folder_terms(url[:end].lower())


@lru_cache(maxsize=4096)
def _folder_terms(folder_url: str) -> tuple[str, ...]:
    authority, _, path = folder_url.partition("://")[2].partition("/")
    authority = authority.rpartition("@")[2]
    host = authority.rpartition(":")[0] if authority.rpartition(":")[2].isdigit() else authority
    labels = host.split(".")
    is_address = host.startswith("[") or all(label.isdigit() for label in labels)
    terms = [host] if is_address else [".".join(labels[at:]) for at in range(len(labels))]
    roots = [host] if authority == host else [host, authority]
    terms += roots[1:]
    names = path.split("/")[:MAX_FOLDERS] if path else []
    for depth in range(1, len(names) + 1):
        terms += [f"{root}/{'/'.join(names[:depth])}" for root in roots]
    return tuple(terms)
