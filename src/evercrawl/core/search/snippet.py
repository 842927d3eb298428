"""Selects the passage of a text that best shows why it was found.
The passage with the most different query words wins, the earlier of equals. It is cut between words, or between
characters in scripts without spaces, and never inside a composed character."""

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
MAX_TEXT_CHARS = 100_000  # The rest of a text is not searched.
FIRST_PASS_CHARS = 20_000  # If everything is found in this much, the rest is not searched.
MAX_MATCHES = 40  # Matches per term.
MAX_CUT_DISTANCE = 24  # How far from the ideal position a space is searched.
_SPACE = re.compile(r"\s+")
_JOINING = "\u200c\u200d\ufe0e\ufe0f"


class SnippetTerm(NamedTuple):
    """A run of folded characters to find, and whether other forms of the word count."""

    text: str
    is_word: bool
    forms: frozenset[str] = frozenset()  # Folded forms of the word; empty: only the text itself.


class _Match(NamedTuple):
    start: int
    end: int
    term: int


def make_snippet(text: str, terms: Sequence[SnippetTerm], *, window: int = WINDOW_CHARS) -> tuple[Span, ...]:
    """Return the best passage in spans with marked hits; the beginning if nothing is found."""
    text = text[:MAX_TEXT_CHARS]
    matches = _matches(fold_text(text[:FIRST_PASS_CHARS]), terms)
    if len(text) > FIRST_PASS_CHARS and len({match.term for match in matches}) < len(terms):
        matches = _matches(fold_text(text), terms)
    start, end = _best_window(matches, len(text), window)
    start, end = cut_start(text, start), cut_end(text, end)
    return _spans(text, start, end, [match for match in matches if start <= match.start and match.end <= end])


def _matches(plain: str, terms: Sequence[SnippetTerm]) -> list[_Match]:
    found: list[_Match] = []
    for term, one in enumerate(terms):
        places = (
            _find_words(plain, one.forms or frozenset((one.text,))) if one.is_word else _find_phrases(plain, one.text)
        )
        found += [_Match(start, end, term) for start, end in places]
    return sorted(found)


def _find_words(plain: str, forms: frozenset[str]) -> list[tuple[int, int]]:
    """Return where any of the forms is a whole word."""
    shared, pattern = _whole_word(forms)
    # This test is fast and rules out most texts.
    if shared not in plain:
        return []
    return [match.span() for match in islice(pattern.finditer(plain), MAX_MATCHES)]


def _shared_start(one: str, other: str) -> str:
    """Return the common start; for the first and last of sorted words, that of all."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(letter for letter, _ in same)


@lru_cache(maxsize=4096)
def _whole_word(forms: frozenset[str]) -> tuple[str, re.Pattern[str]]:
    """Return the common start of all forms, and a pattern for any of them as a whole word.
    The pattern begins with plain letters, so that the search can jump to them."""
    shared = _shared_start(min(forms), max(forms))
    endings = sorted((form[len(shared) :] for form in forms), key=lambda ending: (-len(ending), ending))
    start = re.escape(shared)
    before = rf"(?<![^\W_]{start})"
    return shared, re.compile(rf"{start}{before}(?:{'|'.join(map(re.escape, endings))})(?![^\W_])")


def _find_phrases(plain: str, text: str) -> list[tuple[int, int]]:
    """Return where the words, or the characters of a script without spaces, stand in a row."""
    pattern = r"[\W_]*".join(re.escape(part) for part in text.split())
    return [match.span() for match in islice(re.finditer(pattern, plain), MAX_MATCHES)]


def _best_window(matches: Sequence[_Match], length: int, window: int) -> tuple[int, int]:
    """Return the range with the most different words, and of those the most matches."""
    if not matches:
        return 0, min(length, window)
    best, best_score, after = 0, (-1, -1), 0
    inside: Counter[int] = Counter()
    for first, match in enumerate(matches):
        while after <= first or (after < len(matches) and matches[after].end - match.start <= window):
            inside[matches[after].term] += 1
            after += 1
        score = (len(inside), after - first)
        if score > best_score:
            best, best_score = first, score
        inside[match.term] -= 1
        if not inside[match.term]:
            del inside[match.term]
    lead = window // 5
    start = max(0, min(matches[best].start - lead, length - window))
    return start, min(length, max(start + window, matches[best].end))


def cut_start(text: str, position: int) -> int:
    """Return the nearest good start at or after `position`, or before it within a long word."""
    if position <= 0:
        return 0
    for at in range(position, min(len(text), position + MAX_CUT_DISTANCE)):
        if text[at - 1].isspace() or is_single_char_word(text[at]):
            return _char_start(text, at)
    return _char_start(text, position)


def cut_end(text: str, position: int) -> int:
    """Return the nearest good end at or before `position`."""
    if position >= len(text):
        return len(text)
    for at in range(position, max(0, position - MAX_CUT_DISTANCE), -1):
        if text[at].isspace() or is_single_char_word(text[at - 1]):
            return _char_start(text, at)
    return _char_start(text, position)


def _char_start(text: str, at: int) -> int:
    """Move back to the start of a composed character (accents, joined emoji)."""
    while 0 < at < len(text) and (_is_continuation(text[at]) or text[at - 1] == "\u200d"):
        at -= 1
    return at


def _is_continuation(char: str) -> bool:
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
    """Collapse space of any kind, also at the ends."""
    return _SPACE.sub(" ", text)
