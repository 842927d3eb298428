"""Do two texts say nearly the same? MinHash over pairs of neighbouring words, one byte of each minimum kept.

b-bit MinHash (Li and König 2010): the share of equal bytes estimates the Jaccard similarity of the two sets
of pairs, once chance agreement (one in 256) is taken out. Pairs rather than words, so that the order of
words counts.
"""

from __future__ import annotations

from operator import add, eq

from rensa import RMinHash

PERMUTATIONS = 64
SEED = 42
"""Part of the stored format: signatures of different seeds cannot be compared."""
SIGNED_CHARS = 12_000
"""More of a text does not make its signature better, only dearer."""
LONGEST_AVERAGE_WORD = 25
"""Longer ones mean a script without spaces, where runs of characters stand for words."""
RUN_CHARS = 4
NEAR_DUPLICATE = 0.5
"""Similarity from which on two texts say nearly the same."""
LEAST_SIZE_SHARE = 0.6
"""A text that is shorter than this share of another is no duplicate of it."""
EMPTY_SIGNATURE = b"\xff" * PERMUTATIONS

_CHANCE = 1 / 256


def signature(text: str) -> bytes:
    """64 bytes that are alike for texts that are alike; the same in every process."""
    tokens = _tokens(text[:SIGNED_CHARS])
    if not tokens:
        return EMPTY_SIGNATURE
    minhash = RMinHash(PERMUTATIONS, SEED)
    minhash.update(tokens)
    return bytes([minimum & 0xFF for minimum in minhash.digest()])


def _tokens(text: str) -> list[str]:
    words = text.split()
    if len(text) > LONGEST_AVERAGE_WORD * (len(words) + 1):
        joined = "".join(words)
        return [joined[at : at + RUN_CHARS] for at in range(max(1, len(joined) - RUN_CHARS + 1))]
    return list(map(add, words, words[1:])) or words


def similarity(one: bytes, other: bytes) -> float:
    """Estimated share of what the two texts have in common, 0 to 1."""
    if len(one) != PERMUTATIONS or len(other) != PERMUTATIONS:
        return 0.0
    equal: float = sum(map(eq, one, other)) / PERMUTATIONS
    return max(0.0, (equal - _CHANCE) / (1 - _CHANCE))


def is_near_duplicate(one: bytes, other: bytes, *, sizes: tuple[int, int]) -> bool:
    """The texts behind the signatures, of so many characters, say nearly the same.

    A part of a text is not its duplicate, and beyond `SIGNED_CHARS` only the sizes can tell.
    """
    shorter, longer = sorted(sizes)
    return shorter >= LEAST_SIZE_SHARE * longer and similarity(one, other) >= NEAR_DUPLICATE
