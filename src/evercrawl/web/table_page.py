"""Tables that can be sorted, filtered and paged; the URL keeps their state, and CSV and JSON have what is shown."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evercrawl.collection.exchange.tables import escape_formula
from evercrawl.collection.table_view import OnPart, decode_row_cursor, encode_row_cursor, read_table, table_columns
from evercrawl.errors import ConfigError
from evercrawl.model.table import NUMBERS, Row, TableColumn, TableQuery, TableRows, parse_filters, select_rows
from evercrawl.web.app_state import AppState
from evercrawl.web.format import link_to, to_plain
from evercrawl.web.route import AFTER, BadRequest, Inputs, Parameter, limit

MAX_ROWS = 1000
SORT_WAIT_S = 10.0  # How long a program waits for the order of a large table.
PAGE_WAIT_S = 0.15  # How long a page waits for it, before it shows the first rows of what was read so far.
PART_WAIT_S = 0.35  # How long it then waits for these.
_STATE = ("sort", "columns", "after", "before", "limit")
_HINTS = {"time": ">7d, 2026-11-01", "share": ">=0.1", "choice": "exact, !not"}


def table_parameters(columns: Sequence[TableColumn]) -> tuple[Parameter, ...]:
    """Return the parameters of a table."""
    named = "|".join(re.escape(column.name) for column in columns)
    sortable = "|".join(re.escape(column.name) for column in columns if column.is_sortable)
    return (
        Parameter(
            "sort", "Name of a column; with a minus sign in front, in descending order.", pattern=f"(-?({sortable}))?"
        ),
        Parameter(
            "columns",
            "Names of the columns to show, separated by commas.",
            "list",
            pattern=f"(({named})(,({named}))*)?",
        ),
        AFTER,
        Parameter("before", "Go back in a list: `previous` of the response."),
        limit(50, MAX_ROWS),
        *(
            Parameter(column.name, f"Filter by {column.label.lower()}: {filter_hint(column)}.")
            for column in columns
            if column.is_filterable
        ),
    )


def as_table(rows: str, columns: tuple[TableColumn, ...]) -> dict[str, Any]:
    """Return the arguments of a view whose page is a table; `rows` is the field of its JSON that has them."""
    return {"parameters": table_parameters(columns), "table": rows, "columns": columns}


def filter_hint(column: TableColumn) -> str:
    """Return how to write a filter of this column."""
    return _HINTS.get(column.kind, "404, >=400, 200..299" if column.kind in NUMBERS else "words, =exact, !without")


@dataclass(frozen=True, slots=True)
class TableView:
    """A table as its page shows it."""

    path: str
    columns: tuple[TableColumn, ...]
    shown: tuple[TableColumn, ...]
    query: TableQuery
    portion: TableRows
    values: Mapping[str, Any]
    is_sorting: bool = False  # These are the first rows of what was read so far.

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Return the rows."""
        return self.portion.rows

    @property
    def filters(self) -> dict[str, str]:
        """Return the filters as they were written."""
        names = [column.name for column in self.columns if column.is_filterable]
        return {name: self.values[name] for name in names if self.values.get(name)}

    @property
    def kept(self) -> dict[str, str]:
        """Return the parameters that are not of the table."""
        names = {*_STATE, *(column.name for column in self.columns)}
        return {
            name: str(value) for name, value in self.values.items() if name not in names and value not in (None, "")
        }

    def link(self, path: str = "", **changes: str | None) -> str:
        """Return the URL of this table with other parameters; without a position it begins at the start."""
        names = ("sort", "columns", "limit", *(column.name for column in self.columns))
        now = {name: self.values.get(name) for name in names}
        limit_now = now["limit"] if now["limit"] != 50 else None
        chosen = {**self.kept, **now, "limit": None if limit_now is None else str(limit_now)} | changes
        return link_to(path or self.path, **{name: value for name, value in chosen.items() if value})

    def here(self, path: str) -> str:
        """Return another form of exactly these rows."""
        return self.link(path, after=self.values.get("after"), before=self.values.get("before"))

    def sort_link(self, column: TableColumn) -> str:
        """Return the URL of the table sorted by a column, in the other direction if it is sorted by it already."""
        is_now = self.query.sort == column.name
        first_down = column.kind in NUMBERS
        down = not self.query.descending if is_now else first_down
        return self.link(sort=f"-{column.name}" if down else column.name)

    def direction(self, column: TableColumn) -> str:
        """Return the value of aria-sort."""
        return "none" if self.query.sort != column.name else "descending" if self.query.descending else "ascending"

    @property
    def next_link(self) -> str | None:
        """Return the URL of the next rows."""
        return self.portion.next and self.link(after=encode_row_cursor(self.portion.next))

    @property
    def previous_link(self) -> str | None:
        """Return the URL of the previous rows."""
        return self.portion.previous and self.link(before=encode_row_cursor(self.portion.previous))


