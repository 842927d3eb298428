"""Executes the store's statements in the SQLite file of one shard; every call works at once, without threads."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import lru_cache, partial
from pathlib import Path

from evercrawl.adapters.sql.database import SHARD, SQL, DuplicateKey, Row, Statement
from evercrawl.adapters.sql.shard_store import SqlShard
from evercrawl.adapters.sqlite.hardened_file import transaction
from evercrawl.adapters.sqlite.state_file import (
    TranslateErrors,
    open_for_writing,
    set_cache,
    shard_of,
    shard_path,
    shards_in,
    sync_log,
    translate_error,
)
from evercrawl.adapters.system import OpenFiles
from evercrawl.model.settings import StoreSettings

MAX_TEXTS = 20_000  # Statements of shards that are kept in memory.


class SqliteConnection:
    """The open file of one shard. Implements `BlockingQueries`, and writes."""

    def __init__(
        self,
        path: Path,
        db: sqlite3.Connection,
        *,
        reopen: Callable[[], sqlite3.Connection] | None = None,
        files: OpenFiles | None = None,
    ) -> None:
        """`reopen` opens the file again after `files` had it closed."""
        self.path = path
        self.shard = shard_of(path)
        self._reopen = reopen
        self._files = files
        self._db: sqlite3.Connection | None = db
        if files is not None:
            files.use(self)

    @property
    def db(self) -> sqlite3.Connection:
        """The open file."""
        if self._files is not None:
            self._files.use(self)
        if self._db is None:
            assert self._reopen is not None
            self._db = self._reopen()
        return self._db

    def release_files(self) -> None:
        """Close the file until it is needed again; never within a transaction."""
        if self._db is not None and not self._db.in_transaction:
            self._db.close()
            self._db = None

    def rows(self, name: str, **values: object) -> list[Row]:
        """Return every row."""
        try:
            return self.db.execute(self._text(name), SQL[name].values(values)).fetchall()
        except sqlite3.Error as error:
            raise translate_error(error, self.path) from error

    def select(self, statement: Statement, **values: object) -> list[Row]:
        """Return every row of a query that is in no file."""
        try:
            return self.db.execute(_sqlite_text(statement, self.shard), statement.values(values)).fetchall()
        except sqlite3.Error as error:
            raise translate_error(error, self.path) from error

    def row(self, name: str, **values: object) -> Row | None:
        """Return the first row; None: there is none."""
        try:
            return self.db.execute(self._text(name), SQL[name].values(values)).fetchone()
        except sqlite3.Error as error:
            raise translate_error(error, self.path) from error

    def rows_for(self, name: str, rows: Sequence[tuple[object, ...]]) -> list[Row]:
        """Run a batch query: for numbers all at once, for other values one by one in a read transaction."""
        try:
            if [column.type for column in SQL[name].columns] == ["bigint"]:
                numbers = json.dumps([row[0] for row in rows])
                return self.db.execute(self._text(name), (numbers,)).fetchall()
            return self._rows_one_by_one(self._text(name), rows)
        except sqlite3.Error as error:
            raise translate_error(error, self.path) from error

    def _rows_one_by_one(self, text: str, rows: Sequence[tuple[object, ...]]) -> list[Row]:
        # Outside a transaction, each lookup would pay for its own locks.
        execute, begins = self.db.execute, len(rows) > 1 and not self.db.in_transaction
        if begins:
            execute("begin")
        try:
            return [found for row in rows if (found := execute(text, row).fetchone()) is not None]
        finally:
            if begins:
                execute("commit")

    def run(self, name: str, **values: object) -> None:
        """Run one statement without a result."""
        try:
            self.db.execute(self._text(name), SQL[name].values(values))
        except sqlite3.Error as error:
            raise self._translate(error) from error

    def run_many(self, name: str, rows: Iterable[tuple[object, ...]]) -> int:
        """Run a batch statement; return how many rows it changed."""
        try:
            return self.db.executemany(self._text(name), rows).rowcount
        except sqlite3.Error as error:
            raise self._translate(error) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit the whole block or nothing of it."""
        with TranslateErrors(self.path), transaction(self.db):
            yield

    def close(self) -> None:
        """Close the file."""
        if self._files is not None:
            self._files.forget(self)
        if self._db is not None:
            with TranslateErrors(self.path):
                self._db.close()

    def _translate(self, error: sqlite3.Error) -> Exception:
        if isinstance(error, sqlite3.IntegrityError):
            return DuplicateKey(f"{self.path}: {error}")
        return translate_error(error, self.path)

    def _text(self, name: str) -> str:
        return _named_text(name, self.shard)


