"""Splits blocks into segments, so that a change is seen where it is.
A line such as `tom · 12 posts · online` has a segment per fact. Sentences are statements; what they say is content even
where other segments of the line change all the time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from operator import le
from typing import NamedTuple

from evercrawl.core.change.noise import MAX_CACHED_TEXTS, count_words, counts_in, is_age, text_shape, without_times
from evercrawl.core.change.snapshot import CELL_BORDER, INLINE_BORDER, SENTENCE_ENDS

STATEMENT_WORDS = 8
MAX_BYLINE_WORDS = 30  # A longer text is a statement whatever dates and times are in it.
LONG_STATEMENT_WORDS = 18  # From here on a text is a statement without a full stop too.
MAX_LABEL_WORDS = 6
MAX_COUNT_WORDS = 4
MIN_TOKEN_CHARS = 16
WIDE_LABEL_CHARS = 5  # Fewer letters before a wide colon are a label, more may be a part of a title.
MAX_SEGMENTS = 15  # Segments after these count as one.
_CLOSING = "\"'”’»)]」』 "

_PARTS = re.compile(rf"(?<!\s)\s*+[·•|∙⋅│｜‧・{CELL_BORDER}]\s*")
_FINE_PARTS = re.compile(
    rf"(?<!\s)(?:\s*+(?:[{INLINE_BORDER}()\[\]»›→←⟶]|(?<=[^\W\d]{{2}})(?<!\w{{{WIDE_LABEL_CHARS}}})：|[:：](?=\s|{INLINE_BORDER}))|\s++[-–—/](?=\s)|[^\S\n]*+\n)"
    rf"[\s{INLINE_BORDER}]*+"
)
_NUMBER_START = re.compile(r"(?<![A-Za-z_\d])\d")
_SENTENCES = re.compile(r"(?<=[.!?…؟।])\s+|(?<=[。！？])")


class Segment(NamedTuple):
    """A part of a block."""

    text: str
    is_statement: bool


class SegmentChange(NamedTuple):
    """A segment that differs: which of how many, and both texts."""

    slot: int  # Number of the segment and of all segments; the same on all blocks of one form.
    removed: str
    added: str
    is_statement: bool
    label: str = ""  # The unchanged words beside it that say what it is.

    @property
    def is_age(self) -> bool:
        """Return whether the segment is a time such as `3 hours` or `2d` before and after."""
        return is_age(self.removed) and is_age(self.added)

    @property
    def is_increase(self) -> bool:
        """Return whether the numbers in the segment grew, as those of counters do; none may have shrunk."""
        if not self.is_number:
            return False
        before, after = counts_in(self.removed), counts_in(self.added)
        is_growing = len(before) == len(after) and all(map(le, before, after))
        return is_growing and before != after

    @property
    def is_number(self) -> bool:
        """Return whether only numbers, dates and the like differ."""
        return bool(self.removed and self.added) and text_shape(self.removed) == text_shape(self.added)


FIRST_SLOT = 0x100
DIGIT_SLOTS = 0x100
OTHER_FORM = 0x300


def slot_number(count: int, index: int, *, has_digit: bool) -> int:
    """Return the number of a segment among `count`; numbers and words do not share a slot."""
    place = (min(count, MAX_SEGMENTS) << 4) + min(index, MAX_SEGMENTS)
    return FIRST_SLOT + place + (DIGIT_SLOTS if has_digit else 0)


def has_digit(text: str) -> bool:
    """Return whether the text has a number; digits at the end of a name, or in a long generated one, are none."""
    if len(text) >= MIN_TOKEN_CHARS:
        text = " ".join(word for word in text.split() if len(word) < MIN_TOKEN_CHARS or word.isdigit())
    return _NUMBER_START.search(text) is not None


def other_form_slot(head: int) -> int:
    """Return the number of what follows `head` common segments where the number of segments changed."""
    return OTHER_FORM + min(head, MAX_SEGMENTS)


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def is_statement(text: str) -> bool:
    """Return whether the text is a sentence rather than a label, a count or a headline."""
    words = count_words(text)
    if STATEMENT_WORDS <= words <= MAX_BYLINE_WORDS and any(map(str.isdigit, text)):
        words = count_words(without_times(text))
    if words < STATEMENT_WORDS:
        return False
    return words >= LONG_STATEMENT_WORDS or text.rstrip(_CLOSING)[-1:] in SENTENCE_ENDS


def label_beside(segments: Sequence[Segment], place: int) -> str:
    """Return the words before a segment that may say what it is; empty if there are none."""
    return segments[place - 1].text if place and _may_be_label(segments[place - 1]) else ""


def label_above(marked: str) -> str:
    """Return the text of the block above one of a single fact if it may say what that is; empty if not."""
    segments = split_segments(marked)
    return segments[0].text if len(segments) == 1 and _may_be_label(segments[0]) else ""


def _may_be_label(segment: Segment) -> bool:
    text = segment.text
    is_short = not segment.is_statement and count_words(text) <= MAX_LABEL_WORDS
    return is_short and any(map(str.isalpha, text)) and not any(map(str.isdigit, text))


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def split_segments(marked: str) -> tuple[Segment, ...]:
    """Return the segments of a marked text."""
    found: list[Segment] = []
    for part in _PARTS.split(marked):
        plain = part.replace(INLINE_BORDER, "")
        if is_statement(plain):
            text, count = _split_count(part)
            found.append(Segment(" ".join(text.replace(INLINE_BORDER, "").split()), is_statement=True))
            found += [Segment(count, is_statement=False)] if count else []
        else:
            found += [Segment(text, is_statement=False) for text in map(_trim, _FINE_PARTS.split(part)) if text]
    return tuple(found)


def _split_count(part: str) -> tuple[str, str]:
    """Split a number with a few words off a statement if it has an element of its own beside that of the statement."""
    text, border, count = part.rpartition(INLINE_BORDER * 2)
    count = _trim(count.replace(INLINE_BORDER, ""))
    if border and _trim(text) and has_digit(count) and count_words(count) <= MAX_COUNT_WORDS:
        return text, count
    return part, ""


def _trim(text: str) -> str:
    return text.strip(_BORDER_CHARS)


_BORDER_CHARS = f" \t\r\n{INLINE_BORDER}{CELL_BORDER}"


def sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [sentence for sentence in _SENTENCES.split(text) if sentence]


def changed_segments(before: str, after: str) -> list[SegmentChange]:
    """Return the segments in which two marked texts differ."""
    old, new = split_segments(before), split_segments(after)
    if len(old) == len(new):
        return [
            SegmentChange(
                slot_number(len(new), place, has_digit=not one.is_statement and has_digit(f"{one.text} {other.text}")),
                one.text,
                other.text,
                one.is_statement or other.is_statement,
                label if (label := label_beside(new, place)) == label_beside(old, place) else "",
            )
            for place, (one, other) in enumerate(zip(old, new, strict=True))
            if one.text != other.text
        ]
    head = 0
    while head < min(len(old), len(new)) and _are_paired(old[head], new[head]):
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and _are_paired(old[-1 - tail], new[-1 - tail]):
        tail += 1
    one, other = old[head : len(old) - tail], new[head : len(new) - tail]
    middle = SegmentChange(
        other_form_slot(head),
        " ".join(segment.text for segment in one),
        " ".join(segment.text for segment in other),
        any(segment.is_statement for segment in (*one, *other)),
    )
    places = [*range(head), *range(len(new) - tail, len(new))]
    kept = zip(places, (*old[:head], *old[len(old) - tail :]), (*new[:head], *new[len(new) - tail :]), strict=True)
    counts = [
        SegmentChange(slot_number(len(new), place, has_digit=True), before_text, after_text, is_statement=False)
        for place, (before_text, _), (after_text, _) in kept
        if before_text != after_text
    ]
    return [middle, *counts]


def _are_paired(one: Segment, other: Segment) -> bool:
    """Return whether two segments are the same, or the same count at two times."""
    if one.text == other.text:
        return True
    is_fact = not (one.is_statement or other.is_statement) and has_digit(one.text)
    return is_fact and text_shape(one.text) == text_shape(other.text)
