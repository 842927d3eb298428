"""The file of the inbox (`inbox.sqlite`): its tables, and what a crawl reads from it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from evercrawl.adapters.sqlite.hardened_file import connect, require_schema
from evercrawl.adapters.sqlite.state_file import TranslateErrors
from evercrawl.adapters.system import modified_ns
from evercrawl.model.change import Mute, PartVerdict

FILE = "inbox.sqlite"
VERSION = 2
BUSY_WAIT_S = 10.0
SCHEMA = (
    "create table review (id integer primary key autoincrement, at_us integer not null, who text not null,"
    " text text not null)",
    "create table mark (review integer not null, key integer, site text, until_us integer not null)",
    "create index mark_of_review on mark (review)",
    "create table mute (id integer primary key autoincrement, at_us integer not null, who text not null,"
    " place text not null, pattern text not null, verdict text not null, unique (place, pattern))",
)
MUTE_COLUMNS = "id, at_us, who, place, pattern, verdict"


def mute_from(row: Sequence[str | int]) -> Mute:
    """Return the mute of a row."""
    mute = Mute._make(row)
    return mute._replace(verdict=PartVerdict(mute.verdict))


class Corrections:
    """The parts of pages whose changes count as content; the file is read again when it has changed."""

    def __init__(self, collection: Path) -> None:
        self._path = collection / FILE
        self._files = [f"{self._path}{suffix}" for suffix in ("", "-wal")]
        self._stamp: object = None
        self._found: tuple[Mute, ...] = ()

    def __call__(self) -> tuple[Mute, ...]:
        """Return the corrections."""
        stamp = list(map(modified_ns, self._files))
        if stamp != self._stamp:
            self._found = self._read()
            self._stamp = stamp
        return self._found

    def _read(self) -> tuple[Mute, ...]:
        if not self._path.exists():
            return ()
        with TranslateErrors(self._path), closing(connect(self._path, mode="ro", timeout=BUSY_WAIT_S)) as db:
            if db.execute("pragma user_version").fetchone()[0] != VERSION:
                return ()
            require_schema(db, self._path, SCHEMA)
            query = f"select {MUTE_COLUMNS} from mute where verdict = ? order by id"
            return tuple(map(mute_from, db.execute(query, (PartVerdict.CONTENT.value,))))
