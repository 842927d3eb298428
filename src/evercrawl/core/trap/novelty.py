"""How much of a text has a site not said before? A bounded memory of what it did say.

Groups of three words are sampled by their hash, the same ones on every page, and remembered in a bitmap.
When it is full, a fresh one is begun and one old one kept: what was said long ago counts as new again, which
is the harmless side.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple
from zlib import crc32

READ_CHARS = 4000
"""More of a text does not make the estimate better, only dearer."""
SAMPLE = 4
"""One group in so many is remembered."""
LEAST_GROUPS = 32
"""A shorter text is taken whole, so that a handful of words says something too."""
MEMORY_BYTES = 1 << 13
MOST_REMEMBERED = 6000
"""Groups in one bitmap; about one in eleven is then taken for known by chance."""
LONGEST_AVERAGE_WORD = 25
"""Longer ones mean a script without spaces, where characters stand for words."""

GROUP_WORDS = 3

_DIGIT = re.compile(r"\d")
_DIGITS = re.compile(r"\d+")
_MIX = 0x9E3779B1
"""An odd number near the golden section of 32 bits spreads sums over all of them."""
_WORD_BITS = 0xFFFF_FFFF
_PHRASE_END = re.compile(r"[\n.,;:!?|()\u2022\u2013\u2014\u3001\u3002]+")
_BIT = MEMORY_BYTES * 8 - 1


class NewText(NamedTuple):
    """Shares of a text that are new, 0 to 1."""

    literal: float
    """To the letter."""
    essential: float
    """With all numbers taken for the same: a counter or a date makes no new text."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a site has said, as far as it is remembered."""

    young: bytes = b""
    old: bytes = b""
    count: int = 0
    """Groups in the young bitmap."""


NOTHING_NEW = NewText(0.0, 0.0)


def new_text(said: Said, text: str) -> tuple[NewText, Said]:
    """How much of the text is new, and the memory with the text in it."""
    groups = _groups(text[:READ_CHARS])
    if not groups:
        return NOTHING_NEW, said
    young = bytearray(said.young or bytes(MEMORY_BYTES))
    old = said.old or bytes(MEMORY_BYTES)
    unheard = unread = count = 0
    for essence, letter in groups:
        is_unheard = not _has(young, essence) and not _has(old, essence)
        unheard += is_unheard
        unread += is_unheard or (letter != essence and not _has(young, letter) and not _has(old, letter))
    for essence, letter in groups:
        for number in {essence, letter}:
            count += not _has(young, number)
            young[number >> 3] |= 1 << (number & 7)
    share = NewText(unread / len(groups), unheard / len(groups))
    return share, _aged(Said(bytes(young), said.old, said.count + count))


def _has(bits: bytes | bytearray, number: int) -> bool:
    return bool(bits[number >> 3] >> (number & 7) & 1)


def _aged(said: Said) -> Said:
    return said if said.count < MOST_REMEMBERED else Said(b"", said.young, 0)


def _groups(text: str) -> list[tuple[int, int]]:
    """For each sampled group its place in the bitmap, with all numbers the same and to the letter.

    Groups do not reach over the end of a phrase: the order of a list's items says nothing new.
    """
    groups: list[tuple[int, int]] = []
    for phrase in _PHRASE_END.split(text):
        words = _tokens(phrase)
        letters = _hashes(words)
        has_digit = _DIGIT.search(phrase) is not None
        essences = _hashes([_DIGITS.sub("0", word) for word in words]) if has_digit else letters
        groups += zip(essences, letters, strict=True)
    if len(groups) >= LEAST_GROUPS:
        groups = [group for group in groups if group[0] % SAMPLE == 0]
    return [(essence >> 5 & _BIT, letter >> 5 & _BIT) for essence, letter in groups]


def _hashes(words: list[str]) -> list[int]:
    """One number for each three words in a row; a shorter phrase is a group by itself."""
    own = [crc32(word.encode("utf-8", "surrogatepass")) for word in words]
    if 0 < len(own) < GROUP_WORDS:
        own += [0] * (GROUP_WORDS - len(own))
    return [
        (one * _MIX + two) * _MIX + three >> 8 & _WORD_BITS
        for one, two, three in zip(own, own[1:], own[2:], strict=False)
    ]


def _tokens(text: str) -> list[str]:
    words = text.split()
    return list("".join(words)) if len(text) > LONGEST_AVERAGE_WORD * (len(words) + 1) else words
