"""Metrics of the link graph: click depth, hubs and authorities, PageRank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class SparseGraph(NamedTuple):
    """The links of node n are `targets[starts[n]:starts[n + 1]]`, each once, without links to itself."""

    starts: Ints
    targets: NDArray[np.int32]

    @property
    def nodes(self) -> int:
        return len(self.starts) - 1

    @property
    def links(self) -> int:
        return len(self.targets)

    def degrees(self) -> Ints:
        """Return the number of links of each node."""
        return np.diff(self.starts)

    def of(self, node: int) -> NDArray[np.int32]:
        """Return the targets of a node's links."""
        return self.targets[self.starts[node] : self.starts[node + 1]]


def sparse_graph(sources: NDArray[Any], targets: NDArray[Any], nodes: int) -> SparseGraph:
    """Build a graph; repeated links count once."""
    pairs = sources.astype(np.int64) * max(1, nodes) + targets.astype(np.int64)
    pairs = np.unique(pairs[np.asarray(sources) != np.asarray(targets)])
    origins = pairs // max(1, nodes)
    starts = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(origins, minlength=nodes), out=starts[1:])
    return SparseGraph(starts, (pairs % max(1, nodes)).astype(np.int32))


def reverse_graph(graph: SparseGraph) -> SparseGraph:
    """Return the graph with all links reversed."""
    origins = np.repeat(np.arange(graph.nodes, dtype=np.int32), graph.degrees())
    order = np.argsort(graph.targets, kind="stable")
    starts = np.zeros(graph.nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(graph.targets, minlength=graph.nodes), out=starts[1:])
    return SparseGraph(starts, origins[order])


def sum_incoming(values: Floats, incoming: SparseGraph) -> Floats:
    """Return for each node the sum of the values of the nodes that link to it."""
    sums = np.zeros(incoming.nodes)
    filled = np.flatnonzero(np.diff(incoming.starts))
    if len(filled):
        sums[filled] = np.add.reduceat(values[incoming.targets], incoming.starts[filled])
    return sums


UNREACHED = -1


def click_depths(graph: SparseGraph, roots: Sequence[int]) -> NDArray[np.int32]:
    """Return the fewest links from any root to each node; -1 if it is unreachable."""
    depths = np.full(graph.nodes, UNREACHED, dtype=np.int32)
    edge = np.unique(np.asarray(roots, dtype=np.int64)) if len(roots) else np.empty(0, dtype=np.int64)
    depths[edge] = 0
    level = 0
    while len(edge):
        level += 1
        targets = np.unique(_targets_of(graph, edge))
        edge = targets[depths[targets] == UNREACHED].astype(np.int64)
        depths[edge] = level
    return depths


def _targets_of(graph: SparseGraph, nodes: NDArray[np.int64]) -> NDArray[np.int32]:
    begins, counts = graph.starts[nodes], graph.starts[nodes + 1] - graph.starts[nodes]
    offsets = np.repeat(begins - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
    return np.asarray(graph.targets[offsets + np.arange(int(counts.sum()))], dtype=np.int32)


HUB_TOLERANCE = 1e-8
MAX_HUB_STEPS = 100


class HitsScores(NamedTuple):
    """Scores of all nodes; each column sums to 1."""

    hubs: Floats
    authorities: Floats


def hub_scores(graph: SparseGraph, *, tolerance: float = HUB_TOLERANCE) -> HitsScores:
    """Return hub and authority scores (Kleinberg 1999)."""
    nodes = graph.nodes
    hubs = np.full(nodes, 1.0 / max(1, nodes))
    authorities = np.zeros(nodes)
    if not graph.links:
        return HitsScores(hubs, hubs.copy())
    incoming = reverse_graph(graph)
    for _ in range(MAX_HUB_STEPS):
        authorities = _normalize(sum_incoming(hubs, incoming))
        after = _normalize(sum_incoming(authorities, graph))
        delta = float(np.abs(after - hubs).sum())
        hubs = after
        if delta < tolerance:
            break
    return HitsScores(hubs, authorities)


def _normalize(values: Floats) -> Floats:
    total = float(values.sum())
    return values / total if total > 0 else values


DAMPING = 0.85
PAGERANK_TOLERANCE = 1e-9
"""Sum of all differences in a step at which iteration ends; the remaining error is below six times that."""
MAX_PAGERANK_STEPS = 200


def pagerank(
    graph: SparseGraph, *, start: Floats | None = None, damping: float = DAMPING, tolerance: float = PAGERANK_TOLERANCE
) -> Floats:
    """Return the PageRank of all nodes (Page, Brin, Motwani, Winograd 1999); the ranks sum to 1."""
    ranks = np.full(graph.nodes, 1.0 / max(1, graph.nodes))
    for step in pagerank_steps(graph, start=start, damping=damping, tolerance=tolerance):
        ranks = step
    return ranks


def pagerank_steps(
    graph: SparseGraph, *, start: Floats | None = None, damping: float = DAMPING, tolerance: float = PAGERANK_TOLERANCE
) -> Iterator[Floats]:
    """Yield the ranks after each step until they settle, sooner from earlier ranks.
    A reader follows a link with probability `damping`, or jumps anywhere, as from nodes without links."""
    nodes = graph.nodes
    if not nodes:
        return
    incoming, degrees = reverse_graph(graph), graph.degrees()
    is_dangling = degrees == 0
    shares = np.where(is_dangling, 0.0, 1.0 / np.maximum(degrees, 1))
    ranks = _start_ranks(start, nodes)
    for _ in range(MAX_PAGERANK_STEPS):
        lost = float(ranks[is_dangling].sum())
        after = damping * (sum_incoming(ranks * shares, incoming) + lost / nodes) + (1.0 - damping) / nodes
        delta = float(np.abs(after - ranks).sum())
        ranks = after
        yield ranks
        if delta < tolerance:
            return


def _start_ranks(start: Floats | None, nodes: int) -> Floats:
    if start is None or len(start) != nodes or not start.sum() > 0:
        return np.full(nodes, 1.0 / nodes)
    return np.asarray(start / start.sum(), dtype=np.float64)
