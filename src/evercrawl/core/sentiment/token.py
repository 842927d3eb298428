"""The words and sentences of a text, as both methods see them."""

from __future__ import annotations

import re
import unicodedata

LONGEST_TEXT = 200_000
"""Characters of a text that are looked at."""
LONGEST_SENTENCE = 2_000
"""A longer run without an end is cut here: tables and lists have no sentences."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?|[!?.,;:]")
_CONTRACTION = re.compile(r"n't\b")
_LOOSE_SUFFIX = re.compile(r" '(?=s\b|re\b|ve\b|ll\b|d\b|m\b)")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|\n+")
_SYMBOL = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]")


def words_of(text: str) -> list[str]:
    """Words in lower case and the marks between them; `isn't` is `is not`, a pictogram is its name."""
    text = text.lower()
    if not text.isascii():
        text = _SYMBOL.sub(_named, text.replace("\u2019", "'"))
    if "'" in text:
        text = _LOOSE_SUFFIX.sub("'", _CONTRACTION.sub(" not", text))
    return _WORD.findall(text)


def _named(match: re.Match[str]) -> str:
    return f" {unicodedata.name(match[0], '').lower()} "


def sentences_of(text: str) -> list[str]:
    """The sentences of a text in order; a line's end is a sentence's end."""
    pieces = (piece.strip() for piece in _SENTENCE_END.split(text[:LONGEST_TEXT]))
    return [piece[:LONGEST_SENTENCE] for piece in pieces if piece]
