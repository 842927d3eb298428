"""A directed graph as two arrays: the links of node n are `targets[starts[n]:starts[n + 1]]`, each once."""

from __future__ import annotations

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


def graph_of(sources: NDArray[Any], targets: NDArray[Any], nodes: int) -> SparseGraph:
    """The graph of these links; one that stands there twice counts once."""
    pairs = sources.astype(np.int64) * max(1, nodes) + targets.astype(np.int64)
    pairs = np.unique(pairs[np.asarray(sources) != np.asarray(targets)])
    origins = pairs // max(1, nodes)
    starts = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(origins, minlength=nodes), out=starts[1:])
    return SparseGraph(starts, (pairs % max(1, nodes)).astype(np.int32))


def reverse_of(graph: SparseGraph) -> SparseGraph:
    """The same links the other way round."""
    origins = np.repeat(np.arange(graph.nodes, dtype=np.int32), graph.degrees())
    order = np.argsort(graph.targets, kind="stable")
    starts = np.zeros(graph.nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(graph.targets, minlength=graph.nodes), out=starts[1:])
    return SparseGraph(starts, origins[order])


def gathered(values: Floats, incoming: SparseGraph) -> Floats:
    """For each node the sum of the values of the nodes that its list names."""
    sums = np.zeros(incoming.nodes)
    filled = np.flatnonzero(np.diff(incoming.starts))
    if len(filled):
        sums[filled] = np.add.reduceat(values[incoming.targets], incoming.starts[filled])
    return sums
