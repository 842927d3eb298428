"""Which of the pages seen lead to many good ones? Hubs and authorities, weighted by relevance.

Kleinberg's rule as the focused crawler of Chakrabarti, van den Berg and Dom (1999) uses it: a link counts as
much as its target is on topic, so that a list of everything does not become a hub of the topic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

ROUNDS = 12
"""Enough for the order of the first hundred to stay on the webs that we tried."""


class Distilled(NamedTuple):
    """Hub and authority of each page, largest 1."""

    hubs: dict[str, float]
    authorities: dict[str, float]


def distilled(links: Mapping[str, Sequence[str]], relevance: Mapping[str, float]) -> Distilled:
    """The hubs and authorities among pages whose relevance is known."""
    edges = [
        (source, target, relevance[target])
        for source, targets in links.items()
        for target in dict.fromkeys(targets)
        if target in relevance and target != source
    ]
    hubs = dict.fromkeys(links, 1.0)
    authorities: dict[str, float] = {}
    for _ in range(ROUNDS):
        authorities = _unit(_gathered((target, hubs[source] * weight) for source, target, weight in edges))
        hubs = _unit(_gathered((source, authorities[target] * weight) for source, target, weight in edges))
        hubs = {source: hubs.get(source, 0.0) for source in links}
    return Distilled(_largest_one(hubs), _largest_one(authorities))


def _gathered(shares: Iterable[tuple[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for page, share in shares:
        total[page] = total.get(page, 0.0) + share
    return total


def _unit(values: dict[str, float]) -> dict[str, float]:
    length = sqrt(sum([value * value for value in values.values()])) or 1.0
    return {page: value / length for page, value in values.items()}


def _largest_one(values: dict[str, float]) -> dict[str, float]:
    largest = max(values.values(), default=0.0) or 1.0
    return {page: value / largest for page, value in values.items()}
