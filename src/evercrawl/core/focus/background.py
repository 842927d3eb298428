"""What the web looks like in general: for each feature the share of pages that have it.

A topic given by good examples only has no counter-examples; pages drawn from these shares stand in for them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from random import Random

from evercrawl.core.focus.feature import Blocks

LEAST_PAGES = 4
"""A feature of fewer pages is not kept."""
PARTS = 1000
"""Shares are written in parts of a thousand."""

Shares = dict[str, dict[str, float]]
"""Block -> feature -> share of pages."""


def shares_of(pages: Iterable[Blocks]) -> Shares:
    """How many of the pages have each feature, rare ones left out."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    total = 0
    for blocks in pages:
        total += 1
        for name, features in blocks.items():
            counts[name].update(features.keys())
    return {
        name: {feature: count / total for feature, count in sorted(of.items()) if count >= LEAST_PAGES}
        for name, of in sorted(counts.items())
    }


def written(shares: Shares) -> str:
    """One line each: block, feature, parts of a thousand."""
    return "".join(
        f"{name}\t{feature}\t{round(share * PARTS)}\n" for name, of in shares.items() for feature, share in of.items()
    )


def read(table: str) -> Shares:
    """What `written` wrote."""
    shares: Shares = defaultdict(dict)
    for line in table.splitlines():
        name, feature, parts = line.split("\t")
        shares[name][feature] = int(parts) / PARTS
    return dict(shares)


def drawn(shares: Shares, *, pages: int, random: Random) -> Sequence[Blocks]:
    """So many made-up pages, each feature with the chance of its share; none without shares."""
    return [
        {
            name: Counter([feature for feature, share in of.items() if random.random() < share])
            for name, of in shares.items()
        }
        for _ in range(pages if shares else 0)
    ]
