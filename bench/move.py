"""How fast does a collection move into PostgreSQL and back, and how much room does a page take in each?

    python bench/move.py [PAGES]

Makes a shard of pages with one visit, one version and one key each, moves it, and prints one JSON object. CPU
seconds are this process's own; the server works beside it.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

import asyncpg

from evercrawl.adapters.postgres.postgres_pool import parse_address
from evercrawl.adapters.sqlite.state_file import open_for_writing, shard_path, transaction
from evercrawl.cluster.move import move
from evercrawl.core.url import key_of
from evercrawl.model.settings import Settings

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.postgres_server import running_server


def make_pages(collection: Path, pages: int) -> None:
    """A state file as a crawl leaves it, but for texts."""
    path = shard_path(collection, 0)
    db = open_for_writing(path, durability="process")
    with transaction(db):
        for number in range(1, pages + 1):
            url = f"https://www.example.org/section-{number % 97}/some-readable-title-of-a-page-{number}.html"
            key = key_of(url)
            db.execute(
                "insert into page (shard, id, key, url, site_id, depth, hops, priority, found_us, visits, version,"
                " outcome, reason, status, last_us, due_us, digest)"
                " values ((select shard from shard), ?, ?, ?, 1, 3, 0, 2, ?, 1, 1, 'stored', 'new', 200, ?, ?, ?)",
                (number, key, url, number, number, number + 10**12, key),
            )
            db.execute("insert into seen (shard, key, page_id) values ((select shard from shard), ?, ?)", (key, number))
            db.execute(
                "insert into visit (shard, page_id, at_us, outcome, reason, status, took_ms, wire_bytes, version)"
                " values ((select shard from shard), ?, ?, 'stored', 'new', 200, 120, 9000, 1)",
                (number, number),
            )
            db.execute(
                "insert into version (shard, page_id, number, seen_us, status, digest, payload_sha1, content_type,"
                " title, lang, body_bytes, words, file, offset, length, record_id)"
                " values ((select shard from shard), ?, 1, ?, 200, ?, ?, 'text/html', 'A title', 'en', 32000, 600,"
                " 's00-000001.warc.gz', ?, 9000, ?)",
                (number, number, key, key + b"1234", number * 9000, key),
            )
    db.execute("pragma wal_checkpoint(truncate)").fetchall()
    db.close()


async def size_in_database(dsn: str) -> int:
    place = parse_address(dsn)
    connection = await asyncpg.connect(place.dsn)
    found = await connection.fetchval(
        "select sum(pg_total_relation_size(c.oid)) from pg_class c"
        " join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'r'",
        place.namespace,
    )
    await connection.close()
    return int(found)


def timed(collection: Path, to: str) -> dict[str, float]:
    began, cpu = time.perf_counter(), time.process_time()
    rows = move(collection, Settings(), to).rows
    wall = time.perf_counter() - began
    return {"rows": rows, "wall_s": round(wall, 2), "cpu_s": round(time.process_time() - cpu, 2)}


def main() -> None:
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    with tempfile.TemporaryDirectory() as folder, running_server() as server:
        collection = Path(folder)
        make_pages(collection, pages)
        in_files = shard_path(collection, 0).stat().st_size
        dsn = f"{server.dsn}?namespace=moved"
        there = timed(collection, dsn)
        in_database = asyncio.run(size_in_database(dsn))
        back = timed(collection, "files")
    sizes = {"files": round(in_files / pages), "database": round(in_database / pages)}
    print(json.dumps({"pages": pages, "bytes_per_page": sizes, "there": there, "back": back}))


if __name__ == "__main__":
    main()
