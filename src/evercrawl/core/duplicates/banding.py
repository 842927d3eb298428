"""Which of ten million signatures may be near this one? Those that agree with it in some band of bytes.

Banding of MinHash signatures (Leskovec, Rajaraman, Ullman: Mining of Massive Datasets, 3.4): 16 bands of 4
bytes. Texts that share 80 % of their pairs of words meet in a band with a chance of 99.9 %, those that share
65 % with 95 %, those that share a fifth with 3 %. Two texts that have nothing in common meet once in 270
million: a look-up among ten million signatures checks hardly any in vain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from struct import Struct
from typing import NamedTuple

from evercrawl.core.signature import EMPTY_SIGNATURE, PERMUTATIONS, is_near_duplicate, similarity

BAND_BYTES = 4
BANDS = PERMUTATIONS // BAND_BYTES
MOST_OF_BAND = 64
"""Signatures that agree in one band and are looked at; a band that more agree in says little."""
MOST_CHECKED = 64
"""Candidates that are compared in full, those first that agree in the most bands."""

_BANDS = Struct(f"<{BANDS}I")


class Entry(NamedTuple):
    """What the index knows of a text."""

    page: int
    """Whose text it is; what the number means is up to the owner of the index."""
    signature: bytes
    chars: int


class Match(NamedTuple):
    """An indexed text that says nearly the same."""

    page: int
    similarity: float


def is_indexed(signature: bytes) -> bool:
    """The signature of a text that says something; pages without text are not duplicates of each other."""
    return len(signature) == PERMUTATIONS and signature != EMPTY_SIGNATURE


def bands_of(signature: bytes) -> tuple[int, ...]:
    """One 32-bit number a band: its bytes."""
    return _BANDS.unpack(signature)


def chance_to_meet(alike: float) -> float:
    """How likely two texts of this similarity agree in at least one band."""
    equal = alike + (1 - alike) / 256
    return float(1 - (1 - equal**BAND_BYTES) ** BANDS)


def most_promising(numbers: Iterable[int]) -> list[int]:
    """Of the numbers found band by band, those to compare in full: the most frequent ones, up to a limit."""
    return [number for number, _ in Counter(numbers).most_common(MOST_CHECKED)]


def best_match(signature: bytes, chars: int, entries: Iterable[Entry]) -> Match | None:
    """The entry that is nearest to a text of so many characters, if it says nearly the same.

    Among equally near ones the lowest page: the one that was there first.
    """
    near = [
        Match(entry.page, similarity(signature, entry.signature))
        for entry in entries
        if is_near_duplicate(signature, entry.signature, sizes=(chars, entry.chars))
    ]
    return min(near, key=lambda match: (-match.similarity, match.page), default=None)
