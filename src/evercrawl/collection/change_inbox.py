"""The inbox of changes: which changes are read and which parts are muted (`inbox.sqlite`)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from evercrawl.adapters.sqlite.hardened_file import connect, mode_for, require_schema, transaction
from evercrawl.adapters.sqlite.inbox_file import BUSY_WAIT_S, FILE, MUTE_COLUMNS, SCHEMA, VERSION, mute_from
from evercrawl.adapters.sqlite.state_file import TranslateErrors
from evercrawl.collection.site_list import find_origin
from evercrawl.core.change.review import pattern_problem
from evercrawl.core.url import canonical
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.change import Mute, PartVerdict
from evercrawl.model.history import ReadMark, Review
from evercrawl.model.time import to_us

MAX_REVIEWS = 5000
MAX_KEYS = 400  # Edits that can be marked at once.
MAX_MUTES = 500


class ChangeInbox:
    """Read marks and mutes; every method is one transaction, in any process."""

    def __init__(self, collection: Path) -> None:
        self._path = collection / FILE

    def stamp(self) -> object:
        """Return a value that changes with the state."""
        if not self._path.exists():
            return None
        with self._open() as db:
            reviews = db.execute("select count(*), max(id) from review").fetchone()
            return (*reviews, *db.execute("select count(*), max(id) from mute").fetchone())

    def marks(self) -> list[ReadMark]:
        """Return all read marks."""
        if not self._path.exists():
            return []
        with self._open() as db:
            return [ReadMark(*row) for row in db.execute("select key, site, until_us from mark")]

    def reviews(self, limit: int) -> list[Review]:
        """Return the newest reviews, newest first."""
        if not self._path.exists():
            return []
        with self._open() as db:
            rows = db.execute("select id, at_us, who, text from review order by id desc limit ?", (limit,))
            return [Review(*row) for row in rows]

    def review(self, marks: Sequence[ReadMark], *, who: str, text: str, now_us: int) -> int:
        """Mark changes as read; return the number to undo it."""
        with self._open() as db, transaction(db):
            number: Any = db.execute(
                "insert into review (at_us, who, text) values (?, ?, ?)", (now_us, who, text)
            ).lastrowid
            db.executemany("insert into mark values (?, ?, ?, ?)", ((number, *mark) for mark in marks))
            old = number - MAX_REVIEWS
            db.execute("delete from mark where review <= ?", (old,))
            db.execute("delete from review where id <= ?", (old,))
            return int(number)

    def undo(self, review: int) -> bool:
        """Undo a review; return False if there is none with this number."""
        with self._open() as db, transaction(db):
            db.execute("delete from mark where review = ?", (review,))
            return db.execute("delete from review where id = ?", (review,)).rowcount > 0

    def mutes(self, verdict: PartVerdict = PartVerdict.NOISE) -> list[Mute]:
        """Return what was said to be noise, or content, newest first."""
        if not self._path.exists():
            return []
        with self._open() as db:
            rows = db.execute(f"select {MUTE_COLUMNS} from mute where verdict = ? order by id desc", (verdict.value,))
            return list(map(mute_from, rows))

    def mute(
        self, place: str, pattern: str, *, who: str, now_us: int, verdict: PartVerdict = PartVerdict.NOISE
    ) -> Mute:
        """Say that changes in a part of a page or a site are noise, or content; the last word counts."""
        with self._open() as db, transaction(db):
            if db.execute("select count(*) from mute").fetchone()[0] >= MAX_MUTES:
                raise ConfigError(f"there are {MAX_MUTES} rules already; remove some first")
            known = "place = ? and pattern = ?"
            db.execute(f"delete from mute where {known} and verdict <> ?", (place, pattern, verdict.value))
            db.execute(
                "insert into mute (at_us, who, place, pattern, verdict) values (?, ?, ?, ?, ?) on conflict do nothing",
                (now_us, who, place, pattern, verdict.value),
            )
            row = db.execute(f"select {MUTE_COLUMNS} from mute where {known}", (place, pattern)).fetchone()
            return mute_from(row)

    def unmute(self, number: int) -> Mute | None:
        """Remove a mute; return None if there is none with this number."""
        rules = [*self.mutes(), *self.mutes(PartVerdict.CONTENT)]
        found = next((mute for mute in rules if mute.id == number), None)
        if found is not None:
            with self._open() as db, transaction(db):
                db.execute("delete from mute where id = ?", (number,))
        return found

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with TranslateErrors(self._path):
            db = connect(self._path, mode=mode_for(self._path), isolation_level=None, timeout=BUSY_WAIT_S)
            try:
                self._create_schema(db)
                require_schema(db, self._path, SCHEMA)
                yield db
            finally:
                db.close()

    def _create_schema(self, db: sqlite3.Connection) -> None:
        if self._version(db) == VERSION:
            return
        db.execute("pragma journal_mode = wal")
        with transaction(db):
            for statement in SCHEMA if self._version(db) == 0 else ():
                db.execute(statement)
            db.execute(f"pragma user_version = {VERSION}")

    def _version(self, db: sqlite3.Connection) -> int:
        version = int(db.execute("pragma user_version").fetchone()[0])
        if version > VERSION:
            raise StoreUnavailable(f"{self._path} was written by a newer evercrawl; install that version")
        return version


def add_mute(
    collection: Path,
    pattern: str,
    *,
    site: str | None = None,
    page: str | None = None,
    who: str,
    now: datetime,
    verdict: PartVerdict = PartVerdict.NOISE,
) -> Mute:
    """Hide edits that match a pattern, or report them even if they look like noise, on one page or a whole site."""
    form = " ".join(pattern.split())
    wrong = pattern_problem(form)
    if wrong is not None:
        raise ConfigError(wrong)
    return ChangeInbox(collection).mute(
        _place(collection, site, page), form, who=who, now_us=to_us(now), verdict=verdict
    )


def _place(collection: Path, site: str | None, page: str | None) -> str:
    if (site is None) == (page is None):
        raise ConfigError("give a site or a page")
    if site is not None:
        return find_origin(collection, site)
    url = canonical(page or "")
    if url is None:
        raise ConfigError(f"{page!r} is not a URL; write it like https://example.org/news")
    return url
