"""When is a duplicate looked at again? When the page that it repeats says something else, or is gone.

A duplicate follows its representative: most often it has changed with it. So not every change costs a
request for each duplicate, but none stands unproved: the first change after the verdict always counts, later
ones as often as a visit to a duplicate is worth.
"""

from __future__ import annotations

from xxhash import xxh32_intdigest

from evercrawl.core.signature import similarity
from evercrawl.model.page import DuplicateCandidate

PROVED_VISITS = 2
"""A duplicate that was seen so often has been held against its representative more than once."""
GONE = frozenset((404, 410))


def is_asked(key: bytes, *, visits: int, version: int, weight: float) -> bool:
    """Whether a duplicate is looked at because the page that it repeats has this new version."""
    if visits < PROVED_VISITS:
        return True
    return xxh32_intdigest(key, seed=version & 0xFFFFFFFF) / 2**32 < weight


def answers(page: DuplicateCandidate) -> bool:
    """The page can stand for others: it has content, leads nowhere else, and is not gone."""
    return page.version > 0 and page.moved_to is None and page.status not in GONE


def still_repeats(page: DuplicateCandidate, other: DuplicateCandidate | None, *, enough: float) -> bool:
    """Whether two pages, as they were seen last, still say the same."""
    if other is None or not answers(other):
        return False
    if page.digest is not None and page.digest == other.digest:
        return True
    if page.signature is None or other.signature is None:
        return False
    return similarity(page.signature, other.signature) >= enough
