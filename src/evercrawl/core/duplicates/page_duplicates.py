"""When to recheck a duplicate page, and whether two pages can be duplicates at all.
A duplicate mostly changes with its representative. So the first change of the representative always leads to a recheck;
later ones do with the probability `weight`."""

from __future__ import annotations

import re

from xxhash import xxh32_intdigest

from evercrawl.core.duplicates.minhash import signature_similarity
from evercrawl.core.url import path_of, site_of
from evercrawl.model.page import DuplicateCandidate

MIN_CANONICAL_SIMILARITY = 0.1
"""Least similarity of a page to its canonical page: some sites name their front page everywhere."""
MIN_CONFIRMED_VISITS = 2  # A duplicate with this many visits was compared with its representative more than once.
GONE_STATUSES = frozenset((404, 410))


def should_recheck(key: bytes, *, visits: int, version: int, weight: float) -> bool:
    """Return whether to visit a duplicate because its representative has this new version."""
    return visits < MIN_CONFIRMED_VISITS or xxh32_intdigest(key, seed=version & 0xFFFFFFFF) / 2**32 < weight


def can_represent(page: DuplicateCandidate) -> bool:
    """Return whether the page has content, does not redirect, and is not gone."""
    return page.version > 0 and page.moved_to is None and page.status not in GONE_STATUSES


def is_still_duplicate(page: DuplicateCandidate, other: DuplicateCandidate | None, *, enough: float) -> bool:
    """Return whether two pages, as last seen, still have the same content."""
    if other is None or not can_represent(other):
        return False
    if page.digest is not None and page.digest == other.digest:
        return True
    if page.signature is None or other.signature is None:
        return False
    return signature_similarity(page.signature, other.signature) >= enough


_PARAMETERS = re.compile("[?&;]")


def is_plainer(url: str, other: str) -> bool:
    """Return whether of two URLs with the same content the first is the page, and the other a view of it.
    It has fewer parameters, or as many and the other only adds segments to its path. Else neither is."""
    if site_of(url) != site_of(other):
        return False
    parameters, others = len(_PARAMETERS.findall(url)), len(_PARAMETERS.findall(other))
    if parameters != others:
        return parameters < others
    rest = iter(_segments(other))
    return len(url) < len(other) and all(segment in rest for segment in _segments(url))


def _segments(url: str) -> list[str]:
    return list(filter(None, path_of(url).partition("?")[0].split("/")))


_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")


def titles_match(one: str | None, other: str | None) -> bool:
    """Return whether two titles allow their pages to be duplicates: equal, or with words added at one end.
    Other words in between name something else, and an added number makes another page of a series."""
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
