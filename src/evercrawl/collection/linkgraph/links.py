"""The links of one page, both ways, and the graph in numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evercrawl.adapters.graph_files import GraphFiles, current_graph
from evercrawl.adapters.sqlite.log import log_reader
from evercrawl.adapters.tantivy.writing import place_of
from evercrawl.collection.linkgraph.build import fresh_graph
from evercrawl.collection.linkgraph.pages import page_at, urls_of
from evercrawl.core.linkgraph.graph_metrics import UNREACHED
from evercrawl.core.url import canonical_of_href, key_of
from evercrawl.model.document import Link
from evercrawl.model.links import GraphSummary, LinkEnd, PageLinks
from evercrawl.model.settings import Settings

MOST_INCOMING = 1000
"""Pages that link here and are listed; all are counted."""


def page_links(collection: Path, settings: Settings, url: str, *, as_it_was: bool = False) -> PageLinks:
    """What links to a page, what it links to, and how important it is; by the graph as it was last made, or
    by one of everything that is stored now.
    """
    page, name = page_at(collection, settings, url)
    graph = current_graph(collection) if as_it_was else fresh_graph(collection)
    shard, page_id = place_of(page)
    with log_reader(collection, shard) as reader:
        outline, held = reader.outline(page_id), reader.credit(key_of(name))
    outgoing = tuple(map(_end, outline.links)) if outline is not None else ()
    credit = None if held is None else round(held.credit, 3)
    node = graph.node_of(page) if graph is not None else None
    if graph is None or node is None:
        return PageLinks(name, outgoing=outgoing, credit=credit)
    sources = _sources(graph, node)
    depth = int(graph.array("depths")[node])
    return PageLinks(
        url=name,
        incoming=tuple(_incoming(collection, graph, sources[:MOST_INCOMING], name)),
        outgoing=outgoing,
        pagerank=float(graph.ranks[node]),
        times_average=float(graph.ranks[node]) * len(graph.pages),
        hub=float(graph.array("hubs")[node]),
        authority=float(graph.array("authorities")[node]),
        clicks=None if depth == UNREACHED else depth,
        credit=credit,
        incoming_count=len(sources),
    )


def _end(link: Link) -> LinkEnd:
    return LinkEnd(link.url, link.text, link.nofollow)


def _sources(graph: GraphFiles, node: int) -> list[int]:
    """The nodes that link to a node, the most important first."""
    places = np.flatnonzero(graph.array("targets") == node)
    sources = np.searchsorted(graph.array("starts"), places, side="right") - 1
    ordered: list[int] = sources[np.argsort(-graph.ranks[sources], kind="stable")].tolist()
    return ordered


def _incoming(collection: Path, graph: GraphFiles, sources: list[int], name: str) -> list[LinkEnd]:
    pages = [int(graph.pages[source]) for source in sources]
    urls = urls_of(collection, pages)
    texts: dict[int, Link] = {}
    for shard in sorted({place_of(page)[0] for page in pages}):
        with log_reader(collection, shard) as reader:
            for page in pages:
                if place_of(page)[0] == shard and (outline := reader.outline(place_of(page)[1])) is not None:
                    link = next((one for one in outline.links if canonical_of_href(one.url) == name), None)
                    texts |= {} if link is None else {page: link}
    ends = []
    for page in pages:
        named = texts.get(page)
        ends.append(LinkEnd(urls.get(page, ""), named.text if named else "", bool(named and named.nofollow)))
    return ends


def graph_summary(collection: Path) -> GraphSummary:
    """How many pages and links there are, and what hangs loose."""
    graph = fresh_graph(collection)
    depths = np.asarray(graph.array("depths"))
    linked = np.bincount(np.asarray(graph.array("targets")), minlength=len(graph.pages)) > 0
    is_seed = np.zeros(len(graph.pages), dtype=bool)
    is_seed[list(graph.notes.get("seeds", []))] = True
    reached = depths[depths != UNREACHED]
    return GraphSummary(
        pages=len(graph.pages),
        links=graph.graph.links,
        orphans=int((~linked & ~is_seed).sum()),
        unreached=int((depths == UNREACHED).sum()),
        deepest=int(reached.max()) if len(reached) else 0,
        by_depth=tuple(np.bincount(reached).tolist()) if len(reached) else (),
    )


def orphans(collection: Path) -> list[str]:
    """Known pages that no page links to, seeds left out."""
    graph = fresh_graph(collection)
    linked = np.bincount(np.asarray(graph.array("targets")), minlength=len(graph.pages)) > 0
    linked[list(graph.notes.get("seeds", []))] = True
    return sorted(urls_of(collection, graph.pages[~linked].tolist()).values())
