"""The database interface of the store's code, for SQLite (immediate) and PostgreSQL (asynchronous).
Parameters of single statements are named. Rows of batch statements are tuples in the order of the columns that the
statement declares."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

_HEADING = re.compile(r"^-- (\w+)(?: \(([^)]+)\))? --\n(-- .+\n)+", re.MULTILINE)
_PARAMETER = re.compile(r"(?<![:\w]):(\w+)")
_TARGET = re.compile(r"(?:insert into|update|delete from) (\w+)")
SHARD = "shard"


class Column(NamedTuple):
    """One value in the rows of a batch statement."""

    name: str
    type: str
    is_key: bool


class Statement(NamedTuple):
    """A statement with its parameters in the order in which a database binds them."""

    name: str
    text: str
    parameters: tuple[str, ...]  # Without the shard.
    columns: tuple[Column, ...]  # Empty: the statement takes single values.
    target: str | None  # The table that it changes; None: it is a query.

    def render(self, mark: Callable[[str], str]) -> str:
        """Return the text with every parameter replaced by `mark` of its name."""
        return _PARAMETER.sub(lambda found: mark(found[1]), self.text)

    def values(self, given: Mapping[str, object]) -> tuple[object, ...]:
        """Return the given values in the order of the parameters."""
        if len(given) != len(self.parameters):
            raise TypeError(f"{self.name} takes {self.parameters}, not {tuple(given)}")
        return tuple([given[name] for name in self.parameters])


def parse_statements(text: str) -> dict[str, Statement]:
    """Return the statements of a file by name."""
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    found: dict[str, Statement] = {}
    for heading, end in zip(headings, ends, strict=True):
        if heading[1] in found:
            raise ValueError(f"two statements have the name {heading[1]}")
        found[heading[1]] = make_statement(heading[1], text[heading.end() : end].strip(), heading[2] or "")
    return found


def make_statement(name: str, text: str, columns: str = "") -> Statement:
    """Return a statement of this text; `columns` are those of a batch statement."""
    declared = tuple(_column(part) for part in columns.replace("\n--", "").split(",")) if columns else ()
    used = tuple(dict.fromkeys(found[1] for found in _PARAMETER.finditer(text) if found[1] != SHARD))
    names = tuple(column.name for column in declared)
    if declared and set(names) != set(used):
        raise ValueError(f"{name} declares {names} and uses {used}")
    target = _TARGET.match(text)
    return Statement(name, text, names or used, declared, target[1] if target else None)


def _column(text: str) -> Column:
    name, _, kind = text.strip().partition(" ")
    return Column(name, kind.removesuffix(" key"), kind.endswith(" key"))


def read_statements(package: str, *names: str) -> Mapping[str, Statement]:
    """Return the statements of some files of a package by name; a name may occur once."""
    text = "\n".join(files(package).joinpath(name).read_text(encoding="utf-8") for name in names)
    return MappingProxyType(parse_statements(text))


SQL = read_statements(__package__, "crawl.sql", "inspect.sql", "prune.sql", "remove.sql")


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
