"""The Parquet dataset of a crawl, and the guide's SQL on it, compared with a plain computation."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.test_cli import HARBOUR_PAGES, Place
from tests.worlds.demo_web import DemoWeb, serving

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "analyse-at-scale.md"
ROUNDS = 30
DAMPING = 0.85
ASK = """
import duckdb, json, sys
statements, rounds = json.loads(sys.argv[1]), int(sys.argv[2])
with duckdb.connect() as db:
    sites = db.execute(statements[0]).fetchall()
    unknown = db.execute(statements[1]).fetchall()
    db.execute(statements[2])
    for _ in range(rounds):
        db.execute(statements[3])
    print(json.dumps({
        "sites": [row[:3] for row in sites],
        "unknown": unknown,
        "top": db.execute(statements[4]).fetchall(),
        "sum": db.execute("select sum(value) from rank").fetchone()[0],
        "pages": db.execute("select url from read_parquet('crawl/pages/*/*.parquet')").fetchall(),
        "links": db.execute(
            "select source, target from read_parquet('crawl/links/*/*.parquet') where not nofollow"
        ).fetchall(),
        "texts": db.execute(
            "select count(*), sum(length(text)) from read_parquet('crawl/text/*/*.parquet')"
        ).fetchone(),
        "shards": db.execute(
            "select distinct shard from read_parquet('crawl/pages/*/*.parquet', hive_partitioning = true)"
        ).fetchall(),
    }))
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    web = DemoWeb()
    with serving(web) as port:
        yield Place(tmp_path, web, port)


def ranks(pages: list[str], links: list[list[str]]) -> dict[str, float]:
    """PageRank, the plain way."""
    known = set(pages)
    out: dict[str, set[str]] = {page: set() for page in pages}
    for source, target in links:
        if target in known and source != target:
            out[source].add(target)
    rank = dict.fromkeys(pages, 1 / len(pages))
    for _ in range(ROUNDS):
        lost = sum(rank[page] for page in pages if not out[page])
        fresh = dict.fromkeys(pages, (1 - DAMPING) / len(pages) + DAMPING * lost / len(pages))
        for page, targets in out.items():
            for target in targets:
                fresh[target] += DAMPING * rank[page] / len(targets)
        rank = fresh
    return rank


def test_the_guides_sql_works_on_a_crawl(place: Place) -> None:
    place.crawl(place.site + "/")
    report = json.loads(place.call("export", "dataset", "-o", "crawl", "--json"))
    assert report["pages"] == HARBOUR_PAGES
    listed = [json.loads(line) for line in (place.folder / "crawl" / "mapping.jsonl").read_text().splitlines()]
    assert {entry["table"] for entry in listed} == {"pages", "links", "text"}
    assert all((place.folder / "crawl" / entry["file"]).is_file() for entry in listed)

    statements = re.findall(r"```sql\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    command = [sys.executable, "-c", ASK, json.dumps(statements), str(ROUNDS)]
    done = subprocess.run(command, cwd=place.folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["sites"][0][:2] == [place.site, HARBOUR_PAGES]
    assert (len(found["pages"]), found["texts"][0]) == (HARBOUR_PAGES, HARBOUR_PAGES)
    assert found["texts"][1] > 1000
    assert len(found["shards"]) == 1
    assert "https://elsewhere.example/" in [row[0] for row in found["unknown"]]

    expected = ranks([row[0] for row in found["pages"]], found["links"])
    assert found["sum"] == pytest.approx(1)
    assert {url: pytest.approx(value) for url, value in found["top"]} == {url: expected[url] for url, _ in found["top"]}
    assert found["top"][0][1] == pytest.approx(max(expected.values()))
