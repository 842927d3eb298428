"""Which pages lead to the good ones, and which are led to? Hubs and authorities (Kleinberg 1999)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evercrawl.core.linkgraph.sparse import Floats, SparseGraph, gathered, reverse_of

TOLERANCE = 1e-8
MOST_STEPS = 100


class HubScores(NamedTuple):
    """Scores of all nodes; each column sums to 1."""

    hubs: Floats
    authorities: Floats


def hub_scores(graph: SparseGraph, *, tolerance: float = TOLERANCE) -> HubScores:
    """Good hubs link to good authorities, and good authorities are linked to by good hubs."""
    nodes = graph.nodes
    hubs = np.full(nodes, 1.0 / max(1, nodes))
    authorities = np.zeros(nodes)
    if not graph.links:
        return HubScores(hubs, hubs.copy())
    incoming = reverse_of(graph)
    for _ in range(MOST_STEPS):
        authorities = _normal(gathered(hubs, incoming))
        after = _normal(gathered(authorities, graph))
        moved = float(np.abs(after - hubs).sum())
        hubs = after
        if moved < tolerance:
            break
    return HubScores(hubs, authorities)


def _normal(values: Floats) -> Floats:
    total = float(values.sum())
    return values / total if total > 0 else values
