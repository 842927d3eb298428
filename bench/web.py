"""How fast are the pages of `evercrawl serve`, over a million pages, and with fifty readers beside a crawl?

    python bench/web.py million [PAGES]     a collection of so many pages, then the time of every page
                                            (MILLION: a folder that keeps the collection for the next time)
    python bench/web.py readers [SECONDS]   fifty readers beside a crawl of the benchmark web, which must be
                                            served (EVERCRAWL_SHARED/bench/corpus.sh serve; CORPUS_ROOT)

Prints one JSON object. The machine should have nothing else to do.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx

from evercrawl.adapters.sqlite.state_file import open_for_writing, shard_path
from evercrawl.config import create_collection
from evercrawl.core.url import key_of, registrable_domain, shard_of_site

SHARDS, SITES = 64, 500
READERS = 50
SETTLING_S = 5.0
"""Until the crawl has its pace."""
CORPUS = Path(os.environ.get("CORPUS_ROOT", "scratch/corpus"))
READING_S = (1.0, 4.0)
"""How long a reader looks at a page."""
TOKEN = "a token for the benchmark of serve"
TABLES = (
    "/pages",
    "/pages?sort=-last_visit",
    "/pages?sort=-visits",
    "/pages?sort=url",
    "/pages?status=404",
    "/pages?url=p1999",
    "/pages?url=p1999&sort=-last_visit",
    "/pages?status=200&sort=status&limit=500",
    "/pages.csv?sort=-last_visit&limit=500",
    "/frontier?sort=-visits",
    "/skipped?sort=-url",
    "/skipped?url=p19",
    "/versions",
    "/versions?sort=-words",
    "/change-list",
    "/change-list?sort=-size",
    "/sites?sort=-pages",
    "/sites?name=s7",
)
"""Sorted and filtered tables."""
DAY_US = 86_400_000_000
_PAGE = (
    "insert into page (shard, id, key, url, site_id, depth, hops, priority, found_us, visits, tries, version, "
    "interval_s, outcome, reason, detail, status, last_us, confirmed_us, due_us) "
    "values ((select shard from shard), ?, ?, ?, ?, 2, 0, 2, ?, 2, 0, 1, 86400, 'fetched', 'new', '', 200, ?, ?, ?)"
)
_VISIT = (
    "insert into visit (shard, page_id, at_us, outcome, reason, status, took_ms, wire_bytes, version) "
    "values ((select shard from shard), ?, ?, ?, ?, 200, 50, 9000, 1)"
)
_VERSION = (
    "insert into version (shard, page_id, number, seen_us, status, digest, payload_sha1, content_type, title, "
    "body_bytes, words, file, offset, length, record_id) "
    "values ((select shard from shard), ?, 1, ?, 200, ?, ?, 'text/html', ?, 9000, 500, 's00-000001.warc.gz', 0, 100, ?)"
)
_SITE = (
    "insert into site (shard, id, name, domain, open_us, delay_ms, backoff, failures, requests, wire_bytes, pages, "
    "pending) values ((select shard from shard), ?, ?, ?, 0, 1000, 1.0, 0, ?, ?, ?, 0)"
)


def make_million(collection: Path, pages: int) -> None:
    """A collection as a crawl of `pages` pages would leave it, without the pages themselves."""
    create_collection(collection, {"scope.seeds": ("https://s0.example/",)})
    chance, now_us = random.Random(1), int(time.time() * 1e6)
    by_shard: dict[int, list[str]] = {}
    for number in range(SITES):
        origin = f"https://s{number}.example"
        by_shard.setdefault(shard_of_site(origin, SHARDS), []).append(origin)
    for shard, sites in by_shard.items():
        db = open_for_writing(shard_path(collection, shard), durability="process")
        db.execute("begin")
        first = 1
        for site_id, origin in enumerate(sites, 1):
            count = pages // SITES
            db.execute(_SITE, (site_id, origin, registrable_domain(origin[8:]), count * 2, count * 9000, count))
            _fill(db, origin, site_id, range(first, first + count), chance, now_us)
            first += count
        db.execute("update shard set next_id = ?", (first,))
        db.execute("insert into tally values ('fetched', 'new', ?, (select shard from shard))", (first - 1,))
        db.execute("commit")
        db.close()


def _fill(db, origin: str, site_id: int, ids: range, chance: random.Random, now_us: int) -> None:
    for place, number in enumerate(ids):
        url = f"{origin}/f{place // 100}/p{place}"
        key, last_us = key_of(url), now_us - chance.randrange(30 * DAY_US)
        due_us = now_us + chance.randrange(-DAY_US, 20 * DAY_US)
        db.execute(_PAGE, (number, key, url, site_id, last_us, last_us, last_us, due_us))
        db.execute("insert into seen values (?, ?, (select shard from shard))", (key, number))
        db.execute(_VISIT, (number, last_us, "fetched", "new"))
        db.execute(_VISIT, (number, last_us, "unchanged", "not_modified"))
        db.execute(_VERSION, (number, last_us, os.urandom(16), os.urandom(20), f"Page {place}", os.urandom(16)))
        if place % 10 == 0:
            edit = [f"{chance.getrandbits(60):x}", False, ["-old words", "+new words"], False, 0]
            edits = json.dumps([0, edit])
            db.execute(
                "insert into change values (?, ?, 'content', 0.1, ?, (select shard from shard))",
                (number, last_us, edits),
            )
            refused = f"{url}/refused"
            values = (key_of(refused), refused, "robots", "line 2", url, now_us, 2)
            db.execute("insert into refusal values (?, ?, ?, ?, ?, ?, ?, (select shard from shard))", values)


class Running(NamedTuple):
    """The server: where it is, and its process."""

    address: str
    pid: int

    def cpu_s(self) -> float:
        """What it has taken of the processor so far; unlike times on the wall it holds on a busy machine."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(collection: Path, env: dict[str, str] | None = None) -> Iterator[Running]:
    """The command, until the block ends."""
    command = [sys.executable, "-m", "evercrawl", "-C", str(collection), "serve", "--port", "0", "--json", "--no-open"]
    around = os.environ | {"EVERCRAWL_TOKEN": TOKEN} | (env or {})
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=around)
    assert process.stdout is not None
    try:
        yield Running(json.loads(process.stdout.readline())["address"], process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def _client() -> httpx.AsyncClient:
    return httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60)


