"""What home writes down about its outposts: codes, keys, what it holds of their pages, what it took in."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import zstandard

from evercrawl.outpost.answers import SharedExchange
from evercrawl.outpost.pairing import FOLDER, outpost_key
from evercrawl.outpost.state_file import open_state_file, transaction

COORDINATOR_FILE = "home.db"
VERSION = 1
COMPRESSION_LEVEL = 3
COUNTERS = (
    "requests", "whole", "changed", "same", "withheld", "failed", "not_mine", "refused", "bytes_in",
    "bytes_out", "bytes_plain", "bytes_plain_gzip",
)  # fmt: skip
"""What is counted for each outpost."""

SCHEMA = """
create table code (name text primary key, key blob not null, called text not null, routes text not null,
    expires_us integer not null, nonce blob) strict;
create table outpost (id text primary key, called text not null unique, key blob not null,
    routes text not null, paired_us integer not null, seen_us integer not null default 0,
    taken integer not null default 0, until_us integer not null default 0) strict;
create table counted (outpost text not null, what text not null, value integer not null,
    primary key (outpost, what)) strict, without rowid;
create table held (url text primary key, digest blob not null, mark blob not null, size integer not null,
    used_us integer not null, frame blob not null) strict;
create index held_by_use on held (used_us);
create table intake (url text primary key, outpost text not null, at_us integer not null,
    began_us integer not null, item blob not null) strict
