"""How many clicks is a page from where one begins?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evercrawl.core.linkgraph.sparse import SparseGraph

UNREACHED = -1


def depths_from(graph: SparseGraph, roots: Sequence[int]) -> NDArray[np.int32]:
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


def parents_of(graph: SparseGraph, depths: NDArray[np.int32]) -> NDArray[np.int64]:
    """For each reached node the first node that leads there on a shortest way; -1: a root, or not reached."""
    parents = np.full(graph.nodes, UNREACHED, dtype=np.int64)
    origins = np.repeat(np.arange(graph.nodes, dtype=np.int64), graph.degrees())
    forward = (depths[origins] >= 0) & (depths[graph.targets] == depths[origins] + 1)
    origins, targets = origins[forward], graph.targets[forward]
    # Written last to first, so that of several the first one stays.
    parents[targets[::-1]] = origins[::-1]
    return parents