@lru_cache(maxsize=MAX_TEXTS)
def _named_text(name: str, shard: int) -> str:
    return _sqlite_text(SQL[name], shard)


def _sqlite_text(statement: Statement, shard: int) -> str:
    """The shard is a literal, the other parameters are numbered; a batch query takes a list of numbers as JSON."""
    if statement.target is None and [column.type for column in statement.columns] == ["bigint"]:
        name = statement.columns[0].name
        listed = statement.text.replace(f"= :{name}", "in (select value from json_each(?1))")
        return statement._replace(text=listed).render({SHARD: str(shard)}.__getitem__)
    places = {name: f"?{place}" for place, name in enumerate(statement.parameters, start=1)}
    return statement.render({**places, SHARD: str(shard)}.__getitem__)


class SqliteDatabase:
    """Implements `ShardDatabase` and its `Transaction` over one open file."""

    def __init__(
        self, connection: SqliteConnection, on_close: Callable[[int], None], *, is_durable: bool = False
    ) -> None:
        """`is_durable`: a transaction ends when it survives a power cut."""
        self.connection = connection
        self._is_durable = is_durable
        self._on_close = on_close
        self._is_open = True

    async def all(self, name: str, **values: object) -> list[Row]:
        return self.connection.rows(name, **values)

    async def one(self, name: str, **values: object) -> Row | None:
        return self.connection.row(name, **values)

    async def each(self, name: str, rows: Sequence[tuple[object, ...]]) -> list[Row]:
        return self.connection.rows_for(name, rows)

    async def execute(self, name: str, **values: object) -> None:
        self.connection.run(name, **values)

    async def write(self, name: str, rows: Iterable[tuple[object, ...]]) -> None:
        self.connection.run_many(name, rows)

    async def count(self, name: str, rows: Sequence[tuple[object, ...]]) -> int:
        return self.connection.run_many(name, rows)

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Every call runs to its end, so there is nothing to hold back."""
        yield

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[SqliteDatabase]:
        with self.connection.transaction():
            yield self
        if self._is_durable:
            await sync_log(self.connection.path)

    async def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._is_open:
            self._is_open = False
            self.connection.close()
            self._on_close(self.connection.shard)


MIN_CACHE_BYTES = 2 * 1024 * 1024  # The page cache of a shard never gets smaller, whatever the number of open shards.


class SqliteShard(SqlShard):
    """A shard in its file."""

    database: SqliteDatabase

    @property
    def connection(self) -> SqliteConnection:
        """The open file."""
        return self.database.connection


class SqliteStore:
    """Implements `Store`. The open shards divide the page cache of the settings among them."""

    def __init__(self, collection: Path, settings: StoreSettings, *, most_open: int | None = None) -> None:
        """`most_open`: files of at most this many shards are open at the same time."""
        self._files = None if most_open is None or most_open >= settings.shards else OpenFiles(most_open)
        self.shards = settings.shards
        self._collection = collection
        self._settings = settings
        self._open: dict[int, SqliteShard] = {}

    async def open_shard(self, shard: int) -> SqliteShard:
        """Return the shard, created empty if needed; the same object while it is open."""
        if shard not in self._open:
            path = shard_path(self._collection, shard)
            reopen = partial(self._open_file, path)
            connection = SqliteConnection(path, reopen(), reopen=reopen, files=self._files)
            is_durable = self._settings.durability == "power"
            database = SqliteDatabase(connection, on_close=self._forget, is_durable=is_durable)
            self._open[shard] = SqliteShard(shard, database, most_refusals=self._settings.max_refusals_per_shard)
            self._divide_cache()
        return self._open[shard]

    def _open_file(self, path: Path) -> sqlite3.Connection:
        db = open_for_writing(path, durability=self._settings.durability)
        set_cache(db, self._cache_share())
        return db

    async def existing_shards(self) -> list[int]:
        """Return the shards that have a file."""
        return shards_in(self._collection)

    async def close(self) -> None:
        """Close every open shard."""
        for shard in list(self._open.values()):
            await shard.close()

    def _forget(self, shard: int) -> None:
        self._open.pop(shard, None)

    def _cache_share(self) -> int:
        return max(MIN_CACHE_BYTES, self._settings.cache_bytes // max(1, len(self._open)))

    def _divide_cache(self) -> None:
        if self._files is not None:
            return  # Few files are open, and each gets its share when it is opened.
        share = self._cache_share()
        for shard in self._open.values():
            with TranslateErrors(shard.connection.path):
                set_cache(shard.connection.db, share)