def stored_table(
    state: AppState,
    inputs: Inputs,
    name: str,
    path: str,
    read: Callable[[TableQuery, Sequence[str], OnPart], TableRows] | None = None,
    fixed: Mapping[str, str] | None = None,
) -> TableView:
    """Return a table of the store, with fixed filters; the order of a large one is kept for a while."""
    columns = table_columns(name)
    query, shown = _query(columns, replace(inputs, values={**inputs.values, **(fixed or {})}), state)
    names = [column.name for column in shown]

    parts = state.table_parts
    key = f"table {name} {query} {names}"

    def run() -> TableRows | ConfigError:
        try:
            if read is not None:
                return read(query, names, lambda part: parts.put(key, part))
            return read_table(
                state.path, state.settings, name, query, columns=names, on_part=lambda part: parts.put(key, part)
            )
        except ConfigError as error:
            return error
        finally:
            parts.drop(key)

    found = state.cached(key, run, wait_s=PAGE_WAIT_S if inputs.is_page else SORT_WAIT_S)
    if found is None and inputs.is_page:
        found = parts.wait_for(key, PART_WAIT_S) or state.cached(key, run, wait_s=SORT_WAIT_S)
    if found is None:
        raise BadRequest("sorting; the table will appear in a moment", 503, retry_after_s=1)
    if isinstance(found, ConfigError):
        raise BadRequest(str(found))
    is_sorting = query.sort is not None and found.is_partial
    return TableView(path, columns, shown, query, found, inputs.values, is_sorting)


def listed_table(
    state: AppState, inputs: Inputs, rows: Sequence[Row], columns: tuple[TableColumn, ...], path: str
) -> TableView:
    """Return a table of rows in memory."""
    query, shown = _query(columns, inputs, state)
    return TableView(path, columns, shown, query, select_rows(rows, columns, query), inputs.values)


def _query(
    columns: Sequence[TableColumn], inputs: Inputs, state: AppState
) -> tuple[TableQuery, tuple[TableColumn, ...]]:
    by_name = {column.name: column for column in columns}
    sort = inputs["sort"]
    if sort is not None and not ((found := by_name.get(sort.removeprefix("-"))) and found.is_sortable):
        sortable = ", ".join(column.name for column in columns if column.is_sortable)
        raise BadRequest(f"cannot sort by {sort[:100]!r}; use one of {sortable}")
    names = [name for name in (inputs["columns"] or "").split(",") if name]
    if unknown := [name for name in names if name not in by_name]:
        raise BadRequest(f"there is no column {unknown[0][:100]!r}; use some of {', '.join(by_name)}")
    filters = []
    for column in columns:
        if column.is_filterable and (text := inputs.values.get(column.name)):
            filters += parse_filters(column, text, now=state.now().replace(second=0, microsecond=0))
    query = TableQuery(
        tuple(filters),
        None if sort is None else sort.removeprefix("-"),
        (sort or "").startswith("-"),
        decode_row_cursor(inputs["before"] or inputs["after"]),
        bool(inputs["before"]),
        inputs["limit"],
    )
    shown = tuple(column for column in columns if (column.name in names if names else column.is_shown))
    return query, shown


def table_data(table: TableView, key: str) -> dict[str, Any]:
    """Return the rows for JSON, and the table for the page."""
    names = [column.name for column in table.shown]
    return {
        key: [{name: row[name] for name in names} for row in table.rows],
        "next": encode_row_cursor(table.portion.next),
        "previous": encode_row_cursor(table.portion.previous),
        "complete": not table.portion.is_partial,
        "table": table,
    }


def table_csv(table: TableView) -> str:
    """Return the shown rows as CSV; no cell can become a formula."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\r\n")
    lines.writerow([column.name for column in table.shown])
    for row in table.rows:
        plain = [to_plain(row[column.name]) for column in table.shown]
        lines.writerow(["" if cell is None else escape_formula(cell) for cell in plain])
    return text.getvalue()


def row_schema(columns: Sequence[TableColumn]) -> dict[str, Any]:
    """Return the JSON schema of a row, which has the chosen columns."""
    kinds = {"time": ["string", "null"], "share": ["number", "null"]}
    properties = {
        column.name: {"type": kinds.get(column.kind, ["integer" if column.kind in NUMBERS else "string", "null"])}
        for column in columns
    }
    return {"type": "object", "properties": properties, "additionalProperties": False}
