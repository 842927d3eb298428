"""Does the state stay small and fast as a collection grows to ten or a hundred million URLs?

Offers links to a collection as a crawl would: page by page, mostly to the site and folder of the page, about
half of them known; through the URL-seen test and `SqliteShard.commit`, in the rhythm of the engine.
Making up the links is not measured; canonical form, keys, the seen test, the visits and the commits are.

    python bench/growth.py FOLDER --urls 10000000 --shards 64 --out growth-64.jsonl
    python bench/growth.py FOLDER --urls 100000000 --portion 10000000 --most-rss 2000 --least-ratio 0.5 --least-rate 0
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from random import Random
from time import monotonic, process_time

from evercrawl.adapters.sqlite.sqlite_database import SqliteShard, SqliteStore
from evercrawl.core.duplicates.url_seen import UrlSeenTest
from evercrawl.core.url import canonical_of_href, key_of, registrable_domain, shard_of_site, site_of, site_parts
from evercrawl.model.page import Batch, CompletedVisit, NewPage, Page, Version
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.settings import StoreSettings, UrlSeenSettings
from evercrawl.model.site import Site

SMALL_PORTION = 1_000_000
MOST_RSS_MB = 600
LEAST_PER_CPU_S = 25_000
LEAST_TENTH_TO_SECOND = 0.7
MOST_STEP_RATIO = 1.5
FIRST_STEPS_AT = 100_000
STEPS = 200
WINDOW = 64
MICROSECONDS = 1_000_000


class MadeUpWeb:
    """Sites of Zipf sizes whose pages are numbered; a link is (site, page number)."""

    def __init__(self, sites: int, seed: int) -> None:
        self.random = Random(seed)
        self.names = [f"https://www.site-{number}.org" for number in range(sites)]
        self.made = [10] * sites
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(sites)))

    def pages(self, count: int) -> Iterator[tuple[int, list[str]]]:
        """So many visited pages: their site and the links that they hold."""
        for site in self.random.choices(range(len(self.names)), cum_weights=self._weights, k=count):
            yield site, self._links(site)

    def _links(self, site: int) -> list[str]:
        random = self.random
        total = random.randint(20, 100)
        here = random.randrange(self.made[site])
        links = [self._href(site, number) for number in range(total // 8)]
        links += [self._new(site if random.random() < 0.95 else self._any_site()) for _ in range(total // 2)]
        links += [self._known(site, here) for _ in range(total - len(links))]
        return links

    def _any_site(self) -> int:
        return self.random.randrange(len(self.names))

    def _new(self, site: int) -> str:
        self.made[site] += 1
        return self._href(site, self.made[site] - 1)

    def _known(self, site: int, here: int) -> str:
        kind = self.random.random()
        if kind < 0.70:
            number = here // 40 * 40 + self.random.randrange(40)
        elif kind < 0.95:
            number = self.random.randrange(self.made[site])
        else:
            site = self.random.choices(range(len(self.names)), cum_weights=self._weights)[0]
            number = self.random.randrange(12)
        return self._href(site, min(number, self.made[site] - 1))

    def _href(self, site: int, number: int) -> str:
        folder = f"{self.names[site]}/section-{number // 4000}/{number // 40}"
        return f"{folder}/an-article-of-some-length-{number}.html"


@dataclass(slots=True)
class Numbers:
    """The shard's counters, as the engine keeps them."""

    epoch: int
    next_id: int = 1
    next_seq: int = 1
    next_site_id: int = 1
    sites: dict[str, Site] = field(default_factory=dict)


