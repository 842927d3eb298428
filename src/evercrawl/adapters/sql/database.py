"""The database interface of the store's code, for SQLite (immediate) and PostgreSQL (asynchronous).
Parameters of single statements are named. Rows of batch statements are tuples in the order of the columns that the
statement declares."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from evercrawl.core.change.text_diff import pack_edit, unpack_edit
from evercrawl.core.document.compression import unpack_text, unpack_text_start
from evercrawl.errors import StoreUnavailable
from evercrawl.model.change import Change, ChangeClass, Edit
from evercrawl.model.listing import ChangeRecord
from evercrawl.model.page import Refusal
from evercrawl.model.reason import Reason
from evercrawl.model.site import RobotsRecord, Site

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


_SITE_COLUMNS = Site._fields.index("robots")


_REASONS = {reason.value: reason for reason in Reason}


def refusal_from(row: Row) -> Refusal:
    """Return the refusal of a row."""
    key, url, reason, *others = row
    return Refusal(key, url, _REASONS[reason], *others)


def site_from(row: Row) -> Site:
    """Return the site of a row of `site_row`; the columns of a missing robots record are null."""
    values: tuple[Any, ...] = tuple(row)
    robots = values[_SITE_COLUMNS:]
    record = None if robots[0] is None else RobotsRecord._make(robots)
    return Site._make((*values[:_SITE_COLUMNS], record))


def change_from(row: Row) -> ChangeRecord:
    """Return the change of a row of `changes_since` or `changes_before`."""
    at_us, page_id, url, kind, size, written, *title = row
    edits, omitted = edits_from(written)
    change = Change(ChangeClass(kind), size, edits, omitted=omitted)
    return ChangeRecord(page_id, url, at_us, change, *title)


def edits_row(change: Change) -> str:
    """Return the edits of a change as they are stored."""
    return json.dumps([change.omitted, *map(pack_edit, change.edits)])


def noise_row(edits: Sequence[Edit]) -> str:
    """Return edits that were called noise as they are stored."""
    return json.dumps(list(map(pack_edit, edits)))


def noise_from(row: Row) -> ChangeRecord:
    """Return the noise of a row of `noise_after`."""
    page_id, at_us, url, written = row
    edits = tuple(map(unpack_edit, json.loads(written)))
    return ChangeRecord(page_id, url, at_us, Change(ChangeClass.NOISE, 0.0, edits))


def edits_from(written: str) -> tuple[tuple[Edit, ...], int]:
    """Read the edits of a change, and the number of those that are not stored."""
    omitted, *edits = json.loads(written)
    return tuple(map(unpack_edit, edits)), omitted


def text_of(chain: Sequence[Row], page_id: int, number: int, *, most_bytes: int | None = None) -> str | None:
    """Return the text at the end of the rows of `text_chain`, or about `most_bytes` of it; None: there is none."""
    if not chain:
        return None
    try:
        if chain[0][1] is not None:
            raise ValueError(f"the frame of version {chain[0][1]} is missing")
        frames = [row[0] for row in chain]
        return unpack_text(frames) if most_bytes is None else unpack_text_start(frames, most_bytes)
    except ValueError as error:
        raise StoreUnavailable(f"the text of version {number} of page {page_id} cannot be read: {error}") from error
