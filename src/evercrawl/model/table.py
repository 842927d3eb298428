"""Tables for display: columns, filters, order, and a portion of rows.
A filter is written as text: `404`, `>=400`, `200..299`, `!=200` for numbers; `>7d`, `2026-11-01` for times; words that
the text contains, `=exactly`, `!without`, `!=other` for text. ` & ` joins several conditions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Literal, NamedTuple

from evercrawl.errors import ConfigError
from evercrawl.model.time import parse_time, to_us

ColumnKind = Literal[
    "text", "choice", "page", "site", "pattern", "number", "bytes", "ms", "seconds", "share", "time", "run",
    "alert", "collection", "tags",
]  # fmt: skip
NUMBERS = frozenset({"number", "bytes", "ms", "seconds", "share", "time", "run"})
EXACT = frozenset({"choice"})  # Compared as a whole if no operator is given.
MAX_NUMBER = 2**62
MAX_CONDITIONS = 8  # On one column.
_COMPARE = re.compile(r"(>=|<=|!=|>|<|=|)\s*(.*)", re.DOTALL)
_NUMBER = re.compile(r"(-?\d{1,18}(?:\.\d{1,6})?)\s*([kMGT]?)B?", re.ASCII)
_FACTORS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column that can be shown, sorted and filtered."""

    name: str
    label: str
    kind: ColumnKind = "text"
    is_shown: bool = True  # If the reader has not chosen columns.
    is_sortable: bool = True
    is_filterable: bool = True


class ColumnFilter(NamedTuple):
    """A condition on a column; `~` means that the text contains the value, `!~` that it does not."""

    column: str
    operator: str
    value: str | int | float


class RowCursor(NamedTuple):
    """The position of a row: its value in the sort column, shard and key."""

    value: str | int | float | None
    shard: int
    key: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class TableQuery:
    """Which rows of a table to show, in which order."""

    filters: tuple[ColumnFilter, ...] = ()
    sort: str | None = None  # None: the order of the table.
    descending: bool = False
    cursor: RowCursor | None = None
    backwards: bool = False  # The rows before the cursor.
    limit: int = 50


@dataclass(frozen=True, slots=True)
class TableRows:
    """A portion of a table, with the cursors of its neighbours."""

    rows: list[dict[str, Any]]
    next: RowCursor | None = None
    previous: RowCursor | None = None
    is_partial: bool = False  # The search stopped at its time limit; the next portion continues it.


def parse_filters(column: TableColumn, text: str, *, now: datetime) -> list[ColumnFilter]:
    """Return the conditions that a text means; raise ConfigError if it is not valid."""
    found: list[ColumnFilter] = []
    for part in map(str.strip, text.split(" & ", MAX_CONDITIONS - 1)):
        if column.kind == "time":
            found += _time_filters(column.name, part, now)
        elif column.kind in NUMBERS:
            found += _number_filters(column, part)
        else:
            found.append(_text_filter(column, part))
    return found


def _text_filter(column: TableColumn, text: str) -> ColumnFilter:
    for sign, operator in (("!=", "!="), ("!~", "!~"), ("=", "="), ("~", "~")):
        if text.startswith(sign):
            return ColumnFilter(column.name, operator, text.removeprefix(sign))
    exact = column.kind in EXACT
    if text.startswith("!"):
        return ColumnFilter(column.name, "!=" if exact else "!~", text[1:])
    return ColumnFilter(column.name, "=" if exact else "~", text)


def _number_filters(column: TableColumn, text: str) -> list[ColumnFilter]:
    low, is_range, high = text.partition("..")
    if is_range:
        return [
            ColumnFilter(column.name, ">=", _number(column, low)),
            ColumnFilter(column.name, "<=", _number(column, high)),
        ]
    found = _COMPARE.fullmatch(text)
    assert found is not None
    return [ColumnFilter(column.name, found[1] or "=", _number(column, found[2]))]


def _number(column: TableColumn, text: str) -> int | float:
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        raise ConfigError(f"{column.name}: {text!r} is not a number; write 404, >=400, 200..299 or !=200")
    value = float(found[1]) * _FACTORS[found[2]]
    if column.kind == "share":
        return value
    return max(-MAX_NUMBER, min(MAX_NUMBER, int(value)))


def _time_filters(name: str, text: str, now: datetime) -> list[ColumnFilter]:
    low, is_range, high = text.partition("..")
    if is_range:
        begin, end = parse_time(low.strip(), now=now), parse_time(high.strip(), now=now)
        return [ColumnFilter(name, ">=", to_us(begin)), ColumnFilter(name, "<", to_us(end))]
    found = _COMPARE.fullmatch(text)
    assert found is not None
    at = parse_time(found[2], now=now)
    if not found[1] and _DAY.fullmatch(found[2]):
        return [ColumnFilter(name, ">=", to_us(at)), ColumnFilter(name, "<", to_us(at + timedelta(days=1)))]
    return [ColumnFilter(name, found[1] or ">=", to_us(at))]


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": eq,
    "!=": ne,
    ">": gt,
    ">=": ge,
    "<": lt,
    "<=": le,
    "~": lambda text, part: part.lower() in text.lower(),
    "!~": lambda text, part: part.lower() not in text.lower(),
}


def sort_value(column: TableColumn, value: Any) -> Any:
    """Return a value that can be compared with any other of its column; missing ones come first."""
    if column.kind not in NUMBERS:
        return "" if value is None else str(value)
    if isinstance(value, datetime):
        return to_us(value)
    return -1 if value is None else value


def select_rows(rows: Sequence[Row], columns: Sequence[TableColumn], query: TableQuery) -> TableRows:
    """Return a portion of rows in memory; the position of a row in the list is its key."""
    by_name = {column.name: column for column in columns}
    found = [
        (place, row)
        for place, row in enumerate(rows)
        if all(
            _OPERATORS[one.operator](sort_value(by_name[one.column], row[one.column]), one.value)
            for one in query.filters
        )
    ]
    if query.sort is not None:
        column = by_name[query.sort]
        found.sort(key=lambda pair: sort_value(column, pair[1][column.name]), reverse=query.descending)
    start = 0
    if query.cursor is not None:
        places = [place for place, _ in found]
        at = places.index(query.cursor.key[0]) if query.cursor.key[0] in places else 0
        start = max(0, at - query.limit) if query.backwards else at + 1
    shown = found[start : start + query.limit]
    ends = [RowCursor(None, 0, (place,)) for place, _ in shown]
    return TableRows(
        [dict(row) for _, row in shown],
        ends[-1] if ends and start + query.limit < len(found) else None,
        ends[0] if ends and start else None,
    )
