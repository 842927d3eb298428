"""Lists for people: portions of sites, pages, changes and visits, each read by an index and never whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from evercrawl.adapters.sql.state_reader import ROWS_AT_A_TIME, ShardReader, session_of, shards_of
from evercrawl.adapters.sqlite.rows import refusal_from
from evercrawl.adapters.sqlite.sights import change_from
from evercrawl.adapters.sqlite.statements import statements_in
from evercrawl.adapters.sqlite.store import shard_path
from evercrawl.core.url import key_of
from evercrawl.model.listing import ChangeRecord, DuePage, PageRow, RejectedPage, SiteRow, VisitLogRow, VisitRow
from evercrawl.model.page import Refusal
from evercrawl.model.reason import Reason

_SQL = statements_in(files(__package__).joinpath("browse.sql").read_text(encoding="utf-8"))
_SITE_KEY_BYTES = 4
_LAST_KEY = b"\xff" * 12
MOST_IDLE = 512
"""Readers that are kept open: those of all shards for a few questions at a time."""
MOST_NAMES = 1000
"""Origins of one registrable domain."""


def first_key_of(site: str) -> bytes:
    """What the keys of a site's pages begin with."""
    return key_of(f"{site}/")[:_SITE_KEY_BYTES]


class ListingReader(ShardReader):
    """The state of one shard, in portions."""

    def site_portion(self, after: int, most: int) -> list[SiteRow]:
        """The next sites in order of number."""
        return [SiteRow._make(row) for row in self._rows("site_portion", after, most)]

    def largest_sites(self, most: int) -> list[SiteRow]:
        """The sites with most pages."""
        return [SiteRow._make(row) for row in self._rows("largest_sites", most)]

    def busiest_sites(self, most: int) -> list[SiteRow]:
        """The sites with most pages in the queue."""
        return [SiteRow._make(row) for row in self._rows("busiest_sites", most)]

    def sites_of_domain(self, domain: str) -> list[str]:
        """The origins of a registrable domain."""
        return [name for (name,) in self._rows("sites_of_domain", domain, MOST_NAMES)]

    def site_pages(self, site: str, site_id: int, *, after: bytes, most: int) -> list[PageRow]:
        """The next pages of a site behind a key; those of one folder stand together."""
        begin = first_key_of(site)
        rows = self._rows("site_pages", max(after, begin), begin + _LAST_KEY, site_id, most)
        return [PageRow._make(row) for row in rows]

    def due_pages(self, after_us: int, after_id: int, most: int) -> list[DuePage]:
        """The pages that come next, behind a moment and page."""
        return [DuePage._make(row) for row in self._rows("due_pages", after_us, after_id, most)]

    def due_by_hour(self, from_us: int, until_us: int) -> dict[int, int]:
        """Hour from the first moment on -> number of pages that come due."""
        return dict(self._rows("due_by_hour", from_us, until_us))

    def queued_by_band(self) -> list[tuple[int, int, int]]:
        """Band, sites, pages."""
        return self._rows("queued_by_band")

    def changes_before(
        self, before: tuple[int, int], *, since_us: int, site_id: int | None, most: int
    ) -> list[ChangeRecord]:
        """The changes before this moment and page, newest first."""
        rows = self._rows("changes_before", *before, since_us, site_id, most)
        return [change_from(row) for row in rows]

    def change_moments(self, since_us: int, most: int) -> list[int]:
        """When the newest changes were seen, newest first."""
        return [at_us for (at_us,) in self._rows("change_moments", since_us, most)]

    def refusals_of(self, reason: str, *, after: bytes, most: int) -> list[Refusal]:
        """The next refused URLs of one reason."""
        return [refusal_from(row) for row in self._rows("refusals_of_reason", after, reason, most)]

    def rejected_of(self, reason: str, *, after: int, most: int) -> list[RejectedPage]:
        """The next pages that were refused for one reason when their turn came."""
        rows = map(RejectedPage._make, self._rows("rejected_of_reason", after, reason, most))
        return [row._replace(reason=Reason(row.reason)) for row in rows]

    def changes_by_day(self, since_us: int, site_id: int | None = None) -> dict[int, int]:
        """Day since 1970 -> number of changes that a reader would notice."""
        return dict(self._rows("changes_by_day", since_us, site_id))

    def last_visits(self, after: int, most: int) -> list[VisitRow]:
        """The newest lines of the log behind a line, newest first."""
        return [VisitRow._make(row) for row in self._rows("last_visits", after, most)]

    def next_visits(self, after: int, most: int) -> list[VisitRow]:
        """The lines of the log behind a line, oldest first."""
        return [VisitRow._make(row) for row in self._rows("next_visits", after, most)]

    def visits_of_site(self, site_id: int, *, lines: int, most: int) -> list[VisitRow]:
        """The newest visits to a site among the last `lines` of the log, newest first."""
        last = self.last_line()
        rows = self._rows("visits_of_site", site_id, last - lines, last, most)
        return [VisitRow._make(row) for row in rows]

    def logged_visits(self, after: int, upto: int, *, site_id: int | None, span: tuple[int, int]) -> list[VisitLogRow]:
        """The lines of the log between two numbers, of one site or (None) of all, inside a span of time."""
        rows = self._rows("logged_visits", after, upto, site_id, *span)
        return [VisitLogRow._make(row) for row in rows]

    def visits_by_day(self, lines: int) -> list[tuple[int, str, int, int]]:
        """Day since 1970, reason, visits and bytes, of the last `lines` of the log."""
        return self._rows("visits_by_day", self.last_line() - lines)

    def last_line(self) -> int:
        """The number of the newest line of the log."""
        line: int = self._rows("last_line")[0][0]
        return line

    def _rows(self, name: str, *parameters: object) -> list[Any]:
        with self._translating:
            return self.connection.execute(_SQL[name], parameters).fetchall()


