"""Real pages per request on the benchmark web with planted traps: evercrawl against plain breadth-first.

    CORPUS_ROOT=… python bench/traps.py [REQUESTS] [plot|share …]

Twenty sites of the benchmark web are served by a virtual server in virtual time, with the pages as they are.
`plot`: five traps are planted on five of them, a link to its trap on every page of such a site; both crawls
are the whole engine, one with its defaults, one breadth first and without an eye for traps. Writes
research/images/traps.svg. `share`: one maze on one site, the smallest, the middle and the largest of the twenty
in turn, and the share of the requests that it gets.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import accumulate
from pathlib import Path
from time import process_time
from urllib.parse import unquote

from credit import SITES, Web, linked_web
from link_graph import load_graph, roots
from played import play, settings_for
from tests.worlds.traps.sites import SEED, TrapResponse, page, prose, split_url

from evercrawl.core.url import path_of, site_of
from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, FetchResult, Request
from evercrawl.testing.sim_site import words
from evercrawl.testing.site_plan import hash_number, random_stream
from evercrawl.testing.store import MemoryStore
from evercrawl.testing.virtual_time import SimClock

ROOT = Path(__file__).resolve().parents[1]
MOST_BYTES = 60_000
"""Of a page; long ones only make the measurement slow."""
ANSWER_TIME = timedelta(milliseconds=50)
HEADERS = (("Content-Type", "text/html; charset=utf-8"),)
DOOR = "/trap/"
WIDTH, HEIGHT, MARGIN = 640, 360, 52


def calendar(path: str, query: dict[str, str]) -> TrapResponse:
    """A month, with a link to the next and to the one before."""
    at = int(query.get("month", "24310"))
    return page(f"Month {at}", "Nothing happens.", [f"/trap/calendar?month={at + step}" for step in (-1, 1)])


def facets(path: str, query: dict[str, str]) -> TrapResponse:
    """Eight facets with four values."""
    free = [f"f{facet}" for facet in range(8) if f"f{facet}" not in query]
    chosen = [{**query, name: str(value)} for name in free for value in range(4)]
    links = ["/trap/facets?" + "&".join(f"{name}={own[name]}" for name in sorted(own)) for own in chosen]
    shown = random_stream(SEED, *sorted(query.items())).sample(range(60), 8)
    return page("List", ". ".join(prose("item", one, count=4) for one in shown), links)


def maze(path: str, query: dict[str, str]) -> TrapResponse:
    """Random words that lead to random words."""
    chance = random_stream(SEED, "maze", path)
    return page(
        "Words", prose("maze", path), [f"{path}/{'-'.join(chance.choices(words(SEED), k=2))}" for _ in range(6)]
    )


def sessions(path: str, query: dict[str, str]) -> TrapResponse:
    """One of ten pages, under an address that nobody had before."""
    way = path.split("/")
    name = way[4] if len(way) > 4 else "p0"
    return page(
        name, prose("session", name), [f"/trap/sessions/{hash_number('s', path, one):032x}/p{one}" for one in range(10)]
    )


def counter(path: str, query: dict[str, str]) -> TrapResponse:
    """The next number."""
    at = int(query.get("n", "1"))
    return page("Counter", f"This is number {at}.", [f"/trap/counter?n={at + 1}"])


TRAPS: dict[str, Callable[[str, dict[str, str]], TrapResponse]] = {
    "calendar": calendar, "facets": facets, "maze": maze, "sessions": sessions, "counter": counter,
}  # fmt: skip


@dataclass
class PlantedWeb:
    """The Fetcher port over the benchmark web, with a trap on some of its sites."""

    web: Web
    clock: SimClock
    traps: dict[str, str]
    """Site -> name of its trap."""
    requested: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._roots = roots()
        graph, hidden = self.web.graph, self.web.hidden
        self.real = frozenset(
            url for page, url in enumerate(graph.urls) if graph.hosts[page] in self.web.begins and page not in hidden
        )

    async def fetch(self, request: Request) -> FetchResult:
        """What the site says, after a moment."""
        began = self.clock.now()
        await asyncio.sleep(ANSWER_TIME.total_seconds())
        if path_of(request.url).startswith(("/robots.txt", "/sitemap")):
            return Failed(request.url, Fault.NOT_FOUND, "", ANSWER_TIME, 404)
        self.requested.append(request.url)
        body = self._body(request.url)
        if body is None:
            return Failed(request.url, Fault.NOT_FOUND, "", ANSWER_TIME, 404)
        exchange = Exchange(b"", b"", body, None, began, ANSWER_TIME)
        return Fetched(request.url, 200, HEADERS, body, exchange)

    def _body(self, url: str) -> bytes | None:
        site = site_of(url)
        trap = self.traps.get(site)
        path, segments, query = split_url(url)
        if trap is not None and segments[:2] == ("trap", trap):
            return TRAPS[trap](path, query).html.encode()
        file = self._roots[site] / unquote(path[1:])
        if url not in self.real or not file.is_file():
            return None
        door = f'<a href="{DOOR}{trap}">more</a>' if trap is not None else ""
        return file.read_bytes()[:MOST_BYTES] + door.encode()

    async def close(self) -> None:
        """Nothing is held open."""


def crawl(web: PlantedWeb, *, requests: int, plain: bool) -> list[int]:
    """Real pages that were reached after each request."""
    graph = web.web.graph
    settings = settings_for((graph.urls[page] for page in web.web.begins.values()), requests=requests)
    if plain:
        settings = replace(
            settings,
            traps=replace(settings.traps, enabled=False),
            credit=replace(settings.credit, order="breadth-first"),
        )
    play(settings, web, MemoryStore(16))
    seen: set[str] = set()

    def is_new(url: str) -> bool:
        is_first = url in web.real and url not in seen
        seen.add(url)
        return is_first

    return list(accumulate(is_new(url) for url in web.requested))


def plot(web: Web, requests: int) -> None:
    """Both crawls with five traps on five sites, as figures and as a picture."""
    hosts = list(web.begins)
    trapped = [hosts[place] for place in range(1, SITES, SITES // len(TRAPS))][: len(TRAPS)]
    traps = {site_of(web.graph.urls[web.begins[host]]): name for host, name in zip(trapped, TRAPS, strict=True)}
    curves = {}
    for name, plain in (("evercrawl", False), ("breadth-first", True)):
        served = PlantedWeb(web, SimClock(), traps)
        curves[name] = crawl(served, requests=requests, plain=plain)
        caught = sum(DOOR in url for url in served.requested)
        show(crawl=name, requests=len(served.requested), real_pages=curves[name][-1], in_traps=caught)
    best = max(reached[-1] for reached in curves.values())
    most = max(len(reached) for reached in curves.values())
    (ROOT / "research" / "images" / "traps.svg").write_text(svg(curves, most, best))


def share(web: Web, requests: int) -> None:
    """The share of the requests that one maze gets on one of the sites."""
    sizes = Counter(web.graph.hosts)
    hosts = list(web.begins)
    for host in (hosts[-1], hosts[SITES // 2], hosts[0]):
        site = site_of(web.graph.urls[web.begins[host]])
        served = PlantedWeb(web, SimClock(), {site: "maze"})
        crawl(served, requests=requests, plain=False)
        caught = sum(DOOR in url for url in served.requested)
        asked = len(served.requested)
        show(trap_on=site, pages_of_site=sizes[host], requests=asked, trap_share=round(caught / asked, 5))


def show(**figures: object) -> None:
    """One line of JSON."""
    print(json.dumps({**figures, "cpu_s": round(process_time(), 1)}), flush=True)


def svg(curves: dict[str, list[int]], requests: int, real: int) -> str:
    """The curves as a picture."""

    def at(x: float, y: float) -> str:
        across, up = x / requests * (WIDTH - 2 * MARGIN), y / real * (HEIGHT - 2 * MARGIN)
        return f"{MARGIN + across:.1f},{HEIGHT - MARGIN - up:.1f}"

    colours = ("#0b6e4f", "#b03a2e")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<polyline fill="none" stroke="#888" points="{at(0, real)} {at(0, 0)} {at(requests, 0)}"/>',
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 14}" text-anchor="middle">requests (of {requests:,})</text>',
        f'<text x="{MARGIN}" y="{MARGIN - 12}">real pages reached (of {real:,})</text>',
    ]
    for (name, reached), colour in zip(curves.items(), colours, strict=True):
        step = max(1, len(reached) // 200)
        line = " ".join(at(place + 1, reached[place]) for place in range(0, len(reached), step))
        end = at(len(reached), reached[-1])
        x, y = end.split(",")
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{line} {end}"/>')
        said = f"{name}: {reached[-1]:,} in {len(reached):,}"
        place = f'x="{float(x) - 6}" y="{float(y) - 8}" text-anchor="end"'
        parts.append(f'<text {place} fill="{colour}">{said}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    wanted = sys.argv[2:] or ["plot", "share"]
    web = linked_web(load_graph())
    if "plot" in wanted:
        plot(web, requests)
    if "share" in wanted:
        share(web, requests)


if __name__ == "__main__":
    main()
