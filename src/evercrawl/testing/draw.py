"""Chance that depends on names alone.

Each question about the synthetic web draws from a stream of its own, named by the seed and by what is
asked, so that the answer does not depend on which page was asked for first.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from xxhash import xxh3_64_intdigest

T = TypeVar("T")

_SPAN = 2.0**64


def number(*names: object) -> int:
    """64 bits that follow from the names."""
    return int(xxh3_64_intdigest("/".join(map(str, names)).encode()))


def share(*names: object) -> float:
    """A number from 0 to less than 1."""
    return number(*names) / _SPAN


def pick(options: Sequence[T], *names: object) -> T:
    """One of the options."""
    return options[number(*names) % len(options)]


def weighted(table: dict[T, float], *names: object) -> T:
    """One of the keys, each as likely as its weight says."""
    left = share(*names) * sum(table.values())
    for option, weight in table.items():
        left -= weight
        if left < 0:
            return option
    return next(reversed(table))


def stream(*names: object) -> Random:
    """A generator of its own for these names."""
    return Random(number(*names))