"""


class OutpostRow(NamedTuple):
    """A paired outpost."""

    id: str
    called: str
    key: bytes
    routes: tuple[str, ...]
    paired_us: int
    seen_us: int
    taken: int
    until_us: int


class StoredResult(NamedTuple):
    """A result that arrived, as it was delivered."""

    url: str
    at_us: int
    began_us: int
    item: bytes


class CoordinatorState:
    """The file `outposts/home.db` of a collection."""

    def __init__(self, collection: Path) -> None:
        self.db = open_state_file(collection / FOLDER / COORDINATOR_FILE, SCHEMA, version=VERSION)

    def close(self) -> None:
        """Let go of the file."""
        self.db.close()

    # Pairing

    def add_code(
        self, name: str, key: bytes, *, called: str, routes: Sequence[str], now_us: int, expires_us: int
    ) -> None:
        """A code that can be used once, until it expires."""
        with transaction(self.db):
            self.db.execute("delete from code where expires_us < ?", (now_us,))
            self.db.execute("delete from code where called = ? and nonce is null", (called,))
            row = name, key, called, json.dumps(list(routes)), expires_us
            self.db.execute("insert into code (name, key, called, routes, expires_us) values (?, ?, ?, ?, ?)", row)

    def code_key(self, name: str, *, now_us: int) -> bytes | None:
        """The key of a code that is not expired."""
        row = self.db.execute("select key from code where name = ? and expires_us >= ?", (name, now_us))
        found = row.fetchone()
        return None if found is None else bytes(found[0])

    def redeem(self, name: str, nonce: bytes, *, now_us: int) -> OutpostRow | None:
        """The outpost that a code makes; a second use with another number makes none."""
        with transaction(self.db):
            row = self.db.execute(
                "select key, called, routes, nonce from code where name = ? and expires_us >= ?", (name, now_us)
            ).fetchone()
            if row is None or (row[3] is not None and bytes(row[3]) != nonce):
                return None
            if row[3] is None:
                self.db.execute("update code set nonce = ? where name = ?", (nonce, name))
                self.db.execute("delete from outpost where called = ?", (row[1],))
                self.db.execute(
                    "insert into outpost (id, called, key, routes, paired_us) values (?, ?, ?, ?, ?)",
                    (name, row[1], outpost_key(bytes(row[0]), nonce), row[2], now_us),
                )
        return self.outpost(name)

    def outposts(self) -> list[OutpostRow]:
        """All paired outposts, in the order of pairing."""
        rows = self.db.execute(
            "select id, called, key, routes, paired_us, seen_us, taken, until_us from outpost order by paired_us, rowid"
        )
        return [_outpost_row(row) for row in rows]

    def expected(self, *, now_us: int) -> list[OutpostRow]:
        """Outposts whose code was given out and not used yet; they have no key."""
        rows = self.db.execute(
            "select name, called, x'', routes, 0, 0, 0, 0 from code where nonce is null and expires_us >= ?", (now_us,)
        )
        return [_outpost_row(row) for row in rows]

    def outpost(self, outpost: str) -> OutpostRow | None:
        """One of them."""
        return next((row for row in self.outposts() if row.id == outpost), None)

    def is_paired(self, outpost: str) -> bool:
        """It has not been forgotten since."""
        return self.db.execute("select 1 from outpost where id = ?", (outpost,)).fetchone() is not None

    def forget(self, called: str) -> bool:
        """Unpair: the outpost's key opens nothing any more. False: there is none of that name."""
        with transaction(self.db):
            gone = self.db.execute("delete from outpost where called = ?", (called,)).rowcount
            self.db.execute("delete from code where called = ?", (called,))
        return gone > 0

    def granted(self, outpost: str, *, seen_us: int, until_us: int) -> None:
        """The outpost may ask its sites until then; a crash of home does not shorten that."""
        self.db.execute("update outpost set seen_us = ?, until_us = ? where id = ?", (seen_us, until_us, outpost))

    # Counting

    def count(self, outpost: str, counts: dict[str, int]) -> None:
        """Add to the counters of an outpost."""
        self.db.executemany(
            "insert into counted values (?, ?, ?) on conflict do update set value = value + excluded.value",
            [(outpost, what, value) for what, value in counts.items() if value],
        )

    def counts(self, outpost: str) -> dict[str, int]:
        """All counters of an outpost."""
        rows = dict(self.db.execute("select what, value from counted where outpost = ?", (outpost,)))
        return {what: rows.get(what, 0) for what in COUNTERS}

    # What both sides hold

    def held(self, url: str) -> SharedExchange | None:
        """The last whole answer of a page."""
        row = self.db.execute("select digest, frame from held where url = ?", (url,)).fetchone()
        if row is None:
            return None
        return SharedExchange(bytes(row[0]), zstandard.ZstdDecompressor().decompress(row[1]))

    def held_marks(self, url: str) -> tuple[bytes | None, bytes | None]:
        """The digest of its body, and the mark of the whole."""
        row = self.db.execute("select digest, mark from held where url = ?", (url,)).fetchone()
        return (None, None) if row is None else (bytes(row[0]), bytes(row[1]))

    # Taking in

    def take(
        self,
        outpost: str,
        batch: int,
        *,
        results: Iterable[StoredResult],
        held: dict[str, SharedExchange],
        counts: dict[str, int],
        now_us: int,
    ) -> None:
        """A batch, what home holds from now on, and the number of the batch: all of it or nothing."""
        compress = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL).compress
        with transaction(self.db):
            self.db.executemany(
                "insert or replace into intake (url, outpost, at_us, began_us, item) values (?, ?, ?, ?, ?)",
                [(one.url, outpost, one.at_us, one.began_us, one.item) for one in results],
            )
            for url, answer in held.items():
                frame = compress(answer.flat)
                self.db.execute(
                    "insert or replace into held values (?, ?, ?, ?, ?, ?)",
                    (url, answer.digest, answer.mark, len(frame), now_us, frame),
                )
            self.db.execute(
                "update outpost set taken = max(taken, ?), seen_us = ? where id = ?", (batch, now_us, outpost)
            )
            self.count(outpost, counts)

    def left_over(self, url: str, *, not_before_us: int) -> StoredResult | None:
        """A result that arrived and that no commit is known to hold; it is handed out once."""
        row = self.db.execute(
            "delete from intake where url = ? returning url, at_us, began_us, item", (url,)
        ).fetchone()
        return StoredResult(*row) if row is not None and row[1] >= not_before_us else None

    def intake_urls(self) -> set[str]:
        """Pages with results that an earlier run did not get to the end of."""
        return {url for (url,) in self.db.execute("select url from intake")}

    def forget_results(self, urls: Iterable[str]) -> None:
        """These results are committed."""
        self.db.executemany("delete from intake where url = ?", [(url,) for url in urls])

    def forget_intake(self, *, before_us: int) -> None:
        """What arrived before then is surely committed."""
        self.db.execute("delete from intake where at_us < ?", (before_us,))

    def shrink(self, most_bytes: int) -> None:
        """Let go of the answers that were of no use for longest, down to the limit."""
        (total,) = self.db.execute("select coalesce(sum(size), 0) from held").fetchone()
        if total <= most_bytes:
            return
        for url, size in self.db.execute("select url, size from held order by used_us").fetchall():
            self.db.execute("delete from held where url = ?", (url,))
            total -= size
            if total <= most_bytes * 9 // 10:
                return


def _outpost_row(row: tuple[str, str, bytes, str, int, int, int, int]) -> OutpostRow:
    return OutpostRow(row[0], row[1], bytes(row[2]), tuple(json.loads(row[3])), *row[4:])


log = logging.getLogger("evercrawl")

EVENTS_FILE = "events.jsonl"
MAX_EVENTS_BYTES = 5_000_000
"""The file is begun anew at this size; the one before is kept."""


class OutpostEventLog:
    """Writes one line for each event; a full disk costs events, never the crawl."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / EVENTS_FILE

    def emit(self, kind: str, *, at: datetime, **fields: object) -> None:
        """Append an event."""
        line = json.dumps({"event": f"outpost.{kind}", "at": at.isoformat(), **fields})
        log.info("outpost %s %s", kind, fields)
        try:
            if self._path.exists() and self._path.stat().st_size > MAX_EVENTS_BYTES:
                self._path.replace(self._path.with_suffix(".1.jsonl"))
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            log.warning("an event of an outpost was not written: %s", error)
