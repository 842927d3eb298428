"""How fast and how good is search over the benchmark web?

    python bench/search.py make FOLDER [--pages N]    texts, titles and links of the corpus into a collection
    python bench/search.py index FOLDER               documents per CPU-second, size against the text
    python bench/search.py graph FOLDER               the link graph and PageRank
    python bench/search.py ask FOLDER                 query times; known items: a title's words, its page

CPU time is what counts: the machine may be shared.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import sqlite3
import statistics
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, process_time
from urllib.parse import unquote

from evercrawl.adapters.graph_files import current_graph
from evercrawl.adapters.sqlite.sqlite_database import SqliteStore
from evercrawl.collection.graph_builder import build_graph
from evercrawl.collection.search_index import rebuild_index
from evercrawl.collection.searcher import Searcher
from evercrawl.config import create_collection
from evercrawl.core.digest import content_digest, text_digest
from evercrawl.core.document.compression import outline_of, pack_outline, pack_text
from evercrawl.core.document.html import parse_document
from evercrawl.core.duplicates.minhash import text_signature
from evercrawl.core.linkgraph.graph_metrics import pagerank
from evercrawl.core.url import canonical, key_of, registrable_domain, shard_of_site, site_of, site_parts
from evercrawl.model.page import Batch, CompletedVisit, NewPage, Version
from evercrawl.model.reason import Outcome, Reason
from evercrawl.model.settings import ParseSettings, SearchSettings, StoreSettings
from evercrawl.model.site import Site

ROOT = Path(__file__).resolve().parents[1]
CORPUS = Path(os.environ.get("CORPUS_ROOT", ROOT / "scratch" / "corpus"))
HTML = (("content-type", "text/html"),)
LIMITS = ParseSettings()
BATCH_PAGES = 500
BEGAN_US = 1_790_000_000_000_000
KNOWN_ITEMS = 60
QUERIES = 400
SEED = 7


# Making the collection


def corpus_files(most: int | None) -> Iterator[tuple[str, Path]]:
    """URL and file of pages of the corpus, in an order that mixes its hosts."""
    hosts = json.loads((CORPUS / "nginx" / "hosts.json").read_text())
    roots = {f"http://{host['ip']}:8080": Path(host["root"]) for host in hosts.values()}
    lines = (CORPUS / "nginx" / "urls.txt").read_text().split()
    urls = [url for line in lines if not line.endswith("/__index.html") and (url := canonical(line))]
    random.Random(SEED).shuffle(urls)
    for url in urls[:most]:
        path = roots[site_of(url)] / unquote(url[len(site_of(url)) + 1 :])
        if path.is_file():
            yield url, path


class Maker:
    """Pages into the shards of a collection, as a crawl commits them, without an archive."""

    def __init__(self, folder: Path) -> None:
        create_collection(folder)
        self.settings = StoreSettings(shards=8)
        self.store = SqliteStore(folder, self.settings)
        self.shards: dict[int, object] = {}
        self.epochs: dict[int, int] = {}
        self.batches: dict[int, Batch] = {}
        self.next_id: Counter[int] = Counter()
        self.sites: dict[str, Site] = {}
        self.at_us = BEGAN_US

    async def take(self, url: str, body: bytes) -> None:
        """One page, visited for the first time."""
        document = parse_document(
            url, HTML, body, agent="evercrawl", limits=LIMITS, all_details=False, wants_outline=True
        )
        shard = shard_of_site(site_of(url), self.settings.shards)
        batch = self.batches.setdefault(shard, Batch())
        site = self._site(site_of(url), shard, batch)
        self.next_id[shard] += 1
        self.at_us += 1000
        page_id, text = self.next_id[shard], document.text
        batch.new_pages.append(NewPage(page_id, key_of(url), url, site.id, 1, 0, 0, page_id, None, self.at_us))
        version = Version(
            1, content_digest(body), b"\0" * 20, text_digest(text), text_signature(text) if text else None,
            "text/html", document.encoding, document.title, document.lang, len(body),
            text.count(" ") + 1 if text else 0, None, None, "none.warc.gz", 0, 0, b"\0" * 16, None,
            text=pack_text(text, 1, None),
        )  # fmt: skip
        batch.visited.append(
            CompletedVisit(
                page_id, site.id, 0, page_id, self.at_us, Outcome.FETCHED, Reason.NEW, "", 200, 1, len(body),
                None, 0, 0, version=version, digest=version.digest,
                outline=pack_outline(outline_of(document)),
            )
        )  # fmt: skip
        if len(batch.visited) >= BATCH_PAGES:
            await self._commit(shard)

    async def finish(self) -> None:
        """Commit what is left."""
        for shard in list(self.batches):
            await self._commit(shard)
        await self.store.close()

    def _site(self, name: str, shard: int, batch: Batch) -> Site:
        if name not in self.sites:
            number = 1 + sum(site.id > 0 for site in self.sites.values())
            self.sites[name] = Site(number, name, registrable_domain(site_parts(name).host))
            batch.sites[number] = self.sites[name]
        return self.sites[name]

    async def _commit(self, shard: int) -> None:
        store = await self.store.open_shard(shard)
        if shard not in self.epochs:
            self.epochs[shard] = (await store.claim()).epoch
        await store.commit(self.epochs[shard], self.batches.pop(shard))


async def make(folder: Path, most: int | None) -> None:
    """The collection; a few minutes for the whole corpus."""
    maker = Maker(folder)
    for done, (url, path) in enumerate(corpus_files(most), start=1):
        await maker.take(url, path.read_bytes())
        if done % 5000 == 0:
            print(f"{done} pages", flush=True)
    await maker.finish()


# Measuring


def text_bytes(folder: Path) -> int:
    """Bytes of all main texts."""
    from evercrawl.adapters.sql.log_reader import log_reader
    from evercrawl.adapters.sql.state_reader import shards_of

    total = 0
    for shard in shards_of(folder):
        with log_reader(folder, shard) as reader:
            place = (0, 0)
            while places := reader.version_places(place, 500):
                for row in reader.version_rows(places):
                    total += len(reader.text_in(row).encode("utf-8", "replace"))
                place = places[-1]
    return total


def measure_index(folder: Path) -> dict[str, float]:
    """Documents per CPU-second and size."""
    before = process_time()
    count = rebuild_index(folder, SearchSettings())
    cpu = process_time() - before
    size = sum(path.stat().st_size for path in (folder / "index").rglob("*") if path.is_file())
    return {
        "documents": count,
        "documents_per_cpu_s": round(count / cpu),
        "index_to_text": round(size / text_bytes(folder), 3),
    }


def measure_graph(folder: Path) -> dict[str, float]:
    """Time of the whole graph, and of PageRank alone."""
    before = process_time()
    found = build_graph(folder)
    whole = process_time() - before
    before = process_time()
    pagerank(found.graph)
    alone = process_time() - before
    return {
        "pages": len(found.pages),
        "links": found.graph.links,
        "graph_cpu_s": round(whole, 2),
        "pagerank_cpu_s": round(alone, 2),
    }


def titles(folder: Path) -> list[tuple[str, str]]:
    """Titles that only one page has, with that page's URL."""
    pairs: list[tuple[str, str]] = []
    for path in sorted((folder / "state").glob("s*.sqlite")):
        with sqlite3.connect(path) as db:
            pairs += db.execute(
                "select v.title, p.url from version v join page p on p.id = v.page_id where v.title > ''"
            ).fetchall()
    counted = Counter(title for title, _ in pairs)
    return [(title, url) for title, url in pairs if counted[title] == 1]


