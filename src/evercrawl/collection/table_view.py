"""Tables of a collection for display, over all shards: sites, pages, queue, changes, versions, skipped URLs."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from evercrawl.adapters.sql.listing_reader import open_listing
from evercrawl.adapters.sql.state_reader import shards_of
from evercrawl.adapters.sql.table_reader import TABLES, WINDOW, SqlTable, TableReader
from evercrawl.collection.current_rules import CurrentRules, StoredRefusal, is_cut
from evercrawl.core.url import canonical, shard_of_site, site_of
from evercrawl.errors import ConfigError
from evercrawl.model.reason import Reason
from evercrawl.model.settings import Settings
from evercrawl.model.table import NUMBERS, RowCursor, TableColumn, TableQuery, TableRows
from evercrawl.model.time import from_us

PART_AFTER_S = 0.1  # A sort that takes longer shows the first rows of what it has read.
MAX_SCAN_S = 0.2  # A search in table order ends after this time; the next portion continues it.
THREADS = 2  # Shards that are read at the same time; SQLite lets other threads run meanwhile.


OnPart = Callable[[TableRows], None]


def table_columns(name: str) -> tuple[TableColumn, ...]:
    """Return the columns of a table."""
    return TABLES[name].columns


def encode_row_cursor(cursor: RowCursor | None) -> str | None:
    """Return a cursor as text for a URL."""
    if cursor is None:
        return None
    text = json.dumps([cursor.value, cursor.shard, *cursor.key], separators=(",", ":"), ensure_ascii=False)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_row_cursor(text: str | None) -> RowCursor | None:
    """Return the cursor of a text; raise ConfigError if it is not valid."""
    if not text:
        return None
    try:
        value, shard, *key = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, TypeError, RecursionError):
        raise _cursor_error(text) from None
    is_valid = (
        (value is None or isinstance(value, str | int | float))
        and not isinstance(value, bool)
        and (not isinstance(value, int) or abs(value) < 2**63)
        and isinstance(shard, int)
        and 0 <= shard < 2**31
        and 1 <= len(key) <= 2
        and all(_is_key_part(part) for part in key)
    )
    if not is_valid:
        raise _cursor_error(text)
    return RowCursor(value, shard, tuple(key))


def _is_key_part(part: object) -> bool:
    if isinstance(part, str):
        return len(part) % 2 == 0 and all(letter in "0123456789abcdef" for letter in part)
    return isinstance(part, int) and not isinstance(part, bool) and abs(part) < 2**63


def _cursor_error(text: str) -> ConfigError:
    return ConfigError(f"{text[:40]!r} is not a valid cursor; start without one")


def read_table(
    collection: Path,
    settings: Settings,
    name: str,
    query: TableQuery,
    *,
    columns: Sequence[str] = (),
    on_part: OnPart | None = None,
) -> TableRows:
    """Return a portion of a table with the given columns; none given: those that are shown by default.
    While a large table is being sorted, `on_part` gets the first rows of what was read so far."""
    table = TABLES[name]
    if query.sort is None and table.order is not None:
        query = replace(query, sort=table.order[0], descending=table.order[1])
    _check_cursor(table, query)
    shards = _shards(collection, settings, query)
    resume = None
    if query.sort is None:
        found, resume = _in_table_order(collection, table, query, shards)
    else:

        def show(part: list[RowCursor]) -> None:
            if on_part is not None:
                on_part(TableRows(_rows_at(collection, table, part, query, columns), None, None, True))

        found = _in_order(collection, table, query, shards, on_part=show)
    has_more = len(found) > query.limit
    found = found[: query.limit]
    rows = _rows_at(collection, table, found, query, columns)
    came_from = query.cursor is not None
    return TableRows(
        rows,
        resume or (found[-1] if found and (came_from if query.backwards else has_more) else None),
        found[0] if found and (has_more if query.backwards else came_from) else None,
        resume is not None,
    )


def _rows_at(
    collection: Path, table: SqlTable, found: list[RowCursor], query: TableQuery, columns: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the rows at these positions; a search backwards is turned round in place."""
    del found[query.limit :]
    if query.backwards:
        found.reverse()
    wanted = list(columns) or [column.name for column in table.columns if column.is_shown]
    return [dict(row) for row in _read_rows(collection, table, found, wanted)]


def _check_cursor(table: SqlTable, query: TableQuery) -> None:
    cursor = query.cursor
    if cursor is None:
        return
    is_text = query.sort is not None and table.column(query.sort).kind not in NUMBERS
    kind = None.__class__ if query.sort is None else str if is_text else int | float
    is_valid = isinstance(cursor.value, kind)
    if not is_valid or len(cursor.key) != len(table.key):
        raise ConfigError("this cursor is of another list; start without one")


