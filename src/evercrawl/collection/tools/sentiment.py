"""`tool sentiment`: is a text positive or negative?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evercrawl.adapters.learned import default_sentiment, paper_sentiment
from evercrawl.core.sentiment.sentences import LONGEST_SENTENCE, is_english, words_of

DIGITS = 4


def _default(text: str) -> float:
    return default_sentiment().score(text)


def _paper(text: str) -> float:
    return paper_sentiment().score(text)


def _paper_add_one(text: str) -> float:
    return paper_sentiment().score(text, add_one=True)


METHODS: dict[str, Callable[[str], float]] = {"default": _default, "paper": _paper, "paper-add-one": _paper_add_one}


def sentiment(row: dict[str, Any]) -> dict[str, Any]:
    """`label` and `score` of `text` by `method`; both null without words and for another language."""
    method = METHODS.get(row.get("method") or "default")
    if method is None:
        raise ValueError(f"method is one of {', '.join(METHODS)}")
    text = str(row["text"])[:LONGEST_SENTENCE]
    if not words_of(text) or not is_english(text, lang=row.get("lang")):
        return {"label": None, "score": None}
    score = round(method(text), DIGITS)
    return {"label": "pos" if score >= 0 else "neg", "score": score}
