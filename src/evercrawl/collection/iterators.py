"""Pages, changes and items of a collection as iterators with filters, which become data frames by one call."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from heapq import merge
from importlib import import_module
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, Protocol, TypeVar

from evercrawl.adapters.sql.listing_reader import StoredVersion, version_reader
from evercrawl.adapters.sql.state_reader import StateReader
from evercrawl.collection.change_groups import change_headline, is_on_site
from evercrawl.collection.exchange.export_run import selected_versions
from evercrawl.collection.stored_pages import StoredRecord, decode_stored_body, parse_response, read_stored_record
from evercrawl.core.items import ITEMS_KEY, TYPE_KEY, ExtractItems, ItemPage, build_item, item_fields
from evercrawl.core.url import shard_of_site, site_of
from evercrawl.errors import ConfigError
from evercrawl.model.change import Change, Edit
from evercrawl.model.document import USAGE_KEY, Document, terms_from
from evercrawl.model.fetch import Headers
from evercrawl.model.listing import ChangeRecord, VersionSelection
from evercrawl.model.sanitize import safe_line
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us, to_us

SHOWN_ROWS = 10  # Rows that a notebook shows.
SHOWN_CHARS = 80
_BEGINNING = 0


class RowLike(Protocol):
    """Something that becomes a row of a table."""

    def as_dict(self) -> dict[str, Any]:
        """Return the columns by name."""


T = TypeVar("T", bound=RowLike)


class RecordIterator(Generic[T]):
    """Rows that are read from the collection while you iterate. Every loop starts again; `next` goes on."""

    def __init__(self, kind: str, read: Callable[[], Iterator[T]], filters: Mapping[str, object]) -> None:
        self._kind = kind
        self._read = read
        self._filters = {name: value for name, value in filters.items() if value not in (None, False)}
        self._position: Iterator[T] | None = None

    def __iter__(self) -> Iterator[T]:
        return self._read()

    def __next__(self) -> T:
        if self._position is None:
            self._position = self._read()
        return next(self._position)

    def first(self) -> T | None:
        """Return the first row; None: there is none."""
        return next(self._read(), None)

    def count(self) -> int:
        """Read all rows and return their number."""
        return sum(1 for _ in self._read())

    def dicts(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as dictionaries."""
        return (row.as_dict() for row in self._read())

    def to_pandas(self) -> Any:
        """Return all rows as a pandas data frame."""
        return _require("pandas").DataFrame(list(self.dicts()))

    def to_polars(self) -> Any:
        """Return all rows as a polars data frame."""
        return _require("polars").DataFrame(list(self.dicts()), infer_schema_length=None)

    def to_duckdb(self, connection: Any = None) -> Any:
        """Return all rows as a DuckDB relation, in a table of `connection` (default: a new database in memory)."""
        duckdb = _require("duckdb")
        connection = connection or duckdb.connect(":memory:")
        with TemporaryDirectory(prefix="evercrawl-") as folder:
            lines = Path(folder) / "rows.jsonl"
            with lines.open("x", encoding="utf-8") as out:
                out.writelines(json.dumps(row, default=_json_value) + "\n" for row in self.dicts())
            if not lines.stat().st_size:
                return connection.sql("select 1 as no_rows where false")
            name = f"evercrawl_{self._kind}"
            connection.execute(f"create or replace table {name} as select * from read_json(?)", [str(lines)])
        return connection.table(name)

    def __repr__(self) -> str:
        filters = "".join(f", {name}={value!r}" for name, value in self._filters.items())
        return f"<{self._kind}{filters}: iterate, or call to_pandas(), to_polars() or to_duckdb()>"

    def _repr_html_(self) -> str:
        rows = [row.as_dict() for row in islice(self._read(), SHOWN_ROWS + 1)]
        columns = list(dict.fromkeys(name for row in rows[:SHOWN_ROWS] for name in row))
        head = "".join(f"<th>{_cell(name)}</th>" for name in columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{_cell(row.get(name))}</td>' for name in columns)}</tr>" for row in rows[:SHOWN_ROWS]
        )
        more = "<p>…</p>" if len(rows) > SHOWN_ROWS else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: object) -> str:
    return html.escape(safe_line("" if value is None else str(value), longest=SHOWN_CHARS))


