"""A list of everything to be taken in, on disk: found file by file, read in the order of time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from evercrawl.collection.exchange.source import RecordPlace

_SCHEMA = """
create table capture (
  id integer primary key, shard integer not null, at_us integer not null, url text not null,
  kind text not null, source integer not null, offset integer not null, nth integer not null,
  record_id text, concurrent text, refers_to text, refers_url text, refers_us integer, payload text
);
create table request (
  record_id text, concurrent text, source integer not null, offset integer not null, nth integer not null
);
"""
_INDEXES = """
create index by_time on capture (shard, at_us, id);
create index by_record on capture (record_id) where kind = 'response';
create index by_url on capture (url, at_us) where kind = 'response';
create index by_payload on capture (payload) where kind = 'response';
create index request_by_record on request (record_id);
create index request_by_answer on request (concurrent);
"""
ROWS_AT_A_TIME = 500


class Entry(NamedTuple):
    """A response or revisit record, by what its header says."""

    shard: int
    at_us: int
    url: str
    """Canonical."""
    kind: str
    source: int
    offset: int
    nth: int
    record_id: str | None
    concurrent: str | None
    refers_to: str | None
    refers_url: str | None
    refers_us: int | None
    payload: str | None

    @property
    def place(self) -> RecordPlace:
        """Where the record lies."""
        return RecordPlace(self.source, self.offset, self.nth)


_COLUMNS = ", ".join(Entry._fields)


class Catalogue:
    """Entries in a file of its own; after `close_entries` they are read, and no more are added."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("pragma journal_mode = off")
        self._db.execute("pragma synchronous = off")
        self._db.executescript(_SCHEMA)
        self._db.execute("begin")

    def add(self, entry: Entry) -> None:
        """One more answer."""
        marks = ", ".join("?" * len(entry))
        self._db.execute(f"insert into capture ({_COLUMNS}) values ({marks})", entry)

    def add_request(self, place: RecordPlace, *, record_id: str | None, concurrent: str | None) -> None:
        """One more request."""
        self._db.execute("insert into request values (?, ?, ?, ?, ?)", (record_id, concurrent, *place))

    def close_entries(self) -> None:
        """Everything was found."""
        self._db.execute("commit")
        self._db.executescript(_INDEXES)

    def shards(self) -> list[int]:
        """The shards that something belongs to."""
        return [row[0] for row in self._db.execute("select distinct shard from capture order by shard")]

    def of_shard(self, shard: int) -> Iterator[Entry]:
        """The entries of a shard, oldest first."""
        rows = self._db.execute(f"select {_COLUMNS} from capture where shard = ? order by at_us, id", (shard,))
        while portion := rows.fetchmany(ROWS_AT_A_TIME):
            yield from map(Entry._make, portion)

    def original_of(self, entry: Entry) -> RecordPlace | None:
        """The response whose body a revisit shares: by number, by URL and moment, or by digest."""
        tries = (
            ("record_id = ?", (entry.refers_to,)),
            ("url = ? and at_us = ?", (entry.refers_url, entry.refers_us)),
            ("payload = ?", (entry.payload,)),
        )
        for condition, values in tries:
            if None in values:
                continue
            found = self._db.execute(
                f"select source, offset, nth from capture where kind = 'response' and {condition} order by id limit 1",
                values,
            ).fetchone()
            if found is not None:
                return RecordPlace(*found)
        return None

    def request_of(self, entry: Entry) -> RecordPlace | None:
        """The request that was answered; either of the two may name the other."""
        for column, value in (("concurrent", entry.record_id), ("record_id", entry.concurrent)):
            found = (
                value
                and self._db.execute(
                    f"select source, offset, nth from request where {column} = ? limit 1", (value,)
                ).fetchone()
            )
            if found:
                return RecordPlace(*found)
        return None

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()