async def _each_page(server: Running, paths: list[str]) -> dict[str, list[float]]:
    """The first time, the median of five, and the processor time of the last four, in milliseconds, by path."""
    found = {}
    async with _client() as client:
        for path in paths:
            times = []
            for turn in range(5):
                if turn == 1:
                    cpu_s = server.cpu_s()
                began = time.perf_counter()
                while (answer := await client.get(server.address + path)).status_code == 503:  # noqa: ASYNC110
                    await asyncio.sleep(1)  # As Retry-After says; it counts.
                answer.raise_for_status()
                times.append(round((time.perf_counter() - began) * 1000, 1))
            found[path] = [times[0], sorted(times)[2], round((server.cpu_s() - cpu_s) * 1000 / 4, 1)]
    return found


def million(pages: int) -> dict[str, object]:
    """The time of every page over so many pages."""
    site = "https://s7.example"
    paths = ["/", "/live", "/changes", "/sites", "/frontier", "/skipped", "/skipped?reason=tls", "/runs", "/metrics"]
    paths += ["/traps", "/alerts", "/websub", "/outposts", "/cluster", "/settings", *TABLES]
    paths += ["/changes?state=all&since=30d"]
    paths += ["/alerts?name=news&patterns=https://s7.example/*&channel=atom", "/changes?state=read"]
    paths += [f"/site?name={site}", f"/load?name={site}", f"/page?url={site}/f0/p5", f"/why?url={site}/f0/p5"]
    paths += [f"/pages?site=%3D{site}&sort=-last_visit", f"/site?name={site}&sort=-visits&status=200"]
    paths += [f"/cdx?url={site}/f0/*", f"/web/timemap/link/{site}/f0/p5", "/changes.atom"]
    paths += ["/search?q=page+5", f"/links?url={site}/f0/p5", "/storage", "/orphans", "/link-problems", "/graph"]
    paths += ["/plan?budget=100/day", "/sitemap-check", "/export", "/backups", "/removals", "/add", "/mail", "/access"]
    paths += ["/api", "/fields", f"/remove?kind=page&name={site}/f0/p5", f"/remove?kind=site&name={site}"]
    with tempfile.TemporaryDirectory() as folder:
        collection = Path(os.environ.get("MILLION", folder)) / "million.evercrawl"
        if not collection.exists():
            make_million(collection, pages)
        with served(collection) as server:
            found = asyncio.run(_each_page(server, paths))
    slowest = max(found, key=lambda path: found[path][1])
    return {"pages": pages, "slowest": slowest, "first_median_and_cpu_ms": found}


