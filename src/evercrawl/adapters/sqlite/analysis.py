"""What analysers said about versions, in a table of its own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from evercrawl.adapters.sqlite.statements import SCHEMA, SQL
from evercrawl.model.page import CompletedVisit

ROWS_AT_A_TIME = 1000
_EXISTS = "select 1 from sqlite_master where type = 'table' and name = 'analysis'"

Fields = dict[str, Any]


def has_table(db: sqlite3.Connection) -> bool:
    """A file that was made before there were analysers has none."""
    return db.execute(_EXISTS).fetchone() is not None


def make_table(db: sqlite3.Connection) -> None:
    """The table is there afterwards; older programs do not look at it, so the schema's version stays."""
    start = SCHEMA.index("create table analysis")
    statement = SCHEMA[start : SCHEMA.index(";", start)]
    db.execute(statement.replace("create table", "create table if not exists", 1))


def write_analyses(db: sqlite3.Connection, visits: Sequence[CompletedVisit]) -> None:
    """What was said about the new versions of a batch."""
    rows = [
        (visited.page_id, visited.version.number, visited.version.analysis)
        for visited in visits
        if visited.version is not None and visited.version.analysis is not None
    ]
    if rows:
        db.executemany(SQL["write_analysis"], rows)


def analyses_of(db: sqlite3.Connection, page_id: int) -> dict[int, Fields]:
    """Version -> what was said about it, oldest first; versions without a word are absent."""
    return {number: json.loads(fields) for number, fields in db.execute(SQL["view_analyses"], (page_id,))}


def newest_of_site(db: sqlite3.Connection, site: str) -> Iterator[tuple[str, Fields]]:
    """URL and fields of the newest version of each page of a site, read in portions."""
    after = 0
    while rows := db.execute(SQL["view_analyses_of_site"], (site, after, ROWS_AT_A_TIME)).fetchall():
        yield from ((url, json.loads(fields)) for _, url, fields in rows)
        after = rows[-1][0]
