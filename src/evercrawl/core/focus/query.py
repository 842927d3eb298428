"""A topic given by words: a page is on it by how many of the words it has, and where.

Nothing is learned from examples here; the crawl learns on its way which links lead to such pages.
"""

from __future__ import annotations

from math import sqrt

from evercrawl.core.focus.classifier import UNDECIDED, Classifier
from evercrawl.core.focus.feature import words_of
from evercrawl.core.focus.focus import Focus, Level
from evercrawl.core.focus.linked import LEVELS
from evercrawl.core.focus.stack import Stack

VIEW_WEIGHTS = {"text": 1.0, "title": 1.5, "url": 1.0, "anchors": 0.3}
SLOPE = 3.0
SHIFT = -3.5
"""All words in the text alone do not make a page on topic; with the title or the URL they do."""


def focus_of_query(query: str) -> Focus:
    """The topic of a query; raises ValueError where it has no words."""
    words = sorted(set(words_of(query)))
    if not words:
        raise ValueError("a query needs at least one word")
    # A view is brought to length one over the words that it has: all of n words add up to sqrt(n).
    share = 1.0 / sqrt(len(words))
    scales = {view: dict.fromkeys(words, 1.0) for view in VIEW_WEIGHTS}
    weights = {view: dict.fromkeys(words, weight * share) for view, weight in VIEW_WEIGHTS.items()}
    levels = tuple(Level(UNDECIDED, Stack({})) for _ in range(LEVELS))
    return Focus(Classifier(scales, weights, SLOPE, SHIFT), Stack({}), levels)
