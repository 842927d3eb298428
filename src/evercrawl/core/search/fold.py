"""Which hits say nearly the same? Only the best of each group is listed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.core.signature import EMPTY_SIGNATURE, NEAR_DUPLICATE, PERMUTATIONS, is_near_duplicate

CHARS_OF_A_WORD = 6
"""Texts are compared by size in words, which the store has at hand."""


class Said(NamedTuple):
    """What is known of a hit's text without reading it."""

    text_digest: bytes | None
    signature: bytes | None
    words: int


def groups_alike(texts: Sequence[Said]) -> list[list[int]]:
    """The places of the texts, in groups; each group begins with the first of its kind."""
    near = _nearly_equal(texts)
    groups: list[list[int]] = []
    for place, said in enumerate(texts):
        alike = (group for group in groups if near[group[0], place] and _is_alike(texts[group[0]], said))
        group = next(alike, None)
        if group is None:
            groups.append([place])
        else:
            group.append(place)
    return groups


def _nearly_equal(texts: Sequence[Said]) -> NDArray[np.bool_]:
    """Pairs that are worth a look, all at once: most are not."""
    raw = b"".join(
        said.signature if said.signature and len(said.signature) == PERMUTATIONS else EMPTY_SIGNATURE for said in texts
    )
    rows = np.frombuffer(raw, dtype=np.uint8).reshape(len(texts), PERMUTATIONS)
    equal = (rows[:, None, :] == rows[None, :, :]).sum(axis=2)
    return np.asarray(equal >= NEAR_DUPLICATE * PERMUTATIONS)


def _is_alike(one: Said, other: Said) -> bool:
    if not one.words or not other.words:
        return False
    if one.text_digest is not None and one.text_digest == other.text_digest:
        return True
    if one.signature is None or other.signature is None:
        return False
    sizes = one.words * CHARS_OF_A_WORD, other.words * CHARS_OF_A_WORD
    return is_near_duplicate(one.signature, other.signature, sizes=sizes)
