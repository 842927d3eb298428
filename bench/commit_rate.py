"""How many pages a second does PostgreSQL take when the collection is five times as large as its memory?

    python bench/commit_rate.py [--urls 12000000] [--clients 4] [--seconds 60]

Fills a collection with URLs, confines the server's memory (its own and the kernel's cache of its files) to a
fifth of the database's size by a control group, and commits as crawling processes do: for each page its
update, its visit, its version and content row, eight links of which six are known (looked up) and two are
new pages, and parcels of links for other shards. Links lie in the page's own folder, or (`--links random`)
anywhere in the shard. The last line is JSON: `pages_per_s` over all clients, `p50_ms` and `p99_ms` of one
commit of 200 pages with its look-ups, sizes and limits. Where no control group can be made the run says so
(`confined`: false) and only the server's own buffers are small.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles
from typing import Any, NamedTuple

import asyncpg

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench.confine import Confinement
from bench.growth import finished
from tests.postgres_server import PostgresServer, processes_of, running_server

from evercrawl.adapters.postgres.membership import PostgresShard, PostgresStore
from evercrawl.adapters.postgres.postgres_pool import parse_address
from evercrawl.core.url import key_of
from evercrawl.model.page import Batch, LinkBatch, NewPage, Page
from evercrawl.model.settings import StoreSettings
from evercrawl.model.site import Site

SHARDS = 64
SITES = 20
"""Of each shard."""
PAGES_A_COMMIT = 200
LINKS, NEW_LINKS = 8, 2
PARCELS, PARCEL_BYTES = 4, 6_000
FOLDER = 40
MEMORY_SHARE = 5
LEAST_LIMIT_BYTES = 96 * 1024 * 1024
"""Below this the server does not run well; reduced runs are not confined to a fifth."""
ESTIMATED_BYTES = 350
NAMESPACE = "bench"
SETTINGS = StoreSettings(shards=SHARDS)
FOUND_US = 1_700_000_000_000_000


def url_of(shard: int, site: int, number: int) -> str:
    folder = f"https://www.site-{shard}-{site}.org/section-{number // 4000}/{number // FOLDER}"
    return f"{folder}/an-article-of-some-length-{number}.html"


def place_in_shard(site: int, number: int) -> int:
    """The page's id and its place in the queue: sites take turns, as links are found."""
    return number * SITES + site + 1


def page_rows(shard: int, urls: int) -> Iterator[tuple[Any, ...]]:
    for index in range(urls):
        number, site = divmod(index, SITES)
        url = url_of(shard, site, number)
        yield (shard, index + 1, key_of(url), url, site + 1, 3, 0, 1, index + 1, FOUND_US)


