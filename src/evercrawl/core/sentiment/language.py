"""Is this text English? Both methods were learned from English sentences and say nothing about others.

Given the language that the document names, or else by words: only signs of another language speak against
English, because short English sentences may have no common word at all.
"""

from __future__ import annotations

import re

LOOKED_AT = 5_000
MOST_FOREIGN_LETTERS = 0.3
_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH_TEXT = """
the and is it was of to in that this for with are not you but have they be on as at from i my we its has had
an there would will very so if all what when who which by or their no were been just about
"""
_FOREIGN_TEXT = """
der das und ist nicht ein eine mit für auf von dem sich auch wird sehr ich wir
le la les des est une dans pour qui que sur avec cette sont je nous très et
el los las una del por para es muy pero como más está fue lo
il di che non è sono della questo molto
os um uma não em da é são muito
het een niet zijn voor maar deze ik wij zeer
och är att det som på inte med jag av nie się jest na
"""
"""Common words of German, French, Spanish, Italian, Portuguese, Dutch, Swedish and Polish that are no English
words.
"""
ENGLISH = frozenset(_ENGLISH_TEXT.split())
FOREIGN = frozenset(_FOREIGN_TEXT.split())


def is_english(text: str, *, lang: str | None = None) -> bool:
    """Whether a score for this text means anything."""
    if lang:
        return lang.lower().split("-")[0].split("_")[0] == "en"
    words = _WORD.findall(text[:LOOKED_AT].lower())
    letters = sum(map(len, words))
    foreign_letters = sum(len(word) for word in words if not _is_latin(word))
    if foreign_letters > MOST_FOREIGN_LETTERS * letters:
        return False
    english = sum(word in ENGLISH for word in words)
    foreign = sum(word in FOREIGN for word in words)
    accented = sum(not word.isascii() for word in words)
    return foreign == 0 or foreign + accented <= english or (foreign == 1 and not accented and len(words) > 6)


def _is_latin(word: str) -> bool:
    return all(letter < "\u0250" for letter in word)
