from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.linkgraph.graph_metrics import (
    SparseGraph,
    click_depths,
    hub_scores,
    pagerank,
    pagerank_steps,
    reverse_graph,
    sparse_graph,
)

links_of_graphs = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=60)


def made(links: list[tuple[int, int]], nodes: int) -> SparseGraph:
    return sparse_graph(np.array([a for a, _ in links], dtype=int), np.array([b for _, b in links], dtype=int), nodes)


def reference_ranks(graph: SparseGraph, *, damping: float = 0.85) -> np.ndarray:
    """Return PageRank as the exact solution of its linear equations."""
    nodes, degrees = graph.nodes, graph.degrees()
    origins = np.repeat(np.arange(nodes), degrees)
    flow = scipy.sparse.csr_matrix((1.0 / degrees[origins], (graph.targets, origins)), shape=(nodes, nodes)).toarray()
    flow[:, degrees == 0] = 1.0 / nodes
    return np.linalg.solve(np.eye(nodes) - damping * flow, np.full(nodes, (1 - damping) / nodes))


@given(links_of_graphs)
def test_pagerank_solves_its_equations(links: list[tuple[int, int]]):
    graph = made(links, 10)
    assert np.abs(pagerank(graph) - reference_ranks(graph)).max() < 1e-8


def test_pagerank_of_a_larger_graph_agrees_to_a_millionth():
    chance = np.random.default_rng(5)
    graph = sparse_graph(chance.integers(0, 1500, 9000), chance.zipf(1.5, 9000) % 1500, 1500)
    ranks = pagerank(graph)
    assert np.abs(ranks - reference_ranks(graph)).max() < 1e-6
    assert ranks.sum() == pytest.approx(1.0)


def test_pagerank_continues_from_earlier_ranks():
    chance = np.random.default_rng(6)
    graph = sparse_graph(chance.integers(0, 300, 2000), chance.integers(0, 300, 2000), 300)
    steps = list(pagerank_steps(graph))
    again = list(pagerank_steps(graph, start=steps[len(steps) // 2]))
    assert len(again) < len(steps)
    assert np.abs(again[-1] - steps[-1]).sum() < 1e-8
    assert len(pagerank(graph, start=np.zeros(3))) == 300


def test_an_empty_graph_has_no_ranks():
    assert len(pagerank(made([], 0))) == 0
    assert pagerank(made([], 4)).tolist() == [0.25] * 4


@given(links_of_graphs)
def test_links_count_once_and_can_be_reversed(links: list[tuple[int, int]]):
    graph = made(links, 10)
    pairs = {(node, int(target)) for node in range(10) for target in graph.of(node)}
    assert pairs == {(a, b) for a, b in links if a != b}
    back = reverse_graph(graph)
    assert {(int(source), node) for node in range(10) for source in back.of(node)} == pairs


def test_hubs_link_to_authorities():
    scores = hub_scores(made([(0, 5), (0, 6), (1, 5), (1, 6), (2, 5), (7, 8)], 9))
    assert set(np.argsort(-scores.hubs)[:2].tolist()) == {0, 1}
    assert int(np.argmax(scores.authorities)) == 5
    assert scores.hubs.sum() == pytest.approx(1.0)


def test_depth_is_the_fewest_clicks():
    graph = made([(0, 1), (1, 2), (0, 2), (2, 3), (5, 0)], 6)
    depths = click_depths(graph, [0])
    assert depths.tolist() == [0, 1, 1, 2, -1, -1]
    assert click_depths(graph, []).tolist() == [-1] * 6
