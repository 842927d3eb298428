"""Which piece of a text shows best why it was found?

The words of the query are looked for in the text itself, so that what is shown is what the page says. The
window with the most different words wins, the earlier one of equals; it is cut between words, or between
characters in scripts without spaces, and never inside a character that is composed of several.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice, takewhile
from typing import NamedTuple

from evercrawl.core.search.tokenizer import fold_text, is_single_char_word
from evercrawl.model.search import Span

WINDOW_CHARS = 220
MAX_TEXT_CHARS = 100_000
"""More of a text is not looked at."""
FIRST_PASS_CHARS = 20_000
"""Where everything is found in so much of it, the rest is not looked at."""
MAX_MATCHES = 40
"""Of one word."""
MAX_CUT_DISTANCE = 24
"""So far from the ideal place a space is looked for."""
_SPACE = re.compile(r"\s+")
_JOINING = "\u200c\u200d\ufe0e\ufe0f"


class SnippetTerm(NamedTuple):
    """What to look for: a run of folded characters, and whether other endings of the word count too."""

    text: str
    is_word: bool
    forms: frozenset[str] = frozenset()
    """The forms of the word that count, folded; empty: only the text itself."""


class _Match(NamedTuple):
    start: int
    end: int
    which: int


def make_snippet(text: str, sought: Sequence[SnippetTerm], *, window: int = WINDOW_CHARS) -> tuple[Span, ...]:
    """The best piece of a text in spans, the hits marked; its beginning where nothing is found."""
    text = text[:MAX_TEXT_CHARS]
    matches = _matches(fold_text(text[:FIRST_PASS_CHARS]), sought)
    if len(text) > FIRST_PASS_CHARS and len({match.which for match in matches}) < len(sought):
        matches = _matches(fold_text(text), sought)
    start, end = _window(matches, len(text), window)
    start, end = cut_start(text, start), cut_end(text, end)
    return _spans(text, start, end, [match for match in matches if start <= match.start and match.end <= end])


def _matches(plain: str, sought: Sequence[SnippetTerm]) -> list[_Match]:
    found: list[_Match] = []
    for which, one in enumerate(sought):
        places = _words(plain, one.forms or frozenset((one.text,))) if one.is_word else _phrases(plain, one.text)
        found += [_Match(start, end, which) for start, end in places]
    return sorted(found)


def _words(plain: str, forms: frozenset[str]) -> list[tuple[int, int]]:
    """Where any of the forms stands as a whole word."""
    shared, pattern = _whole_word(forms)
    # To ask first whether the word occurs at all is by far the quickest.
    if shared not in plain:
        return []
    return [match.span() for match in islice(pattern.finditer(plain), MAX_MATCHES)]


def _shared_start(one: str, other: str) -> str:
    """What both begin with; of the first and the last in order it is what all between begin with."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(letter for letter, _ in same)


@lru_cache(maxsize=4096)
def _whole_word(forms: frozenset[str]) -> tuple[str, re.Pattern[str]]:
    """What all forms begin with, and any of them between what is no letter or digit.

    The pattern begins with plain letters, so that the search can leap to them, and looks back only then.
    """
    shared = _shared_start(min(forms), max(forms))
    endings = sorted((form[len(shared) :] for form in forms), key=lambda ending: (-len(ending), ending))
    start = re.escape(shared)
    before = rf"(?<![^\W_]{start})"
    return shared, re.compile(rf"{start}{before}(?:{'|'.join(map(re.escape, endings))})(?![^\W_])")


def _phrases(plain: str, text: str) -> list[tuple[int, int]]:
    """Where the words stand in a row, or the characters of a script without spaces, whatever is between."""
    pattern = r"[\W_]*".join(re.escape(part) for part in text.split())
    return [match.span() for match in islice(re.finditer(pattern, plain), MAX_MATCHES)]


def _window(matches: Sequence[_Match], length: int, window: int) -> tuple[int, int]:
    """The place with the most different words, and of those the most matches."""
    if not matches:
        return 0, min(length, window)
    best, best_worth, behind = 0, (-1, -1), 0
    inside: Counter[int] = Counter()
    for first, match in enumerate(matches):
        while behind <= first or (behind < len(matches) and matches[behind].end - match.start <= window):
            inside[matches[behind].which] += 1
            behind += 1
        worth = (len(inside), behind - first)
        if worth > best_worth:
            best, best_worth = first, worth
        inside[match.which] -= 1
        if not inside[match.which]:
            del inside[match.which]
    lead = window // 5
    start = max(0, min(matches[best].start - lead, length - window))
    return start, min(length, max(start + window, matches[best].end))


def cut_start(text: str, place: int) -> int:
    """The nearest good place to begin at, at or behind `place`, or before it where a word is long."""
    if place <= 0:
        return 0
    for at in range(place, min(len(text), place + MAX_CUT_DISTANCE)):
        if text[at - 1].isspace() or is_single_char_word(text[at]):
            return _whole(text, at)
    return _whole(text, place)


def cut_end(text: str, place: int) -> int:
    """The nearest good place to end at, at or before `place`."""
    if place >= len(text):
        return len(text)
    for at in range(place, max(0, place - MAX_CUT_DISTANCE), -1):
        if text[at].isspace() or is_single_char_word(text[at - 1]):
            return _whole(text, at)
    return _whole(text, place)


def _whole(text: str, at: int) -> int:
    """The place, moved back to where a composed character (accents, joined emoji) begins."""
    while 0 < at < len(text) and (_continues(text[at]) or text[at - 1] == "\u200d"):
        at -= 1
    return at


def _continues(char: str) -> bool:
    return char in _JOINING or unicodedata.category(char) in ("Mn", "Mc", "Me") or "\U0001f3fb" <= char <= "\U0001f3ff"


def _spans(text: str, start: int, end: int, matches: Sequence[_Match]) -> tuple[Span, ...]:
    spans: list[Span] = [Span("… ", False)] if start > 0 else []
    at = start
    for match in matches:
        if match.start < at:
            continue
        if match.start > at:
            spans.append(Span(_one_line(text[at : match.start]), False))
        spans.append(Span(_one_line(text[match.start : match.end]), True))
        at = match.end
    if at < end:
        spans.append(Span(_one_line(text[at:end]), False))
    if end < len(text):
        spans.append(Span(" …", False))
    return tuple(spans)


def _one_line(text: str) -> str:
    """Space of any kind as single spaces, also at the ends."""
    return _SPACE.sub(" ", text)
