"""The sentiment of texts, judged once: the same text has the same tone in every question."""

from __future__ import annotations

import threading
from collections import OrderedDict

from evercrawl.adapters.learned import default_sentiment
from evercrawl.core.sentiment.sentences import page_sentiment
from evercrawl.model.search import Tone

TONED_CHARS = 6000
CLEAR_TONE = 0.05
"""Mean score of a page from which on it is positive."""
MOST_KEPT = 20_000

_kept: OrderedDict[bytes, float | None] = OrderedDict()
_turn = threading.Lock()


def tone_of(text: str, lang: str | None, *, digest: bytes | None = None) -> float | None:
    """The score of a text, -1 to 1; None: it cannot be judged. `digest` names the text."""
    with _turn:
        if digest is not None and digest in _kept:
            return _kept[digest]
    judged = page_sentiment(text[:TONED_CHARS], default_sentiment().score, lang=lang)
    score = None if judged is None else judged.score
    if digest is not None:
        with _turn:
            _kept[digest] = score
            while len(_kept) > MOST_KEPT:
                _kept.popitem(last=False)
    return score


def named(tone: float) -> Tone:
    """What `sentiment:` calls a score."""
    if abs(tone) < CLEAR_TONE:
        return Tone.NEUTRAL
    return Tone.POSITIVE if tone > 0 else Tone.NEGATIVE
