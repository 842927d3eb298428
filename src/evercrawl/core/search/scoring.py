"""How much is each sign of a match worth? Text by BM25 (in the index), then what other pages say.

`bench/search.py` measures how well they find a page by the words of its title; they were not fitted to that.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import log, log2
from typing import NamedTuple, TypeVar

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
MOST_IMPORTANCE = 12.0
GONE = 0.5
"""A page that is not there any more."""
FUSION_DEPTH = 60
"""Of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): how little the first places differ."""


class Form(NamedTuple):
    """A word that stands in the index, and in how many documents."""

    text: str
    documents: int


def form_weights(asked: str, forms: Iterable[Form], *, documents: int) -> dict[str, float]:
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
    return IMPORTANCE * min(MOST_IMPORTANCE, log2(1.0 + max(0.0, times_average)))


Item = TypeVar("Item", bound=Hashable)


def fused(rankings: Sequence[Sequence[Item]]) -> list[tuple[Item, float]]:
    """Several rankings as one, best first: each gives 1 / (60 + rank) to what it lists."""
    scores: dict[Item, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (FUSION_DEPTH + rank)
    return sorted(scores.items(), key=lambda entry: -entry[1])
