"""The agent's state on disk: credentials, pages with their digests, and unacknowledged results.
Pages are on disk so that memory use stays constant. The file never exceeds the owner's limit."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import zstandard

from evercrawl.adapters.sqlite.hardened_file import PAGE_BYTES, open_state_file, transaction
from evercrawl.errors import StoreUnavailable
from evercrawl.model.site import RobotsRecord, Site
from evercrawl.outpost.answers import ChangeHistory, SharedExchange

AGENT_FILE = "outpost.db"
VERSION = 1
COMPRESSION_LEVEL = 3
FULL_SHARE = 0.8  # Share of the size limit at which bodies are evicted.
EVICT_ROWS = 64
MIN_FILE_BYTES = 4 * 1024 * 1024

SCHEMA = files("evercrawl.outpost").joinpath("agent.sql").read_text("utf-8")


class QueuedResult(NamedTuple):
    """A result that the coordinator has not acknowledged."""

    id: int
    run: str
    number: int
    url: str
    began_us: int
    item: bytes


class AgentState:
    """The file `outpost.db` in the outpost's folder."""

    def __init__(self, folder: Path, *, max_bytes: int) -> None:
        self._max_bytes = max(max_bytes, MIN_FILE_BYTES)
        self.db = open_state_file(folder / AGENT_FILE, SCHEMA, version=VERSION, max_bytes=self._max_bytes)

    def close(self) -> None:
        """Close the file."""
        self.db.close()

    # Settings

    def get(self, name: str) -> str | None:
        """Return a stored setting."""
        row = self.db.execute("select value from setting where name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def set(self, **values: str) -> None:
        """Store settings."""
        with transaction(self.db):
            self.db.executemany("insert or replace into setting values (?, ?)", values.items())

    def delete(self, *names: str) -> None:
        """Delete settings."""
        self.db.executemany("delete from setting where name = ?", [(name,) for name in names])

    # Pages

    def history(self, url: str) -> ChangeHistory:
        """Return the change history of a page."""
        row = self.db.execute("select digest, run, sent_us from page where url = ?", (url,)).fetchone()
        return (
            ChangeHistory() if row is None else ChangeHistory(None if row[0] is None else bytes(row[0]), row[1], row[2])
        )

    def exchange(self, url: str) -> SharedExchange | None:
        """Return the last answer sent, unless it was evicted."""
        row = self.db.execute(
            "select shared_digest, frame from page where url = ? and frame is not null", (url,)
        ).fetchone()
        if row is None:
            return None
        return SharedExchange(bytes(row[0]), zstandard.ZstdDecompressor().decompress(row[1]))

    def pages(self) -> int:
        """Return the number of known pages."""
        (number,) = self.db.execute("select count(*) from page").fetchone()
        return int(number)

    # Results

    def add_result(
        self,
        queued: QueuedResult,
        *,
        history: ChangeHistory | None = None,
        shared: SharedExchange | None = None,
        now_us: int,
    ) -> None:
        """Store a result and its page's history in one transaction; evict bodies if space is short."""
        frame = None if shared is None else zstandard.ZstdCompressor(level=COMPRESSION_LEVEL).compress(shared.data)
        self._free_space(len(queued.item) + len(frame or b""))
        try:
            self._insert_result(queued, history, shared, frame, now_us)
        except sqlite3.OperationalError as error:
            if "full" not in str(error):
                raise StoreUnavailable(f"cannot write the outpost's file: {error}") from error
            self._evict(limit=None)
            self._delete_oldest_pages()
            self._insert_result(queued, history, None, None, now_us)

    def _insert_result(
        self,
        queued: QueuedResult,
        history: ChangeHistory | None,
        shared: SharedExchange | None,
        frame: bytes | None,
        now_us: int,
    ) -> None:
        with transaction(self.db):
            self.db.execute("insert into outbox (run, number, url, began_us, item) values (?, ?, ?, ?, ?)", queued[1:])
            if history is not None:
                self.db.execute(
                    "insert into page (url, digest, run, sent_us, used_us) values (?, ?, ?, ?, ?)"
                    " on conflict do update set digest = excluded.digest, run = excluded.run,"
                    " sent_us = excluded.sent_us, used_us = excluded.used_us",
                    (queued.url, history.digest, history.run, history.sent_us, now_us),
                )
            if shared is not None:
                self.db.execute(
                    "update page set shared_digest = ?, frame = ? where url = ?", (shared.digest, frame, queued.url)
                )

    def unbatched(self, *, limit: int, max_bytes: int) -> list[QueuedResult]:
        """Return results that are not in a batch yet, oldest first."""
        found: list[QueuedResult] = []
        size = 0
        query = "select id, run, number, url, began_us, item from outbox where batch is null order by id limit ?"
        for row in self.db.execute(query, (limit,)):
            size += len(row[5])
            if found and size > max_bytes:
                break
            found.append(QueuedResult(*row))
        return found

    def create_batch(self, queued: Iterable[QueuedResult]) -> int:
        """Assign the results to a new batch and return its number, which is greater than all before."""
        with transaction(self.db):
            number = int(self.get("batch") or 0) + 1
            self.db.execute("insert or replace into setting values ('batch', ?)", (str(number),))
            self.db.executemany("update outbox set batch = ? where id = ?", [(number, one.id) for one in queued])
        return number

    def batches(self) -> dict[int, list[QueuedResult]]:
        """Return the unacknowledged batches, in order."""
        found: dict[int, list[QueuedResult]] = {}
        query = (
            "select batch, id, run, number, url, began_us, item from outbox where batch is not null order by batch, id"
        )
        for batch, *row in self.db.execute(query):
            found.setdefault(batch, []).append(QueuedResult(*row))
        return found

    def acknowledge(self, batch: int) -> None:
        """Delete all batches up to this one."""
        self.db.execute("delete from outbox where batch <= ?", (batch,))

    def is_delivered(self) -> bool:
        """Check whether every result was acknowledged."""
        return self.db.execute("select 1 from outbox limit 1").fetchone() is None

    # Sites

    def site(self, name: str) -> Site | None:
        """Return the stored state of a site."""
        row = self.db.execute("select row from site where name = ?", (name,)).fetchone()
        return None if row is None else _site(json.loads(row[0]))

    def save_site(self, site: Site) -> None:
        """Store the state of a site."""
        robots = None if site.robots is None else [*site.robots]
        if robots is not None:
            robots[3] = site.robots.body.decode("latin-1") if site.robots else ""
        row = json.dumps([*site[:-1], robots])
        self.db.execute("insert or replace into site values (?, ?)", (site.name, row))

    # Disk space

    def used_bytes(self) -> int:
        """Return the bytes in use in the file."""
        (pages,) = self.db.execute("pragma page_count").fetchone()
        (free,) = self.db.execute("pragma freelist_count").fetchone()
        return int(pages - free) * PAGE_BYTES

    def _free_space(self, needed: int) -> None:
        while self.used_bytes() + needed > self._max_bytes * FULL_SHARE:
            if not self._evict(limit=EVICT_ROWS):
                return

    def _delete_oldest_pages(self) -> None:
        """Delete the pages visited longest ago; their next jobs contain the digests again."""
        self.db.execute(
            "delete from page where url in"
            " (select url from page order by used_us limit 1 + (select count(*) from page) / 10)"
        )

    def _evict(self, *, limit: int | None) -> int:
        """Evict the least recently used bodies; digests stay, so unchanged pages are still recognised."""
        return self.db.execute(
            "update page set frame = null, shared_digest = null where url in"
            " (select url from page where frame is not null order by used_us limit ?)",
            (-1 if limit is None else limit,),
        ).rowcount


def _site(row: list[Any]) -> Site:
    *plain, robots = row
    if robots is not None:
        robots[3] = robots[3].encode("latin-1")
    return Site._make([*plain, None if robots is None else RobotsRecord._make(robots)])
