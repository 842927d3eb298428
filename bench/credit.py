"""Does credit order real pages as PageRank does, and does it keep a crawl out of traps?

    CORPUS_ROOT=… PYTHONPATH=. python bench/credit.py

Plays crawls of the benchmark web (91,555 pages, 4.4 million links) with the functions that production uses;
no requests are made. Prints one JSON object a measurement; exit code 1 where a bar is missed. The bar for
traps is for priorities of credit and sites that are known by their lists of pages; the exact order, and sites that
are found link by link, are for comparison.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from time import process_time
from typing import NamedTuple, Protocol

from link_graph import LinkGraph, load_graph
from tests.worlds.credit_ledger import balance, mint_seeds, new_page, with_share

from evercrawl.core.credit.ledger import (
    CreditAge,
    CreditLedger,
    PageCredit,
    add_pages,
    age_after_spending,
    allocate,
    credit_of,
    credit_priority,
    importance_of,
    is_lambda_next,
    mean_credit,
    pay_dividend,
    raised_priority,
    spend,
    total_credit,
    with_generation,
)

LEAST_CORRELATION = 0.8
MOST_TRAP_SHARE = 0.02
REQUESTS = 50_000
SITES = 20
PRIORITIES = 8
TRAP_LINKS = 10
DAMPING = 0.85
LinksOf = Callable[[int], Sequence[int]]


class Queue(Protocol):
    """Which page next?"""

    def put(self, page: int, crawl: Crawl) -> None:
        """The page is new or has received credit."""

    def take(self, crawl: Crawl) -> int | None:
        """The next page that was not visited in this pass."""


class Crawl:
    """Credit of all pages while they are visited one after the other."""

    def __init__(self, seeds: Sequence[int], links_of: LinksOf) -> None:
        self.links_of = links_of
        self.ledger, share = mint_seeds(CreditLedger(), len(seeds))
        self.age = CreditAge()
        self.pages: dict[int, PageCredit] = {}
        self.ever_earned: dict[int, int] = {}
        self.visited: set[int] = set()
        self._give(seeds, share)

    def _give(self, pages: Sequence[int], share: int) -> list[int]:
        new = [page for page in pages if page not in self.pages]
        self.ledger = allocate(add_pages(self.ledger, len(new)), kept=share * len(pages))
        fresh, generation = new_page(self.ledger), self.ledger.generation
        for page in pages:
            self.pages[page] = with_share(self.pages.get(page, fresh), share, generation=generation)
            self.ever_earned[page] = self.ever_earned.get(page, 0) + share
        return new

    def visit(self, page: int) -> Sequence[int]:
        """Lambda's turn where it is richer, then the page's; gives back who has received credit."""
        if is_lambda_next(self.ledger, highest=credit_of(self.pages[page], self.ledger.dividend)):
            self.ledger = pay_dividend(self.ledger)
        links = self.links_of(page)
        before = self.ledger.turnover
        self.ledger, self.pages[page], share = spend(self.pages[page], self.ledger, links=len(links))
        self.age = age_after_spending(self.age, self.ledger.turnover - before, whole=total_credit(self.ledger))
        self.ledger = with_generation(self.ledger, self.age)
        self._give(links, share)
        self.visited.add(page)
        return links

    def run(self, queue: Queue, *, requests: int) -> Iterator[int]:
        """The pages in the order of visits, each once."""
        self.visited.clear()
        for page in self.pages:
            queue.put(page, self)
        for _ in range(requests):
            page = queue.take(self)
            if page is None:
                return
            for link in self.visit(page):
                if link not in self.visited:
                    queue.put(link, self)
            yield page


class Sorted:
    """Exactly by credit. Dividends are the same for all and so are left out of the order."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int]] = []

    def put(self, page: int, crawl: Crawl) -> None:
        """Older places of the page in the heap are skipped later."""
        credit = crawl.pages[page]
        heappush(self._heap, (credit.since - credit.held, page))
        if len(self._heap) > 8 * len(crawl.pages):
            self._heap = [(c.since - c.held, p) for p, c in crawl.pages.items() if p not in crawl.visited]
            heapify(self._heap)

    def take(self, crawl: Crawl) -> int | None:
        """The richest page."""
        while self._heap:
            order, page = heappop(self._heap)
            credit = crawl.pages[page]
            if page not in crawl.visited and order == credit.since - credit.held:
                return page
        return None