def _json_value(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _require(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError as error:
        raise ConfigError(f"{package} is not installed; install it with: pip install {package}") from error


# Pages


@dataclass(frozen=True)
class PageFilter:
    """Which versions to read; None: no condition."""

    selection: VersionSelection
    pattern: str | None = None  # A URL in which `*` stands for any text.
    media_type: str | None = None  # text/html, image/*.
    text: str | None = None  # Words that the main text contains, in any case.

    def accepts(self, version: StoredVersion) -> bool:
        """Return whether URL and media type match."""
        kind = (version.content_type or "").partition(";")[0].strip().lower()
        return (self.pattern is None or matches(self.pattern, version.url)) and (
            self.media_type is None or matches(self.media_type.lower(), kind)
        )


def matches(pattern: str, text: str) -> bool:
    """Return whether the whole text matches a pattern in which `*` stands for any text, in linear time."""
    first, *rest = pattern.split("*")
    if not rest:
        return text == first
    if not text.startswith(first):
        return False
    place = len(first)
    for part in rest[:-1]:
        found = text.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    return len(text) - place >= len(rest[-1]) and text.endswith(rest[-1])


@dataclass(frozen=True)
class PageVersion:
    """A stored version of a page. Text, body and document are read when you ask for them."""

    url: str
    version: int
    fetched_at: datetime
    status: int | None
    content_type: str | None
    title: str | None
    lang: str | None
    words: int
    digest: str
    analysis: Mapping[str, Any] = field(repr=False)
    _stored: StoredVersion = field(repr=False)
    _collection: Path = field(repr=False)
    _settings: Settings = field(repr=False)

    @cached_property
    def _record(self) -> StoredRecord:
        with version_reader(self._collection, self._shard) as reader:
            return read_stored_record(self._collection / "archive", reader, self._stored)

    @property
    def _shard(self) -> int:
        return shard_of_site(site_of(self.url), self._settings.store.shards)

    @property
    def headers(self) -> Headers:
        """The header fields of the response."""
        return self._record.http.headers

    @cached_property
    def body(self) -> bytes:
        """The decoded body of the response."""
        return decode_stored_body(self._stored, self._record.http)

    @cached_property
    def document(self) -> Document:
        """The parsed response: text, links, metadata."""
        return parse_response(self.url, self.headers, self.body, self._settings)

    @cached_property
    def text(self) -> str:
        """The main text."""
        with StateReader(self._collection).shard(self._shard) as state:
            text = state.text(self._stored.page_id, self.version)
        return self.document.text if text is None else text

    @property
    def usage(self) -> dict[str, Any]:
        """What the publisher says about the use of this version; empty: nothing."""
        return terms_from(self.analysis.get(USAGE_KEY)).summary()

    @cached_property
    def change(self) -> Change | None:
        """What changed since the version before; None: the first version, or no edit was found."""
        with StateReader(self._collection).shard(self._shard) as state:
            return state.change_at(self._stored.page_id, self._stored.seen_us)

    def parsed(self) -> ItemPage:
        """Return the page as extractors get it: with CSS selectors and what changed."""
        return ItemPage(self.url, self.document, self.headers, self.body, self.change)

    def as_dict(self) -> dict[str, Any]:
        """Return the columns of a table, with the main text."""
        return {
            "url": self.url,
            "version": self.version,
            "fetched_at": self.fetched_at,
            "status": self.status,
            "content_type": self.content_type,
            "title": self.title,
            "lang": self.lang,
            "words": self.words,
            "digest": self.digest,
            "usage": json.dumps(usage) if (usage := self.usage) else None,
            "text": self.text,
        }


def iterate_pages(collection: Path, settings: Settings, wanted: PageFilter) -> Iterator[PageVersion]:
    """Yield the wanted versions, page by page, oldest version first."""
    for reader, version in selected_versions(collection, wanted.selection):
        if not wanted.accepts(version):
            continue
        analysis = reader.analyses(version.page_id).get(version.number, {})
        page = PageVersion(
            url=version.url,
            version=version.number,
            fetched_at=from_us(version.seen_us),
            status=version.status,
            content_type=version.content_type,
            title=version.title,
            lang=version.lang,
            words=version.words,
            digest=version.digest.hex(),
            analysis=analysis,
            _stored=version,
            _collection=collection,
            _settings=settings,
        )
        if wanted.text is None or wanted.text.casefold() in page.text.casefold():
            yield page


# Changes


@dataclass(frozen=True)
class PageChange:
    """The edits that one visit found on one page."""

    url: str
    at: datetime
    change_class: str
    size: float
    headline: str
    edits: tuple[Edit, ...] = field(default=(), repr=False)

    @property
    def added(self) -> tuple[str, ...]:
        """The texts that are new."""
        return tuple(edit.added for edit in self.edits if edit.added)

    @property
    def removed(self) -> tuple[str, ...]:
        """The texts that are gone."""
        return tuple(edit.removed for edit in self.edits if edit.removed)

    def as_dict(self) -> dict[str, Any]:
        """Return the columns of a table."""
        return {
            "url": self.url,
            "at": self.at,
            "class": self.change_class,
            "size": self.size,
            "headline": self.headline,
            "added": list(self.added),
            "removed": list(self.removed),
        }


@dataclass(frozen=True)
class ChangeFilter:
    """Which changes to read; None: no condition."""

    since: datetime | None = None
    until: datetime | None = None
    site: str | None = None
    pattern: str | None = None
    text: str | None = None  # Words that an edit contains, in any case.
    noise: bool = False

    def accepts(self, record: ChangeRecord) -> bool:
        """Return whether a change is wanted."""
        return (
            (self.noise or record.change.changed)
            and (self.until is None or record.at_us <= to_us(self.until))
            and (self.site is None or is_on_site(record.url, self.site))
            and (self.pattern is None or matches(self.pattern, record.url))
            and (self.text is None or self._has_text(record.change))
        )

    def _has_text(self, change: Change) -> bool:
        assert self.text is not None
        wanted = self.text.casefold()
        return any(wanted in f"{edit.removed} {edit.added}".casefold() for edit in change.edits)


def iterate_changes(collection: Path, wanted: ChangeFilter) -> Iterator[PageChange]:
    """Yield the wanted changes of all sites, oldest first."""
    shards = (_shard_changes(collection, shard, wanted) for shard in StateReader(collection).shards())
    for record in merge(*shards, key=lambda record: record.at_us):
        if wanted.accepts(record):
            change = record.change
            headline = change_headline(record)
            yield PageChange(record.url, from_us(record.at_us), change.kind.value, change.size, headline, change.edits)


def _shard_changes(collection: Path, shard: int, wanted: ChangeFilter) -> Iterator[ChangeRecord]:
    """Yield the changes of a shard in order of time; its file is open only while a portion is read."""
    after = (_BEGINNING, 0) if wanted.since is None else (to_us(wanted.since), 0)
    while True:
        with StateReader(collection).shard(shard) as state:
            portion = state.changes_since(*after)
        if not portion:
            return
        yield from portion
        after = portion[-1].at_us, portion[-1].page_id


# Items


@dataclass(frozen=True)
class PageItem:
    """An item that was found in a version of a page."""

    url: str
    version: int
    fetched_at: datetime
    kind: str | None  # The name of its class.
    value: Any  # The item: an instance of its class, or its fields.

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of the item, with its source."""
        fields = item_fields(self.value)
        fields.pop(TYPE_KEY, None)
        source = {"url": self.url, "version": self.version, "fetched_at": self.fetched_at}
        return {name: value for name, value in fields.items() if name not in source} | source


def iterate_items(pages: Iterator[PageVersion], source: type | ExtractItems | None) -> Iterator[PageItem]:
    """Yield the items of pages: all that are stored, those of one class, or what a function extracts now."""
    for page in pages:
        found = _stored_items(page, source) if source is None or isinstance(source, type) else source(page.parsed())
        for item in found or ():
            kind = item.get(TYPE_KEY) if isinstance(item, Mapping) else type(item).__name__
            yield PageItem(page.url, page.version, page.fetched_at, kind, item)


def _stored_items(page: PageVersion, kind: type | None) -> Iterator[Any]:
    for fields in page.analysis.get(ITEMS_KEY, ()):
        if kind is None:
            yield fields
        elif fields.get(TYPE_KEY) == kind.__name__:
            yield build_item(kind, fields)