def known_item_queries(folder: Path, rng: random.Random) -> list[tuple[str, str]]:
    """Words of titles that say enough to mean one page."""
    good = [(" ".join(re.findall(r"\w+", title)), url) for title, url in titles(folder)]
    good = [(words, url) for words, url in good if 2 <= len(words.split()) <= 12]
    return rng.sample(sorted(good), min(KNOWN_ITEMS, len(good)))


def mixed_queries(folder: Path, rng: random.Random, known: list[tuple[str, str]]) -> list[str]:
    """One to three words of titles, phrases, and long queries with a filter."""
    others = known_item_queries(folder, random.Random(SEED + 1)) * 8
    some = [rng.sample(words.split(), min(len(words.split()), rng.choice((1, 2, 3)))) for words, _ in others]
    short = [" ".join(words) for words in some][: QUERIES - 40]
    phrases = [f'"{words}"' for words, _ in known[:20]]
    return short + phrases + [f"{words} lang:en" for words, _ in known[:20]]


def measure_ask(folder: Path) -> dict[str, object]:
    """Query times in milliseconds (of this thread), and the share of known items in the first ten."""
    rng = random.Random(SEED)
    searching = Searcher(folder, SearchSettings())
    known = known_item_queries(folder, rng)
    missed = []
    for words, url in known:
        if url not in [hit.url for hit in searching.find(words).hits]:
            missed.append((words, url))
    mixed = mixed_queries(folder, rng, known)
    walls, cpus = [], []
    for query in mixed:
        wall, cpu = perf_counter(), process_time()
        searching.find(query)
        walls.append((perf_counter() - wall) * 1000)
        cpus.append((process_time() - cpu) * 1000)
    searching.close()
    return {
        "known_items_in_first_ten": round(1 - len(missed) / max(1, len(known)), 4),
        "missed": missed,
        "wall_ms": _percentiles(walls),
        "cpu_ms": _percentiles(cpus),
        "has_graph": current_graph(folder) is not None,
    }


def _percentiles(values: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(values, n=100)
    return {"p50": round(cuts[49], 2), "p99": round(cuts[98], 2), "most": round(max(values), 2)}


def main() -> None:
    """Run one of the steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=["make", "index", "graph", "ask"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int)
    given = parser.parse_args()
    if given.step == "make":
        asyncio.run(make(given.folder, given.pages))
        return
    steps = {"index": measure_index, "graph": measure_graph, "ask": measure_ask}
    print(json.dumps(steps[given.step](given.folder), indent=1))


if __name__ == "__main__":
    main()
