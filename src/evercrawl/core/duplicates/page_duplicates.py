"""Of what is a page a duplicate, which page stands for all of them, and how is that said in words?

Evidence in order of strength: a redirect, the same content, the page's own word (RFC 6596, believed only
where the texts do not contradict it), a copied host, nearly the same text. Duplicates are neither expanded
nor revisited at full price; the representative is.
"""

from __future__ import annotations

import re

from xxhash import xxh32_intdigest

from evercrawl.core.duplicates.minhash import signature_similarity
from evercrawl.model.page import DuplicateCandidate

MIN_CANONICAL_SIMILARITY = 0.1
"""A page that names another as its canonical form must have this much in common with it: a whole site that
names its front page would vanish otherwise.
"""


MIN_CONFIRMED_VISITS = 2
"""A duplicate that was seen so often has been held against its representative more than once."""
GONE_STATUSES = frozenset((404, 410))


def should_recheck(key: bytes, *, visits: int, version: int, weight: float) -> bool:
    """Whether a duplicate is looked at because the page that it repeats has this new version."""
    if visits < MIN_CONFIRMED_VISITS:
        return True
    return xxh32_intdigest(key, seed=version & 0xFFFFFFFF) / 2**32 < weight


def can_represent(page: DuplicateCandidate) -> bool:
    """The page can stand for others: it has content, leads nowhere else, and is not gone."""
    return page.version > 0 and page.moved_to is None and page.status not in GONE_STATUSES


def is_still_duplicate(page: DuplicateCandidate, other: DuplicateCandidate | None, *, enough: float) -> bool:
    """Whether two pages, as they were seen last, still say the same."""
    if other is None or not can_represent(other):
        return False
    if page.digest is not None and page.digest == other.digest:
        return True
    if page.signature is None or other.signature is None:
        return False
    return signature_similarity(page.signature, other.signature) >= enough


_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")


def titles_match(one: str | None, other: str | None) -> bool:
    """The same words, or one title is the other with words such as "to print" before or behind it.

    Other words in between are the name of something else (`a.B - manual`, `a.meta.C - manual`), and a number
    that is added makes another page of a series.
    """
    shorter, longer = sorted((_words(one), _words(other)), key=len)
    if not shorter:
        return True
    if longer[: len(shorter)] == shorter:
        added = longer[len(shorter) :]
    elif longer[-len(shorter) :] == shorter:
        added = longer[: -len(shorter)]
    else:
        return False
    return not any(map(_DIGIT.search, added))


def _words(title: str | None) -> list[str]:
    return _WORD.findall((title or "").casefold())
