"""What analysers said about versions: a table of its own beside the schema, made where it is missing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from evercrawl.model.page import Visited

_TABLE = """
create table if not exists analysis (
  page_id integer not null,
  number integer not null,
  fields text not null,
  primary key (page_id, number)
) without rowid
"""
_WRITE = "insert or replace into analysis (page_id, number, fields) values (?, ?, ?)"
_OF_PAGE = "select number, fields from analysis where page_id = ? order by number"
_NEWEST_OF_SITE = """
select p.id, p.url, a.number, a.fields
  from page p join site s on s.id = p.site_id join analysis a on a.page_id = p.id and a.number = p.version
 where s.name = ?1 and p.id > ?2 order by p.id limit ?3
"""
_EXISTS = "select 1 from sqlite_master where type = 'table' and name = 'analysis'"

ROWS_AT_A_TIME = 1000

Fields = dict[str, Any]


def make_table(db: sqlite3.Connection) -> None:
    """The table is there afterwards; nothing else needs to know of it, so the schema's version stays."""
    db.execute(_TABLE)


def write_analyses(db: sqlite3.Connection, visits: Sequence[Visited]) -> None:
    """What was said about the new versions of a batch."""
    rows = [
        (visited.page_id, visited.version.number, visited.version.analysis)
        for visited in visits
        if visited.version is not None and visited.version.analysis is not None
    ]
    if rows:
        db.executemany(_WRITE, rows)


def delete_analyses(db: sqlite3.Connection, places: Iterable[tuple[int, int]]) -> None:
    """These versions are gone."""
    if _is_there(db):
        db.executemany("delete from analysis where page_id = ? and number = ?", places)


def analyses_of(db: sqlite3.Connection, page_id: int) -> dict[int, Fields]:
    """Version -> what was said about it, oldest first; versions without a word are absent."""
    if not _is_there(db):
        return {}
    return {number: json.loads(fields) for number, fields in db.execute(_OF_PAGE, (page_id,))}


def newest_of_site(db: sqlite3.Connection, site: str) -> Iterator[tuple[str, Fields]]:
    """URL and fields of the newest version of each page of a site, read in portions."""
    after = 0
    while _is_there(db) and (rows := db.execute(_NEWEST_OF_SITE, (site, after, ROWS_AT_A_TIME)).fetchall()):
        yield from ((url, json.loads(fields)) for _, url, _, fields in rows)
        after = rows[-1][0]


def _is_there(db: sqlite3.Connection) -> bool:
    return db.execute(_EXISTS).fetchone() is not None
