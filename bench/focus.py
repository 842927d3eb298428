"""Play focused crawls on small webs: breadth first, by the parent's score, and ours; a table and a picture.

python bench/focus.py SHARED/conformance/focused/webkb_*.jsonl.gz --out research/images/focus.svg

Each web is crawled with what was learned from the other files only, from its department's page and from a few
others that reach most of it. Then it is crawled from the department's page with one of its course pages as the only
example, with one course page of another web, and with a few words; these lines also compare the reported harvest ratio
with the truth.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from time import process_time
from typing import NamedTuple

from plot import COLOURS, LEFT, RIGHT, WIDTH, line, text

from evercrawl.adapters.learned import load_background
from evercrawl.core.document.html import parse_document
from evercrawl.core.focus.classifier import TopicSketch, sketch_from_pages, sketch_from_words
from evercrawl.core.focus.feedback_frontier import FeedbackFrontier
from evercrawl.core.focus.focus import ExamplePage, Focus, learn_focus
from evercrawl.core.focus.focus_frontier import FocusFrontier
from evercrawl.core.focus.link_scorer import LinkScorer
from evercrawl.model.document import Document, Link
from evercrawl.model.settings import ParseSettings

LEAST_REACH = 0.6
"""Share of a web that a start must reach."""
PANEL = 240
QUERIES = ("course", "computer science course", "course homework lecture")


class Page(NamedTuple):
    """One page of a small web, with links inside the web only."""

    document: Document
    on_topic: bool
    is_start: bool


Web = dict[str, Page]


@dataclass(frozen=True, slots=True)
class Result:
    """How one crawl went."""

    quarter: float
    found: list[float]
    """Share of the pages on topic found after each page."""


def read(path: Path) -> tuple[Web, list[ExamplePage]]:
    """The web in a file, and its pages as examples."""
    web: Web = {}
    examples = []
    for row in map(json.loads, gzip.decompress(path.read_bytes()).decode().splitlines()):
        body = row["html"].encode("utf-8", "replace")
        headers = (("Content-Type", "text/html"),)
        document = parse_document(row["url"], headers, body, agent="bench", limits=ParseSettings())
        examples.append(ExamplePage(row["url"], document, row["on_topic_course"]))
        inside = _inside(document, row["links_in_set"])
        web[row["url"]] = Page(inside, row["on_topic_course"], row["label"] == "department")
    return web, examples


def _inside(document: Document, targets: Iterable[str]) -> Document:
    """The document with its links named as the web names them, so that each can be followed."""
    names = {url.rstrip("/"): url for url in targets}
    links = [link._replace(url=names.get(link.url.rstrip("/"), link.url)) for link in document.links]
    missing = [Link(url, "", False) for url in names.values() if url not in {link.url for link in links}]
    return replace(document, links=tuple(links + missing))


def reached(web: Web, start: str) -> list[str]:
    """Everything that can be reached from a start, breadth first."""
    order, seen = [start], {start}
    for url in order:
        for link in web[url].document.links:
            if link.url in web and link.url not in seen:
                seen.add(link.url)
                order.append(link.url)
    return order


def by_parent(web: Web, start: str, scores: dict[str, float]) -> list[str]:
    """Best score of a page that links here first; among equals the older."""
    waiting, done, seen = {start: 1.0}, [], {start}
    while waiting:
        url = max(waiting, key=waiting.__getitem__)
        del waiting[url]
        done.append(url)
        for link in web[url].document.links:
            if link.url in web and (link.url not in seen or link.url in waiting):
                seen.add(link.url)
                waiting[link.url] = max(waiting.get(link.url, 0.0), scores[url])
    return done


def ours(web: Web, start: str, focus: Focus) -> list[str]:
    """The order of a focused crawl."""
    frontier = FocusFrontier(LinkScorer(focus), [start], is_allowed=web.__contains__)
    done: dict[str, None] = {}
    while waiting := [url for url in frontier.values if url not in done]:
        url = max(waiting, key=frontier.values.__getitem__)
        done[url] = None
        frontier.add_page(url, web[url].document)
    return list(done)


def by_sketch(web: Web, start: str, sketch: TopicSketch, *, pages: int) -> tuple[list[str], float]:
    """The order of a crawl for a topic given by one page or words, and the harvest ratio that it reports."""
    examples = [page.url for page in sketch.pages if page.url in web]
    frontier = FeedbackFrontier(sketch, [*examples, start], is_allowed=web.__contains__)
    done: list[str] = []
    while frontier.values and len(done) < pages:
        url = max(frontier.values, key=frontier.values.__getitem__)
        done.append(url)
        frontier.add_page(url, web[url].document)
    return done, frontier.harvest_ratio


def sketches(web: Web, others: Sequence[ExamplePage], *, examples: int) -> dict[str, list[TopicSketch]]:
    """Topics given by one page of this web, by one page of another, and by words."""
    background = load_background()
    random = Random(3)
    own = [(url, page.document) for url, page in sorted(web.items()) if page.on_topic]
    foreign = [(page.url, page.document) for page in others if page.on_topic]
    found = {
        name: [sketch_from_pages([page], background=background) for page in random.sample(pages, examples)]
        for name, pages in (("one example", own), ("one of another web", foreign))
    }
    return found | {f"words {query!r}": [sketch_from_words(query, background=background)] for query in QUERIES}


def print_sketches(web: Web, start: str, others: Sequence[ExamplePage], *, examples: int) -> None:
    order = reached(web, start)
    total = sum(web[url].on_topic for url in order)
    for name, topics in sketches(web, others, examples=examples).items():
        shares, errors = [], []
        for topic in topics:
            done, reported = by_sketch(web, start, topic, pages=len(order) // 4)
            hits = sum(web[url].on_topic for url in done)
            shares.append(hits / total)
            errors.append(abs(reported - hits / len(done)))
        error = f"harvest off by {sum(errors) / len(errors):.2f}, at most {max(errors):.2f}"
        print(f"{'':<42}{name:<32} {sum(shares) / len(shares):.2f}, least {min(shares):.2f}; {error}", flush=True)


def result_of(web: Web, order: list[str]) -> Result:
    hits = [web[url].on_topic for url in order]
    total = max(1, sum(hits))
    found, sum_so_far = [], 0
    for hit in hits:
        sum_so_far += hit
        found.append(sum_so_far / total)
    return Result(found[len(order) // 4 - 1], found)


def average_precision(web: Web, scores: dict[str, float]) -> float:
    hits, total = 0, 0.0
    for place, url in enumerate(sorted(web, key=lambda url: -scores[url]), start=1):
        if web[url].on_topic:
            hits += 1
            total += hits / place
    return total / max(1, hits)


def starts_of(web: Web, *, others: int) -> list[str]:
    """The pages named as starts, then some others that reach most of the web."""
    named = [url for url, page in web.items() if page.is_start]
    drawn = Random(5).sample(sorted(web), min(len(web), 40))
    enough = (url for url in drawn if len(reached(web, url)) >= LEAST_REACH * len(web))
    return [url for url in named if len(reached(web, url)) >= LEAST_REACH * len(web)] + [
        url for _, url in zip(range(others), enough, strict=False)
    ]


def panel(title: str, curves: dict[str, list[float]], *, top: int) -> str:
    """Share of the pages on topic found, over the share of the web that was fetched."""
    low, high = top + PANEL - 40, top + 40

    def x(share: float) -> float:
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(share: float) -> float:
        return low - share * (low - high)

    parts = [text(LEFT, top + 24, title, weight="bold")]
    for step in range(5):
        share = step / 4
        parts.append(line((LEFT, y(share)), (WIDTH - RIGHT, y(share)), colour="#ddd"))
        parts.append(text(LEFT - 6, y(share) + 4, f"{share:.0%}", anchor="end"))
        parts.append(text(x(share), low + 18, f"{share:.0%}", anchor="middle"))
    parts.append(line((x(0.25), low), (x(0.25), high), colour="#b91c1c", dashes="6 4"))
    for place, ((name, curve), colour) in enumerate(zip(curves.items(), COLOURS, strict=False)):
        last = max(1, len(curve) - 1)
        points = " ".join(f"{x(number / last):.1f},{y(share):.1f}" for number, share in enumerate(curve))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(text(WIDTH - RIGHT + 6, high + 16 * place, name, colour=colour))
    return "".join(parts)


def drawing(panels: list[tuple[str, dict[str, list[float]]]]) -> str:
    body = "".join(panel(title, curves, top=PANEL * place) for place, (title, curves) in enumerate(panels))
    height = PANEL * len(panels)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
        f' height="{height}" font-family="sans-serif" font-size="12">'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>{body}</svg>\n'
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("webs", type=Path, nargs="+")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--examples", type=int, default=6, help="crawls with a single example")
    parser.add_argument("--starts", type=int, default=4, help="starts besides the named ones")
    arguments = parser.parse_args()
    known = {path.name.split(".")[0]: read(path) for path in arguments.webs}
    panels = []
    print("web        average precision   train s   order         quarter: named start, mean, least")
    for name, (web, _) in known.items():
        starts = starts_of(web, others=arguments.starts)
        if not starts:
            continue
        examples = [page for other, (_, pages) in known.items() if other != name for page in pages]
        began = process_time()
        focus = learn_focus(examples, random=Random(0))
        spent = process_time() - began
        scores = {url: focus.score(url, page.document) for url, page in web.items()}
        print(f"{name:<22} {average_precision(web, scores):.3f} {spent:9.1f}")
        orders: dict[str, Callable[[str], list[str]]] = {
            "breadth first": lambda start, web=web: reached(web, start),
            "parent's score": lambda start, web=web, scores=scores: by_parent(web, start, scores),
            "ours": lambda start, web=web, focus=focus: ours(web, start, focus),
        }
        curves = {}
        for order, play in orders.items():
            results = [result_of(web, play(start)) for start in starts]
            quarters = [result.quarter for result in results]
            curves[order] = results[0].found
            mean = sum(quarters) / len(quarters)
            print(f"{'':<42}{order:<14} {quarters[0]:.2f}  {mean:.2f}  {min(quarters):.2f}", flush=True)
        print_sketches(web, starts[0], examples, examples=arguments.examples)
        panels.append((f"{name}: pages on topic found, over pages fetched", curves))
    if arguments.out:
        arguments.out.write_text(drawing(panels), encoding="utf-8")


if __name__ == "__main__":
    main()
