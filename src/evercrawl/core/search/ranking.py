"""How much is each sign of a match worth? Text by BM25 (in the index), then what other pages say.

`bench/search.py` measures how well they find a page by the words of its title; they were not fitted to that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from datetime import datetime, timedelta
from math import log, log2
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from evercrawl.core.document.media_type import media_kind
from evercrawl.core.duplicates.minhash import EMPTY_SIGNATURE, MIN_SIMILARITY, PERMUTATIONS, is_near_duplicate
from evercrawl.model.search import FacetValue
from evercrawl.model.time import to_us

TITLE = 2.0
HEADINGS = 0.7
URL = 0.7
TEXT = 1.0
OTHER_FORM = 0.8
"""Another form of the word that was asked for."""
ANCHOR = 0.8
"""What pages that link here call it."""
IMPORTANCE = 0.6
"""For each doubling of the PageRank over that of an average page."""
MAX_IMPORTANCE = 12.0
GONE = 0.5
"""A page that is not there any more."""
FUSION_DEPTH = 60
"""Of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): how little the first places differ."""


class WordForm(NamedTuple):
    """A word that stands in the index, and in how many documents."""

    text: str
    documents: int


def form_weights(asked: str, forms: Iterable[WordForm], *, documents: int) -> dict[str, float]:
    """The weight of each form of a word.

    A form that hardly any document has would count more than the word itself, as rare words do: all forms
    count as rare as they are together.
    """
    forms = list(forms)
    together = min(documents, sum(form.documents for form in forms))
    weights = {
        form.text: (1.0 if form.text == asked else OTHER_FORM)
        * _rarity(together, documents)
        / _rarity(form.documents, documents)
        for form in forms
    }
    weights.setdefault(asked, 1.0)
    return weights


def _rarity(having: int, documents: int) -> float:
    return log(1.0 + (documents - having + 0.5) / (having + 0.5))


def importance_bonus(times_average: float) -> float:
    """What a PageRank of so many times the average adds to a score; a page below average loses nothing."""
    return IMPORTANCE * min(MAX_IMPORTANCE, log2(1.0 + max(0.0, times_average)))


Item = TypeVar("Item", bound=Hashable)


def fuse_rankings(rankings: Sequence[Sequence[Item]]) -> list[tuple[Item, float]]:
    """Several rankings as one, best first: each gives 1 / (60 + rank) to what it lists."""
    scores: dict[Item, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (FUSION_DEPTH + rank)
    return sorted(scores.items(), key=lambda entry: -entry[1])


MAX_FACET_VALUES = 10
"""Of one facet; the most frequent."""
SPANS = ("1d", "7d", "30d", "365d")
"""Of `changed:>`; each holds those before it."""


class FacetRow(NamedTuple):
    """What is counted of one hit."""

    url: str
    lang: str | None
    seen_us: int
    content_type: str | None


def url_host(url: str) -> str:
    """The host, as `site:` names it."""
    return url.partition("://")[2].partition("/")[0].partition("?")[0].lower()


def count_sites(rows: Iterable[FacetRow]) -> tuple[FacetValue, ...]:
    """Hosts, the most frequent first."""
    return _most_frequent(url_host(row.url) for row in rows)


def count_languages(rows: Iterable[FacetRow]) -> tuple[FacetValue, ...]:
    """Languages, the most frequent first."""
    return _most_frequent(row.lang for row in rows if row.lang)


def count_kinds(rows: Iterable[FacetRow]) -> tuple[FacetValue, ...]:
    """Types, the most frequent first."""
    return _most_frequent(media_kind(row.content_type) for row in rows)


def count_changed(rows: Sequence[FacetRow], *, now: datetime) -> tuple[FacetValue, ...]:
    """How many were first seen within each span before a moment; spans that hold nothing are left out."""
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


CHARS_PER_WORD = 6
"""Texts are compared by size in words, which the store has at hand."""


class TextFingerprint(NamedTuple):
    """What is known of a hit's text without reading it."""

    text_digest: bytes | None
    signature: bytes | None
    words: int


def group_near_duplicates(texts: Sequence[TextFingerprint]) -> list[list[int]]:
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


def _nearly_equal(texts: Sequence[TextFingerprint]) -> NDArray[np.bool_]:
    """Pairs that are worth a look, all at once: most are not."""
    raw = b"".join(
        said.signature if said.signature and len(said.signature) == PERMUTATIONS else EMPTY_SIGNATURE for said in texts
    )
    rows = np.frombuffer(raw, dtype=np.uint8).reshape(len(texts), PERMUTATIONS)
    equal = (rows[:, None, :] == rows[None, :, :]).sum(axis=2)
    return np.asarray(equal >= MIN_SIMILARITY * PERMUTATIONS)


def _is_alike(one: TextFingerprint, other: TextFingerprint) -> bool:
    if not one.words or not other.words:
        return False
    if one.text_digest is not None and one.text_digest == other.text_digest:
        return True
    if one.signature is None or other.signature is None:
        return False
    sizes = one.words * CHARS_PER_WORD, other.words * CHARS_PER_WORD
    return is_near_duplicate(one.signature, other.signature, sizes=sizes)