async def _read(address: str, paths: list[str], seconds: float) -> list[float]:
    times: list[float] = []
    end = time.monotonic() + seconds

    async def reader(number: int) -> None:
        chance = random.Random(number)
        while time.monotonic() < end:
            await asyncio.sleep(chance.uniform(*READING_S))
            began = time.perf_counter()
            await client.get(address + chance.choice(paths))
            times.append((time.perf_counter() - began) * 1000)

    async with _client() as client:
        await asyncio.gather(*(reader(number) for number in range(READERS)))
    return sorted(times)


def readers(seconds: float) -> dict[str, object]:
    """Page times of the readers, and what they cost the crawl."""
    alone, _, _ = _crawl(seconds, with_readers=False)
    beside, times, cpu_s = _crawl(seconds, with_readers=True)
    return {
        "readers": READERS,
        "page_views": len(times),
        "p50_ms": round(times[len(times) // 2], 1),
        "p99_ms": round(times[int(len(times) * 0.99)], 1),
        "cpu_ms_per_view": round(cpu_s * 1000 / len(times), 1),
        "cores_taken": round(cpu_s / seconds, 3),
        "requests_per_s_alone": round(alone, 1),
        "requests_per_s_beside": round(beside, 1),
    }


def _crawl(seconds: float, *, with_readers: bool) -> tuple[float, list[float], float]:
    """Requests a second of a crawl of the benchmark web, times of the views, and the server's CPU."""
    with tempfile.TemporaryDirectory() as folder:
        collection = Path(folder) / "c.evercrawl"
        hosts = json.loads((CORPUS / "nginx" / "hosts.json").read_text()).values()
        origins = [f"http://{host['ip']}:8080" for host in hosts]
        seeds = tuple(f"{origin}/__index.html" for origin in origins)
        create_collection(collection, {"scope.seeds": seeds})
        env = {"EVERCRAWL_HTTP__ALLOW_PRIVATE": "true", "EVERCRAWL_PACE__MODE": "unlimited"}
        env |= {"EVERCRAWL_CRAWL__MAX_PAGES": "none"}
        crawl = subprocess.Popen(
            [sys.executable, "-m", "evercrawl", "-C", str(collection), "crawl", "-q", "--no-progress"],
            env=os.environ | env,
            stdout=subprocess.DEVNULL,
        )
        try:
            time.sleep(SETTLING_S)
            before = _requests()
            times: list[float] = []
            cpu_s = 0.0
            if with_readers:
                paths = ["/", "/changes", "/sites", "/frontier", "/skipped", f"/site?name={origins[0]}"]
                paths += ["/search?q=the+page", "/traps", "/alerts", "/websub", "/live", "/pages?status=200"]
                paths += [f"/{view}?url={seed}" for seed in seeds[:2] for view in ("page", "why", "links")]
                with served(collection, env) as server:
                    before, began = _requests(), server.cpu_s()
                    times = asyncio.run(_read(server.address, paths, seconds))
                    cpu_s = server.cpu_s() - began
            else:
                time.sleep(seconds)
            asked = (_requests() - before) / seconds
            assert crawl.poll() is None, "the crawl has ended before the readers"
            return asked, times, cpu_s
        finally:
            crawl.terminate()
            crawl.wait(60)


def _requests() -> int:
    """What the benchmark web's server has answered so far; it writes its log every second."""
    with (CORPUS / "nginx" / "access.log").open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


def main() -> None:
    """One of the two."""
    which, *rest = sys.argv[1:] or ["readers"]
    found = (
        million(int(rest[0]) if rest else 1_000_000) if which == "million" else readers(float(rest[0]) if rest else 30)
    )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
