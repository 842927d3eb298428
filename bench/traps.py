"""Real pages per request with five planted traps: evercrawl against plain breadth-first.

    python bench/traps.py [REQUESTS]

A part of the benchmark web (CORPUS_ROOT, manuals of real software) is served from memory by a virtual server;
five traps are planted on it, a link to each on every page. Both crawls are the whole engine with the same
settings, in virtual time; one of them does not look for traps. Writes docs/images/traps.svg.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from evercrawl.model.settings import Settings, TrapSettings
from evercrawl.sim.draw import number, stream
from evercrawl.sim.text import words
from evercrawl.sim.trapped import HOST, NOT_FOUND, SEED, Reply, TrappedSite, asked, page, prose
from evercrawl.sim.trapped_web import TrappedWorld

ROOT = Path(__file__).resolve().parents[1]
CORPUS = Path(os.environ.get("CORPUS_ROOT", ROOT / "scratch" / "corpus"))
MANUALS = ("sbcl-doc", "debian-policy", "python-sympy-doc", "libgtk-3-doc")
LIST_OF_ALL = "__index.html"
"""Made for benchmarks; no real page."""
MOST_BYTES = 60_000
"""Of a page; long ones only make the measurement slow."""
WIDTH, HEIGHT, MARGIN = 640, 360, 52


def real_pages() -> dict[str, str]:
    """Path and HTML of every page of the manuals."""
    found = {}
    for name in MANUALS:
        folder = CORPUS / "x" / name / "usr" / "share"
        for file in sorted(folder.rglob("*.html")):
            if file.name != LIST_OF_ALL and file.is_file():
                html = file.read_bytes()[:MOST_BYTES]
                found[f"/{file.relative_to(folder)}"] = html.decode(errors="replace")
    return found


def calendar(path: str, query: dict[str, str]) -> Reply:
    """A month, with a link to the next and to the one before."""
    at = int(query.get("month", "24310"))
    return page(f"Month {at}", "Nothing happens.", [f"/trap/calendar?month={at + step}" for step in (-1, 1)])


def facets(path: str, query: dict[str, str]) -> Reply:
    """Eight facets with four values."""
    free = [f"f{facet}" for facet in range(8) if f"f{facet}" not in query]
    chosen = [{**query, name: str(value)} for name in free for value in range(4)]
    links = ["/trap/facets?" + "&".join(f"{name}={own[name]}" for name in sorted(own)) for own in chosen]
    shown = stream(SEED, *sorted(query.items())).sample(range(60), 8)
    return page("List", ". ".join(prose("item", one, count=4) for one in shown), links)


def maze(path: str, query: dict[str, str]) -> Reply:
    """Random words that lead to random words."""
    chance = stream(SEED, "maze", path)
    return page(
        "Words",
        prose("maze", path),
        [f"{path}/{'-'.join(chance.choices(words(SEED), k=2))}" for _ in range(6)],
    )


def sessions(path: str, query: dict[str, str]) -> Reply:
    """One of ten pages, under an address that nobody had before."""
    way = path.split("/")
    name = way[4] if len(way) > 4 else "p0"
    return page(
        name,
        prose("session", name),
        [f"/trap/sessions/{number('s', path, one):032x}/p{one}" for one in range(10)],
    )


def counter(path: str, query: dict[str, str]) -> Reply:
    """The next number."""
    at = int(query.get("n", "1"))
    return page("Counter", f"This is number {at}.", [f"/trap/counter?n={at + 1}"])


TRAPS: dict[str, Callable[[str, dict[str, str]], Reply]] = {
    "calendar": calendar, "facets": facets, "maze": maze, "sessions": sessions, "counter": counter,
}  # fmt: skip


def planted(real: dict[str, str]) -> TrappedSite:
    """The manuals, with a link to each trap on every page."""
    doors = "".join(f'<a href="/trap/{name}">{name}</a>' for name in TRAPS)
    entrances = [path for path in real if path.endswith("/index.html")]
    home = page("Manuals", prose("home"), [*entrances, *(f"/trap/{name}" for name in TRAPS)])

    def answer(url: str) -> Reply:
        path, segments, query = asked(url)
        if path == "/":
            return home
        if segments[0] == "trap":
            trap = TRAPS.get(segments[1])
            return NOT_FOUND if trap is None else trap(path, query)
        return Reply(200, real[path] + doors) if path in real else NOT_FOUND

    def page_of(url: str) -> str | None:
        path = asked(url).path
        return path if path in real else None

    return TrappedSite(f"{HOST}/", answer, page_of, len(real))


def curve(site: TrappedSite, requests: int, *, enabled: bool) -> list[int]:
    """Real pages that were reached after each request."""
    world = TrappedWorld(site, settings=replace(Settings(), traps=TrapSettings(enabled=enabled)))
    web = world.crawl(most=requests)
    seen: set[str] = set()

    def is_new(url: str) -> bool:
        name = site.page_of(url)
        is_first = name is not None and name not in seen
        seen.update([name] if name is not None else [])
        return is_first

    return list(accumulate(is_new(url) for url in web.asked))


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
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    real = real_pages()
    site = planted(real)
    curves = {
        "evercrawl": curve(site, requests, enabled=True),
        "breadth-first": curve(site, requests, enabled=False),
    }
    for name, reached in curves.items():
        print(
            json.dumps({"crawl": name, "requests": len(reached), "real_pages": reached[-1], "of": len(real)})
        )
    (ROOT / "docs" / "images" / "traps.svg").write_text(svg(curves, requests, len(real)))


if __name__ == "__main__":
    main()
