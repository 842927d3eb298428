"""The link graph of a collection: build it from the stored links, export it and draw its structure."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from evercrawl.adapters.graph_files import (
    HASH_BYTES,
    LinkGraphFiles,
    create_generation,
    current_graph,
    delete_partial_ranks,
    load_partial_ranks,
    publish_graph,
    save_partial_ranks,
    url_hash,
)
from evercrawl.adapters.sql.log_reader import GraphPage, LogReader, log_reader
from evercrawl.adapters.sql.state_reader import shards_of
from evercrawl.adapters.tantivy.text_index import page_number
from evercrawl.adapters.tantivy.text_query import write_anchor_index
from evercrawl.collection.link_report import DEAD, urls_of
from evercrawl.core.linkgraph.graph_metrics import (
    UNREACHED,
    Floats,
    SparseGraph,
    click_depths,
    hub_scores,
    pagerank_steps,
    sparse_graph,
)
from evercrawl.core.linkgraph.structure_chart import ChartPage, draw_structure
from evercrawl.core.url import canonical_of_href, site_of
from evercrawl.errors import ConfigError, StoreUnavailable
from evercrawl.model.document import Link

MAX_ANCHORS = 12  # Different anchor texts per page.
MAX_ANCHOR_CHARS = 80
MAX_REPEATS = 3  # How often the same anchor text counts.
SAVE_STEPS = 20  # Steps between two checkpoints of the ranks.
MAX_HOPS = 10
STALE_SHARE = 0.05  # With this share of new visits, a graph is outdated.


@dataclass(slots=True)
class _GraphData:
    """The pages and redirects of a collection."""

    pages: array[int] = field(default_factory=lambda: array("Q"))
    hashes: array[int] = field(default_factory=lambda: array("Q"))
    seeds: list[int] = field(default_factory=list)
    moved: dict[int, int] = field(default_factory=dict)  # Hash of the redirect target, by node.
    ends: dict[int, int] = field(default_factory=dict)  # Last line read from the log, by shard.

    def add(self, shard: int, page: GraphPage) -> None:
        if page.depth == 0:
            self.seeds.append(len(self.pages))
        if page.moved_to:
            self.moved[len(self.pages)] = url_hash(page.moved_to)
        self.pages.append(page_number(shard, page.id))
        self.hashes.append(int.from_bytes(page.key[-HASH_BYTES:], "big"))


class _NodeIndex:
    """Finds the node of a URL hash."""

    def __init__(self, hashes: Sequence[int]) -> None:
        values = np.array(hashes, dtype=np.uint64)
        self._order = np.argsort(values, kind="stable")
        self._sorted = values[self._order]

    def nodes(self, hashes: Sequence[int]) -> NDArray[np.int64]:
        """Return the node of each hash; -1: unknown."""
        wanted = np.array(hashes, dtype=np.uint64)
        if not len(self._sorted):
            return np.full(len(wanted), -1, dtype=np.int64)
        places = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        return np.where(self._sorted[places] == wanted, self._order[places], -1)


class _Hashes(dict[str, int]):
    """Caches the hash of each link target, because sites repeat the same links on every page."""

    most = 200_000

    def __missing__(self, href: str) -> int:
        if len(self) >= self.most:
            self.clear()
        canonical = canonical_of_href(href)
        value = self[href] = url_hash(canonical) if canonical is not None else 0
        return value


def up_to_date_graph(collection: Path) -> LinkGraphFiles:
    """Return the current graph; build it if it is missing or outdated."""
    found = current_graph(collection)
    return found if found is not None and _ends(collection) == _stored_ends(found) else build_graph(collection)


def is_outdated(collection: Path, *, max_visits: int | None = None) -> bool:
    """Return whether the graph is missing or outdated.
    With `max_visits`, the graph of a collection with more visits never counts as outdated."""
    found = current_graph(collection)
    ends = _ends(collection)
    if found is None:
        return any(ends.values())
    if max_visits is not None and sum(ends.values()) > max_visits:
        return False
    noted = _stored_ends(found)
    new = sum(end - noted.get(shard, 0) for shard, end in ends.items())
    return new > STALE_SHARE * max(1, sum(ends.values()))


def _ends(collection: Path) -> dict[int, int]:
    ends = {}
    for shard in shards_of(collection):
        with log_reader(collection, shard) as reader:
            line = reader.log_end()
            ends[shard] = line.id if line is not None else 0
    return ends


def _stored_ends(found: LinkGraphFiles) -> dict[int, int]:
    return {int(shard): int(end) for shard, end in found.notes.get("ends", {}).items()}


def build_graph(collection: Path) -> LinkGraphFiles:
    """Build the graph from every outline, and make it the current one."""
    data = _gather_pages(collection)
    finder = _NodeIndex(data.hashes)
    anchors: dict[int, Counter[str]] = {}
    sources, targets = _gather_links(collection, data, finder, anchors)
    nodes = len(data.pages)
    graph = sparse_graph(np.frombuffer(sources, dtype=np.int64), np.frombuffer(targets, dtype=np.int64), nodes)
    folder = create_generation(collection)
    ranks = _compute_ranks(collection, graph, start=_known_ranks(collection, data.pages))
    scores = hub_scores(graph)
    write_anchor_index(folder / "anchors", _anchor_texts(data, finder, anchors))
    arrays: dict[str, NDArray[Any]] = {
        "pages": np.array(data.pages, dtype=np.uint64),
        "starts": graph.starts,
        "targets": graph.targets,
        "ranks": ranks,
        "hubs": scores.hubs,
        "authorities": scores.authorities,
        "depths": click_depths(graph, data.seeds),
    }
    publish_graph(folder, arrays, {"ends": data.ends, "seeds": data.seeds, "links": graph.links})
    delete_partial_ranks(collection)
    built = current_graph(collection)
    if built is None:
        raise StoreUnavailable(f"the link graph in {folder} cannot be read; check the disk")
    return built


def _gather_pages(collection: Path) -> _GraphData:
    data = _GraphData()
    for shard in shards_of(collection):
        with log_reader(collection, shard) as reader:
            line = reader.log_end()
            data.ends[shard] = line.id if line is not None else 0
            for page in reader.graph_pages():
                data.add(shard, page)
    return data


def _gather_links(
    collection: Path, data: _GraphData, finder: _NodeIndex, anchors: dict[int, Counter[str]]
) -> tuple[array[int], array[int]]:
    sources, targets = array("q"), array("q")
    node_of = {page: node for node, page in enumerate(data.pages)}
    for shard in shards_of(collection):
        with log_reader(collection, shard) as reader:
            for page_id, links, nodes in _resolve_links(reader, finder):
                source = node_of.get(page_number(shard, page_id))
                if source is None:
                    continue
                _count_anchors(anchors, links, nodes, source)
                found = nodes[nodes >= 0]
                targets.frombytes(found.tobytes())
                sources.frombytes(np.full(len(found), source, dtype=np.int64).tobytes())
    redirects = finder.nodes(list(data.moved.values()))
    for source, target in zip(data.moved, redirects.tolist(), strict=True):
        if target >= 0:
            sources.append(source)
            targets.append(target)
    return sources, targets


def _resolve_links(reader: LogReader, finder: _NodeIndex) -> Iterator[tuple[int, tuple[Link, ...], NDArray[np.int64]]]:
    """Yield each page with its links, and the node of each link."""
    hashes = _Hashes()
    for page_id, outline in reader.outlines():
        if outline.links:
            yield page_id, outline.links, finder.nodes([hashes[link.url] for link in outline.links])


def _count_anchors(
    anchors: dict[int, Counter[str]], links: Sequence[Link], nodes: NDArray[np.int64], source: int
) -> None:
    for link, node in zip(links, nodes.tolist(), strict=True):
        if node < 0 or node == source or not link.text:
            continue
        counted = anchors.get(node)
        if counted is None:
            counted = anchors[node] = Counter()
        text = link.text[:MAX_ANCHOR_CHARS]
        if text in counted or len(counted) < MAX_ANCHORS:
            counted[text] += 1


def _anchor_texts(data: _GraphData, finder: _NodeIndex, anchors: dict[int, Counter[str]]) -> Iterator[tuple[int, str]]:
    """Yield the anchor texts of pages; those of a redirect count for its target."""
    leads = dict(zip(data.moved, finder.nodes(list(data.moved.values())).tolist(), strict=True))
    texts: dict[int, list[str]] = {}
    for node, counted in anchors.items():
        target = _end_of(node, leads)
        texts.setdefault(target, []).extend(
            text for text, count in counted.items() for _ in range(min(count, MAX_REPEATS))
        )
    for node, called in texts.items():
        yield data.pages[node], "\n".join(called)


def _end_of(node: int, leads: dict[int, int]) -> int:
    for _ in range(MAX_HOPS):
        after = leads.get(node, -1)
        if after < 0:
            break
        node = after
    return node


def _known_ranks(collection: Path, pages: Sequence[int]) -> Floats | None:
    """Return the ranks of the previous graph as a start, because most pages are the same."""
    before = current_graph(collection)
    if before is None or not len(before.pages):
        return None
    wanted = np.array(pages, dtype=np.uint64)
    places = np.minimum(np.searchsorted(before.pages, wanted), len(before.pages) - 1)
    known = before.pages[places] == wanted
    return np.where(known, before.ranks[places], 1.0 / len(wanted))


def _compute_ranks(collection: Path, graph: SparseGraph, *, start: Floats | None) -> Floats:
    """Compute PageRank; continue an interrupted computation for the same links."""
    digest = xxh3_64_intdigest(graph.targets.tobytes())
    saved = load_partial_ranks(collection, digest)
    ranks: Floats = np.zeros(graph.nodes)
    for step, ranks in enumerate(pagerank_steps(graph, start=start if saved is None else saved), start=1):
        if step % SAVE_STEPS == 0:
            save_partial_ranks(collection, digest, ranks)
    return ranks


GRAPH_FORMATS = ("graphml", "parquet")
NODES_AT_A_TIME = 5000
_ATTRIBUTES = (("url", "string"), ("pagerank", "double"), ("hub", "double"), ("authority", "double"), ("depth", "int"))


def export_graph(collection: Path, form: str, to: Path, *, force: bool = False) -> dict[str, int]:
    """Write the graph: GraphML as one file, Parquet as `NAME.pages` and `NAME.links`."""
    if form not in GRAPH_FORMATS:
        raise ConfigError(f"{form!r} is not a graph format; choose {' or '.join(GRAPH_FORMATS)}")
    graph = up_to_date_graph(collection)
    targets = [to] if form == "graphml" else list(_parquet_files(to))
    for path in targets:
        if path.exists() and not force:
            raise ConfigError(f"{path} exists; replace it with --force")
    (_write_graphml if form == "graphml" else _write_parquet)(collection, graph, to)
    return {"pages": len(graph.pages), "links": graph.graph.links}


def _nodes(collection: Path, graph: LinkGraphFiles) -> Iterator[tuple[int, str, float, float, float, int]]:
    """Yield number, URL, PageRank, hub, authority and depth of each node."""
    for at in range(0, len(graph.pages), NODES_AT_A_TIME):
        pages = graph.pages[at : at + NODES_AT_A_TIME].tolist()
        urls = urls_of(collection, pages)
        for node, page in enumerate(pages, start=at):
            scores = (float(graph.array(name)[node]) for name in ("ranks", "hubs", "authorities"))
            yield (node, urls.get(page, ""), *scores, int(graph.array("depths")[node]))  # type: ignore[misc]


def _write_graphml(collection: Path, graph: LinkGraphFiles, to: Path) -> None:
    with to.open("w", encoding="utf-8") as out:
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        out.write('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        for name, kind in _ATTRIBUTES:
            out.write(f'<key id="{name}" for="node" attr.name="{name}" attr.type="{kind}"/>\n')
        out.write('<graph edgedefault="directed">\n')
        for node, *values in _nodes(collection, graph):
            data = "".join(
                f'<data key="{name}">{_xml(value)}</data>' for (name, _), value in zip(_ATTRIBUTES, values, strict=True)
            )
            out.write(f'<node id="n{node}">{data}</node>\n')
        for node in range(len(graph.pages)):
            targets = graph.graph.of(node).tolist()
            out.writelines(f'<edge source="n{node}" target="n{other}"/>\n' for other in targets)
        out.write("</graph>\n</graphml>\n")


def _xml(value: Any) -> str:
    text = value if isinstance(value, str) else f"{value:.10g}"
    return escape("".join(char for char in text if char >= " " and not "\ud800" <= char <= "\udfff"))


def _parquet_files(to: Path) -> tuple[Path, Path]:
    stem = to.with_suffix("") if to.suffix == ".parquet" else to
    return stem.with_name(f"{stem.name}.pages.parquet"), stem.with_name(f"{stem.name}.links.parquet")


def _write_parquet(collection: Path, graph: LinkGraphFiles, to: Path) -> None:
    try:
        import duckdb
    except ImportError:
        raise ConfigError("DuckDB is not installed; install it with: pip install 'evercrawl[parquet]'") from None
    import numpy as np

    pages_file, links_file = _parquet_files(to)
    with duckdb.connect() as db:
        db.execute(
            "create table pages (node bigint, url varchar, pagerank double, hub double, authority double, depth int)"
        )
        rows: list[tuple[Any, ...]] = []
        for row in _nodes(collection, graph):
            rows.append(row)
            if len(rows) >= NODES_AT_A_TIME:
                _insert(db, rows)
        _insert(db, rows)
        links = {
            "source": np.repeat(np.arange(len(graph.pages)), graph.graph.degrees()),
            "target": np.asarray(graph.graph.targets),
        }
        db.register("links", links)
        db.execute(f"copy pages to {_sql_string(pages_file)} (format parquet)")
        db.execute(f"copy (select * from links) to {_sql_string(links_file)} (format parquet)")


def _insert(db: Any, rows: list[tuple[Any, ...]]) -> None:
    if rows:
        db.executemany("insert into pages values (?, ?, ?, ?, ?, ?)", rows)
    rows.clear()


def _sql_string(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


MAX_PAGES = 200_000  # Pages drawn; the largest sites come first.


def draw_graph(collection: Path, site: str | None = None) -> str:
    """Return the structure of the collection or of one site as SVG."""
    graph = up_to_date_graph(collection)
    dead = _dead(collection)
    pages = graph.pages.tolist()
    urls = urls_of(collection, pages)
    wanted = [node for node, page in enumerate(pages) if _is_on_site(urls.get(page), site)][:MAX_PAGES]
    if not wanted:
        what = f"of {site}" if site is not None else "in this collection"
        raise ConfigError(f"there are no pages {what} to draw; see: evercrawl status")
    depths = graph.array("depths")
    drawn = [
        ChartPage(
            urls[pages[node]],
            float(graph.ranks[node]),
            None if depths[node] == UNREACHED else int(depths[node]),
            pages[node] in dead,
        )
        for node in wanted
    ]
    return draw_structure(drawn, _links(graph, wanted), title=site or collection.name)


def _is_on_site(url: str | None, site: str | None) -> bool:
    if url is None:
        return False
    origin = site_of(url)
    return site is None or site.rstrip("/") in (origin, origin.partition("://")[2])


def _links(graph: LinkGraphFiles, wanted: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the links among the drawn pages, by their index in the list."""
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
            dead |= {
                page_number(shard, page.id) for page in reader.graph_pages(with_problems=True) if page.reason in DEAD
            }
    return dead
