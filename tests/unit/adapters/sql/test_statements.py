"""Named statements: their headings, parameters, indexes and use."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from evercrawl.adapters import sql, sqlite
from evercrawl.adapters.postgres.postgres_pool import SCHEMA as POSTGRES_SCHEMA
from evercrawl.adapters.sql.database import SQL, Column, parse_statements
from evercrawl.adapters.sqlite.sqlite_database import SqliteConnection
from evercrawl.adapters.sqlite.state_file import SCHEMA, open_for_writing, shard_path


def test_statements_have_names_and_parameters() -> None:
    text = (
        "-- one --\n-- Gives 1.\nselect :b, :a, :b where shard = :shard\n\n"
        "-- two (id bigint key, url text,\n--   size double precision) --\n-- Writes,\n-- in two lines.\n"
        "update page set url = :url, size = :size where id = :id\n"
    )
    statements = parse_statements(text)
    assert statements["one"].parameters == ("b", "a")
    assert statements["one"].target is None
    assert statements["two"].parameters == ("id", "url", "size")
    assert statements["two"].columns == (
        Column("id", "bigint", True),
        Column("url", "text", False),
        Column("size", "double precision", False),
    )
    assert statements["two"].target == "page"


def test_names_are_unique() -> None:
    with pytest.raises(ValueError, match="two statements"):
        parse_statements("-- one --\n-- Gives 1.\nselect 1\n-- one --\n-- Gives 2.\nselect 2\n")


def test_declared_columns_are_the_parameters() -> None:
    with pytest.raises(ValueError, match="declares"):
        parse_statements("-- one (a text) --\n-- Gives b.\nselect :b\n")


def test_values_follow_the_parameters_and_none_is_missing() -> None:
    statement = parse_statements("-- one --\n-- Gives.\nselect :b, cast(:a as text)\n")["one"]
    assert statement.values({"a": 1, "b": 2}) == (2, 1)
    with pytest.raises(TypeError, match="takes"):
        statement.values({"a": 1})


def test_parameters_are_rendered_and_casts_are_not() -> None:
    statement = parse_statements("-- one --\n-- Gives.\nselect :a, now()::text, ':b'\n")["one"]
    assert statement.render(str.upper).startswith("select A, now()::text")


def test_every_statement_is_used() -> None:
    folders = [Path(package.__file__).parent for package in (sql, sqlite)]
    code = "".join(path.read_text() for folder in folders for path in folder.glob("*.py"))
    used = set(re.findall(r'"(\w+)"', code))
    assert {name for name in SQL if name not in used} == set()


def test_every_table_has_the_same_columns_in_both_databases() -> None:
    assert columns_of(SCHEMA) == columns_of(POSTGRES_SCHEMA)
    assert len(columns_of(SCHEMA)) > 15


def columns_of(schema: str) -> dict[str, set[str]]:
    tables = re.findall(r"^create table (\w+) \(\n(.*?)\n\)", schema, re.DOTALL | re.MULTILINE)
    lines = {name: [line.split()[0].strip('"') for line in body.splitlines()] for name, body in tables}
    return {name: {word for word in words if word not in ("primary", "unique")} for name, words in lines.items()}


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("waiting_sites", "site_waiting (priority=? AND"),
        ("queue", "page_queued (site_id=? AND priority=? AND seq>?)"),
        ("due", "page_due (due_us<?)"),
        ("next_due", "page_due"),
        ("unfetched", "page USING INTEGER PRIMARY KEY (rowid>?)"),
        ("duplicates_of", "page_duplicates (duplicate_of=?)"),
        ("count_site", "page_queued (site_id=?)"),
        ("visits_of_page", "visit_of_page (page_id=?)"),
        ("changes_before", "change_at"),
        ("changes_since", "change_at"),
        ("changes_by_day", "change_at"),
        ("change_times", "change_at"),
        ("count_not_due", "COVERING INDEX page_due"),
        ("is_seen", "PRIMARY KEY (key=?)"),
        ("last_visit_id", "visit"),
    ],
)
def test_statements_use_their_index_in_sqlite(tmp_path: Path, name: str, index: str) -> None:
    path = shard_path(tmp_path, 7)
    connection = SqliteConnection(path, open_for_writing(path, durability="process"))
    values = [0] * len(SQL[name].parameters)
    plan = "\n".join(row[3] for row in connection.db.execute(f"explain query plan {connection._text(name)}", values))
    connection.close()
    assert index in plan
    assert "TEMP B-TREE FOR ORDER" not in plan


def test_every_statement_is_valid_in_sqlite(tmp_path: Path) -> None:
    path = shard_path(tmp_path, 7)
    connection = SqliteConnection(path, open_for_writing(path, durability="process"))
    refused = {}
    for name, statement in SQL.items():
        try:
            connection.db.execute(f"explain {connection._text(name)}", [None] * len(statement.parameters))
        except sqlite3.Error as error:
            refused[name] = str(error)
    connection.close()
    assert refused == {}
