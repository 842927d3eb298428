"""How important is a page to the others? PageRank by power iteration (Page, Brin, Motwani, Winograd 1999).

Rank flows along links; with probability 1 - damping a reader begins anew anywhere, and so does the rank of
pages without links. Iteration can start from any ranks: from those of last time it ends sooner.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evercrawl.core.linkgraph.sparse import Floats, SparseGraph, gathered, reverse_of

DAMPING = 0.85
TOLERANCE = 1e-9
"""The sum of all differences of a step at which it ends; what is left to come is below six times that."""
MOST_STEPS = 200


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
    incoming, degrees = reverse_of(graph), graph.degrees()
    is_dangling = degrees == 0
    shares = np.where(is_dangling, 0.0, 1.0 / np.maximum(degrees, 1))
    ranks = _begun(start, nodes)
    for _ in range(MOST_STEPS):
        lost = float(ranks[is_dangling].sum())
        after = damping * (gathered(ranks * shares, incoming) + lost / nodes) + (1.0 - damping) / nodes
        moved = float(np.abs(after - ranks).sum())
        ranks = after
        yield ranks
        if moved < tolerance:
            return


def _begun(start: Floats | None, nodes: int) -> Floats:
    if start is None or len(start) != nodes or not start.sum() > 0:
        return np.full(nodes, 1.0 / nodes)
    return np.asarray(start / start.sum(), dtype=np.float64)
