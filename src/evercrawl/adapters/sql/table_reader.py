"""Read tables for display from one shard: filtered, in any order, a portion at a time.
Statements consist of the expressions below and named parameters; nothing that a reader wrote is part of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Any

from evercrawl.adapters.sql.database import BlockingQueries, make_statement
from evercrawl.model.table import NUMBERS, ColumnFilter, RowCursor, TableColumn, TableQuery

WINDOW = 20_000  # Rows that one step of a search in table order reads.
_OPERATORS = frozenset({"=", "!=", ">", ">=", "<", "<="})
_PATTERN = str.maketrans({"\\": r"\\", "%": r"\%", "_": r"\_"} | {letter: letter.lower() for letter in ascii_uppercase})


@dataclass(frozen=True, slots=True)
class SqlTable:
    """A table of the store: where its rows are, and an expression for each column."""

    columns: tuple[TableColumn, ...]
    source: str
    key: tuple[str, ...]
    expressions: Mapping[str, str]
    where: str = "true"
    order: tuple[str, bool] | None = None  # Sort column and whether descending; None: by key.
    indexed: frozenset[str] = frozenset()  # Columns without missing values whose order an index has.
    unindexed: str = ""  # `where` for another order, which keeps SQLite from an index of no use for it.
    has_numbers: bool = False  # Its only key is a number, so that a search can go in steps.
    filters: Mapping[str, str] = field(default_factory=dict)  # Conditions with `{}` for that on the expression.

    def column(self, name: str) -> TableColumn:
        """Return the column of this name."""
        return next(column for column in self.columns if column.name == name)

    def ordered(self, name: str) -> str:
        """Return the expression by which a column is sorted; missing values come first."""
        expression = self.expressions[name]
        if name in self.indexed:
            return expression
        return f"coalesce({expression}, {-1 if self.column(name).kind in NUMBERS else chr(39) * 2})"


_PAGE_SITE = "(select s.name from site s where s.shard = :shard and s.id = p.site_id)"
_SITE_FILTER = "p.site_id in (select s.id from site s where s.shard = :shard and {})"
_URL = TableColumn("url", "Page", "page")
_SITE = TableColumn("site", "Site", "site", is_shown=False, is_sortable=False)

TABLES: Mapping[str, SqlTable] = {
    "sites": SqlTable(
        (
            TableColumn("name", "Site", "site"),
            TableColumn("domain", "Domain", is_shown=False),
            TableColumn("pages", "Pages", "number"),
            TableColumn("pending", "Queued", "number"),
            TableColumn("requests", "Requests", "number"),
            TableColumn("wire_bytes", "Bytes", "bytes"),
            TableColumn("delay_ms", "Delay", "ms"),
            TableColumn("failures", "Failures in a row", "number", is_shown=False),
            TableColumn("robots_status", "robots.txt", "number"),
            TableColumn("closed_reason", "Paused because"),
            TableColumn("open", "Open again", "time", is_shown=False),
        ),
        "site s",
        ("s.id",),
        {
            "name": "s.name", "domain": "s.domain", "pages": "s.pages", "pending": "s.pending",
            "requests": "s.requests", "wire_bytes": "s.wire_bytes", "delay_ms": "s.delay_ms",
            "failures": "s.failures", "closed_reason": "s.closed_reason", "open": "nullif(s.open_us, 0)",
            "robots_status": "(select r.status from robots r where r.shard = :shard and r.site_id = s.id)",
        },
        "s.shard = :shard",
        has_numbers=True,
    ),
    "pages": SqlTable(
        (
            _URL,
            TableColumn("title", "Title", is_sortable=False, is_filterable=False),
            _SITE,
            TableColumn("outcome", "Outcome", "choice"),
            TableColumn("reason", "Reason", "choice", is_shown=False),
            TableColumn("status", "Status", "number"),
            TableColumn("version", "Versions", "number"),
            TableColumn("visits", "Visits", "number", is_shown=False),
            TableColumn("last_visit", "Last visit", "time"),
            TableColumn("due", "Due", "time"),
            TableColumn("found", "First seen", "time", is_shown=False),
            TableColumn("depth", "Depth", "number", is_shown=False),
            TableColumn("interval", "Interval", "seconds", is_shown=False),
            TableColumn("moved_to", "Redirects to", "page", is_shown=False),
            TableColumn("detail", "Details", is_shown=False),
        ),
        "page p",
        ("p.id",),
        {
            "url": "p.url", "site": _PAGE_SITE, "outcome": "coalesce(p.outcome, 'queued')",
            "reason": "coalesce(p.reason, 'waiting')", "status": "p.status", "version": "p.version",
            "visits": "p.visits", "last_visit": "p.last_us", "due": "p.due_us", "found": "p.found_us",
            "depth": "p.depth", "interval": "p.interval_s", "moved_to": "p.moved_to", "detail": "p.detail",
            "title": "(select v.title from version v where v.shard = :shard and v.page_id = p.id "
            "and v.number = p.version)",
        },
        "p.shard = :shard",
        has_numbers=True,
        filters={"site": _SITE_FILTER},
    ),
    "queue": SqlTable(
        (
            TableColumn("due", "Due", "time"),
            _URL,
            _SITE,
            TableColumn("last_visit", "Last visit", "time"),
            TableColumn("interval", "Interval", "seconds"),
            TableColumn("version", "Versions", "number"),
            TableColumn("visits", "Visits", "number"),
            TableColumn("tries", "Failed tries", "number", is_shown=False),
            TableColumn("reason", "Reason", "choice", is_shown=False),
        ),
        "page p",
        ("p.id",),
        {
            "due": "p.due_us", "url": "p.url", "site": _PAGE_SITE, "last_visit": "p.last_us",
            "interval": "p.interval_s", "version": "p.version", "visits": "p.visits", "tries": "p.tries",
            "reason": "coalesce(p.reason, 'waiting')",
        },
        "p.shard = :shard and p.due_us is not null",
        ("due", False),
        frozenset({"due"}),
        "p.shard = :shard and +p.due_us is not null",
        filters={"site": _SITE_FILTER},
    ),
    "change-list": SqlTable(
        (
            TableColumn("at", "Found", "time"),
            _URL,
            _SITE,
            TableColumn("class", "Kind", "choice"),
            TableColumn("size", "Size", "share"),
        ),
        "change c",
        ("c.page_id", "c.at_us"),
        {
            "at": "c.at_us", "class": "c.kind", "size": "c.size",
            "url": "(select p.url from page p where p.shard = :shard and p.id = c.page_id)",
            "site": "(select s.name from page p join site s on s.shard = :shard and s.id = p.site_id "
            "where p.shard = :shard and p.id = c.page_id)",
        },
        "c.shard = :shard",
        ("at", True),
        frozenset({"at"}),
        filters={"site": f"c.page_id in (select p.id from page p where p.shard = :shard and {_SITE_FILTER})"},
    ),
    "versions": SqlTable(
        (
            TableColumn("url", "Page", "page", is_sortable=False),
            TableColumn("version", "Version", "number"),
            TableColumn("seen", "Seen", "time"),
            TableColumn("class", "Change", "choice"),
            TableColumn("size", "Size", "share"),
            TableColumn("status", "Status", "number", is_shown=False),
            TableColumn("content_type", "Type", is_shown=False),
            TableColumn("lang", "Language", is_shown=False),
            TableColumn("bytes", "Bytes", "bytes", is_shown=False),
            TableColumn("words", "Words", "number"),
            TableColumn("title", "Title"),
        ),
        "version v",
        ("v.page_id", "v.number"),
        {
            "version": "v.number", "seen": "v.seen_us", "class": "v.change_class", "size": "v.change_size",
            "status": "v.status", "content_type": "v.content_type", "lang": "v.lang", "bytes": "v.body_bytes",
            "words": "v.words", "title": "v.title",
            "url": "(select p.url from page p where p.shard = :shard and p.id = v.page_id)",
        },
        "v.shard = :shard",
    ),
    "skipped": SqlTable(
        (
            TableColumn("url", "URL", "page"),
            TableColumn("reason", "Reason", "choice"),
            TableColumn("detail", "Details"),
            TableColumn("parent", "Found on", "page"),
            TableColumn("at", "Decided", "time", is_shown=False),
            TableColumn("depth", "Depth", "number", is_shown=False),
            TableColumn("hops", "Redirects", "number", is_shown=False, is_filterable=False),
            TableColumn("moved_to", "Redirects to", "page", is_shown=False, is_filterable=False),
        ),
        "(select key, url, reason, detail, parent, at_us, depth, 0 as hops, null as moved_to from refusal "
        "where shard = :shard union all select p.key, p.url, p.reason, coalesce(p.detail, ''), "
        "(select o.url from page o where o.shard = :shard and o.id = p.parent_id), coalesce(p.last_us, p.found_us), "
        "p.depth, p.hops, p.moved_to from page p where p.shard = :shard and p.outcome = 'rejected') x",
        ("x.key",),
        {
            "url": "x.url", "reason": "x.reason", "detail": "x.detail", "parent": "x.parent", "at": "x.at_us",
            "depth": "x.depth", "hops": "x.hops", "moved_to": "x.moved_to",
        },
    ),
}  # fmt: skip


class _Conditions:
    """Conditions with the values of their parameters."""

    def __init__(self, table: SqlTable, filters: Sequence[ColumnFilter]) -> None:
        self.texts = [table.where]
        self.values: dict[str, Any] = {}
        for one in filters:
            whole = table.filters.get(one.column, "{}")
            expression = "s.name" if "{}" in whole and whole != "{}" else table.ordered(one.column)
            self.texts.append(whole.replace("{}", self._compare(expression, one)))

    def _compare(self, expression: str, one: ColumnFilter) -> str:
        if one.operator in _OPERATORS:
            return f"{expression} {one.operator} {self.add(one.value)}"
        word = "like" if one.operator == "~" else "not like"
        pattern = f"%{str(one.value).translate(_PATTERN)}%"
        return rf"lower({expression}) {word} {self.add(pattern)} escape '\'"

    def add(self, value: object) -> str:
        """Return the parameter of a value."""
        name = f"v{len(self.values)}"
        self.values[name] = value
        return f":{name}"

    def __str__(self) -> str:
        return " and ".join(self.texts)


class TableReader:
    """The rows of one table in one shard."""

    def __init__(self, queries: BlockingQueries, table: SqlTable, shard: int) -> None:
        self._queries = queries
        self._table = table
        self._shard = shard

    def keys(
        self, query: TableQuery, *, after: tuple[int | str, ...] | None = None, upto: int | None = None
    ) -> list[RowCursor]:
        """Return the positions of the next rows, and one more than the limit if there are more.
        With a sort column, `query.cursor` says where to begin; otherwise `after`, and `upto` ends the step."""
        table, conditions = self._table, _Conditions(self._table, query.filters)
        down, back = query.descending is not query.backwards, query.backwards
        order = [f"{one} desc" if back else one for one in table.key]
        if query.sort is not None:
            value = table.ordered(query.sort)
            order.insert(0, f"{value} desc" if down else value)
            if query.cursor is not None:
                conditions.texts.append(self._beyond(conditions, query.cursor, value, down=down, back=back))
        elif after is not None:
            conditions.texts.append(self._key_beyond(conditions, after, back=back))
        if upto is not None:
            conditions.texts.append(f"{table.key[0]} <= {conditions.add(upto)}")
        chosen = ", ".join(["null" if query.sort is None else value, *table.key])
        if table.unindexed and query.sort not in (None, *table.indexed):
            conditions.texts[0] = table.unindexed
        text = f"select {chosen} from {table.source} where {conditions} order by {', '.join(order)} limit :most"
        rows = self._select(text, {**conditions.values, "most": query.limit + 1})
        return [RowCursor(row[0], self._shard, tuple(map(_plain, row[1:]))) for row in rows]

    def _beyond(self, conditions: _Conditions, cursor: RowCursor, value: str, *, down: bool, back: bool) -> str:
        """Return the condition on rows behind the cursor; rows of equal value are ordered by shard, then by key."""
        sign, mark = "<" if down else ">", conditions.add(cursor.value)
        if self._shard == cursor.shard:
            key = self._key_beyond(conditions, cursor.key, back=back)
            return f"{value} {sign}= {mark} and ({value} {sign} {mark} or {key})"
        is_behind = self._shard < cursor.shard if back else self._shard > cursor.shard
        return f"{value} {sign}{'=' if is_behind else ''} {mark}"

    def _key_beyond(self, conditions: _Conditions, key: Sequence[int | str], *, back: bool) -> str:
        marks = ", ".join(conditions.add(_stored(one)) for one in key)
        return f"({', '.join(self._table.key)}) {'<' if back else '>'} ({marks})"

    def rows(self, found: Sequence[RowCursor], columns: Sequence[str]) -> dict[RowCursor, dict[str, Any]]:
        """Return the columns of the rows at these positions; rows that have gone meanwhile are left out."""
        table = self._table
        values: dict[str, object] = {}
        for place, one in enumerate(found):
            values |= {f"k{place}_{part}": _stored(value) for part, value in enumerate(one.key)}
        marks = [", ".join(f":k{place}_{part}" for part in range(len(table.key))) for place in range(len(found))]
        matching = " or ".join(f"({', '.join(table.key)}) = ({mark})" for mark in marks)
        if len(table.key) == 1:
            matching = f"{table.key[0]} in ({', '.join(marks)})"
        chosen = ", ".join([*table.key, *(table.expressions[name] for name in columns)])
        rows = self._select(f"select {chosen} from {table.source} where {table.where} and ({matching})", values)
        width = len(table.key)
        by_key = {tuple(map(_plain, row[:width])): dict(zip(columns, row[width:], strict=True)) for row in rows}
        return {one: by_key[one.key] for one in found if one.key in by_key}

    def last_key(self) -> int:
        """Return the largest key of a table whose keys are numbers; 0: it is empty."""
        table = self._table
        rows = self._select(f"select max({table.key[0]}) from {table.source} where {table.where}", {})
        return int(rows[0][0] or 0)

    def _select(self, text: str, values: Mapping[str, object]) -> list[Any]:
        return self._queries.select(make_statement("table", text), **values)


def _plain(part: int | bytes) -> int | str:
    return bytes(part).hex() if isinstance(part, bytes | memoryview) else part


def _stored(part: int | str) -> int | bytes:
    return bytes.fromhex(part) if isinstance(part, str) else part
