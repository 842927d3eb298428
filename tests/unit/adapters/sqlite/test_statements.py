from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from evercrawl.adapters import sqlite
from evercrawl.adapters.sql.statements import SQL, parse_statements
from evercrawl.adapters.sqlite.state_file import SCHEMA


def test_statements_are_found_by_name() -> None:
    text = "-- one --\n-- Gives 1.\nselect 1\n\n-- two --\n-- Gives 2,\n-- in two lines.\nselect 2\n"
    assert parse_statements(text) == {"one": "select 1", "two": "select 2"}


def test_a_name_stands_for_one_statement() -> None:
    with pytest.raises(ValueError, match="twice"):
        parse_statements("-- one --\n-- Gives 1.\nselect 1\n-- one --\n-- Gives 2.\nselect 2\n")


def test_every_statement_fits_the_schema_and_is_used() -> None:
    db = sqlite3.connect(":memory:")
    db.executescript(SCHEMA)
    code = "".join(path.read_text() for path in Path(sqlite.__file__).parent.glob("*.py"))
    used = set(re.findall(r'(?:SQL\[|_one\(|_all\(|_each\()"(\w+)"', code))
    for name, statement in SQL.items():
        parameters = max([statement.count("?"), *(int(n) for n in re.findall(r"\?(\d)", statement))])
        numbered = re.findall(r"\?(\d)", statement)
        wanted = int(max(numbered)) if numbered else parameters
        db.execute(f"explain {statement}", [None] * wanted)
        assert name in used, f"{name} is not used"
    db.close()


@pytest.mark.parametrize(
    ("name", "parameters", "index"),
    [
        ("waiting_sites", (0, 0, 9), "site_waiting (band=? AND"),
        ("queue", (1, 0, 0, 9), "page_queued (site_id=? AND band=? AND seq>?)"),
        ("due", (9, 9), "page_due (due_us<?)"),
        ("next_due", (), "page_due"),
        ("count_site", (1, 0, 0), "page_queued (site_id=?)"),
        ("view_visits", (1, 9), "visit_of_page (page_id=?)"),
    ],
)
def test_the_hot_statements_use_their_index(name: str, parameters: tuple[int, ...], index: str) -> None:
    db = sqlite3.connect(":memory:")
    db.executescript(SCHEMA)
    plan = "\n".join(row[3] for row in db.execute(f"explain query plan {SQL[name]}", parameters))
    db.close()
    assert index in plan
    assert "TEMP B-TREE" not in plan
