"""Versions in bulk, for taking a collection's content out, in or to the test: read-only, in short steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from evercrawl.adapters.sqlite.reader import ROWS_AT_A_TIME, ShardReader, session_of
from evercrawl.adapters.sqlite.statements import statements_in
from evercrawl.adapters.sqlite.store import shard_path

_SQL = statements_in(files(__package__).joinpath("exchange.sql").read_text(encoding="utf-8"))


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


class Bounds(NamedTuple):
    """Which versions; None: whatever they are."""

    site: str | None = None
    since_us: int | None = None
    until_us: int | None = None
    lang: str | None = None
    newest_only: bool = True
    """Of each page only the newest version that is not behind `until_us`."""


class StoredReader(ShardReader):
    """The state of one shard, read in bulk."""

    def stored_versions(self, bounds: Bounds) -> Iterator[StoredVersion]:
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
            return self.connection.execute(_SQL[name], parameters).fetchall()


@contextmanager
def stored_reader(collection: Path, shard: int) -> Iterator[StoredReader]:
    """One shard's reader, closed behind the block."""
    reader = StoredReader(shard_path(collection, shard), session_of(collection, shard))
    try:
        yield reader
    finally:
        reader.close()
