"""Into which front queue does a page go? Breadth first: near the seeds before far from them."""

from __future__ import annotations

from random import Random

_DEPTHS_OF_BAND = (0, 1, 3)
"""Deepest page of each band but the last: seeds and redirect targets, their links, two steps more, the
rest.
"""


def band_of(*, depth: int, hops: int, bands: int) -> int:
    """The front queue of a new page; 0 is the most urgent. A redirect's target goes where its source was
    urgent.
    """
    if hops:
        return 0
    for band, deepest in enumerate(_DEPTHS_OF_BAND[: bands - 1]):
        if depth <= deepest:
            return band
    return min(bands - 1, len(_DEPTHS_OF_BAND))


_WORTH_OF_BAND = (0.5, 0.2, 0.05)
"""Least worth of each band but the last in a focused crawl: the store is read in this order."""


def band_of_worth(worth: float, *, bands: int) -> int:
    """The front queue of a page in a focused crawl."""
    for band, least in enumerate(_WORTH_OF_BAND[: bands - 1]):
        if worth >= least:
            return band
    return min(bands - 1, len(_WORTH_OF_BAND))


def biased_order(bands: int, *, random: Random) -> list[int]:
    """The bands in the order in which to look for work: each is twice as likely as the next to come first.

    The bias lets urgent pages through first and still lets every band move (Mercator's biased selector).
    """
    left = list(range(bands))
    order: list[int] = []
    while left:
        weights = [2.0**-place for place in range(len(left))]
        order.append(left.pop(random.choices(range(len(left)), weights)[0]))
    return order
