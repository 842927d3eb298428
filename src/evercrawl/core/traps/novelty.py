"""How much of a text has a site not said before? A bounded memory of what it did say.

Groups of three words are sampled by their hash, the same ones on every page, and remembered in a bitmap.
When it is full, a fresh one is begun and one old one kept: what was said long ago counts as new again, which
is the harmless side.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Final, NamedTuple
from zlib import crc32

READ_CHARS: Final = 2500
"""More of a text does not make the estimate better, only dearer."""
SAMPLE: Final = 4
"""One group in so many is remembered; a power of two."""
LEAST_WORDS: Final = 40
"""A shorter text is taken whole, so that a handful of words says something too."""
MEMORY_BYTES: Final = 1 << 13
MOST_REMEMBERED: Final = 6000
"""Groups in one bitmap; about one in eleven is then taken for known by chance."""
LONGEST_AVERAGE_WORD: Final = 25
"""Longer ones mean a script without spaces, where characters stand for words."""

CHOICES = 1
"""Sets the numbers of choices apart from those of groups of words."""
ECHO: Final = b"0"
"""Stands for a word of the URL that was met before."""
END_AMONG_WORDS = b" . "
"""Stands for the end of a phrase among the words."""

_DIGIT: Final = re.compile(rb"\d")
_DIGITS: Final = re.compile(rb"\d+")
_LOW: Final = (1 << 29) - 1
"""All that is used of a sum. Products of such numbers fit a machine word, which makes them cheap."""
_MIX: Final = 0x9E3779B1 & _LOW
"""An odd number near the golden section of 32 bits spreads sums over all of them."""
_PHRASE_ENDS = bytes.maketrans(b".,;:!?|()", b"\n" * 9)
_OTHER_PHRASE_ENDS = [mark.encode() for mark in "\u2022\u2013\u2014\u3001\u3002"]
_BIT: Final = MEMORY_BYTES * 8 - 1
_END_HASH: Final = crc32(END_AMONG_WORDS.strip())
_DRAWN: Final = SAMPLE - 1


class NewText(NamedTuple):
    """Shares of a text that are new, 0 to 1."""

    literal: float
    """To the letter."""
    essential: float
    """With all numbers taken for the same: a counter or a date makes no new text."""


@dataclass(frozen=True, slots=True)
class TextMemory:
    """What a site has said, as far as it is remembered."""

    recent: bytes = b""
    previous: bytes = b""
    count: int = 0
    """Groups in the young bitmap."""


NOTHING_NEW = NewText(0.0, 0.0)


def new_text(said: TextMemory, text: str, *, choices: Set[str] = frozenset()) -> tuple[NewText, TextMemory]:
    """How much of the text is new, and the memory with the text in it.

    `choices`: of what the URL is made. Those that were met before, and are joined anew, say nothing new where
    the page repeats them ("red shirts of linen").
    """
    young = bytearray(said.recent or bytes(MEMORY_BYTES))
    old = said.previous or bytes(MEMORY_BYTES)
    marks = {choice: crc32(choice.encode("utf-8", "surrogatepass"), CHOICES) & _BIT for choice in choices}
    met = {
        choice.encode("utf-8", "surrogatepass")
        for choice, mark in marks.items()
        if _has(young, mark) or _has(old, mark)
    }
    groups = _groups(text[:READ_CHARS], met)
    if not groups:
        return NOTHING_NEW, said
    unheard = unread = count = 0
    for mark in marks.values():
        count += not _has(young, mark)
        young[mark >> 3] |= 1 << (mark & 7)
    for essence, letter in groups:
        is_unheard = not _has(young, essence) and not _has(old, essence)
        unheard += is_unheard
        unread += is_unheard or (letter != essence and not _has(young, letter) and not _has(old, letter))
    for essence, letter in groups:
        for number in {essence, letter}:
            count += not _has(young, number)
            young[number >> 3] |= 1 << (number & 7)
    share = NewText(unread / len(groups), unheard / len(groups))
    return share, _aged(TextMemory(bytes(young), said.previous, said.count + count))


def _has(bits: bytes | bytearray, number: int) -> bool:
    return bool(bits[number >> 3] >> (number & 7) & 1)


def _aged(said: TextMemory) -> TextMemory:
    return said if said.count < MOST_REMEMBERED else TextMemory(b"", said.recent, 0)


def _groups(text: str, echoed: Set[bytes]) -> list[tuple[int, int]]:
    """For each sampled group its place in the bitmap, with all numbers the same and to the letter.

    A group begins at a word that is drawn by its hash, so that all pages draw the same ones.
    """
    words = _tokens(text)
    if echoed:
        words = [ECHO if word.lower() in echoed else word for word in words]
    letters = [_END_HASH, *map(crc32, words), _END_HASH, _END_HASH]
    essences = letters.copy()
    numbered = [place for place, word in enumerate(words, 1) if not word.isalpha() and _DIGIT.search(word)]
    for place in numbered:
        essences[place] = crc32(_DIGITS.sub(b"0", words[place - 1]))
    drawn: Iterable[int] = range(1, len(words) + 1)
    if len(words) >= LEAST_WORDS:
        drawn = [place for place in drawn if not essences[place] & _DRAWN]
    near_numbers = {place - back for place in numbered for back in (-1, 0, 1, 2)}
    found = []
    for place in drawn:
        essence = _group(essences, place)
        if essence is not None:
            letter = _group(letters, place) if place in near_numbers else essence
            found.append((essence, essence if letter is None else letter))
    return found


def _group(words: list[int], place: int) -> int | None:
    """The place in the bitmap of three words in a row; None where the phrase ends before the third.

    The order of a list's items says nothing new, so groups do not reach over the end of a phrase; one of less
    than three words is a group by itself.
    """
    one, two, three = words[place], words[place + 1], words[place + 2]
    if two == _END_HASH or three == _END_HASH:
        if one == _END_HASH or words[place - 1] != _END_HASH:
            return None
        three = 0
    mixed = (one & _LOW) * _MIX + two & _LOW
    return mixed * _MIX + three >> 13 & _BIT


def _tokens(text: str) -> list[bytes]:
    raw = text.encode("utf-8", "surrogatepass")
    if not raw.isascii():
        for mark in _OTHER_PHRASE_ENDS:
            raw = raw.replace(mark, b"\n")
    first, *phrases = raw.translate(_PHRASE_ENDS).split(b"\n")
    if phrases:
        # Marks in a row end one phrase.
        raw = END_AMONG_WORDS.join([first, *filter(None, phrases[:-1]), phrases[-1]])
    words = raw.split()
    if len(raw) > LONGEST_AVERAGE_WORD * (len(words) + 1):
        marked = raw.decode("utf-8", "surrogatepass")
        if len(marked) > LONGEST_AVERAGE_WORD * (len(words) + 1):
            return [letter.encode("utf-8", "surrogatepass") for letter in marked if not letter.isspace()]
    return words
