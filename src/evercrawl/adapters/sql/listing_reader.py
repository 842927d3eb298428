"""Read lists of sites, pages, changes, visits and versions, a portion at a time and by an index."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from evercrawl.adapters.sql.database import change_from
from evercrawl.adapters.sql.state_reader import ROWS_AT_A_TIME, ShardReader, open_queries, shards_of
from evercrawl.adapters.sqlite.sqlite_database import SqliteConnection
from evercrawl.adapters.sqlite.state_file import database_of, open_for_reading, shard_path
from evercrawl.core.url import key_of
from evercrawl.model.listing import ChangeRecord, PageRow, SiteRow, VisitLogRow, VisitRow

_SITE_KEY_BYTES = 4
_LAST_KEY = b"\xff" * 12
MAX_IDLE_READERS = 512  # Readers that stay open: those of all shards for a few requests at a time.
MAX_ORIGINS = 1000  # Origins of one registrable domain.


def site_key_prefix(site: str) -> bytes:
    """Return the first bytes of the keys of a site's pages."""
    return key_of(f"{site}/")[:_SITE_KEY_BYTES]


class ListingReader(ShardReader):
    """Lists of one shard, in portions."""

    def largest_sites(self, most: int) -> list[SiteRow]:
        """Return the sites with the most pages."""
        return list(map(SiteRow._make, self.queries.rows("largest_sites", most=most)))

    def busiest_sites(self, most: int) -> list[SiteRow]:
        """Return the sites with the most queued pages."""
        return list(map(SiteRow._make, self.queries.rows("busiest_sites", most=most)))

    def sites_of_domain(self, domain: str) -> list[str]:
        """Return the origins of a registrable domain."""
        return [name for (name,) in self.queries.rows("sites_of_domain", domain=domain, most=MAX_ORIGINS)]

    def site_pages(self, site: str, site_id: int, *, after: bytes, most: int) -> list[PageRow]:
        """Return the next pages of a site after a key; pages of one folder are adjacent."""
        first = site_key_prefix(site)
        rows = self.queries.rows(
            "pages_of_site", after=max(after, first), last=first + _LAST_KEY, site_id=site_id, most=most
        )
        return list(map(PageRow._make, rows))

    def due_by_hour(self, from_us: int, until_us: int) -> dict[int, int]:
        """Return the number of pages that become due in each hour from the first moment on."""
        return dict(self.queries.rows("due_by_hour", from_us=from_us, until_us=until_us))

    def queued_by_priority(self) -> list[tuple[int, int, int]]:
        """Return priority, sites and pages."""
        return list(map(tuple, self.queries.rows("queued_by_priority")))

    def changes_before(
        self, before: tuple[int, int], *, since_us: int, site_id: int | None, most: int
    ) -> list[ChangeRecord]:
        """Return the changes before this moment and page, newest first."""
        before_us, before_id = before
        rows = self.queries.rows(
            "changes_before", before_us=before_us, before_id=before_id, since_us=since_us, site_id=site_id, most=most
        )
        return list(map(change_from, rows))

    def change_moments(self, since_us: int, most: int) -> list[int]:
        """Return the moments of the newest changes, newest first."""
        return [at_us for (at_us,) in self.queries.rows("change_times", since_us=since_us, most=most)]

    def changes_by_day(self, since_us: int, site_id: int | None = None) -> dict[int, int]:
        """Return the number of content and metadata changes by day since 1970."""
        rows = self.queries.rows("changes_by_day", since_us=since_us, site_id=site_id)
        return dict(rows)

    def last_visits(self, after: int, most: int) -> list[VisitRow]:
        """Return the newest visits after a number, newest first."""
        return list(map(VisitRow._make, self.queries.rows("newest_visits", after=after, most=most)))

    def next_visits(self, after: int, most: int) -> list[VisitRow]:
        """Return the next visits after a number, oldest first."""
        return list(map(VisitRow._make, self.queries.rows("next_visits", after=after, most=most)))

    def visits_of_site(self, site_id: int, *, lines: int, most: int) -> list[VisitRow]:
        """Return the newest visits to a site among the last `lines` of the log, newest first."""
        last = self.last_visit_id()
        rows = self.queries.rows("visits_of_site", site_id=site_id, after=last - lines, upto=last, most=most)
        return list(map(VisitRow._make, rows))

    def logged_visits(self, after: int, upto: int, *, site_id: int | None, span: tuple[int, int]) -> list[VisitLogRow]:
        """Return the visits between two numbers, of one site or (None) of all, in a span of time."""
        from_us, until_us = span
        rows = self.queries.rows(
            "crawl_log", after=after, upto=upto, site_id=site_id, from_us=from_us, until_us=until_us
        )
        return list(map(VisitLogRow._make, rows))

    def visits_by_day(self, lines: int) -> list[tuple[int, str, int, int]]:
        """Return day since 1970, reason, visits and bytes of the last `lines` of the log."""
        return list(map(tuple, self.queries.rows("visits_by_day", after=self.last_visit_id() - lines)))


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
    """Which versions to read; None: no limit."""

    site: str | None = None
    since_us: int | None = None
    until_us: int | None = None
    lang: str | None = None
    newest_only: bool = True  # Of each page only the newest version up to `until_us`.