class IdleReaders:
    """Readers that nobody uses at the moment: opening a file costs more than most questions to it.

    A reader without a question under way holds no lock and keeps nobody from writing.
    """

    def __init__(self) -> None:
        self._turn = Lock()
        self._idle: dict[tuple[Path, int], list[ListingReader]] = {}

    def take(self, path: Path) -> tuple[tuple[Path, int], ListingReader]:
        """A reader of the file that is there now, and its mark."""
        try:
            mark = (path, path.stat().st_ino)
        except OSError:
            mark = (path, 0)
        with self._turn:
            if kept := self._idle.get(mark):
                return mark, kept.pop()
        return mark, ListingReader(path)

    def put(self, mark: tuple[Path, int], reader: ListingReader) -> None:
        """It is not used any more, for now."""
        with self._turn:
            if sum(map(len, self._idle.values())) < MOST_IDLE:
                self._idle.setdefault(mark, []).append(reader)
                return
        reader.close()

    def close(self, collection: Path) -> None:
        """Close the files of a collection."""
        with self._turn:
            own = [mark for mark in self._idle if mark[0].is_relative_to(collection)]
            readers = [reader for mark in own for reader in self._idle.pop(mark)]
        for reader in readers:
            reader.close()


IDLE = IdleReaders()


@contextmanager
def open_listing(collection: Path, shard: int) -> Iterator[ListingReader]:
    """One shard's reader; that of a file is kept open behind the block for the next one."""
    session = session_of(collection, shard)
    if session is not None:
        with closing(ListingReader(shard_path(collection, shard), session)) as reader:
            yield reader
        return
    mark, reader = IDLE.take(shard_path(collection, shard))
    try:
        yield reader
    except BaseException:
        reader.close()
        raise
    IDLE.put(mark, reader)


def each_listing(collection: Path) -> Iterator[tuple[int, ListingReader]]:
    """The reader of each shard in turn; a reader is closed when the next one is asked for."""
    for shard in shards_of(collection):
        with open_listing(collection, shard) as reader:
            yield shard, reader


_STORED_SQL = statements_in(files(__package__).joinpath("exchange.sql").read_text(encoding="utf-8"))


class StoredVersion(NamedTuple):
    """A version with its page's URL and the place of its record in the archive."""

    page_id: int
    url: str
    number: int
    seen_us: int
    status: int | None
    digest: bytes
    payload_sha1: bytes
    content_type: str | None
    encoding: str | None
    title: str | None
    lang: str | None
    body_bytes: int
    words: int
    file: str
    offset: int
    length: int
    record_id: bytes
    truncated: str | None


class VersionFilter(NamedTuple):
    """Which versions; None: whatever they are."""

    site: str | None = None
    since_us: int | None = None
    until_us: int | None = None
    lang: str | None = None
    newest_only: bool = True
    """Of each page only the newest version that is not behind `until_us`."""


class VersionReader(ShardReader):
    """The state of one shard, read in bulk."""

    def stored_versions(self, bounds: VersionFilter) -> Iterator[StoredVersion]:
        """The versions within the bounds, in order of page and number."""
        page_id, number = 0, 0
        while rows := self._rows("stored_versions", page_id, number, *bounds, ROWS_AT_A_TIME):
            portion = [StoredVersion._make(row) for row in rows]
            yield from portion
            page_id, number = portion[-1].page_id, portion[-1].number

    def visits_at(self, page_id: int, at_us: int) -> list[tuple[int | None, bytes | None]]:
        """Status and newest content of a page's visits at one moment."""
        return self._rows("visits_at", page_id, at_us)

    def _rows(self, name: str, *parameters: object) -> list[Any]:
        with self._translating:
            return self.connection.execute(_STORED_SQL[name], parameters).fetchall()


@contextmanager
def version_reader(collection: Path, shard: int) -> Iterator[VersionReader]:
    """One shard's reader, closed behind the block."""
    reader = VersionReader(shard_path(collection, shard), session_of(collection, shard))
    try:
        yield reader
    finally:
        reader.close()
