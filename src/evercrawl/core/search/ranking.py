"""Weights of matches, facets of results, and grouping of near duplicates.
Text is scored by BM25 in the index; links add to it. `bench/search.py` measures how well titles find their pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from datetime import datetime, timedelta
from math import log, log2
from typing import NamedTuple, TypeVar

from evercrawl.core.document.media_type import media_kind
from evercrawl.core.duplicates.minhash import EMPTY_SIGNATURE, MIN_SIMILARITY, PERMUTATIONS, is_near_duplicate
from evercrawl.model.search import FacetValue
from evercrawl.model.time import to_us

TITLE = 2.0
HEADINGS = 0.7
URL = 0.7
TEXT = 1.0
OTHER_FORM = 0.8  # Another form of the query word.
ANCHOR = 0.8  # Anchor texts of pages that link here.
IMPORTANCE = 0.6  # Per doubling of the PageRank over that of an average page.
MAX_IMPORTANCE = 12.0
GONE = 0.5  # A page that is gone.
FUSION_DEPTH = 60  # Constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009).


class WordForm(NamedTuple):
    """A word in the index and in how many documents it occurs."""

    text: str
    documents: int


def form_weights(word: str, forms: Iterable[WordForm], *, documents: int) -> dict[str, float]:
    """Return the weight of each form of a word.
    A rare form would count more than the word itself: all forms count as rare as they are together."""
    forms = list(forms)
    together = min(documents, sum(form.documents for form in forms))
    weights = {
        form.text: (1.0 if form.text == word else OTHER_FORM)
        * _rarity(together, documents)
        / _rarity(form.documents, documents)
        for form in forms
    }
    weights.setdefault(word, 1.0)
    return weights


def _rarity(count: int, documents: int) -> float:
    return log(1.0 + (documents - count + 0.5) / (count + 0.5))


def importance_bonus(times_average: float) -> float:
    """Return what a PageRank of `times_average` times the average adds to a score; never negative."""
    return IMPORTANCE * min(MAX_IMPORTANCE, log2(1.0 + max(0.0, times_average)))


Item = TypeVar("Item", bound=Hashable)


def fuse_rankings(rankings: Sequence[Sequence[Item]]) -> list[tuple[Item, float]]:
    """Combine rankings, best first: each adds 1 / (60 + rank) to what it lists."""
    scores: dict[Item, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (FUSION_DEPTH + rank)
    return sorted(scores.items(), key=lambda entry: -entry[1])


MAX_FACET_VALUES = 10  # The most frequent values of one facet.
SPANS = ("1d", "7d", "30d", "365d")  # Values of `changed:>`; each includes those before it.


class FacetRow(NamedTuple):
    """What is counted of one hit."""

    url: str
    lang: str | None
    seen_us: int
    content_type: str | None


def url_host(url: str) -> str:
    """Return the host as `site:` names it."""
    return url.partition("://")[2].partition("/")[0].partition("?")[0].lower()


def count_sites(rows: Iterable[FacetRow]) -> tuple[FacetValue, ...]:
    """Count hosts, the most frequent first."""
    return _most_frequent(url_host(row.url) for row in rows)


def count_languages(rows: Iterable[FacetRow]) -> tuple[FacetValue, ...]:
    """Count languages, the most frequent first."""
    return _most_frequent(row.lang for row in rows if row.lang)


def count_kinds(rows: Iterable[FacetRow]) -> tuple[FacetValue, ...]:
    """Count media kinds, the most frequent first."""
    return _most_frequent(media_kind(row.content_type) for row in rows)


def count_changed(rows: Sequence[FacetRow], *, now: datetime) -> tuple[FacetValue, ...]:
    """Count hits first seen within each span; empty spans are left out."""
    counted = []
    for span in SPANS:
        since_us = to_us(now - timedelta(days=int(span[:-1])))
        count = sum(row.seen_us >= since_us for row in rows)
        if count:
            counted.append(FacetValue(span, count))
    return tuple(counted)


def _most_frequent(values: Iterable[str]) -> tuple[FacetValue, ...]:
    counted = sorted(Counter(values).items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(FacetValue(*pair) for pair in counted[:MAX_FACET_VALUES])


CHARS_PER_WORD = 6  # Text sizes are compared in words, which the store knows.


class TextFingerprint(NamedTuple):
    """What is known of a hit's text without reading it."""

    text_digest: bytes | None
    signature: bytes | None
    words: int


def group_near_duplicates(texts: Sequence[TextFingerprint]) -> list[list[int]]:
    """Return the indexes of the texts in groups; each begins with the best hit."""
    numbers = [_signature_number(fingerprint) for fingerprint in texts]
    groups: list[list[int]] = []
    for index, fingerprint in enumerate(texts):
        similar = (
            group
            for group in groups
            if _are_candidates(numbers[group[0]], numbers[index]) and _is_near_duplicate(texts[group[0]], fingerprint)
        )
        group = next(similar, None)
        if group is None:
            groups.append([index])
        else:
            group.append(index)
    return groups


def _signature_number(fingerprint: TextFingerprint) -> int:
    signature = fingerprint.signature
    return int.from_bytes(signature if signature and len(signature) == PERMUTATIONS else EMPTY_SIGNATURE)


def _are_candidates(one: int, other: int) -> bool:
    """Return whether a pair is worth a closer look: equal bytes are zero in the difference."""
    return (one ^ other).to_bytes(PERMUTATIONS).count(0) >= MIN_SIMILARITY * PERMUTATIONS


def _is_near_duplicate(one: TextFingerprint, other: TextFingerprint) -> bool:
    if not one.words or not other.words:
        return False
    if one.text_digest is not None and one.text_digest == other.text_digest:
        return True
    if one.signature is None or other.signature is None:
        return False
    sizes = one.words * CHARS_PER_WORD, other.words * CHARS_PER_WORD
    return is_near_duplicate(one.signature, other.signature, sizes=sizes)
