"""From sentences to a page, from pages to a site: how friendly is it on the whole?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from evercrawl.core.sentiment.language import is_english
from evercrawl.core.sentiment.token import sentences_of

CLEAR = 0.25
"""A sentence with a smaller score is neither positive nor negative."""
FEWEST_WORDS = 3
"""Shorter lines are labels, not sentences, where a page has others."""
MOST_SENTENCES = 500
MOST_WEIGHT = 100
"""A page counts in its site as many times as it has sentences, but no more than this."""


class Sentiment(NamedTuple):
    """The mean score of some sentences, -1 to 1, and how many of them are clearly one or the other."""

    score: float
    sentences: int
    positive: int
    negative: int


def page_sentiment(text: str, score: Callable[[str], float], *, lang: str | None = None) -> Sentiment | None:
    """The mean over the sentences of a page; None: nothing to judge, or not in English."""
    if not is_english(text, lang=lang):
        return None
    sentences = sentences_of(text)
    longer = [sentence for sentence in sentences if len(sentence.split()) >= FEWEST_WORDS]
    scores = [score(sentence) for sentence in (longer or sentences)[:MOST_SENTENCES]]
    if not scores:
        return None
    positive, negative = sum(value >= CLEAR for value in scores), sum(value <= -CLEAR for value in scores)
    return Sentiment(sum(scores) / len(scores), len(scores), positive, negative)


def site_sentiment(pages: Iterable[Sentiment]) -> Sentiment | None:
    """The mean over pages by their sentences; one huge page does not speak for its site."""
    pages = list(pages)
    weights = [min(page.sentences, MOST_WEIGHT) for page in pages]
    if not sum(weights):
        return None
    mean = sum(page.score * weight for page, weight in zip(pages, weights, strict=True)) / sum(weights)
    return Sentiment(
        mean,
        sum(page.sentences for page in pages),
        sum(page.positive for page in pages),
        sum(page.negative for page in pages),
    )
