"""A collection moves to PostgreSQL and back without loss, and a killed move changes nothing."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from evercrawl.adapters.postgres.postgres_pool import TABLES, parse_address
from evercrawl.adapters.system import CollectionLock
from tests.e2e.test_cli import HARBOUR_PAGES, Place
from tests.postgres_server import PostgresServer
from tests.worlds.demo_web import DemoWeb, serving

KILLED = 9
DYING_MOVE = """
import os, sys
from pathlib import Path
from evercrawl.cluster.move import move
from evercrawl.config.load import read_settings
collection, to, last = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
calls = 0
def die_at_last(done):
    global calls
    calls += 1
    if calls == last:
        os._exit(9)
move(collection, read_settings(collection).settings, to, on_progress=die_at_last)
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    web = DemoWeb()
    with serving(web) as port:
        yield Place(tmp_path, web, port)


@pytest.fixture
def dsn(postgres: PostgresServer) -> str:
    return f"{postgres.dsn}?namespace={postgres.new_namespace()}"


def lines(place: Place, *command: str) -> list[Any]:
    return sorted((json.loads(line) for line in place.call(*command).splitlines()), key=json.dumps)


def looks(place: Place) -> dict[str, Any]:
    """What a user sees of the collection, whatever place its state is in."""
    status = json.loads(place.call("status", "--json"))
    return {
        "export": lines(place, "export", "jsonl", "--all-versions"),
        "skipped": lines(place, "skipped", "--json"),
        "history": json.loads(place.call("history", f"{place.site}/", "--json").splitlines()[0]),
        "counts": {name: status[name] for name in ("by_reason", "versions", "requests")},
    }


def state_rows(place: Place) -> dict[str, list[str]]:
    """Every row of every table of every state file, but for the count of owners."""
    found: dict[str, list[str]] = {}
    for path in sorted((place.folder / "site.evercrawl" / "state").glob("*.sqlite")):
        with sqlite3.connect(path) as db:
            for table in TABLES:
                names = [row[1] for row in db.execute(f"pragma table_info({table})") if row[1] != "epoch"]
                columns = ", ".join(f'"{name}"' for name in names)
                rows = db.execute(f"select {columns} from {table}").fetchall()
                found[f"{path.name} {table}"] = sorted(map(repr, rows))
        db.close()
    return found


def test_a_collection_moves_to_postgres_and_back(place: Place, dsn: str) -> None:
    state = place.folder / "site.evercrawl" / "state"
    place.crawl(place.site + "/")
    place.web.change()
    place.crawl("--refresh")
    seen, rows = looks(place), state_rows(place)
    assert len(seen["export"]) > HARBOUR_PAGES
    assert sum(len(found) for found in rows.values()) > 100

    moved = json.loads(place.call("store", "move", "--to", dsn, "--json"))
    assert moved["rows"] == sum(len(found) for found in rows.values())
    assert not list(state.glob("*.sqlite*"))
    assert looks(place) == seen
    place.call("store", "move", "--to", dsn, code=2)

    place.call("store", "move", "--to", "files")
    assert state_rows(place) == rows
    assert [path.name for path in state.iterdir() if path.suffix != ".sqlite"] == []

    place.call("store", "move", "--to", dsn)
    update = place.crawl("--refresh")
    assert update["requests"] > 0
    assert update["unchanged"] + update["not_modified"] + update["changed"] >= HARBOUR_PAGES - 2
    seen = looks(place)
    place.call("store", "move", "--to", "files")
    assert looks(place) == seen
    place.call("verify")

    # A single process goes on behind the archive files that a worker of the database wrote.
    again = place.crawl("--refresh")
    assert again["unchanged"] + again["not_modified"] + again["changed"] >= HARBOUR_PAGES - 2
    place.call("verify")
    assert not list((place.folder / "site.evercrawl" / "archive").glob("*.unacknowledged*"))


@pytest.mark.parametrize("last", [len(TABLES)])
def test_a_killed_move_changes_nothing(place: Place, dsn: str, last: int) -> None:
    place.crawl(place.site + "/")
    seen = looks(place)
    killed_move(place, dsn, last)
    assert looks(place) == seen
    place.call("store", "move", "--to", dsn)
    killed_move(place, "files", last)
    assert looks(place) == seen
    place.call("store", "move", "--to", "files")
    assert looks(place) == seen


def killed_move(place: Place, to: str, last: int) -> None:
    command = [sys.executable, "-c", DYING_MOVE, str(place.folder / "site.evercrawl"), to, str(last)]
    done = subprocess.run(command, env=place.env, capture_output=True, text=True, timeout=60)
    assert done.returncode == KILLED, done.stderr


def test_an_unfinished_copy_is_replaced(place: Place, dsn: str) -> None:
    place.crawl(place.site + "/")
    collection = place.folder / "site.evercrawl"
    token = collection / "state" / "moving"
    token.write_text("12345\n")
    kept = {path: path.read_bytes() for path in (collection / "state").glob("*.sqlite")}
    place.call("store", "move", "--to", dsn)
    assert not token.exists()
    # As after a crash between the database's commit and the marker.
    (collection / "state" / "postgres").unlink()
    for path, data in kept.items():
        path.write_bytes(data)
    seen = looks(place)
    place.call("store", "move", "--to", dsn, code=2)
    token.write_text("12345\n")
    place.call("store", "move", "--to", dsn)
    assert looks(place) == seen


def test_a_move_is_rejected_during_a_crawl(place: Place, dsn: str) -> None:
    place.crawl(place.site + "/", "--store", dsn)
    asyncio.run(a_worker_lives(dsn))
    assert "process 77 on elsewhere" in refused(place, "files")
    with CollectionLock(place.folder / "site.evercrawl"):
        assert "in use" in refused(place, "files")


async def a_worker_lives(dsn: str) -> None:
    place = parse_address(dsn)
    connection = await asyncpg.connect(place.dsn)
    await connection.execute(
        f"insert into {place.namespace}.worker (id, until, capacity, host, pid)"
        " values (gen_random_uuid(), clock_timestamp() + interval '1 hour', 1, 'elsewhere', 77)"
    )
    await connection.close()


def refused(place: Place, to: str) -> str:
    process = place.start("store", "move", "--to", to)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 5
    return err