class Crawl:
    """The part of a crawl that writes state."""

    def __init__(self, store: SqliteStore, settings: StoreSettings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self.seen = UrlSeenTest(UrlSeenSettings())
        self.distinct = 0
        self.offers = 0
        self._store = store
        self._shards: dict[int, SqliteShard] = {}
        self._numbers: dict[int, Numbers] = {}
        self._batches: dict[int, Batch] = defaultdict(Batch)
        self._on_the_way: dict[int, set[bytes]] = defaultdict(set)
        """Keys of the pages in each batch, which the store does not know yet."""
        self._windows: dict[str, deque[Page]] = {}
        self._read_to: Counter[str] = Counter()
        self._committed_at = process_time()
        self._shard_of: dict[str, int] = {}
        self._now_us = 1_700_000_000 * MICROSECONDS

    async def open_all(self) -> None:
        for number in range(self._store.shards):
            shard = self._shards[number] = await self._store.open_shard(number)
            self._numbers[number] = Numbers((await shard.claim()).epoch)

    async def visit(self, site: str, hrefs: list[str]) -> None:
        """One page: its links are offered, and it is finished."""
        number = self._shard(site)
        page = await self._next_page(number, site)
        await self._offer(hrefs, page)
        self._now_us += 1000
        if page is not None:
            self._finish(number, page)
        if len(self._batches[number].visited) >= self.settings.commit_pages:
            await self._commit(number)
        if process_time() - self._committed_at > self.settings.commit_interval.total_seconds():
            await self.commit_all()

    async def _offer(self, hrefs: list[str], parent: Page | None) -> None:
        urls = {key_of(url): url for href in hrefs if (url := canonical_of_href(href)) is not None}
        self.offers += len(hrefs)
        new, unsure = self.seen.split(urls)
        if unsure:
            new += self.seen.resolve(unsure, await self._known(unsure, urls))
        self.seen.learn(new)
        self.distinct += len(new)
        for key in new:
            self._enter(key, urls[key], parent)

    async def _known(self, keys: list[bytes], urls: dict[bytes, str]) -> set[bytes]:
        by_shard: dict[int, list[bytes]] = defaultdict(list)
        for key in keys:
            by_shard[self._shard(site_of(urls[key]))].append(key)
        known: set[bytes] = set()
        for number, some in by_shard.items():
            known |= await self._shards[number].known(some)
            known |= self._on_the_way[number].intersection(some)
        return known

    def _enter(self, key: bytes, url: str, parent: Page | None) -> None:
        name = site_of(url)
        number = self._shard(name)
        numbers = self._numbers[number]
        site = numbers.sites.get(name) or self._new_site(number, name)
        parent_id = None if parent is None else parent.id
        self._batches[number].new_pages.append(
            NewPage(numbers.next_id, key, url, site.id, 3, 0, 1, numbers.next_seq, parent_id, self._now_us)
        )
        self._on_the_way[number].add(key)
        numbers.next_id += 1
        numbers.next_seq += 1

    def _new_site(self, number: int, name: str) -> Site:
        numbers = self._numbers[number]
        site = Site(numbers.next_site_id, name, registrable_domain(site_parts(name).host))
        numbers.next_site_id += 1
        numbers.sites[name] = site
        self._batches[number].sites[site.id] = site
        return site

    async def _next_page(self, number: int, site: str) -> Page | None:
        window = self._windows.setdefault(site, deque())
        known = self._numbers[number].sites.get(site)
        if not window and known is not None:
            window.extend(await self._shards[number].queue(known.id, 1, self._read_to[site], WINDOW))
            if window:
                self._read_to[site] = window[-1].seq
        return window.popleft() if window else None

    def _finish(self, number: int, page: Page) -> None:
        batch = self._batches[number]
        batch.visited.append(finished(page, self._now_us))
        name = site_of(page.url)
        site = self._numbers[number].sites[name]
        batch.sites[site.id] = self._numbers[number].sites[name] = site._replace(
            open_us=self._now_us + MICROSECONDS, requests=site.requests + 1
        )

    def _shard(self, site: str) -> int:
        shard = self._shard_of.get(site)
        if shard is None:
            shard = self._shard_of[site] = shard_of_site(site, self._store.shards)
        return shard

    async def _commit(self, number: int) -> None:
        batch = self._batches.pop(number, None)
        self._on_the_way.pop(number, None)
        if batch is not None and not batch.is_empty():
            await self._shards[number].commit(self._numbers[number].epoch, batch)

    async def commit_all(self) -> None:
        for number in list(self._batches):
            await self._commit(number)
        self._committed_at = process_time()

    def disk_mb(self) -> float:
        """Size of all state files."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file()) / 1e6

    async def steps(self, sites: list[str]) -> list[float]:
        """CPU milliseconds of each take/finish: read a window of one site's queue, commit its visits."""
        await self.commit_all()
        taken = []
        for name in sites:
            number = self._shard(name)
            site = self._numbers[number].sites.get(name)
            if site is None:
                continue
            began = process_time()
            pages = await self._shards[number].queue(site.id, 1, self._read_to[name], WINDOW)
            if len(pages) < WINDOW:
                continue
            self._read_to[name] = pages[-1].seq
            batch = Batch(sites={site.id: site}, visited=[finished(page, self._now_us) for page in pages])
            await self._shards[number].commit(self._numbers[number].epoch, batch)
            taken.append((process_time() - began) * 1000)
        return taken


def finished(page: Page, now_us: int) -> CompletedVisit:
    """A visit that found a page of ordinary size."""
    digest = key_of(page.url)
    version = Version(
        1, digest, digest + b"sha1", digest, digest * 4, "text/html", "utf-8", "An article",
        "en", 36_000, 700, '"5f3c-1a2b"', None, "s00-20260101.warc.gz", page.id * 9000, 9000, digest, None,
    )  # fmt: skip
    return CompletedVisit(
        page.id, page.site_id, page.priority, page.seq, now_us, Outcome.FETCHED, Reason.NEW, "", 200, 120, 9000,
        now_us + 86_400 * MICROSECONDS, 0, 86_400, version, '"5f3c-1a2b"',
    )  # fmt: skip


def rss_mb() -> float:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def run(arguments: argparse.Namespace) -> bool:
    settings = StoreSettings(shards=arguments.shards)
    store = SqliteStore(arguments.folder, settings)
    crawl = Crawl(store, settings, arguments.folder)
    web = MadeUpWeb(arguments.sites, seed=7)
    rows: list[dict[str, float]] = []
    step_ms: dict[int, float] = {}
    await crawl.open_all()
    for goal in [FIRST_STEPS_AT, *range(arguments.portion, arguments.urls + 1, arguments.portion)]:
        rows.append(await grow(crawl, web, goal))
        report(arguments, {"shards": arguments.shards, **rows[-1]})
        if goal in (FIRST_STEPS_AT, arguments.urls):
            names = [web.names[site] for site in web.random.choices(range(300), k=STEPS)]
            step_ms[goal] = statistics.median(await crawl.steps(names))
            step = {"shards": arguments.shards, "urls": goal, "step_ms": round(step_ms[goal], 3)}
            report(arguments, step)
    await store.close()
    return judge(arguments, rows[1:], step_ms[arguments.urls] / step_ms[FIRST_STEPS_AT])


async def grow(crawl: Crawl, web: MadeUpWeb, goal: int) -> dict[str, float]:
    """Crawl on until the collection holds so many URLs."""
    distinct, offers, spent, elapsed, counts = crawl.distinct, crawl.offers, 0.0, 0.0, crawl.seen.counts
    before = (counts.cache_hits, counts.store_lookups, counts.false_positives)
    while crawl.distinct < goal:
        pages = list(web.pages(200))
        began, began_at = process_time(), monotonic()
        for site, hrefs in pages:
            await crawl.visit(web.names[site], hrefs)
        spent += process_time() - began
        elapsed += monotonic() - began_at
    offered = crawl.offers - offers
    return {
        "urls": crawl.distinct,
        "new_per_cpu_s": round((crawl.distinct - distinct) / spent),
        "offers_per_cpu_s": round(offered / spent),
        "new_per_s": round((crawl.distinct - distinct) / elapsed),
        "rss_mb": round(rss_mb()),
        "disk_mb": round(crawl.disk_mb()),
        "cache_hit_rate": round((counts.cache_hits - before[0]) / offered, 3),
        "store_lookup_rate": round((counts.store_lookups - before[1]) / offered, 3),
        "false_positives": counts.false_positives - before[2],
    }


def report(arguments: argparse.Namespace, row: dict[str, float]) -> None:
    """One line on the terminal and in the result file."""
    line = json.dumps(row)
    print(line, flush=True)
    with arguments.out.open("a", encoding="utf-8") as out:
        out.write(line + "\n")


def judge(arguments: argparse.Namespace, rows: list[dict[str, float]], step_ratio: float) -> bool:
    """Whether every bar holds; says so for each."""
    speeds = [row["new_per_cpu_s"] for row in rows]
    early = speeds[1] if arguments.portion == SMALL_PORTION and len(speeds) > 1 else speeds[0]
    bars = [
        ("RSS in MB", max(row["rss_mb"] for row in rows), "<=", arguments.most_rss),
        ("last portion to the first (of a million: to the second)", speeds[-1] / early, ">=", arguments.least_ratio),
        ("slowest portion, new URLs per CPU-second", min(speeds), ">=", arguments.least_rate),
        ("take/finish, last to first", step_ratio, "<=", MOST_STEP_RATIO),
    ]
    verdicts = [value <= bar if sign == "<=" else value >= bar for _, value, sign, bar in bars]
    for (name, value, sign, bar), holds in zip(bars, verdicts, strict=True):
        print(f"{'ok  ' if holds else 'FAIL'} {name}: {value:.2f} (bar: {sign} {bar})")
    return all(verdicts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="scratch folder; made, and removed at the end")
    parser.add_argument("--urls", type=int, default=10_000_000)
    parser.add_argument("--portion", type=int, default=SMALL_PORTION)
    parser.add_argument("--most-rss", type=int, default=MOST_RSS_MB, help="bar: resident memory in MB")
    parser.add_argument("--least-ratio", type=float, default=LEAST_TENTH_TO_SECOND, help="bar: speed, late to early")
    parser.add_argument("--least-rate", type=int, default=LEAST_PER_CPU_S, help="bar: new URLs per CPU-second")
    parser.add_argument("--shards", type=int, default=64)
    parser.add_argument("--sites", type=int, default=5000)
    parser.add_argument("--out", type=Path, default=Path("growth.jsonl"))
    arguments = parser.parse_args()
    try:
        holds = asyncio.run(run(arguments))
    finally:
        shutil.rmtree(arguments.folder, ignore_errors=True)
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