class Banded:
    """By priorities of credit, first come first served in each, as the store has them; pages move up lazily."""

    def __init__(self) -> None:
        self._queues: list[deque[int]] = [deque() for _ in range(PRIORITIES)]
        self._priority_of: dict[int, int] = {}
        self.moves = 0

    def put(self, page: int, crawl: Crawl) -> None:
        """A page that is queued already moves only over a border."""
        mean = mean_credit(crawl.ledger)
        credit = credit_of(crawl.pages[page], crawl.ledger.dividend)
        priority = self._priority_of.get(page)
        if priority is None:
            self._queue(page, credit_priority(credit, mean=mean, priorities=PRIORITIES))
        elif (better := raised_priority(priority, credit, mean=mean, priorities=PRIORITIES)) is not None:
            self.moves += 1
            self._queue(page, better)

    def _queue(self, page: int, priority: int) -> None:
        self._priority_of[page] = priority
        self._queues[priority].append(page)

    def take(self, crawl: Crawl) -> int | None:
        """The first page of the best priority that still deserves its place."""
        for priority, queue in enumerate(self._queues):
            while queue:
                page = queue.popleft()
                if self._priority_of.get(page) != priority:
                    continue
                credit, mean = credit_of(crawl.pages[page], crawl.ledger.dividend), mean_credit(crawl.ledger)
                lower = lowered_priority(priority, credit, mean=mean, priorities=PRIORITIES)
                if lower is None:
                    del self._priority_of[page]
                    return page
                self.moves += 1
                self._queue(page, lower)
        return None


def lowered_priority(priority: int, credit: int, *, mean: int, priorities: int) -> int | None:
    """Return the priority of a queued page whose credit clearly fell behind; None to visit it."""
    deserved = credit_priority(credit, mean=mean, priorities=priorities)
    return deserved if deserved >= priority + 2 else None


def page_rank(graph: LinkGraph, *, seen: Callable[[int], bool], most_steps: int = 60) -> list[float]:
    """PageRank of every page by power iteration; pages that were not seen have no links yet."""
    count = len(graph.urls)
    rank = [1 / count] * count
    for _ in range(most_steps):
        flow, dangling = [0.0] * count, 0.0
        for page in range(count):
            links = graph.links(page) if seen(page) else ()
            if not links:
                dangling += rank[page]
                continue
            share = rank[page] / len(links)
            for link in links:
                flow[link] += share
        base = (1 - DAMPING + DAMPING * dangling) / count
        rank = [base + DAMPING * value for value in flow]
    return rank


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """The rank correlation, equal values having their mean rank."""
    ranks, middle = (_ranks(one), _ranks(other)), (len(one) - 1) / 2
    product = sum((a - middle) * (b - middle) for a, b in zip(*ranks, strict=True))
    spreads = [sum((a - middle) ** 2 for a in values) for values in ranks]
    return float(product / (spreads[0] * spreads[1]) ** 0.5)


def _ranks(values: Sequence[float]) -> array[float]:
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = array("d", bytes(8 * len(values)))
    first = 0
    while first < len(order):
        last = first
        while last < len(order) and values[order[last]] == values[order[first]]:
            last += 1
        for place in order[first:last]:
            ranks[place] = (first + last - 1) / 2
        first = last
    return ranks


def correlations(graph: LinkGraph) -> Iterator[dict[str, object]]:
    """Three ways to read importance out of the flow, during a first and after a second crawl."""
    for name, queue in (("sorted", Sorted), ("banded", Banded)):
        crawl = Crawl(graph.seeds, graph.links)
        for passed in (1, 2):
            for done, _ in enumerate(crawl.run(queue(), requests=len(graph.urls)), 1):
                if done == REQUESTS and passed == 1:
                    yield {"order": name, "visited": done, **_correlation(crawl, graph)}
            yield {"order": name, "visited": done, "pass": passed, **_correlation(crawl, graph)}


