"""The picture of a site's structure, from the link graph."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from evercrawl.adapters.graph_files import GraphFiles
from evercrawl.adapters.sqlite.log import log_reader, shards_of
from evercrawl.adapters.tantivy.writing import page_number
from evercrawl.collection.linkgraph.build import fresh_graph
from evercrawl.collection.linkgraph.check import DEAD
from evercrawl.collection.linkgraph.pages import urls_of
from evercrawl.core.linkgraph.graph_metrics import UNREACHED
from evercrawl.core.linkgraph.structure_chart import DrawnPage, draw_structure
from evercrawl.core.url import site_of
from evercrawl.errors import ConfigError

MOST_PAGES = 200_000
"""More are not drawn: the picture shows sums in any case, and the largest sites come first."""


def draw_graph(collection: Path, site: str | None = None) -> str:
    """The structure of the collection, or of one of its sites, as SVG."""
    graph = fresh_graph(collection)
    dead = _dead(collection)
    pages = graph.pages.tolist()
    urls = urls_of(collection, pages)
    wanted = [node for node, page in enumerate(pages) if _is_wanted(urls.get(page), site)][:MOST_PAGES]
    if not wanted:
        what = f"of {site}" if site is not None else "in this collection"
        raise ConfigError(f"there is no page {what} to draw; see: evercrawl status")
    depths = graph.array("depths")
    drawn = [
        DrawnPage(
            urls[pages[node]],
            float(graph.ranks[node]),
            None if depths[node] == UNREACHED else int(depths[node]),
            pages[node] in dead,
        )
        for node in wanted
    ]
    return draw_structure(drawn, _links(graph, wanted), title=site or collection.name)


def _is_wanted(url: str | None, site: str | None) -> bool:
    if url is None:
        return False
    origin = site_of(url)
    return site is None or site.rstrip("/") in (origin, origin.partition("://")[2])


def _links(graph: GraphFiles, wanted: list[int]) -> Iterator[tuple[int, int]]:
    """The links among the pages that are drawn, by their places in the list."""
    places = np.full(len(graph.pages), -1, dtype=np.int64)
    places[wanted] = np.arange(len(wanted))
    origins = np.repeat(np.arange(len(graph.pages)), graph.graph.degrees())
    sources, targets = places[origins], places[np.asarray(graph.graph.targets)]
    both = (sources >= 0) & (targets >= 0)
    return zip(sources[both].tolist(), targets[both].tolist(), strict=True)


def _dead(collection: Path) -> set[int]:
    dead: set[int] = set()
    for shard in shards_of(collection):
        with log_reader(collection, shard) as reader:
            dead |= {page_number(shard, page.id) for page in reader.graph_pages() if page.reason in DEAD}
    return dead
