"""Does a page say that there is no such page, although the server says 200?

Only a short text can be an apology: a manual of status codes uses the same words. Longer ones are told by
what made-up addresses are answered with (`soft404.py`).
"""

from __future__ import annotations

import re

from xxhash import xxh32_intdigest

LONGEST_APOLOGY = 600
"""Characters of text; a longer page is about something."""
READ_CHARS = 4000
"""Of a text in which phrases are looked for; an apology stands at the top."""
SURE_CHARS = 200
"""A text this short that apologises is nothing else."""

_WORDS = re.compile(
    r"\b(?:page|file|document|site|url|address|content|article|item|product|resource|seite|p[aá]gina)\b.{0,60}?"
    r"\b(?:not (?:be )?found|(?:never|(?:does|did) ?n[o']t|no longer) (?:existed?|available)|"
    r"could ?n[o']t be found|has (?:been )?(?:moved|removed|deleted)|is (?:gone|missing|unavailable)|"
    r"nicht gefunden|existiert nicht|introuvable|no (?:existe|encontrada))\b"
    r"|\b(?:not|nothing) found\b|\b404\b.{0,40}\b(?:error|found|page)\b|\berror 404\b"
    r"|\b(?:could|can) ?n[o']t (?:be found|find)\b|\bno such (?:page|file|document|article|item)\b"
    r"|\bn'existe (?:pas|plus)\b|\bnicht gefunden\b|\bno se encuentra\b",
    re.IGNORECASE | re.DOTALL,
)
_END = re.compile(r"[\n.!?|:\u2014]+")
_DIGITS = re.compile(r"\d+")


def apologies_in(title: str | None, text: str) -> frozenset[int]:
    """The phrases, as numbers, that say that something was not found; numbers in them do not matter."""
    phrases = _END.split(f"{title or ''}\n{text[:READ_CHARS]}")
    return frozenset(
        xxh32_intdigest(_DIGITS.sub("0", " ".join(phrase.lower().split())).encode("utf-8", "surrogatepass"))
        for phrase in phrases
        if _WORDS.search(phrase) is not None
    )


def apologises(title: str | None, text: str) -> bool:
    """The page is short and says that something was not found."""
    return len(text) <= LONGEST_APOLOGY and _WORDS.search(f"{title or ''}\n{text}") is not None


def is_sure(title: str | None, text: str) -> bool:
    """It says that and nothing else."""
    return len(text) <= SURE_CHARS and apologises(title, text)
