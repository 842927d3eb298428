"""The same commands work on a collection in PostgreSQL as on one in files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_cli import HARBOUR_PAGES, Place
from tests.postgres_server import PostgresServer
from tests.worlds.demo_web import DemoWeb, serving

LOOKS = (("status", "--json"), ("skipped", "--json"), ("export", "jsonl"), ("plan", "--json"), ("verify",))


@pytest.fixture
def places(tmp_path: Path, postgres: PostgresServer) -> Iterator[tuple[Place, Place, str]]:
    web = DemoWeb()
    with serving(web) as port:
        in_files, in_database = (tmp_path / name for name in ("files", "database"))
        in_files.mkdir()
        in_database.mkdir()
        dsn = f"{postgres.dsn}?namespace={postgres.new_namespace()}"
        yield Place(in_files, web, port), Place(in_database, web, port), dsn


def rows(place: Place, *command: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in place.call(*command).splitlines()]


def test_a_crawl_in_postgres_equals_one_in_files(places: tuple[Place, Place, str]) -> None:
    in_files, in_database, dsn = places
    start = in_files.site + "/"
    one = in_files.crawl(start)
    other = in_database.crawl(start, "--store", dsn)
    same = ("requests", "fetched", "new", "errors", "skipped", "bytes")
    assert {name: one[name] for name in same} == {name: other[name] for name in same}
    assert one["new"] == HARBOUR_PAGES

    texts = [{row["url"]: row["text"] for row in rows(place, "export", "jsonl")} for place in (in_files, in_database)]
    assert texts[0] == texts[1]
    refused = [
        {(row["url"], row["reason"]) for row in rows(place, "skipped", "--json")} for place in (in_files, in_database)
    ]
    assert refused[0] == refused[1]
    counts = [json.loads(place.call("status", "--json")) for place in (in_files, in_database)]
    assert counts[0]["by_reason"] == counts[1]["by_reason"]
    assert counts[0]["versions"] == counts[1]["versions"]
    assert in_database.why("/private/ledger")["reason"] == "robots"
    in_database.call("verify")
    assert json.loads(in_database.call("plan", "--json"))["expected_freshness"] > 0.9
    assert not list((in_database.folder / "site.evercrawl" / "state").glob("*.sqlite"))

    found = [
        {hit["url"] for hit in rows(place, "search", "albatross", "--json", "--limit", "50")}
        for place in (in_files, in_database)
    ]
    assert found[0] == found[1] != set()
    ends = [rows(place, "links", start, "--json")[0] for place in (in_files, in_database)]
    assert [(end["in_count"], len(end["out"])) for end in ends][:1] * 2 == [
        (end["in_count"], len(end["out"])) for end in ends
    ]

    again = in_database.crawl("--refresh")
    assert again["new"] == 0
    assert again["unchanged"] + again["not_modified"] + again["changed"] >= HARBOUR_PAGES - 1


def test_a_missing_database_is_a_clear_error(places: tuple[Place, Place, str]) -> None:
    _, place, _ = places
    process = place.start("crawl", place.site + "/", *place.flags, "--store", "postgresql://nobody@127.0.0.1:1/none")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 5
    assert "cannot be reached" in err
    assert "Traceback" not in err
