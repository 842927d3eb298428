"""The coordinator's state on disk: codes, keys, shared exchanges, stored results, and the event log."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import zstandard

from evercrawl.adapters.sqlite.hardened_file import open_state_file, transaction
from evercrawl.outpost.answers import SharedExchange
from evercrawl.outpost.pairing import FOLDER, outpost_key

COORDINATOR_FILE = "home.db"
VERSION = 1
COMPRESSION_LEVEL = 3
COUNTERS = (
    "requests", "whole", "changed", "same", "withheld", "failed", "declined", "refused", "bytes_in",
    "bytes_out", "bytes_plain", "bytes_plain_gzip",
)  # fmt: skip
"""The counters of each outpost."""

SCHEMA = files("evercrawl.outpost").joinpath("coordinator.sql").read_text("utf-8")
log = logging.getLogger("evercrawl")
EVENTS_FILE = "events.jsonl"
MAX_EVENTS_BYTES = 5_000_000  # Size at which the log is rotated; one old file is kept.


class OutpostRow(NamedTuple):
    """A paired outpost."""

    id: str
    name: str
    key: bytes
    routes: tuple[str, ...]
    paired_us: int
    seen_us: int
    acknowledged: int
    until_us: int


class StoredResult(NamedTuple):
    """A delivered result as it arrived."""

    url: str
    at_us: int
    began_us: int
    item: bytes


class CoordinatorState:
    """The file `outposts/home.db` of a collection."""

    def __init__(self, collection: Path) -> None:
        self.db = open_state_file(collection / FOLDER / COORDINATOR_FILE, SCHEMA, version=VERSION)

    def close(self) -> None:
        """Close the file."""
        self.db.close()

    # Pairing

    def add_code(
        self, code: str, key: bytes, *, name: str, routes: Sequence[str], now_us: int, expires_us: int
    ) -> None:
        """Store a code that can be redeemed once before it expires."""
        with transaction(self.db):
            self.db.execute("delete from code where expires_us < ?", (now_us,))
            self.db.execute("delete from code where name = ? and nonce is null", (name,))
            row = code, key, name, json.dumps(list(routes)), expires_us
            self.db.execute("insert into code (id, key, name, routes, expires_us) values (?, ?, ?, ?, ?)", row)

    def code_key(self, code: str, *, now_us: int) -> bytes | None:
        """Return the key of a code that has not expired."""
        row = self.db.execute("select key from code where id = ? and expires_us >= ?", (code, now_us))
        found = row.fetchone()
        return None if found is None else bytes(found[0])

    def redeem_code(self, code: str, nonce: bytes, *, now_us: int) -> OutpostRow | None:
        """Return the outpost created from a code, or None if it was redeemed with another nonce."""
        with transaction(self.db):
            row = self.db.execute(
                "select key, name, routes, nonce from code where id = ? and expires_us >= ?", (code, now_us)
            ).fetchone()
            if row is None or (row[3] is not None and bytes(row[3]) != nonce):
                return None
            if row[3] is None:
                self.db.execute("update code set nonce = ? where id = ?", (nonce, code))
                self.db.execute("delete from outpost where name = ?", (row[1],))
                self.db.execute(
                    "insert into outpost (id, name, key, routes, paired_us) values (?, ?, ?, ?, ?)",
                    (code, row[1], outpost_key(bytes(row[0]), nonce), row[2], now_us),
                )
        return self.outpost(code)

    def outposts(self) -> list[OutpostRow]:
        """Return all paired outposts, in the order of pairing."""
        rows = self.db.execute(
            "select id, name, key, routes, paired_us, seen_us, acknowledged, until_us from outpost"
            " order by paired_us, rowid"
        )
        return [_outpost_row(row) for row in rows]

    def unused_codes(self, *, now_us: int) -> list[OutpostRow]:
        """Return the outposts whose codes are not redeemed yet; they have no key."""
        rows = self.db.execute(
            "select id, name, x'', routes, 0, 0, 0, 0 from code where nonce is null and expires_us >= ?", (now_us,)
        )
        return [_outpost_row(row) for row in rows]

    def outpost(self, outpost: str) -> OutpostRow | None:
        """Return an outpost by its id."""
        return next((row for row in self.outposts() if row.id == outpost), None)

    def is_paired(self, outpost: str) -> bool:
        """Check whether an outpost is still paired."""
        return self.db.execute("select 1 from outpost where id = ?", (outpost,)).fetchone() is not None

    def unpair(self, name: str) -> bool:
        """Delete an outpost and its key; return False if there is none of that name."""
        with transaction(self.db):
            gone = self.db.execute("delete from outpost where name = ?", (name,)).rowcount
            self.db.execute("delete from code where name = ?", (name,))
        return gone > 0

    def save_lease(self, outpost: str, *, seen_us: int, until_us: int) -> None:
        """Store a lease, so that it also holds after a crash."""
        self.db.execute("update outpost set seen_us = ?, until_us = ? where id = ?", (seen_us, until_us, outpost))

    # Counters

    def count(self, outpost: str, counts: dict[str, int]) -> None:
        """Add to the counters of an outpost."""
        self.db.executemany(
            "insert into counter values (?, ?, ?) on conflict do update set value = value + excluded.value",
            [(outpost, what, value) for what, value in counts.items() if value],
        )

    def counts(self, outpost: str) -> dict[str, int]:
        """Return all counters of an outpost."""
        rows = dict(self.db.execute("select name, value from counter where outpost = ?", (outpost,)))
        return {what: rows.get(what, 0) for what in COUNTERS}

    # Shared exchanges

    def exchange(self, url: str) -> SharedExchange | None:
        """Return the last complete exchange of a page."""
        row = self.db.execute("select body_digest, frame from exchange where url = ?", (url,)).fetchone()
        if row is None:
            return None
        return SharedExchange(bytes(row[0]), zstandard.ZstdDecompressor().decompress(row[1]))

    def exchange_digests(self, url: str) -> tuple[bytes | None, bytes | None]:
        """Return the digests of a page's body and of its whole exchange."""
        row = self.db.execute("select body_digest, digest from exchange where url = ?", (url,)).fetchone()
        return (None, None) if row is None else (bytes(row[0]), bytes(row[1]))

    # Results

    def store_batch(
        self,
        outpost: str,
        batch: int,
        *,
        results: Iterable[StoredResult],
        exchanges: dict[str, SharedExchange],
        counts: dict[str, int],
        now_us: int,
    ) -> None:
        """Store a batch with its results, exchanges and counters in one transaction."""
        compress = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL).compress
        with transaction(self.db):
            self.db.executemany(
                "insert or replace into result (url, outpost, at_us, began_us, item) values (?, ?, ?, ?, ?)",
                [(one.url, outpost, one.at_us, one.began_us, one.item) for one in results],
            )
            for url, answer in exchanges.items():
                frame = compress(answer.data)
                self.db.execute(
                    "insert or replace into exchange values (?, ?, ?, ?, ?, ?)",
                    (url, answer.digest, answer.exchange_digest, len(frame), now_us, frame),
                )
            self.db.execute(
                "update outpost set acknowledged = max(acknowledged, ?), seen_us = ? where id = ?",
                (batch, now_us, outpost),
            )
            self.count(outpost, counts)

    def take_result(self, url: str, *, not_before_us: int) -> StoredResult | None:
        """Remove and return a result that may not be committed yet."""
        row = self.db.execute(
            "delete from result where url = ? returning url, at_us, began_us, item", (url,)
        ).fetchone()
        return StoredResult(*row) if row is not None and row[1] >= not_before_us else None

    def result_urls(self) -> set[str]:
        """Return the pages with results from interrupted visits."""
        return {url for (url,) in self.db.execute("select url from result")}

    def delete_results(self, urls: Iterable[str]) -> None:
        """Delete committed results."""
        self.db.executemany("delete from result where url = ?", [(url,) for url in urls])

    def delete_results_before(self, *, before_us: int) -> None:
        """Delete results that are old enough to be committed."""
        self.db.execute("delete from result where at_us < ?", (before_us,))

    def evict_exchanges(self, max_bytes: int) -> None:
        """Delete the least recently used exchanges until the size limit is met."""
        (total,) = self.db.execute("select coalesce(sum(size), 0) from exchange").fetchone()
        if total <= max_bytes:
            return
        for url, size in self.db.execute("select url, size from exchange order by used_us").fetchall():
            self.db.execute("delete from exchange where url = ?", (url,))
            total -= size
            if total <= max_bytes * 9 // 10:
                return


def _outpost_row(row: tuple[str, str, bytes, str, int, int, int, int]) -> OutpostRow:
    return OutpostRow(row[0], row[1], bytes(row[2]), tuple(json.loads(row[3])), *row[4:])


class OutpostEventLog:
    """Append events as JSON lines. If the disk is full, events are lost but the crawl continues."""

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
            log.warning("could not write an outpost event: %s", error)
