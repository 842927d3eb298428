"""The database interface of the store's code, for SQLite (immediate) and PostgreSQL (asynchronous).
Parameters of single statements are named. Rows of batch statements are tuples in the order of the columns that the
statement declares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from evercrawl.adapters.sql.statements import Statement

Row = Any  # A sequence of values; a tuple or the driver's own record.


class DuplicateKey(Exception):
    """An insert broke the uniqueness of a key."""


class Queries(Protocol):
    """Reads from one shard."""

    async def all(self, name: str, **values: object) -> list[Row]:
        """Return every row."""

    async def one(self, name: str, **values: object) -> Row | None:
        """Return the first row; None: there is none."""

    async def each(self, name: str, rows: Sequence[tuple[object, ...]]) -> list[Row]:
        """Run a batch query; return at most one row for each input, in any order."""


class Transaction(Queries, Protocol):
    """Reads and writes of one shard, all of which take effect or none."""

    async def execute(self, name: str, **values: object) -> None:
        """Run one statement without a result."""

    async def write(self, name: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Run a batch statement, now or at the latest before the next read."""

    async def count(self, name: str, rows: Sequence[tuple[object, ...]]) -> int:
        """Run a batch update now; return how many rows it changed."""


class ShardDatabase(Queries, Protocol):
    """The tables of one shard."""

    def exclusive(self) -> AbstractAsyncContextManager[None]:
        """Hold back the reads of this process, so that none sees a state between memory and the store."""

    def transaction(self) -> AbstractAsyncContextManager[Transaction]:
        """Begin a transaction, inside `exclusive`; no other owner of the shard can be in one at the same time."""

    async def close(self) -> None:
        """Release the file or connection."""


class BlockingQueries(Protocol):
    """Reads from one shard, for commands: every call waits for its rows."""

    def rows(self, name: str, **values: object) -> list[Row]:
        """Return every row."""

    def select(self, statement: Statement, **values: object) -> list[Row]:
        """Return every row of a query that is in no file."""

    def row(self, name: str, **values: object) -> Row | None:
        """Return the first row; None: there is none."""

    def rows_for(self, name: str, rows: Sequence[tuple[object, ...]]) -> list[Row]:
        """Run a batch query; return at most one row for each input, in any order."""

    def close(self) -> None:
        """Release the file or connection."""
