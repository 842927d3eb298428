"""Export the link graph as GraphML or Parquet, and draw it as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from evercrawl.adapters.graph_files import LinkGraphFiles
from evercrawl.adapters.sql.log_reader import log_reader
from evercrawl.adapters.sql.state_reader import shards_of
from evercrawl.adapters.tantivy.text_index import page_number
from evercrawl.collection.graph_builder import up_to_date_graph
from evercrawl.collection.link_report import DEAD, urls_of
from evercrawl.core.linkgraph.graph_metrics import UNREACHED
from evercrawl.core.linkgraph.structure_chart import ChartPage, draw_structure
from evercrawl.core.url import site_of
from evercrawl.errors import ConfigError

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
            dead |= {page_number(shard, page.id) for page in reader.graph_pages() if page.reason in DEAD}
    return dead
