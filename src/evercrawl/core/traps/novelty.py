"""Measure how much of a text is new on a site, with bounded memory.
Groups of three words are sampled by hash and stored in a bitmap. When it is full, a new one begins and the last one is
kept. Old text then counts as new again, which is harmless."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Final, NamedTuple
from zlib import crc32

from evercrawl.core.native import load_native

READ_CHARS: Final = 2500  # Reading more does not improve the estimate.
SAMPLE: Final = 4  # One group in this many is stored; a power of two.
MIN_WORDS: Final = 40  # A shorter text is used whole.
MEMORY_BYTES: Final = 1 << 13
MAX_GROUPS: Final = 6000  # Groups in one bitmap. About one in eleven then looks known by chance.
MAX_AVERAGE_WORD: Final = 25  # Longer words mean a script without spaces, so characters count as words.

MAX_HEADING_WORDS: Final = 8  # A line with no more words is a heading or an item of a list.
PARAGRAPHS = 2  # Seed that separates hashes of paragraphs from the others.
CHOICES = 1  # Seed that separates hashes of URL words from hashes of word groups.
ECHO: Final = b"0"  # Replaces a known word of the URL.
PHRASE_END = b" . "  # Marks the end of a phrase.

_DIGIT: Final = re.compile(rb"\d")
_DIGITS: Final = re.compile(rb"\d+")
_LOW: Final = (1 << 29) - 1  # Bits used of a sum. Products of such numbers fit a machine word.
_MIX: Final = 0x9E3779B1 & _LOW  # An odd number near the golden ratio of 32 bits, which spreads sums.
_PHRASE_ENDS = bytes.maketrans(b".,;:!?|()", b"\n" * 9)
_OTHER_PHRASE_ENDS = [mark.encode() for mark in "\u2022\u2013\u2014\u3001\u3002"]
_BIT: Final = MEMORY_BYTES * 8 - 1
_END_HASH: Final = crc32(PHRASE_END.strip())
_DRAWN: Final = SAMPLE - 1


_NATIVE = load_native()
_NATIVE_LIMITS: Final = {
    "sample": SAMPLE,
    "min_words": MIN_WORDS,
    "memory_bytes": MEMORY_BYTES,
    "max_average_word": MAX_AVERAGE_WORD,
    "max_heading_words": MAX_HEADING_WORDS,
}


class NewText(NamedTuple):
    """Shares of a text that are new, 0 to 1."""

    literal: float  # Letter by letter.
    essential: float  # With all numbers equal: a counter or a date is not new text.
    lines: float = 0.0  # Whole paragraphs with all numbers equal, which may combine known words.


@dataclass(frozen=True, slots=True)
class TextMemory:
    """The word groups that a site has shown, as far as they are stored."""

    recent: bytes = b""
    previous: bytes = b""
    count: int = 0  # Groups in the recent bitmap.


NOTHING_NEW = NewText(0.0, 0.0)


def new_text(memory: TextMemory, text: str, *, choices: Set[str] = frozenset()) -> tuple[NewText, TextMemory]:
    """Return the new share of the text, and the memory with the text added.
    `choices`: words of the URL. Known ones in a new combination ("red shirts of linen") are not new text."""
    recent = memory.recent or bytes(MEMORY_BYTES)
    previous = memory.previous or bytes(MEMORY_BYTES)
    marks = {choice: crc32(choice.encode("utf-8", "surrogatepass"), CHOICES) & _BIT for choice in choices}
    known = {
        choice.encode("utf-8", "surrogatepass")
        for choice, mark in marks.items()
        if _has(recent, mark) or _has(previous, mark)
    }
    text = text[:READ_CHARS]
    found = _count_native(text, memory, [*marks.values()], known)
    if found is None:
        found = _count_new(text, recent, previous, marks=[*marks.values()], known=known)
    groups, literal, essential, lines, new_lines, count, bitmap = found
    if not groups:
        return NOTHING_NEW, memory
    share = NewText(literal / groups, essential / groups, new_lines / max(lines, 1))
    return share, _rotate(TextMemory(bitmap, memory.previous, memory.count + count))


_Counts = tuple[int, int, int, int, int, int, bytes]
"""Groups, new groups letter by letter and with all numbers equal, paragraphs, new ones, added bits, new bitmap."""


def _count_native(text: str, memory: TextMemory, marks: list[int], known: set[bytes]) -> _Counts | None:
    """Return the counts by native code; None: there is none, or it leaves this text to the reference."""
    if _NATIVE is None:
        return None
    try:
        counts: _Counts | None = _NATIVE.novelty(text, memory.recent, memory.previous, marks, known, _NATIVE_LIMITS)
    except UnicodeEncodeError:
        return None
    return counts


def _count_new(text: str, recent: bytes, previous: bytes, *, marks: list[int], known: set[bytes]) -> _Counts:
    groups = _groups(text, known)
    if not groups:
        return 0, 0, 0, 0, 0, 0, b""
    bits = bytearray(recent)
    lines = _paragraphs(text, known)
    new_lines = sum(not _has(bits, line) and not _has(previous, line) for line in lines)
    essential = literal = count = 0
    for mark in marks:
        count += not _has(bits, mark)
        bits[mark >> 3] |= 1 << (mark & 7)
    for essence, letter in groups:
        is_new = not _has(bits, essence) and not _has(previous, essence)
        essential += is_new
        literal += is_new or (letter != essence and not _has(bits, letter) and not _has(previous, letter))
    for essence, letter in groups:
        for number in {essence, letter}:
            count += not _has(bits, number)
            bits[number >> 3] |= 1 << (number & 7)
    for line in lines:
        count += not _has(bits, line)
        bits[line >> 3] |= 1 << (line & 7)
    return len(groups), literal, essential, len(lines), new_lines, count, bytes(bits)


def _paragraphs(text: str, echoed: Set[bytes]) -> set[int]:
    """Return the bitmap positions of the paragraphs, with all numbers equal and without known words of the URL."""
    lines = (_DIGITS.sub(b"0", line).split() for line in text.encode("utf-8", "surrogatepass").split(b"\n"))
    if echoed:
        lines = ([word for word in line if word.lower() not in echoed] for line in lines)
    return {crc32(b" ".join(line), PARAGRAPHS) & _BIT for line in lines if len(line) > MAX_HEADING_WORDS}


def _has(bits: bytes | bytearray, number: int) -> bool:
    return bool(bits[number >> 3] >> (number & 7) & 1)


def _rotate(memory: TextMemory) -> TextMemory:
    return memory if memory.count < MAX_GROUPS else TextMemory(b"", memory.recent, 0)


def _groups(text: str, echoed: Set[bytes]) -> list[tuple[int, int]]:
    """Return the bitmap positions of each sampled group: with equal numbers, and letter by letter.
    A group begins at a word drawn by its hash, so all pages draw the same ones."""
    words = _tokens(text)
    if echoed:
        words = [ECHO if word.lower() in echoed else word for word in words]
    letters = [_END_HASH, *map(crc32, words), _END_HASH, _END_HASH]
    essences = letters.copy()
    numbered = [place for place, word in enumerate(words, 1) if not word.isalpha() and _DIGIT.search(word)]
    for place in numbered:
        essences[place] = crc32(_DIGITS.sub(b"0", words[place - 1]))
    drawn: Iterable[int] = range(1, len(words) + 1)
    if len(words) >= MIN_WORDS:
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
    """Return the bitmap position of three words in a row; None if the phrase ends before the third.
    Groups end with the phrase: the order of list items is no new text. A shorter phrase is one group."""
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
        # Several marks in a row end one phrase.
        raw = PHRASE_END.join([first, *filter(None, phrases[:-1]), phrases[-1]])
    words = raw.split()
    if len(raw) > MAX_AVERAGE_WORD * (len(words) + 1):
        marked = raw.decode("utf-8", "surrogatepass")
        if len(marked) > MAX_AVERAGE_WORD * (len(words) + 1):
            return [letter.encode("utf-8", "surrogatepass") for letter in marked if not letter.isspace()]
    return words