def _correlation(crawl: Crawl, graph: LinkGraph) -> dict[str, object]:
    met = sorted(crawl.pages)
    rank = page_rank(graph, seen=crawl.visited.__contains__)
    dividend, generation = crawl.ledger.dividend, crawl.ledger.generation
    measures = {
        "credit": [credit_of(crawl.pages[page], dividend) for page in met],
        "ever_earned": [crawl.ever_earned[page] for page in met],
        "importance": [importance_of(crawl.pages[page], generation) for page in met],
    }
    expected = [rank[page] for page in met]
    figures = {name: round(spearman(values, expected), 3) for name, values in measures.items()}
    return {"pages": len(met), "balance": balance(crawl.ledger), **figures}


class Web(NamedTuple):
    """Twenty sites, with the page from which the crawl of each begins."""

    graph: LinkGraph
    begins: dict[int, int]
    """Site -> page."""
    hidden: frozenset[int]
    """Pages that nobody may follow links to."""


def listed_web(graph: LinkGraph) -> Web:
    """Each site begins with a list of all its pages."""
    return Web(graph, {host: graph.seeds[host] for host in _largest(graph)}, frozenset())


def linked_web(graph: LinkGraph) -> Web:
    """Each site begins with the page that most link to; everything else must be found by links."""
    lists = frozenset(graph.seeds)
    links_to = Counter(link for page in range(len(graph.urls)) if page not in lists for link in graph.links(page))
    best = dict.fromkeys(_largest(graph), -1)
    for page, host in enumerate(graph.hosts):
        if host in best and page not in lists and (best[host] < 0 or links_to[page] > links_to[best[host]]):
            best[host] = page
    return Web(graph, best, lists)


def _largest(graph: LinkGraph) -> list[int]:
    return [host for host, _ in Counter(graph.hosts).most_common(SITES)]


def trap_run(web: Web, trapped: int, *, queue: Queue) -> dict[str, object]:
    """So many requests, where every page of one site has a link into a trap without end."""
    graph, first = web.graph, len(web.graph.urls)

    def links_of(page: int) -> Sequence[int]:
        if page >= first:
            children = first + (page - first) * TRAP_LINKS + 1
            return [web.begins[trapped], *range(children, children + TRAP_LINKS)]
        links = [link for link in graph.links(page) if graph.hosts[link] in web.begins and link not in web.hidden]
        return [*links, first] if graph.hosts[page] == trapped else links

    crawl = Crawl(list(web.begins.values()), links_of)
    visited = list(crawl.run(queue, requests=REQUESTS))
    caught = sum(page >= first for page in visited)
    return {
        "trap_on": graph.urls[web.begins[trapped]],
        "pages_of_site": Counter(graph.hosts)[trapped],
        "found_by": "links" if web.hidden else "lists",
        "order": type(queue).__name__.lower(),
        "requests": len(visited),
        "trap_share": round(caught / len(visited), 4),
        "balance": balance(crawl.ledger),
    }


def trap_runs(graph: LinkGraph) -> Iterator[dict[str, object]]:
    """The trap on the largest, a middling and the smallest of the sites; the exact order once, to compare."""
    for web in (listed_web(graph), linked_web(graph)):
        hosts = list(web.begins)
        for trapped in (hosts[0], hosts[SITES // 2], hosts[-1]):
            yield trap_run(web, trapped, queue=Banded())
        yield trap_run(web, hosts[SITES // 2], queue=Sorted())


def main() -> None:
    """All measurements, then the verdict."""
    graph = load_graph()
    passed = True
    for measure in (correlations, trap_runs):
        for figures in measure(graph):
            print(json.dumps({**figures, "cpu_s": round(process_time(), 1)}), flush=True)
            passed &= figures["balance"] == 0
            passed &= float(str(figures.get("importance", 1))) >= LEAST_CORRELATION
            if figures["order"] == "banded" and figures.get("found_by") == "lists":
                passed &= float(str(figures.get("trap_share", 0))) < MOST_TRAP_SHARE
    sys.exit(not passed)


if __name__ == "__main__":
    main()
