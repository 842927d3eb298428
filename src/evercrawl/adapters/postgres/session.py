"""A shard in PostgreSQL as the embedded store's code sees it: statements in, rows out."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import asyncpg

from evercrawl.adapters.postgres.bridge import waited_for
from evercrawl.adapters.postgres.dialect import Schema, for_each, said_in_postgres

Row = Any


class Rows:
    """What a statement gave."""

    def __init__(self, rows: Sequence[Row], rowcount: int = -1) -> None:
        self._rows = rows
        self.rowcount = rowcount

    def fetchone(self) -> Row | None:
        return self._rows[0] if self._rows else None

    def fetchall(self) -> list[Row]:
        return list(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)


class Translations:
    """Statements of the embedded store and what they are in PostgreSQL, each worked out once."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._said: dict[str, str] = {}
        self._each: dict[tuple[str, str], str] = {}

    def of(self, statement: str) -> str:
        """The statement about the shard `$1`."""
        if statement not in self._said:
            self._said[statement] = said_in_postgres(statement, self.schema)
        return self._said[statement]

    def for_each(self, statement: str, kind: str) -> str:
        """The statement for an array of values."""
        key = (statement, kind)
        if key not in self._each:
            self._each[key] = for_each(statement, self.schema, kind=kind)
        return self._each[key]


class Session:
    """One connection for as long as one piece of work takes. It knows as much of `sqlite3.Connection` as that
    work uses; a broken rule of an index is the same exception here and there.
    """

    def __init__(
        self,
        connection: asyncpg.Connection,
        shard: int,
        translations: Translations,
        wait: Callable[[Any], Any] = waited_for,
    ) -> None:
        self.in_transaction = False
        self._connection = connection
        self._shard = shard
        self._translations = translations
        self._wait = wait
        self._holds: asyncpg.transaction.Transaction | None = None

    def execute(self, statement: str, parameters: Iterable[object] = ()) -> Rows:
        """Run one statement; `begin immediate` also takes the lock of the shard's row."""
        if statement in _STEPS:
            self._step(statement)
            return Rows(())
        if "sqlite_master" in statement:
            return Rows([(1,)])  # every table is made with the namespace
        said = self._translations.of(statement)
        return Rows(self._ask(self._connection.fetch(said, self._shard, *map(_storable, parameters))))

    def executemany(self, statement: str, rows: Iterable[Iterable[object]]) -> Rows:
        """Run one statement for many rows, which travel together."""
        wanted = [(self._shard, *map(_storable, row)) for row in rows]
        if not wanted:
            return Rows((), 0)
        said = self._translations.of(statement)
        if not statement.startswith("update"):
            self._ask(self._connection.executemany(said, wanted))
            return Rows((), len(wanted))
        # Only an update may meet fewer rows than it was given, and only so does the server say how many.
        return Rows((), len(self._ask(self._connection.fetchmany(f"{said} returning 1", wanted))))

    def each(self, statement: str, values: Sequence[Any]) -> list[Row | None]:
        """The first row for each value, asked for in one go."""
        if not values:
            return []
        kind = _ARRAYS[type(values[0])]
        said = self._translations.for_each(statement, kind)
        found: list[Row | None] = [None] * len(values)
        for place, *row in self._ask(self._connection.fetch(said, self._shard, list(values))):
            found[place - 1] = row
        return found

    def _step(self, statement: str) -> None:
        if statement.startswith("begin"):
            self._holds = self._connection.transaction()
            self._ask(self._holds.start())
            self.in_transaction = True
            if statement == "begin immediate":
                space = self._translations.schema.namespace
                lock = f"select 1 from {space}.shard where shard = $1 for update"
                self._ask(self._connection.fetch(lock, self._shard))
            return
        assert self._holds is not None
        self.in_transaction = False
        self._ask(self._holds.commit() if statement == "commit" else self._holds.rollback())

    def _ask(self, question: Any) -> Any:
        try:
            return self._wait(question)
        except asyncpg.UniqueViolationError as error:
            raise sqlite3.IntegrityError(str(error)) from error


_STEPS = frozenset({"begin", "begin immediate", "commit", "rollback"})
_ARRAYS: dict[type, str] = {bytes: "bytea", str: "text", int: "bigint"}


def _storable(value: object) -> object:
    """PostgreSQL keeps no zero character in a text, and no half of a pair of surrogates."""
    if isinstance(value, str) and not value.isascii():
        value = value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, str) and "\0" in value:
        return value.replace("\0", "\ufffd")
    return value