def _shards(collection: Path, settings: Settings, query: TableQuery) -> list[int]:
    """Return the shards that can have rows: one if the site is given exactly."""
    shards = shards_of(collection)
    for one in query.filters:
        page = canonical(f"{one.value}/") if one.column == "site" and one.operator == "=" else None
        if page is not None:
            own = shard_of_site(site_of(page), settings.store.shards)
            shards = [shard for shard in shards if shard == own]
    return shards


def _in_order(
    collection: Path,
    table: SqlTable,
    query: TableQuery,
    shards: Sequence[int],
    *,
    on_part: Callable[[list[RowCursor]], None],
) -> list[RowCursor]:
    """Return the first rows in the order of the query; `on_part` gets those of the shards that were read in time."""
    end, is_shown = time.monotonic() + PART_AFTER_S, False
    found: list[RowCursor] = []

    def read(shard: int) -> list[RowCursor]:
        with open_listing(collection, shard) as reader:
            return TableReader(reader.queries, table, shard).keys(query)

    with ThreadPoolExecutor(THREADS) as threads:
        for part in threads.map(read, shards):
            found += part
            if not is_shown and time.monotonic() > end:
                is_shown = True
                on_part(_first_rows(found, query))
    return _first_rows(found, query)


def _first_rows(found: Sequence[RowCursor], query: TableQuery) -> list[RowCursor]:
    ordered = sorted(found, key=lambda one: (one.shard, one.key), reverse=query.backwards)
    is_down = query.descending is not query.backwards
    ordered.sort(key=lambda one: cast(Any, one.value), reverse=is_down)  # Keeps equal ones in order.
    return ordered[: query.limit + 1]


def _in_table_order(
    collection: Path, table: SqlTable, query: TableQuery, shards: Sequence[int]
) -> tuple[list[RowCursor], RowCursor | None]:
    """Return the next rows shard by shard; if the search stopped at its time limit, also where it continues."""
    found: list[RowCursor] = []
    cursor, end = query.cursor, time.monotonic() + MAX_SCAN_S
    for shard in reversed(shards) if query.backwards else shards:
        if cursor is not None and (shard > cursor.shard if query.backwards else shard < cursor.shard):
            continue
        after = cursor.key if cursor is not None and shard == cursor.shard else None
        with open_listing(collection, shard) as reader:
            rows = TableReader(reader.queries, table, shard)
            if query.backwards or not query.filters or not table.has_numbers:
                found += rows.keys(replace(query, limit=query.limit - len(found)), after=after)
            else:
                begin, last = int(after[0]) if after else 0, rows.last_key()
                while begin < last and len(found) <= query.limit:
                    part = replace(query, limit=query.limit - len(found))
                    found += rows.keys(part, after=(begin,), upto=(begin := begin + WINDOW))
                    if begin < last and time.monotonic() > end and len(found) <= query.limit:
                        return found, RowCursor(None, shard, (begin,))
        if len(found) > query.limit:
            return found, None
    return found, None


def _read_rows(
    collection: Path, table: SqlTable, found: Sequence[RowCursor], columns: Sequence[str]
) -> list[dict[str, Any]]:
    by_place: dict[RowCursor, dict[str, Any]] = {}
    for shard in sorted({one.shard for one in found}):
        own = [one for one in found if one.shard == shard]
        with open_listing(collection, shard) as reader:
            rows = TableReader(reader.queries, table, shard).rows(own, columns)
        by_place |= rows
    times = {column.name for column in table.columns if column.kind == "time"}
    return [
        {name: from_us(value) if name in times and value is not None else value for name, value in row.items()}
        for one in found
        if (row := by_place.get(one)) is not None
    ]


def read_skipped(
    collection: Path, settings: Settings, query: TableQuery, columns: Sequence[str], *, on_part: OnPart | None = None
) -> TableRows:
    """Return skipped URLs with today's reasons; those that would be requested now are left out."""
    needed = ("url", "depth", "hops", "reason", "detail", "moved_to")
    rules = CurrentRules(collection, settings)

    def show(part: TableRows) -> None:
        if on_part is not None:
            on_part(_with_current_reasons(part, rules, columns))

    names = tuple(dict.fromkeys((*columns, *needed)))
    portion = read_table(collection, settings, "skipped", query, columns=names, on_part=show)
    return _with_current_reasons(portion, rules, columns)


def _with_current_reasons(portion: TableRows, rules: CurrentRules, columns: Sequence[str]) -> TableRows:
    rows = []
    for row in portion.rows:
        url = row["url"]
        stored = StoredRefusal(
            url, row["depth"], row["hops"], Reason(row["reason"]), row["detail"], row["moved_to"], is_cut(url)
        )
        refused = rules.refusal(stored)
        if refused is not None:
            today = {**row, "reason": refused[0].value, "detail": refused[1]}
            rows.append({name: today[name] for name in columns})
    return replace(portion, rows=rows)
