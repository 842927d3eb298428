"""Named SQL statements, read from the `.sql` files of this package; both databases understand every one of them.
A heading `-- name --` begins a statement; a line about its purpose follows. `:word` is a parameter, and `:shard` is
always the shard of the connection. A heading with columns, `-- name (id bigint key, url text) --`, begins a batch
statement, which runs for many rows: the columns give the order of the values in a row, their PostgreSQL types, and the
columns that identify the changed row."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

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