async def fill(dsn: str, urls: int) -> None:
    """Shards with queued pages, in the same tables that a crawl makes."""
    store = PostgresStore(parse_address(dsn), SETTINGS)
    pool = await store.pool()
    columns = ["shard", "id", "key", "url", "site_id", "depth", "hops", "priority", "seq", "found_us"]
    for shard in range(SHARDS):
        await store.open_shard(shard)
        rows = list(page_rows(shard, urls // SHARDS))
        seen = sorted((shard, row[2], row[1]) for row in rows)
        names = [f"https://www.site-{shard}-{site}.org" for site in range(SITES)]
        sites = [(shard, place + 1, name, name, len(rows) // SITES) for place, name in enumerate(names)]
        async with pool.acquire() as connection, connection.transaction():
            await connection.copy_records_to_table("page", schema_name=NAMESPACE, columns=columns, records=rows)
            await connection.copy_records_to_table("seen", schema_name=NAMESPACE, records=seen)
            await connection.executemany(
                f"insert into {NAMESPACE}.site (shard, id, name, domain, open_us, delay_ms, backoff, failures,"
                " requests, wire_bytes, pages, pending, priority)"
                " values ($1, $2, $3, $4, 0, 0, 0, 0, 0, 0, $5, $5, 1)",
                sites,
            )
            await connection.execute(
                f"update {NAMESPACE}.shard set next_id = $2, next_seq = $2, next_site_id = $3 where shard = $1",
                shard,
                len(rows) + 1,
                SITES + 1,
            )
    await pool.execute(f"vacuum analyze {NAMESPACE}.page")
    await pool.execute(f"vacuum analyze {NAMESPACE}.seen")
    await pool.execute("checkpoint")
    await store.close()


class Load(NamedTuple):
    """What one client is to do."""

    dsn: str
    client: int
    clients: int
    urls: int
    seconds: float
    is_random: bool


class Client:
    """Commits to its own shards, one after the other."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._random = random.Random(load.client)
        self._pages = load.urls // SHARDS // SITES
        self._first_new: dict[int, int] = {}
        self._parcels: dict[int, int] = {}
        self._visited: dict[tuple[int, int], int] = {}
        self.took_ms: list[float] = []

    async def run(self) -> int:
        """Pages committed within the time."""
        store = PostgresStore(parse_address(self._load.dsn), SETTINGS, connections=1)
        shards = [await store.open_shard(number) for number in range(self._load.client, SHARDS, self._load.clients)]
        epochs = {}
        for shard in shards:
            facts = await shard.claim()
            epochs[shard.shard] = facts.epoch
            self._first_new[shard.shard], self._parcels[shard.shard] = facts.next_id, facts.next_link_batch
        pages, until = 0, time.monotonic() + self._load.seconds
        while time.monotonic() < until:
            shard = self._random.choice(shards)
            began = time.monotonic()
            committed = await self._commit(shard, epochs[shard.shard])
            if committed:
                self.took_ms.append((time.monotonic() - began) * 1000)
            pages += committed
        await store.close()
        return pages

    async def _commit(self, shard: PostgresShard, epoch: int) -> int:
        """One commit of a site's next pages; how many they were."""
        number, site = shard.shard, self._random.randrange(SITES)
        first = self._visited.get((number, site), self._random.randrange(self._pages // 2))
        last = min(first + PAGES_A_COMMIT, self._pages)
        self._visited[number, site] = last
        visited = range(first, last)
        if not visited:
            return 0
        known = await shard.known([key_of(url) for page in visited for url in self._known(number, site, page)])
        assert known, "links of the collection are not found in it"
        batch = Batch(sites={site + 1: self._site(number, site)})
        batch.visited = [finished(_page(number, site, page), FOUND_US + page) for page in visited]
        self._add_new(batch, number, site, len(visited) * NEW_LINKS)
        self._add_parcels(batch, number)
        await shard.commit(epoch, batch)
        return len(visited)

    def _known(self, number: int, site: int, page: int) -> Iterator[str]:
        for _ in range(LINKS - NEW_LINKS):
            if self._load.is_random:
                yield url_of(number, self._random.randrange(SITES), self._random.randrange(self._pages))
            else:
                yield url_of(number, site, page // FOLDER * FOLDER + self._random.randrange(FOLDER))

    def _site(self, number: int, site: int) -> Site:
        name = f"https://www.site-{number}-{site}.org"
        return Site(site + 1, name, name)

    def _add_new(self, batch: Batch, number: int, site: int, count: int) -> None:
        first = self._first_new[number]
        self._first_new[number] += count
        for page_id in range(first, first + count):
            folder = f"https://www.site-{number}-{site}.org/new/{page_id // FOLDER}"
            url = f"{folder}/an-article-of-some-length-{page_id}.html"
            batch.new_pages.append(NewPage(page_id, key_of(url), url, site + 1, 4, 0, 2, page_id, None, FOUND_US))

    def _add_parcels(self, batch: Batch, number: int) -> None:
        first = self._parcels[number]
        self._parcels[number] += PARCELS
        for seq in range(first, first + PARCELS):
            batch.sent.append(LinkBatch(seq, number, (number + seq) % SHARDS, self._random.randbytes(PARCEL_BYTES)))
            batch.delivered.append(seq - PARCELS)


def _page(number: int, site: int, page: int) -> Page:
    url = url_of(number, site, page)
    place = place_in_shard(site, page)
    return Page(place, key_of(url), url, site + 1, 3, 0, 1, place)


def work(load: Load) -> tuple[int, list[float], float]:
    """One client in a process of its own: pages, commit times, CPU seconds."""
    client, began = Client(load), time.process_time()
    pages = asyncio.run(client.run())
    return pages, client.took_ms, time.process_time() - began


async def asked(dsn: str, question: str) -> Any:
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval(question)
    finally:
        await connection.close()


def measure(server: PostgresServer, arguments: argparse.Namespace, cage: Confinement | None) -> dict[str, Any]:
    dsn = f"{server.dsn}?namespace={NAMESPACE}"
    began = time.monotonic()
    asyncio.run(fill(dsn, arguments.urls))
    size = asyncio.run(asked(server.dsn, "select pg_database_size(current_database())"))
    limit = max(LEAST_LIMIT_BYTES, size // MEMORY_SHARE)
    filled_s = round(time.monotonic() - began)
    print(json.dumps({"filled_s": filled_s, "database_mb": size // 10**6}), flush=True)
    if cage is not None:
        cage.limit(limit)
    is_random = arguments.links == "random"
    loads = [
        Load(dsn, client, arguments.clients, arguments.urls, arguments.seconds, is_random)
        for client in range(arguments.clients)
    ]
    with multiprocessing.get_context("spawn").Pool(arguments.clients) as pool:
        done = pool.map(work, loads)
    took = [ms for _, times, _ in done for ms in times]
    cuts = quantiles(took, n=100) if len(took) > 1 else took * 99
    pages = sum(pages for pages, _, _ in done)
    return {
        "urls": arguments.urls,
        "links": arguments.links,
        "clients": arguments.clients,
        "pages_per_s": round(sum(pages / (sum(times) / 1000) for pages, times, _ in done if times)),
        "link_lookups_and_inserts_per_s": round(
            LINKS * sum(pages / (sum(times) / 1000) for pages, times, _ in done if times)
        ),
        "p50_ms": round(cuts[49]),
        "p99_ms": round(cuts[98]),
        "client_cpu_ms_per_page": round(sum(cpu for _, _, cpu in done) / max(1, pages) * 1000, 3),
        "database_mb": size // 10**6,
        "limit_mb": limit // 10**6 if cage is not None else None,
        "share": round(size / limit, 1),
        "confined": cage is not None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--urls", type=int, default=12_000_000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--links", choices=("folder", "random"), default="folder")
    arguments = parser.parse_args()
    estimate = max(LEAST_LIMIT_BYTES, arguments.urls * ESTIMATED_BYTES // MEMORY_SHARE)
    settings = ("fsync=on", f"shared_buffers={estimate // 4 // 8192}", "max_wal_size=4GB")
    cage = None
    try:
        cage = Confinement("evercrawl-bench")
    except OSError as error:
        print(f"not confined: {error}", file=sys.stderr)
    try:
        with running_server(*settings) as server:
            if cage is not None:
                cage.take(processes_of(server.folder))
            figures = measure(server, arguments, cage)
        print(json.dumps(figures))
    finally:
        if cage is not None:
            cage.remove()


if __name__ == "__main__":
    main()
