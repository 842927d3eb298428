"""A shard in PostgreSQL as the embedded store's code sees it: statements in, rows out."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import asyncpg

from evercrawl.adapters.postgres.bridge import waited_for
from evercrawl.adapters.postgres.columns import Columnwise, columnwise, together
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
        self._together: dict[tuple[str, ...], str] = {}
        self.ways: dict[str, Columnwise | None] = {}
        """How statements are said for many rows."""

    def of(self, statement: str) -> str:
        """The statement about the shard `$1`."""
        if statement not in self._said:
            self._said[statement] = said_in_postgres(statement, self.schema)
        return self._said[statement]

    def together(self, texts: tuple[str, ...]) -> str:
        """Several statements as one."""
        if texts not in self._together:
            self._together[texts] = together(texts)
        return self._together[texts]

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
        self._waiting: dict[str, tuple[str, list[Any]]] = {}
        """What is to be written, by table."""
        self._connection = connection
        self._shard = shard
        self._translations = translations
        self._wait = wait

    def execute(self, statement: str, parameters: Iterable[object] = ()) -> Rows:
        """Run one statement; `begin immediate` also takes the lock of the shard's row."""
        if statement in _STEPS:
            self._step(statement)
            return Rows(())
        if "sqlite_master" in statement:
            return Rows([(1,)])  # every table is made with the namespace
        self._write_waiting()
        said = self._translations.of(statement)
        return Rows(self._ask(self._connection.fetch(said, self._shard, *map(storable, parameters))))

    def executemany(self, statement: str, rows: Iterable[Iterable[object]]) -> Rows:
        """Run one statement for many rows, which travel together; for an update also say how many it met."""
        wanted = [tuple(row) for row in rows]
        if not wanted:
            return Rows((), 0)
        said = self._translations.of(statement)
        way = self._columnwise(said)
        if way is None or way.has_doubles(wanted):
            self._write_waiting()
            return self._one_by_one(statement, said, [(self._shard, *map(storable, row)) for row in wanted])
        columns = [
            list(map(storable, column)) if place in way.texts else column
            for place, column in enumerate(zip(*wanted, strict=True))
        ]
        if self.in_transaction and way.table is not None:
            self._put_off(way.table, way.text, columns)
            return Rows(())
        self._write_waiting()
        met = self._ask(self._connection.fetch(way.text, self._shard, *columns))
        return Rows((), len(met) if statement.startswith("update") else len(wanted))

    def _put_off(self, table: str, text: str, columns: list[Any]) -> None:
        """Write it together with others: with the next question, with the end of the transaction, or when the
        same table is written to again.
        """
        if table in self._waiting:
            self._write_waiting()
        self._waiting[table] = (text, columns)

    def _write_waiting(self) -> None:
        """One message for everything that was put off. Whatever is asked next sees it."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, {}
        texts = tuple(text for text, _ in waiting.values())
        text = texts[0] if len(texts) == 1 else self._translations.together(texts)
        columns = [column for _, some in waiting.values() for column in some]
        self._ask(self._connection.fetch(text, self._shard, *columns))

    def _one_by_one(self, statement: str, said: str, rows: list[tuple[object, ...]]) -> Rows:
        if not statement.startswith("update"):
            self._ask(self._connection.executemany(said, rows))
            return Rows((), len(rows))
        # Only an update may meet fewer rows than it was given, and only so does the server say how many.
        return Rows((), len(self._ask(self._connection.fetchmany(f"{said} returning 1", rows))))

    def _columnwise(self, said: str) -> Columnwise | None:
        ways = self._translations.ways
        if said not in ways:
            prepared = self._ask(self._connection.prepare(said))
            ways[said] = columnwise(said, [kind.name for kind in prepared.get_parameters()[1:]])
        return ways[said]

    def each(self, statement: str, values: Sequence[Any]) -> list[Row | None]:
        """The first row for each value, asked for in one go."""
        if not values:
            return []
        self._write_waiting()
        kind = _ARRAYS[type(values[0])]
        said = self._translations.for_each(statement, kind)
        found: list[Row | None] = [None] * len(values)
        for place, *row in self._ask(self._connection.fetch(said, self._shard, list(values))):
            found[place - 1] = row
        return found

    def _step(self, statement: str) -> None:
        """`begin immediate` takes the lock of the shard's row with it, in one message."""
        if statement == "commit":
            self._write_waiting()
        self._waiting.clear()
        if statement == "begin immediate":
            space = self._translations.schema.namespace
            statement = f"begin; select 1 from {space}.shard where shard = {self._shard} for update"
        self.in_transaction = statement.startswith("begin")
        self._ask(self._connection.execute(statement))

    def _ask(self, question: Any) -> Any:
        try:
            return self._wait(question)
        except asyncpg.UniqueViolationError as error:
            raise sqlite3.IntegrityError(str(error)) from error


_STEPS = frozenset({"begin", "begin immediate", "commit", "rollback"})
_ARRAYS: dict[type, str] = {bytes: "bytea", str: "text", int: "bigint"}


def storable(value: object) -> object:
    """PostgreSQL keeps no zero character in a text, and no half of a pair of surrogates."""
    if not isinstance(value, str):
        return value
    if not value.isascii():
        value = value.encode("utf-8", "replace").decode("utf-8")
    return value.replace("\0", "\ufffd") if "\0" in value else value
