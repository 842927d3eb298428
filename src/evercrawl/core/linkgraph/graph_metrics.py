"""A directed graph as two arrays: the links of node n are `targets[starts[n]:starts[n + 1]]`, each once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class SparseGraph(NamedTuple):
    """Nodes are numbers from 0; a link from a node to itself is not kept."""

    starts: Ints
    targets: NDArray[np.int32]

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.starts) - 1

    @property
    def links(self) -> int:
        """How many links there are."""
        return len(self.targets)

    def degrees(self) -> Ints:
        """Links of each node."""
        return np.diff(self.starts)

    def of(self, node: int) -> NDArray[np.int32]:
        """Where the links of a node lead."""
        return self.targets[self.starts[node] : self.starts[node + 1]]


def sparse_graph(sources: NDArray[Any], targets: NDArray[Any], nodes: int) -> SparseGraph:
    """The graph of these links; one that stands there twice counts once."""
    pairs = sources.astype(np.int64) * max(1, nodes) + targets.astype(np.int64)
    pairs = np.unique(pairs[np.asarray(sources) != np.asarray(targets)])
    origins = pairs // max(1, nodes)
    starts = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(origins, minlength=nodes), out=starts[1:])
    return SparseGraph(starts, (pairs % max(1, nodes)).astype(np.int32))


def reverse_graph(graph: SparseGraph) -> SparseGraph:
    """The same links the other way round."""
    origins = np.repeat(np.arange(graph.nodes, dtype=np.int32), graph.degrees())
    order = np.argsort(graph.targets, kind="stable")
    starts = np.zeros(graph.nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(graph.targets, minlength=graph.nodes), out=starts[1:])
    return SparseGraph(starts, origins[order])


def sum_incoming(values: Floats, incoming: SparseGraph) -> Floats:
    """For each node the sum of the values of the nodes that its list names."""
    sums = np.zeros(incoming.nodes)
    filled = np.flatnonzero(np.diff(incoming.starts))
    if len(filled):
        sums[filled] = np.add.reduceat(values[incoming.targets], incoming.starts[filled])
    return sums


UNREACHED = -1


def click_depths(graph: SparseGraph, roots: Sequence[int]) -> NDArray[np.int32]:
    """The fewest links from any root to each node; -1: no way leads there."""
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


class HubScores(NamedTuple):
    """Scores of all nodes; each column sums to 1."""

    hubs: Floats
    authorities: Floats


def hub_scores(graph: SparseGraph, *, tolerance: float = HUB_TOLERANCE) -> HubScores:
    """Good hubs link to good authorities, and good authorities are linked to by good hubs."""
    nodes = graph.nodes
    hubs = np.full(nodes, 1.0 / max(1, nodes))
    authorities = np.zeros(nodes)
    if not graph.links:
        return HubScores(hubs, hubs.copy())
    incoming = reverse_graph(graph)
    for _ in range(MAX_HUB_STEPS):
        authorities = _normal(sum_incoming(hubs, incoming))
        after = _normal(sum_incoming(authorities, graph))
        moved = float(np.abs(after - hubs).sum())
        hubs = after
        if moved < tolerance:
            break
    return HubScores(hubs, authorities)


def _normal(values: Floats) -> Floats:
    total = float(values.sum())
    return values / total if total > 0 else values


DAMPING = 0.85
TOLERANCE = 1e-9
"""The sum of all differences of a step at which it ends; what is left to come is below six times that."""
MAX_PAGERANK_STEPS = 200


def pagerank(
    graph: SparseGraph, *, start: Floats | None = None, damping: float = DAMPING, tolerance: float = TOLERANCE
) -> Floats:
    """The ranks of all nodes; they sum to 1."""
    ranks = np.full(graph.nodes, 1.0 / max(1, graph.nodes))
    for step in pagerank_steps(graph, start=start, damping=damping, tolerance=tolerance):
        ranks = step
    return ranks


def pagerank_steps(
    graph: SparseGraph, *, start: Floats | None = None, damping: float = DAMPING, tolerance: float = TOLERANCE
) -> Iterator[Floats]:
    """The ranks after each step, until they move no more: who stores one can go on from it."""
    nodes = graph.nodes
    if not nodes:
        return
    incoming, degrees = reverse_graph(graph), graph.degrees()
    is_dangling = degrees == 0
    shares = np.where(is_dangling, 0.0, 1.0 / np.maximum(degrees, 1))
    ranks = _begun(start, nodes)
    for _ in range(MAX_PAGERANK_STEPS):
        lost = float(ranks[is_dangling].sum())
        after = damping * (sum_incoming(ranks * shares, incoming) + lost / nodes) + (1.0 - damping) / nodes
        moved = float(np.abs(after - ranks).sum())
        ranks = after
        yield ranks
        if moved < tolerance:
            return


def _begun(start: Floats | None, nodes: int) -> Floats:
    if start is None or len(start) != nodes or not start.sum() > 0:
        return np.full(nodes, 1.0 / nodes)
    return np.asarray(start / start.sum(), dtype=np.float64)