class VersionReader(ShardReader):
    """Versions of one shard, in bulk."""

    def stored_versions(self, wanted: VersionFilter) -> Iterator[StoredVersion]:
        """Yield the wanted versions in order of page and number."""
        page_id, number = 0, 0
        values = wanted._asdict()
        while rows := self.queries.rows(
            "selected_versions", after_id=page_id, after_number=number, most=ROWS_AT_A_TIME, **values
        ):
            portion = [StoredVersion._make(row) for row in rows]
            yield from portion
            page_id, number = portion[-1].page_id, portion[-1].number

    def visits_at(self, page_id: int, at_us: int) -> list[tuple[int | None, bytes | None]]:
        """Return status and content digest of a page's visits at one moment."""
        return list(map(tuple, self.queries.rows("visits_at", page_id=page_id, at_us=at_us)))


# Open


class IdleReaders:
    """Readers of files that are not in use: opening a file costs more than most queries.
    An idle reader holds no lock and does not keep anyone from writing."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._idle: dict[tuple[Path, int], list[ListingReader]] = {}

    def take(self, path: Path) -> tuple[tuple[Path, int], ListingReader]:
        """Return the identity of the file that is there now, and a reader of it."""
        try:
            identity = (path, path.stat().st_ino)
        except OSError:
            identity = (path, 0)
        with self._lock:
            if idle := self._idle.get(identity):
                return identity, idle.pop()
        return identity, ListingReader(SqliteConnection(path, open_for_reading(path)))

    def put(self, identity: tuple[Path, int], reader: ListingReader) -> None:
        """Keep a reader for the next use."""
        with self._lock:
            if sum(map(len, self._idle.values())) < MAX_IDLE_READERS:
                self._idle.setdefault(identity, []).append(reader)
                return
        reader.close()

    def close(self, collection: Path) -> None:
        """Close the files of a collection."""
        with self._lock:
            own = [identity for identity in self._idle if identity[0].is_relative_to(collection)]
            readers = [reader for identity in own for reader in self._idle.pop(identity)]
        for reader in readers:
            reader.close()


IDLE_READERS = IdleReaders()


@contextmanager
def open_listing(collection: Path, shard: int) -> Iterator[ListingReader]:
    """Open a reader of one shard for the block; a file stays open afterwards for the next one."""
    if database_of(collection) is not None:
        with closing(ListingReader(open_queries(collection, shard))) as reader:
            yield reader
        return
    identity, reader = IDLE_READERS.take(shard_path(collection, shard))
    try:
        yield reader
    except BaseException:
        reader.close()
        raise
    IDLE_READERS.put(identity, reader)


def each_listing(collection: Path) -> Iterator[tuple[int, ListingReader]]:
    """Yield a reader of each shard in turn; it is valid until the next one."""
    for shard in shards_of(collection):
        with open_listing(collection, shard) as reader:
            yield shard, reader


@contextmanager
def version_reader(collection: Path, shard: int) -> Iterator[VersionReader]:
    """Open a reader of one shard for the block."""
    with closing(VersionReader(open_queries(collection, shard))) as reader:
        yield reader
