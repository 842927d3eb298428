"""The same questions as bench/credit.py, asked of the whole engine: its queue, its commits, its pace.

    CORPUS_ROOT=… PYTHONPATH=. python bench/credit_engine.py [REQUESTS] [order] [rank|trap …] [SHARDS …]

The link graph of the benchmark web is served by a simulated fetcher in virtual time; store and archive are
in memory, and the rules against traps are off. Prints one JSON object a measurement.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import timedelta
from time import process_time

from credit import SITES, TRAP_LINKS, Web, linked_web, listed_web, page_rank, spearman
from link_graph import LinkGraph, load_graph
from played import play, settings_for
from tests.worlds.credit_ledger import balance

from evercrawl.core.credit.ledger import CREDIT_KEY, ledger_of
from evercrawl.core.visit.links import unpack_links
from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, FetchResult, Request
from evercrawl.model.settings import Settings
from evercrawl.testing.store import MemoryStore
from evercrawl.testing.virtual_time import SimClock

HEADERS = (("content-type", "text/html; charset=utf-8"),)
TRAP = "/trap/"


@dataclass
class GraphWeb:
    """Implements `Fetcher`: pages that hold nothing but their links, and on one site a trap without end."""

    graph: LinkGraph
    clock: SimClock
    begins: dict[int, int]
    hidden: frozenset[int] = frozenset()
    trapped: int | None = None
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._number = {url: number for number, url in enumerate(self.graph.urls)}

    async def fetch(self, request: Request) -> FetchResult:
        began = self.clock.now()
        await self.clock.sleep_until(began + timedelta(milliseconds=50))
        took = self.clock.now() - began
        if TRAP not in request.url and request.url not in self._number:
            return Failed(request.url, Fault.NOT_FOUND, "", took, 404)
        self.asked.append(request.url)
        links = self._trap_links(request.url) if TRAP in request.url else self._links(request.url)
        body = "".join([f'<a href="{link}">x</a>' for link in links]).encode()
        exchange = Exchange(b"", b"", body, None, began, took)
        return Fetched(request.url, 200, HEADERS, body + request.url.encode(), exchange)

    def _links(self, url: str) -> list[str]:
        graph, page = self.graph, self._number[url]
        links = [
            graph.urls[link]
            for link in graph.links(page)
            if graph.hosts[link] in self.begins and link not in self.hidden
        ]
        return [*links, TRAP + "0"] if graph.hosts[page] == self.trapped else links

    def _trap_links(self, url: str) -> list[str]:
        assert self.trapped is not None
        number = int(url.rpartition("/")[2])
        first = number * TRAP_LINKS + 1
        return [
            self.graph.urls[self.begins[self.trapped]],
            *[f"{TRAP}{child}" for child in range(first, first + TRAP_LINKS)],
        ]

    async def close(self) -> None:
        """Nothing is held open."""


def crawl(web: GraphWeb, *, requests: int, order: str, shards: int) -> MemoryStore:
    """So many requests from the first page of every site, at the pace that is the default."""
    store = MemoryStore(shards)
    settings = settings_for((web.graph.urls[page] for page in web.begins.values()), requests=requests)
    settings = replace(
        settings, credit=replace(settings.credit, order=order), traps=replace(settings.traps, enabled=False)
    )
    play(settings, web, store)
    return store


def books(store: MemoryStore) -> int:
    """What is wrong with the sums over all shards: 0."""
    ledgers = [ledger_of(store.state_of(shard).site_states.get(CREDIT_KEY)) for shard in range(store.shards)]
    on_its_way = sum(
        unpack_links(parcel.links).credit
        for shard in range(store.shards)
        for parcel in store.state_of(shard).outbox.values()
        if parcel.seq > store.state_of(parcel.target).received.get(parcel.source, 0)
    )
    whole = sum(ledger.lambda_page + ledger.held for ledger in ledgers) + on_its_way
    return sum(map(balance, ledgers)) + whole - sum(ledger.minted for ledger in ledgers)


def rank(graph: LinkGraph, *, requests: int, order: str, shards: int) -> dict[str, object]:
    """Importance as the engine stores it against PageRank of the links that were seen."""
    web = GraphWeb(graph, SimClock(), {graph.hosts[page]: page for page in graph.seeds})
    store = crawl(web, requests=requests, order=order, shards=shards)
    number = {url: page for page, url in enumerate(graph.urls)}
    importance: dict[int, float] = {}
    for shard in range(store.shards):
        state = store.state_of(shard)
        generation = ledger_of(state.site_states.get(CREDIT_KEY)).generation
        for record in state.records.values():
            if record.page.url in number:
                faded = record.page.earned / 2 ** (generation - record.page.generation)
                importance[number[record.page.url]] = faded
    visited = {number[url] for url in web.asked}
    ranks = page_rank(graph, seen=visited.__contains__)
    pages = sorted(importance)
    correlation = spearman([importance[page] for page in pages], [ranks[page] for page in pages])
    return {
        "shards": shards,
        "pages": len(pages),
        "visited": len(visited),
        "importance": round(correlation, 3),
        "books": books(store),
    }


def trap(web: Web, trapped: int, *, requests: int, order: str, shards: int) -> dict[str, object]:
    """The share of the requests that a trap on one of twenty sites gets."""
    served = GraphWeb(web.graph, SimClock(), web.begins, web.hidden, trapped)
    store = crawl(served, requests=requests, order=order, shards=shards)
    caught = sum(TRAP in url for url in served.asked)
    return {
        "trap_on": web.graph.urls[web.begins[trapped]],
        "pages_of_site": Counter(web.graph.hosts)[trapped],
        "found_by": "links" if web.hidden else "lists",
        "requests": len(served.asked),
        "trap_share": round(caught / len(served.asked), 4),
        "books": books(store),
    }


def main() -> None:
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    order = sys.argv[2] if len(sys.argv) > 2 else "credit"
    wanted = [word for word in sys.argv[3:] if not word.isdigit()] or ["rank", "trap"]
    shards = [int(word) for word in sys.argv[3:] if word.isdigit()] or [Settings().store.shards]
    graph = load_graph()
    if "rank" in wanted:
        for count in shards:
            show(rank(graph, requests=requests, order=order, shards=count), order)
    if "trap" in wanted:
        for web in (listed_web(graph), linked_web(graph)):
            hosts = list(web.begins)
            for trapped in (hosts[0], hosts[SITES // 2], hosts[-1]):
                show(trap(web, trapped, requests=requests, order=order, shards=shards[0]), order)


def show(figures: dict[str, object], order: str) -> None:
    """One line of JSON."""
    print(json.dumps({"order": order, **figures, "cpu_s": round(process_time(), 1)}), flush=True)


if __name__ == "__main__":
    main()
